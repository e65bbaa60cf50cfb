//! Whole runs of the driver with a real `SQLite` file.

use std::time::Duration;

use super::file::File;
use dyno_drive::{DrivePlan, Outcome, WirePlan, drive, load};
use dyno_gen::Workload;
use dyno_record::{Control, ErrorKind};
use serde_json::{Value, json};

const SEED: u64 = 11;

/// One warehouse with its keys and indexes, in a file with concurrent writers and readers.
fn loaded() -> File {
    let file = File::new("runs", Workload::Tpcc, "integer");
    let plan = json!({
        "wire": {"kind": "sqlite", "path": file.path, "decimals": "unscaled"},
        "workload": "tpcc", "scale": 1, "seed": SEED, "streams": 2
    });
    load(&serde_json::from_value(plan).unwrap(), &Control::new()).unwrap();
    let keys: Vec<String> = Workload::Tpcc
        .tables()
        .iter()
        .filter(|table| table.primary_key.len() > 1)
        .map(|table| {
            let (name, key) = (table.name, table.primary_key.join(", "));
            format!("create unique index {name}_pkey on {name} ({key})")
        })
        .collect();
    file.execute(&keys.join(";"));
    file.execute(
        "create index customer_by_name on customer (c_w_id, c_d_id, c_last, c_first);
         create index orders_by_customer on orders (o_w_id, o_d_id, o_c_id, o_id);
         analyze;
         pragma journal_mode = wal;",
    );
    file
}

#[test]
fn a_loaded_file_is_driven() {
    let file = loaded();
    what_was_counted_was_done(&file);
    a_cancelled_run_ends_while_its_writers_wait(&file);
    lock_timeouts_are_counted_apart(&file);
    a_full_disk_is_told(&file);
}

fn plan(file: &File, changes: &Value) -> DrivePlan {
    let mut plan = json!({
        "wire": {"kind": "sqlite", "path": file.path, "settings": {"synchronous": 1}},
        "seed": 5,
        "workload": {"kind": "tpcc", "params": {"warehouses": 1, "c_load": dyno_gen::tpcc::c_load(SEED)}}, "users": 4, "loop": {"kind": "closed"},
        "warmup_s": 0.2, "duration_s": 2, "interval_s": 0.25,
        "clock": {"unix_ns": 1_700_000_000_000_000_000i64, "monotonic_ns": 0},
        "spool": file.folder.join("spool.jsonl")
    });
    for (field, value) in changes.as_object().unwrap() {
        let of_workload = ["warehouses", "home", "mode"].contains(&field.as_str());
        let at = if of_workload { &mut plan["workload"]["params"] } else { &mut plan };
        at[field] = value.clone();
    }
    serde_json::from_value(plan).unwrap()
}

fn run(file: &File, changes: &Value) -> Outcome {
    drive(&plan(file, changes), &Control::new()).unwrap()
}

fn what_was_counted_was_done(file: &File) {
    let orders = || file.number("select count(*) from orders");
    let payments = || file.number("select count(*) from history");
    let (orders_before, payments_before) = (orders(), payments());
    let outcome = run(file, &json!({"warmup_s": 0}));
    assert!(!file.is_open(), "the run is over, and the file still open");
    assert!(outcome.errors_first.is_empty(), "{:?}", outcome.errors_first);
    assert_eq!(outcome.ops.len(), 5);
    let (made, paid) = (orders() - orders_before, payments() - payments_before);
    let unfinished = outcome.unfinished as i64;
    let (new_orders, payments) =
        (outcome.ops["new_order"].done as i64, outcome.ops["payment"].done as i64);
    assert!((new_orders..=new_orders + unfinished).contains(&made));
    assert!((payments..=payments + unfinished).contains(&paid));
    let writer = outcome.writer.unwrap();
    assert!(writer.busy_share > 0.0 && writer.busy_share <= 1.0, "{writer:?}");
    // Amounts stay whole cents, and times keep their loaded format.
    for (column, table, kind) in [
        ("w_ytd", "warehouse", "integer"),
        ("c_balance", "customer", "integer"),
        ("ol_amount", "order_line", "integer"),
        ("o_entry_d", "orders", "text"),
    ] {
        let sql = format!("select count(*) from {table} where typeof({column}) <> '{kind}'");
        assert_eq!(file.number(&sql), 0, "{column}");
    }
    let told = "select count(*) from customer where c_credit = 'BC' and c_data like '% | %'";
    assert!(file.number(told) > 0);
    let sums = "select (select sum(w_ytd) from warehouse) - (select sum(h_amount) from history)";
    assert_eq!(file.number(sums), 0);
}

fn a_cancelled_run_ends_while_its_writers_wait(file: &File) {
    let other = file.open();
    other.execute_batch("begin immediate").unwrap();
    let mut plan = plan(file, &json!({"duration_s": 3_600, "users": 3}));
    let WirePlan::Sqlite(config) = &mut plan.wire else { unreachable!() };
    config.busy_timeout_s = 3_600.0;
    let control = Control::new();
    let handle = control.clone();
    let running = std::thread::spawn(move || drive(&plan, &control));
    while handle.progress().done < 300 && !running.is_finished() {
        std::thread::sleep(Duration::from_millis(5));
    }
    handle.cancel();
    assert_eq!(running.join().unwrap().unwrap_err().kind, ErrorKind::Cancelled);
    other.execute_batch("rollback").unwrap();
}

fn lock_timeouts_are_counted_apart(file: &File) {
    let other = file.open();
    other.execute_batch("begin immediate").unwrap();
    let mut held = plan(file, &json!({"duration_s": 0.5, "max_retries": 1}));
    let WirePlan::Sqlite(config) = &mut held.wire else { unreachable!() };
    config.busy_timeout_s = 0.01;
    let outcome = drive(&held, &Control::new()).unwrap();
    let payment = &outcome.ops["payment"];
    assert!(payment.retries[&ErrorKind::LockTimeout] > 0);
    assert!(payment.errors[&ErrorKind::LockTimeout] > 0);
    assert_eq!(outcome.errors_first.len(), 1, "{:?}", outcome.errors_first);
    // Readers are not blocked.
    assert!(outcome.ops.get("stock_level").is_none_or(|it| it.errors.is_empty()));
}

fn a_full_disk_is_told(file: &File) {
    let pages = file.number("pragma page_count");
    let full = json!({
        "wire": {"kind": "sqlite", "path": file.path, "settings": {"max_page_count": pages}},
        "duration_s": 0.5
    });
    let outcome = run(file, &full);
    assert!(outcome.ops["new_order"].errors[&ErrorKind::DiskFull] > 0, "{outcome:?}");
    let sums = "select (select sum(w_ytd) from warehouse) - (select sum(h_amount) from history)";
    assert_eq!(file.number(sums), 0);
}
