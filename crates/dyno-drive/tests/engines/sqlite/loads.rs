//! Loads into real `SQLite` files.

use super::file::File;
use dyno_drive::{LoadOutcome, load};
use dyno_gen::Workload;
use dyno_record::{Control, ErrorKind, Result};
use serde_json::{Value, json};

fn try_load(file: &File, scale: f64, settings: &Value, control: &Control) -> Result<LoadOutcome> {
    let plan = json!({
        "wire": {
            "kind": "sqlite", "path": file.path, "decimals": "real", "settings": settings,
        },
        "workload": "tpch",
        "scale": scale,
        "seed": 1,
        "streams": 2,
    });
    load(&serde_json::from_value(plan).unwrap(), control)
}

#[test]
fn every_row_arrives_and_the_journal_mode_is_set_back() {
    let file = File::new("rows", Workload::Tpch, "real");
    file.open().pragma_update(None, "journal_mode", "wal").unwrap();
    let control = Control::new();
    let settings = json!({"journal_mode": "delete", "synchronous": 1});
    let outcome = try_load(&file, 0.01, &settings, &control).unwrap();
    assert_eq!(outcome.tables.len(), 8);
    for table in &outcome.tables {
        assert_eq!(file.count(table.table), table.rows, "{}", table.table);
        assert!(table.rows > 0 && table.bytes > 0);
    }
    assert_eq!(control.progress().done, outcome.rows);
    let mode: String =
        file.open().pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    // A decimal is the number that its text parses to, and dates sort.
    let sql = "select count(*) from lineitem where l_discount = 0.07 and l_shipdate < '1992-02-01'";
    assert!(file.open().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() > 0);
}

#[test]
fn a_load_that_is_stopped_leaves_nothing() {
    let file = File::new("stop", Workload::Tpch, "real");
    let control = Control::new();
    let error = std::thread::scope(|scope| {
        let loading = scope.spawn(|| try_load(&file, 1.0, &json!({}), &control).unwrap_err());
        while control.progress().done == 0 && !loading.is_finished() {
            std::thread::yield_now();
        }
        control.cancel();
        loading.join().unwrap()
    });
    assert_eq!(error.kind, ErrorKind::Cancelled);
    assert_eq!(file.count("part"), 0);
}

#[test]
fn a_file_that_fills_is_classed_and_left_empty() {
    let file = File::new("full", Workload::Tpch, "real");
    let error = try_load(&file, 0.1, &json!({"max_page_count": 200}), &Control::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::DiskFull, "{error}");
    assert!(error.to_string().contains("loading part"), "{error}");
    assert_eq!(file.count("part"), 0);
}

#[test]
fn a_writer_elsewhere_is_met_at_the_start() {
    let file = File::new("busy", Workload::Tpch, "real");
    let other = file.open();
    other.execute_batch("begin immediate").unwrap();
    let error = try_load(&file, 0.01, &json!({"busy_timeout": 10}), &Control::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::LockTimeout, "{error}");
}

#[test]
fn what_cannot_be_loaded_is_told() {
    let file = File::new("wrong", Workload::Tpcc, "real");
    let error = try_load(&file, 0.01, &json!({}), &Control::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Database);
    assert!(error.to_string().contains("part"), "{error}");
    let error = try_load(&file, 0.01, &json!({"page_size": 3}), &Control::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Usage, "{error}");
    std::fs::write(&file.path, [b'x'; 5000]).unwrap();
    let error = try_load(&file, 0.01, &json!({}), &Control::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Io, "{error}");
    std::fs::remove_file(&file.path).unwrap();
    let error = try_load(&file, 0.01, &json!({}), &Control::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Io, "{error}");
}
