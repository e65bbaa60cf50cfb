//! Loads into real `SQLite` files.

use std::path::PathBuf;

use dyno_drive::{LoadOutcome, load};
use dyno_gen::Workload;
use dyno_gen::schema::ColumnType;
use dyno_record::{Control, ErrorKind, Result};
use rusqlite::Connection;
use serde_json::{Value, json};

/// A file with empty tables of a workload, in a folder that goes with it.
struct File {
    folder: PathBuf,
    path: PathBuf,
}

impl File {
    fn new(name: &str, workload: Workload) -> Self {
        let folder = std::env::temp_dir().join(format!("dyno-drive-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("x.sqlite");
        let file = Self { folder, path };
        for table in workload.tables() {
            let mut columns = Vec::new();
            for column in table.columns {
                let kind = match column.kind {
                    ColumnType::Int32 | ColumnType::Int64 => "integer",
                    ColumnType::Decimal { .. } => "real",
                    _ => "text",
                };
                let key = if table.primary_key == [column.name] { " primary key" } else { "" };
                columns.push(format!("{} {kind}{key}", column.name));
            }
            let sql = format!("create table {} ({})", table.name, columns.join(", "));
            file.open().execute_batch(&sql).unwrap();
        }
        file
    }

    fn open(&self) -> Connection {
        Connection::open(&self.path).unwrap()
    }

    fn count(&self, table: &str) -> u64 {
        let sql = format!("select count(*) from {table}");
        self.open().query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap() as u64
    }

    fn load(&self, scale: f64, settings: &Value, control: &Control) -> Result<LoadOutcome> {
        let plan = json!({
            "wire": {
                "kind": "sqlite", "path": self.path, "decimals": "real", "settings": settings,
            },
            "workload": "tpch",
            "scale": scale,
            "seed": 1,
            "streams": 2,
        });
        load(&serde_json::from_value(plan).unwrap(), control)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn every_row_arrives_and_the_journal_mode_is_set_back() {
    let file = File::new("rows", Workload::Tpch);
    file.open().pragma_update(None, "journal_mode", "wal").unwrap();
    let control = Control::new();
    let settings = json!({"journal_mode": "delete", "synchronous": 1});
    let outcome = file.load(0.01, &settings, &control).unwrap();
    assert_eq!(outcome.tables.len(), 8);
    for table in &outcome.tables {
        assert_eq!(file.count(table.table), table.rows, "{}", table.table);
        assert!(table.rows > 0 && table.bytes > 0);
    }
    assert_eq!(control.progress().done, outcome.rows);
    let mode: String =
        file.open().pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    // A decimal is the number that its text would be read as, and a date sorts.
    let sql = "select count(*) from lineitem where l_discount = 0.07 and l_shipdate < '1992-02-01'";
    assert!(file.open().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() > 0);
}

#[test]
fn a_load_that_is_stopped_leaves_nothing() {
    let file = File::new("stop", Workload::Tpch);
    let control = Control::new();
    let error = std::thread::scope(|scope| {
        let loading = scope.spawn(|| file.load(1.0, &json!({}), &control).unwrap_err());
        while control.progress().done == 0 {
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
    let file = File::new("full", Workload::Tpch);
    let error = file.load(0.1, &json!({"max_page_count": 200}), &Control::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::DiskFull, "{error}");
    assert!(error.to_string().contains("loading part"), "{error}");
    assert_eq!(file.count("part"), 0);
}

#[test]
fn a_writer_elsewhere_is_met_at_the_start() {
    let file = File::new("busy", Workload::Tpch);
    let other = file.open();
    other.execute_batch("begin immediate").unwrap();
    let error = file.load(0.01, &json!({"busy_timeout": 10}), &Control::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Serialization, "{error}");
}

#[test]
fn what_cannot_be_loaded_is_told() {
    let file = File::new("wrong", Workload::Tpcc);
    let error = file.load(0.01, &json!({}), &Control::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Database);
    assert!(error.to_string().contains("part"), "{error}");
    let error = file.load(0.01, &json!({"page_size": 3}), &Control::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Usage, "{error}");
    std::fs::write(&file.path, [b'x'; 5000]).unwrap();
    let error = file.load(0.01, &json!({}), &Control::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Io, "{error}");
    std::fs::remove_file(&file.path).unwrap();
    let error = file.load(0.01, &json!({}), &Control::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Io, "{error}");
}
