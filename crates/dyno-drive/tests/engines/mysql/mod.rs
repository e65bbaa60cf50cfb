//! The driver and the loader with a real MariaDB.

#![allow(clippy::doc_markdown, reason = "product names such as MariaDB are not code")]

mod server;

use std::path::PathBuf;
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use dyno_drive::{DrivePlan, LoadPlan, Outcome, drive, load};
use dyno_gen::Workload;
use dyno_record::{Control, Error, ErrorKind, Result};
use serde_json::{Value, json};
use server::Server;

use crate::machine;

const SEED: u64 = 11;

/// Loads TPC-C-derived data with its keys and indexes.
fn load_tpcc(server: &Server, warehouses: u32) {
    server.create(Workload::Tpcc);
    let plan: LoadPlan = serde_json::from_value(json!({
        "wire": server.wire("tpcc"), "workload": "tpcc", "scale": warehouses, "seed": SEED,
        "streams": 2
    }))
    .unwrap();
    load(&plan, &Control::new()).unwrap();
    server.sql(
        "tpcc",
        "create index by_name on customer (c_w_id, c_d_id, c_last, c_first);
         create index by_customer on orders (o_w_id, o_d_id, o_c_id, o_id);",
    );
    // The server would gather statistics in the background. On a busy machine that is too late for
    // the conditions, whose plans without statistics take minutes.
    server.sql("tpcc", "analyze table customer, district, history, new_order, orders, order_line");
}

fn spool(server: &Server, name: &str) -> PathBuf {
    server.dir.join(format!("{name}.jsonl"))
}

fn drive_plan(server: &Server, name: &str, changes: &Value) -> DrivePlan {
    let mut plan = json!({
        "wire": server.wire("tpcc"), "seed": 5,
        "workload": {"kind": "tpcc", "params": {"warehouses": 1, "c_load": dyno_gen::tpcc::c_load(SEED)}}, "users": 4, "loop": {"kind": "closed"},
        "warmup_s": 0, "duration_s": 2, "interval_s": 0.25,
        "clock": {"unix_ns": 1_700_000_000_000_000_000i64, "monotonic_ns": 0},
        "spool": spool(server, name)
    });
    for (field, value) in changes.as_object().unwrap() {
        let of_workload = ["warehouses", "home", "mode"].contains(&field.as_str());
        let at = if of_workload { &mut plan["workload"]["params"] } else { &mut plan };
        at[field] = value.clone();
    }
    serde_json::from_value(plan).unwrap()
}

fn run(server: &Server, name: &str, changes: &Value) -> Result<Outcome> {
    drive(&drive_plan(server, name, changes), &Control::new())
}

fn failure(server: &Server, wire: &Value) -> Error {
    run(server, "failure", &json!({"wire": wire})).unwrap_err()
}

fn failed(outcome: &Outcome) -> u64 {
    outcome.ops.values().flat_map(|op| op.errors.values()).sum()
}

/// Violations of each consistency condition (TPC-C specification, clause 3.3.2), without those that
/// have none. `dyno check` has the complete conditions; a lost or duplicated statement violates
/// these.
fn violations(server: &Server) -> Vec<(&'static str, String)> {
    const CONDITIONS: [(&str, &str); 9] = [
        (
            "1",
            "select count(*) from warehouse where not (w_ytd <=> (select sum(d_ytd) from district where d_w_id = w_id))",
        ),
        (
            "2",
            "select count(*) from district where not (d_next_o_id - 1 <=> (select max(o_id) from orders where o_w_id = d_w_id and o_d_id = d_id)) or (select max(no_o_id) from new_order where no_w_id = d_w_id and no_d_id = d_id) <> d_next_o_id - 1",
        ),
        (
            "3",
            "select count(*) from (select max(no_o_id) - min(no_o_id) + 1 as span, count(*) as found from new_order group by no_w_id, no_d_id) n where span <> found",
        ),
        (
            "5",
            "select count(*) from orders left join new_order on no_w_id = o_w_id and no_d_id = o_d_id and no_o_id = o_id where (o_carrier_id is null) <> (no_o_id is not null)",
        ),
        (
            "6",
            "select count(*) from orders where o_ol_cnt <> (select count(*) from order_line where ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id)",
        ),
        (
            "7",
            "select count(*) from order_line left join orders on o_w_id = ol_w_id and o_d_id = ol_d_id and o_id = ol_o_id where o_id is null or (ol_delivery_d is null) <> (o_carrier_id is null)",
        ),
        (
            "9",
            "select count(*) from district left join (select h_w_id, h_d_id, sum(h_amount) as paid from history group by 1, 2) h on h_w_id = d_w_id and h_d_id = d_id where not (d_ytd <=> paid)",
        ),
        (
            "10 and 12",
            "select count(*) from customer left join (select o_w_id, o_d_id, o_c_id, sum(ol_amount) as s from orders join order_line on ol_w_id = o_w_id and ol_d_id = o_d_id and ol_o_id = o_id where ol_delivery_d is not null group by 1, 2, 3) d on o_w_id = c_w_id and o_d_id = c_d_id and o_c_id = c_id left join (select h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) as p from history group by 1, 2, 3) h on h_c_w_id = c_w_id and h_c_d_id = c_d_id and h_c_id = c_id where c_balance <> coalesce(s, 0) - coalesce(p, 0) or c_balance + c_ytd_payment <> coalesce(s, 0)",
        ),
        (
            "counts",
            "select count(*) from customer left join (select h_c_w_id, h_c_d_id, h_c_id, count(*) as c from history group by 1, 2, 3) h on h_c_w_id = c_w_id and h_c_d_id = c_d_id and h_c_id = c_id where not (c_payment_cnt <=> c)",
        ),
    ];
    CONDITIONS
        .into_iter()
        .map(|(name, sql)| (name, server.sql("tpcc", sql)))
        .filter(|(_, count)| count != "0")
        .collect()
}

fn require_consistent(server: &Server) {
    let found = violations(server);
    assert!(found.is_empty(), "{found:?}");
}

fn number(server: &Server, sql: &str) -> u64 {
    server.sql("tpcc", sql).parse().unwrap()
}

#[test]
fn loaded_driven_and_consistent() {
    let Some(server) = Server::start(&[]) else { return };
    load_tpcc(&server, 2);
    require_consistent(&server);

    let orders = || number(&server, "select count(*) from orders");
    let payments = || number(&server, "select count(*) from history");
    let (orders_before, payments_before) = (orders(), payments());
    let changes = json!({"users": 8, "warehouses": 2, "duration_s": 6});
    let outcome = run(&server, "clean", &changes).unwrap();
    require_consistent(&server);
    assert_eq!(outcome.ops.len(), 5);
    // Two that change the same rows may deadlock; nothing else may fail.
    assert!(outcome.errors_first.keys().all(|kind| *kind == ErrorKind::Deadlock));
    assert_eq!(failed(&outcome), 0);

    // The counted work was done, and nothing else except work in progress at the end.
    let all = |done: u64| done..=done + outcome.unfinished;
    assert!(all(outcome.ops["new_order"].done).contains(&(orders() - orders_before)));
    assert!(all(outcome.ops["payment"].done).contains(&(payments() - payments_before)));
    let delivered = number(&server, "select count(*) from orders where o_carrier_id is not null");
    assert!(delivered >= 2 * 10 * 2100 + outcome.ops["delivery"].done * 10);
    assert!(outcome.ops["order_status"].done > 0 && outcome.ops["stock_level"].done > 0);

    // Stock and customers of other warehouses are changed, each where it is stored.
    let remote_lines =
        number(&server, "select count(*) from order_line where ol_supply_w_id <> ol_w_id");
    assert!(remote_lines > 0);
    assert_eq!(number(&server, "select sum(s_remote_cnt) from stock"), remote_lines);
    let sold = "select sum(ol_quantity) from order_line join orders on ol_w_id = o_w_id and \
                ol_d_id = o_d_id and ol_o_id = o_id where o_id > 3000";
    assert_eq!(number(&server, "select sum(s_ytd) from stock"), number(&server, sold));
    // Customers with bad credit have the payment recorded in their data.
    let told = "select count(*) from customer where c_credit = 'BC' and c_data like '% | %'";
    assert!(number(&server, told) > 0);

    // More warehouses than exist: transactions fail, the run does not.
    let wrong = run(&server, "size", &json!({"warehouses": 40, "duration_s": 0.3})).unwrap();
    assert!(failed(&wrong) > 0);
    assert!(wrong.errors_first.contains_key(&ErrorKind::Database), "{:?}", wrong.errors_first);
    require_consistent(&server);
}

#[test]
fn deadlocks_are_retried_and_counted_apart() {
    // Reads lock what others change.
    let Some(server) = Server::start(&["--transaction-isolation=SERIALIZABLE"]) else { return };
    load_tpcc(&server, 1);
    let outcome = run(&server, "serial", &json!({"users": 8, "max_retries": 1000})).unwrap();
    let retries: u64 = outcome.ops.values().flat_map(|op| op.retries.values()).sum();
    assert!(retries > 0);
    assert_eq!(outcome.errors_first.keys().collect::<Vec<_>>(), [&ErrorKind::Deadlock]);
    assert_eq!(failed(&outcome), 0);
    require_consistent(&server);

    let changes = json!({"users": 8, "max_retries": 0, "duration_s": 1});
    let outcome = run(&server, "no-retries", &changes).unwrap();
    assert!(failed(&outcome) > 0);
    assert!(outcome.ops.values().all(|op| op.retries.is_empty()));
    require_consistent(&server);
}

#[test]
fn lock_timeouts_are_retried_and_counted_apart() {
    let Some(server) = Server::start(&["--innodb-monitor-enable=lock_timeouts"]) else { return };
    load_tpcc(&server, 1);
    let mut wire = server.wire("tpcc");
    wire["lock_wait_s"] = json!(1);
    let changes = json!({"wire": wire, "duration_s": 3600, "max_retries": 1000});
    let plan = drive_plan(&server, "locks", &changes);
    let control = Control::new();
    let handle = control.clone();
    std::thread::scope(|scope| {
        // Hold the row that every order and payment locks.
        let holder = scope.spawn(|| {
            let hold = "begin; update district set d_tax = d_tax; select sleep(3600)";
            assert!(server.try_sql("tpcc", hold).is_err(), "it ends by the kill only");
        });
        let let_go = AtEnd(|| {
            let sleepers = "select id from information_schema.processlist \
                            where state = 'User sleep'";
            for id in server.try_sql("mysql", sleepers).unwrap_or_default().lines() {
                let _ = server.try_sql("mysql", &format!("kill {id}"));
            }
        });
        let finish = AtEnd(|| handle.finish());
        let sleeping = "select count(*) from information_schema.processlist \
                        where state = 'User sleep'";
        wait_beside(&holder, || server.sql("mysql", sleeping) == "1");
        let running = scope.spawn(|| drive(&plan, &control));
        let timeouts = "select count from information_schema.innodb_metrics \
                        where name = 'lock_timeouts'";
        wait_beside(&running, || number(&server, timeouts) >= 4);
        drop(let_go);
        holder.join().unwrap();
        let orders = || number(&server, "select count(*) from orders");
        let before = orders();
        wait_beside(&running, || orders() > before);
        drop(finish);
        let outcome = running.join().unwrap().unwrap();
        let retries = |op: &str| outcome.ops[op].retries.get(&ErrorKind::LockTimeout).copied();
        assert!(retries("new_order") > Some(0) || retries("payment") > Some(0), "{outcome:?}");
        assert_eq!(failed(&outcome), 0, "{:?}", outcome.errors_first);
    });
    require_consistent(&server);
}

/// Polls until `reached` returns a value; fails if `work`, which must cause it, has ended.
fn wait_beside<T>(work: &ScopedJoinHandle<'_, T>, mut reached: impl FnMut() -> bool) {
    while !reached() {
        assert!(!work.is_finished(), "it ended before");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Runs a function on drop, also if the test fails, because its other threads would go on.
struct AtEnd<F: Fn()>(F);

impl<F: Fn()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn a_server_that_crashes_and_comes_back() {
    let Some(mut server) = Server::start(&["--innodb-flush-log-at-trx-commit=1"]) else { return };
    load_tpcc(&server, 1);
    let changes = json!({"duration_s": 3600, "reconnect_s": 600});
    let plan = drive_plan(&server, "crash", &changes);
    let control = Control::new();
    let handle = control.clone();
    let running = std::thread::spawn(move || drive(&plan, &control));
    while handle.progress().done < 700 && !running.is_finished() {
        std::thread::sleep(Duration::from_millis(10));
    }
    server.kill();
    server.launch();
    // All four are back.
    let users = "select count(*) from information_schema.processlist where db = 'tpcc'";
    while server.sql("mysql", users) != "4" {
        assert!(!running.is_finished(), "the run ended without its users");
        std::thread::sleep(Duration::from_millis(10));
    }
    handle.finish();
    let outcome = running.join().unwrap().unwrap();
    assert_eq!(outcome.reconnects, 4);
    assert!(outcome.errors_first.contains_key(&ErrorKind::ConnectionLost));
    let lost: u64 =
        outcome.ops.values().filter_map(|op| op.errors.get(&ErrorKind::ConnectionLost)).sum();
    assert_eq!(lost, 4, "each user loses one transaction: {:?}", outcome.errors_first);
    require_consistent(&server);
}

#[test]
fn what_is_wrong_at_the_door_is_said() {
    let Some(server) = Server::start(&["--max-connections=20", "--plugin-load-add=auth_ed25519"])
    else {
        return;
    };
    server.sql(
        "mysql",
        "create user native@'%' identified by 'se ''cret'; create user bare@'%';
         create user curved@'%' identified via ed25519 using password('sécret');
         grant all on *.* to native@'%'; grant all on *.* to curved@'%'; grant all on *.* to bare@'%'",
    );
    let over = |tcp: bool, user: &str, password: Option<&str>| {
        let mut wire = server.wire("mysql");
        wire["user"] = json!(user);
        wire["password"] = json!(password);
        if tcp {
            wire["unix_socket"] = Value::Null;
            wire["host"] = json!("127.0.0.1");
        }
        wire
    };
    for tcp in [false, true] {
        for (user, password) in
            [("native", Some("se 'cret")), ("curved", Some("sécret")), ("bare", None)]
        {
            // The login succeeds, but there is nothing to drive.
            let error = failure(&server, &over(tcp, user, password));
            assert_eq!(error.kind, ErrorKind::Usage, "{error}");
            assert!(error.message.contains("load the workload"), "{error}");
        }
        for user in ["native", "curved", "nobody"] {
            for wrong in [Some("wr0ng"), None] {
                let error = failure(&server, &over(tcp, user, wrong));
                assert_eq!(error.kind, ErrorKind::Denied, "{error}");
                assert!(!error.to_string().contains("wr0ng"), "{error}");
            }
        }
    }
    assert_eq!(failure(&server, &server.wire("nowhere")).kind, ErrorKind::Usage);
    let mut tls = over(true, "native", Some("se 'cret"));
    tls["tls"] = json!({});
    let error = failure(&server, &tls);
    assert_eq!(error.kind, ErrorKind::Unreachable);
    assert!(error.message.contains("does not offer TLS"), "{error}");
    let mut elsewhere = server.wire("mysql");
    elsewhere["unix_socket"] = json!("/nowhere/s");
    assert_eq!(failure(&server, &elsewhere).kind, ErrorKind::Unreachable);
    // A load describes the server like the driver.
    let plan = json!({"wire": elsewhere, "workload": "tpcc", "scale": 1, "seed": 1, "streams": 1});
    let plan: LoadPlan = serde_json::from_value(plan).unwrap();
    let error = load(&plan, &Control::new()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unreachable);
    assert!(error.to_string().contains("MariaDB/MySQL at /nowhere/s"), "{error}");
    elsewhere["unix_socket"] = json!(format!("/{}", "x".repeat(120)));
    assert_eq!(failure(&server, &elsewhere).kind, ErrorKind::Usage);

    server.create(Workload::Tpcc);
    let error = run(&server, "crowd", &json!({"users": 40})).unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooManyConnections, "{error}");
    assert!(error.message.contains("max_connections"), "{error}");
    server.sql("tpcc", "alter table warehouse modify w_tax double");
    let error = run(&server, "types", &json!({})).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Usage);
    assert!(error.message.contains("warehouse_tax"), "{error}");
}
