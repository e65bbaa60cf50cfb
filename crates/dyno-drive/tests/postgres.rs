//! The driver and the loader against a real PostgreSQL 18.

#![allow(clippy::doc_markdown, reason = "product names such as PostgreSQL are not code")]

mod common;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use common::{Server, keys};
use dyno_drive::{DrivePlan, LoadOutcome, LoadPlan, Outcome, drive, load};
use dyno_gen::Workload;
use dyno_record::{Control, Error, ErrorKind, Result};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const SEED: u64 = 11;

fn load_plan(server: &Server, workload: Workload, scale: f64) -> LoadPlan {
    serde_json::from_value(json!({
        "wire": server.wire(workload.as_str()), "workload": workload, "scale": scale,
        "seed": SEED, "streams": 2
    }))
    .unwrap()
}

/// Loads TPC-C-derived data with its keys and indexes.
fn load_tpcc(server: &Server, warehouses: u32) -> LoadOutcome {
    server.create(Workload::Tpcc);
    let plan = load_plan(server, Workload::Tpcc, f64::from(warehouses));
    let outcome = load(&plan, &Control::new()).unwrap();
    server.psql("tpcc", &keys(Workload::Tpcc));
    server.psql(
        "tpcc",
        "create index on customer (c_w_id, c_d_id, c_last, c_first);
         create index on orders (o_w_id, o_d_id, o_c_id, o_id);
         vacuum analyze;",
    );
    outcome
}

fn spool(server: &Server, name: &str) -> PathBuf {
    server.dir.join(format!("{name}.jsonl"))
}

fn drive_plan(server: &Server, name: &str, changes: &Value) -> DrivePlan {
    let mut plan = json!({
        "wire": server.wire("tpcc"), "workload": "tpcc", "warehouses": 2, "seed": 5,
        "c_load": dyno_gen::tpcc::c_load(SEED), "users": 4, "loop": {"kind": "closed"},
        "warmup_s": 0, "duration_s": 2, "interval_s": 0.25,
        "clock": {"unix_ns": 1_700_000_000_000_000_000i64, "monotonic_ns": 0},
        "spool": spool(server, name)
    });
    for (field, value) in changes.as_object().unwrap() {
        plan[field] = value.clone();
    }
    serde_json::from_value(plan).unwrap()
}

fn run(server: &Server, name: &str, changes: &Value) -> Result<Outcome> {
    drive(&drive_plan(server, name, changes), &Control::new())
}

fn failure(server: &Server, wire: &Value) -> Error {
    run(server, "failure", &json!({"wire": wire})).unwrap_err()
}

/// Counts what violates each consistency condition (TPC-C specification, clause 3.3.2).
fn violations(server: &Server) -> BTreeMap<&'static str, String> {
    const CONDITIONS: [(&str, &str); 11] = [
        (
            "1",
            "select count(*) from warehouse left join (select d_w_id, sum(d_ytd) as ytd from district group by 1) d on d_w_id = w_id where w_ytd is distinct from ytd",
        ),
        (
            "2",
            "select count(*) from district left join (select o_w_id, o_d_id, max(o_id) as m from orders group by 1, 2) o on (o_w_id, o_d_id) = (d_w_id, d_id) left join (select no_w_id, no_d_id, max(no_o_id) as n from new_order group by 1, 2) n on (no_w_id, no_d_id) = (d_w_id, d_id) where d_next_o_id - 1 is distinct from m or (n is not null and n <> m)",
        ),
        (
            "3",
            "select count(*) from (select max(no_o_id) - min(no_o_id) + 1 as span, count(*) as rows from new_order group by no_w_id, no_d_id) n where span <> rows",
        ),
        (
            "4",
            "select count(*) from (select o_w_id, o_d_id, sum(o_ol_cnt) as s from orders group by 1, 2) o full join (select ol_w_id, ol_d_id, count(*) as c from order_line group by 1, 2) l on (ol_w_id, ol_d_id) = (o_w_id, o_d_id) where s is distinct from c",
        ),
        (
            "5",
            "select count(*) from orders full join new_order on (no_w_id, no_d_id, no_o_id) = (o_w_id, o_d_id, o_id) where o_id is null or (o_carrier_id is null) <> (no_o_id is not null)",
        ),
        (
            "6",
            "select count(*) from orders full join (select ol_w_id, ol_d_id, ol_o_id, count(*) as c from order_line group by 1, 2, 3) l on (ol_w_id, ol_d_id, ol_o_id) = (o_w_id, o_d_id, o_id) where o_ol_cnt is distinct from c",
        ),
        (
            "7",
            "select count(*) from order_line left join orders on (o_w_id, o_d_id, o_id) = (ol_w_id, ol_d_id, ol_o_id) where o_id is null or (ol_delivery_d is null) <> (o_carrier_id is null)",
        ),
        (
            "8",
            "select count(*) from warehouse left join (select h_w_id, sum(h_amount) as s from history group by 1) h on h_w_id = w_id where w_ytd is distinct from s",
        ),
        (
            "9",
            "select count(*) from district left join (select h_w_id, h_d_id, sum(h_amount) as s from history group by 1, 2) h on (h_w_id, h_d_id) = (d_w_id, d_id) where d_ytd is distinct from s",
        ),
        (
            "10 and 12",
            "with delivered as (select o_w_id, o_d_id, o_c_id, sum(ol_amount) as s from orders join order_line on (ol_w_id, ol_d_id, ol_o_id) = (o_w_id, o_d_id, o_id) where ol_delivery_d is not null group by 1, 2, 3), paid as (select h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) as p from history group by 1, 2, 3) select count(*) from customer left join delivered on (o_w_id, o_d_id, o_c_id) = (c_w_id, c_d_id, c_id) left join paid on (h_c_w_id, h_c_d_id, h_c_id) = (c_w_id, c_d_id, c_id) where c_balance <> coalesce(s, 0) - coalesce(p, 0) or c_balance + c_ytd_payment <> coalesce(s, 0)",
        ),
        (
            "counts",
            "select count(*) from (select h_c_w_id, h_c_d_id, h_c_id, count(*) as c from history group by 1, 2, 3) h full join customer on (h_c_w_id, h_c_d_id, h_c_id) = (c_w_id, c_d_id, c_id) where c_payment_cnt is distinct from c",
        ),
    ];
    CONDITIONS
        .into_iter()
        .map(|(name, sql)| (name, server.psql("tpcc", sql)))
        .filter(|(_, count)| count != "0")
        .collect()
}

fn number(server: &Server, sql: &str) -> u64 {
    server.psql("tpcc", sql).parse().unwrap()
}

#[test]
fn loaded_driven_and_consistent() {
    let Some(server) = Server::start(&[]) else { return };
    let loaded = load_tpcc(&server, 2);
    for table in &loaded.tables {
        let rows = number(&server, &format!("select count(*) from {}", table.table));
        assert_eq!(rows, table.rows, "{}", table.table);
    }
    assert_eq!(loaded.tables.len(), 9);
    assert!(violations(&server).is_empty(), "after load: {:?}", violations(&server));

    let orders = || number(&server, "select count(*) from orders");
    let (orders_before, payments_before) =
        (orders(), number(&server, "select count(*) from history"));
    let outcome = run(&server, "clean", &json!({"users": 8, "duration_s": 3})).unwrap();
    assert!(violations(&server).is_empty(), "after run: {:?}", violations(&server));
    assert!(outcome.errors_first.is_empty(), "{:?}", outcome.errors_first);
    assert_eq!(outcome.ops.len(), 5);

    // What was counted was done, and nothing else but what was under way at the end.
    let new_orders = &outcome.ops["new_order"];
    let made = orders() - orders_before;
    assert!((new_orders.done..=new_orders.done + outcome.unfinished).contains(&made));
    let paid = number(&server, "select count(*) from history") - payments_before;
    let payments = outcome.ops["payment"].done;
    assert!((payments..=payments + outcome.unfinished).contains(&paid));
    let delivered = number(&server, "select count(*) from orders where o_carrier_id is not null");
    assert!(delivered >= 2 * 10 * 2100 + outcome.ops["delivery"].done * 10);
    // One in a hundred; a machine that is slow enough needs more than one run for one of them.
    let mut rolled_back = new_orders.rolled_back;
    for seed in 100..120 {
        if rolled_back > 0 {
            break;
        }
        let more = run(&server, "more", &json!({"users": 8, "seed": seed})).unwrap();
        rolled_back += more.ops["new_order"].rolled_back;
    }
    assert!(rolled_back > 0);

    // Other warehouses' stock and customers are really touched, each where it lies.
    let remote = "select count(*) from order_line where ol_supply_w_id <> ol_w_id";
    let remote_lines = number(&server, remote);
    assert!(remote_lines > 0);
    assert_eq!(number(&server, "select sum(s_remote_cnt) from stock"), remote_lines);
    assert!(number(&server, "select count(*) from history where h_c_w_id <> h_w_id") > 0);
    assert_eq!(number(&server, "select count(distinct o_w_id) from orders where o_id > 3000"), 2);
    let sold = "select sum(ol_quantity) from order_line where (ol_w_id, ol_d_id, ol_o_id) in \
                (select o_w_id, o_d_id, o_id from orders where o_id > 3000)";
    assert_eq!(number(&server, "select sum(s_ytd) from stock"), number(&server, sold));
    // Customers of bad credit have their story told in their data.
    let told = "select count(*) from customer where c_credit = 'BC' and c_data like '% | %'";
    assert!(number(&server, told) > 0);

    assert_eq!(failure_of_wrong_size(&server), ErrorKind::Database);
    let open = json!({"loop": {"kind": "open", "rate_per_s": 100, "poisson": true}, "threads": 2});
    let open = run(&server, "open", &open).unwrap();
    let ended: u64 = open.ops.values().map(|op| op.done + op.rolled_back).sum();
    assert_eq!(open.scheduled.unwrap() + open.carried_over, ended + open.unfinished + open.unsent);

    assert!((0..3).all(|seed| warehouses_used(&server, "fixed", seed) <= 1));
    // A machine that is slow enough gets no further than one order.
    assert!((0..20).any(|seed| warehouses_used(&server, "all", seed) == 2));
    assert!((0..20).any(|seed| warehouses_used(&server, "random", seed) == 2));
}

/// Number of warehouses that one user's new orders are of.
fn warehouses_used(server: &Server, home: &str, seed: u64) -> usize {
    let numbers = || {
        server.psql("tpcc", "select sum(d_next_o_id) from district group by d_w_id order by d_w_id")
    };
    let before = numbers();
    let changes = json!({"users": 1, "home": home, "seed": seed, "duration_s": 0.2});
    run(server, home, &changes).unwrap();
    let after = numbers();
    before.lines().zip(after.lines()).filter(|(before, after)| before != after).count()
}

#[test]
fn a_server_that_stands_still_shows_in_responses_and_hides_from_service_times() {
    let Some(server) = Server::start(&[]) else { return };
    server.psql(
        "postgres",
        "create table points as select generate_series(1, 1000) as id, 7 as c;
         alter table points add primary key (id); vacuum analyze points;",
    );
    let changes = json!({
        "wire": server.wire("postgres"), "users": 2, "duration_s": 3,
        "workload": {"point_select": {"sql": "select c from points where id = $1", "keys": 1000}},
        "loop": {"kind": "open", "rate_per_s": 500}
    });
    // A machine that stood still itself spoils a run, a fault of the driver spoils all.
    let mut hidden = false;
    for attempt in 0..20 {
        let plan = drive_plan(&server, &format!("stall-{attempt}"), &changes);
        let outcome = with_stalls(&server, plan);
        let selects = &outcome.ops["point_select"];
        // Of 50 that are due in a stall two are under way and wait for the server, the others for
        // them: one in ten responses in all, one in 250 service times.
        assert!(selects.response_ms.p99 >= 50.0, "{selects:?}");
        assert!(outcome.late >= 40, "{outcome:?}");
        hidden = selects.service_ms.p99 < selects.response_ms.p99 / 4.0;
        if hidden {
            break;
        }
    }
    assert!(hidden);
}

#[test]
fn a_point_that_is_wrong_missing_or_null_is_an_error_of_its_operation() {
    let Some(server) = Server::start(&[]) else { return };
    server.psql(
        "postgres",
        "create table points as select id, id as c, repeat('x', 20) as t
         from generate_series(1, 10) as id where id <> 4;
         update points set c = case when id = 2 then null else -1 end where id in (2, 3);
         insert into points values (5, 5, 'twice');",
    );
    let points = |select: Value| {
        let mut plan = json!({"sql": "select c from points where id = $1", "keys": 10});
        plan.as_object_mut().unwrap().extend(select.as_object().unwrap().clone());
        let changes = json!({
            "wire": server.wire("postgres"), "workload": {"point_select": plan}, "duration_s": 0.5
        });
        run(&server, "points", &changes).unwrap()
    };
    let outcome = points(json!({"holds": "key"}));
    let op = &outcome.ops["point_select"];
    // Of ten keys one is null, one wrong, one missing, one twice there; each is drawn.
    assert_eq!(
        op.errors.keys().copied().collect::<Vec<_>>(),
        [ErrorKind::Protocol, ErrorKind::Database]
    );
    let (null, others) = (op.errors[&ErrorKind::Protocol], op.errors[&ErrorKind::Database]);
    assert!(null > 0 && others > null && op.done > others, "{op:?}");
    let told = &outcome.errors_first[&ErrorKind::Protocol];
    assert!(told.contains("not an integer") && told.contains("point_select"), "{told}");

    // Not looked into, a wrong value is as good as any, but one of another kind is not.
    let third = "select c from points where id = $1 + 2";
    let outcome = points(json!({"sql": third, "keys": 1}));
    assert!(outcome.errors_first.is_empty(), "{:?}", outcome.errors_first);
    let text = json!({
        "sql": "select t from points where id = $1", "keys": 3, "returns": "text",
        "holds": {"bytes": 20}
    });
    let outcome = points(text);
    assert!(outcome.errors_first.is_empty(), "{:?}", outcome.errors_first);
}

/// Drives while the server's sessions are stopped for 100 ms of every second.
fn with_stalls(server: &Server, plan: DrivePlan) -> Outcome {
    let users = plan.users as usize;
    let control = Control::new();
    let handle = control.clone();
    let running = std::thread::spawn(move || drive(&plan, &control));
    let reached = |done_ms: u64| {
        while handle.progress().done < done_ms && !running.is_finished() {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    reached(200);
    let sessions = server.psql(
        "postgres",
        "select pid from pg_stat_activity
         where backend_type = 'client backend' and pid <> pg_backend_pid()",
    );
    let sessions: Vec<i32> = sessions.lines().map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(sessions.len(), users);
    for second in 0..3 {
        reached(second * 1_000 + 500);
        let _stopped = Stopped::now(&sessions);
        std::thread::sleep(Duration::from_millis(100));
    }
    running.join().unwrap().unwrap()
}

/// Processes that go on when this is dropped.
struct Stopped<'a>(&'a [i32]);

impl<'a> Stopped<'a> {
    fn now(processes: &'a [i32]) -> Self {
        signal(processes, Signal::STOP);
        Self(processes)
    }
}

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        signal(self.0, Signal::CONT);
    }
}

fn signal(processes: &[i32], signal: Signal) {
    for process in processes {
        // A session that has ended needs none.
        let _ = kill_process(Pid::from_raw(*process).unwrap(), signal);
    }
}

/// More warehouses than there are: transactions fail, the run does not.
fn failure_of_wrong_size(server: &Server) -> ErrorKind {
    let outcome = run(server, "size", &json!({"warehouses": 40, "duration_s": 0.3})).unwrap();
    let failed: u64 = outcome.ops.values().flat_map(|op| op.errors.values()).sum();
    assert!(failed > 0);
    assert_eq!(outcome.errors_first.len(), 1, "{:?}", outcome.errors_first);
    *outcome.errors_first.keys().next().unwrap()
}

#[test]
fn serialisation_failures_are_retried_and_counted_apart() {
    let Some(server) = Server::start(&["default_transaction_isolation = serializable"]) else {
        return;
    };
    load_tpcc(&server, 1);
    let changes = json!({"users": 8, "warehouses": 1, "max_retries": 100});
    let outcome = run(&server, "serial", &changes).unwrap();
    let retries: u64 = outcome.ops.values().flat_map(|op| op.retries.values()).sum();
    assert!(retries > 0);
    let kinds: Vec<_> = outcome.errors_first.keys().collect();
    assert_eq!(kinds, [&ErrorKind::Serialization]);
    assert!(outcome.ops.values().all(|op| op.errors.is_empty()));
    assert!(violations(&server).is_empty(), "{:?}", violations(&server));

    let changes = json!({"users": 8, "warehouses": 1, "max_retries": 0, "duration_s": 1});
    let outcome = run(&server, "no-retries", &changes).unwrap();
    let failed: u64 = outcome.ops.values().flat_map(|op| op.errors.values()).sum();
    assert!(failed > 0);
    assert!(outcome.ops.values().all(|op| op.retries.is_empty()));
    assert!(violations(&server).is_empty(), "{:?}", violations(&server));
}

#[test]
fn a_lock_that_is_not_had_in_time_is_tried_again_and_counted_apart() {
    let settings = ["lock_timeout = '20ms'", "max_prepared_transactions = 1"];
    let Some(server) = Server::start(&settings) else { return };
    // A transaction that is prepared holds its lock, whoever comes and goes.
    server.psql(
        "postgres",
        "create table points as select id, id as c from generate_series(1, 2) as id;
         begin; select c from points where id = 1 for update; prepare transaction 'holder';",
    );
    let sql = "select c from points where id = $1 for update";
    let changes = json!({
        "wire": server.wire("postgres"), "users": 2, "max_retries": 1,
        "workload": {"point_select": {"sql": sql, "keys": 2, "holds": "key"}}
    });
    let outcome = run(&server, "locked", &changes).unwrap();
    server.psql("postgres", "rollback prepared 'holder'");
    let op = &outcome.ops["point_select"];
    assert_eq!(op.errors.keys().collect::<Vec<_>>(), [&ErrorKind::LockTimeout]);
    assert!(op.done > 0 && op.retries[&ErrorKind::LockTimeout] > 0, "{op:?}");
    let told = &outcome.errors_first[&ErrorKind::LockTimeout];
    assert!(told.contains("another session held its lock"), "{told}");
}

#[test]
fn a_server_that_crashes_and_comes_back() {
    let Some(mut server) = Server::start(&[]) else { return };
    load_tpcc(&server, 1);
    let changes = json!({"warehouses": 1, "duration_s": 3600, "reconnect_s": 600});
    let plan = drive_plan(&server, "crash", &changes);
    let control = Control::new();
    let handle = control.clone();
    let running = std::thread::spawn(move || drive(&plan, &control));
    while handle.progress().done < 700 {
        std::thread::sleep(Duration::from_millis(10));
    }
    server.kill();
    server.launch();
    // All four are at work again.
    let users = "select count(*) from pg_stat_activity where datname = 'tpcc' and xact_start is not null \
                 and backend_type = 'client backend' and pid <> pg_backend_pid()";
    while server.psql("postgres", users) != "4" {
        assert!(!running.is_finished(), "the run ended without its users");
        std::thread::sleep(Duration::from_millis(10));
    }
    handle.finish();
    let outcome = running.join().unwrap().unwrap();
    assert_eq!(outcome.reconnects, 4);
    assert!(outcome.errors_first.contains_key(&ErrorKind::ConnectionLost));
    let failed: u64 = outcome.ops.values().flat_map(|op| op.errors.values()).sum();
    assert_eq!(failed, 4, "each user loses one transaction: {:?}", outcome.errors_first);
    assert!(violations(&server).is_empty(), "{:?}", violations(&server));
}

#[test]
fn a_server_that_is_gone_for_good() {
    let Some(mut server) = Server::start(&[]) else { return };
    load_tpcc(&server, 1);
    let changes = json!({"warehouses": 1, "duration_s": 3600, "reconnect_s": 0.5, "threads": 2});
    let plan = drive_plan(&server, "gone", &changes);
    let control = Control::new();
    let handle = control.clone();
    let running = std::thread::spawn(move || drive(&plan, &control));
    while handle.progress().done < 1_000 {
        std::thread::sleep(Duration::from_millis(10));
    }
    server.kill();
    let killed = Instant::now();
    let error = running.join().unwrap().unwrap_err();
    assert_eq!(error.kind, ErrorKind::ConnectionLost, "{error}");
    assert!(killed.elapsed() < Duration::from_secs(600), "{:?}", killed.elapsed());
    let text = std::fs::read_to_string(spool(&server, "gone")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let done: u64 = lines.iter().map(|line| line["done"].as_u64().unwrap()).sum();
    assert!(done > 0);
    assert!(lines.iter().any(|line| line["errors"]["connection_lost"].is_u64()));
}

#[test]
fn what_is_wrong_at_the_door_is_said() {
    // Fewer than the 150 users below; more than the sessions that are still taking leave.
    let Some(server) = Server::start(&["max_connections = 100"]) else { return };
    server.psql(
        "postgres",
        "set password_encryption = 'md5'; create role by_md5 login password 'se ''cret';
         set password_encryption = 'scram-sha-256'; create role by_scram login password 'sécret';
         create role by_text login password 'secret';",
    );
    let hba = "local all by_md5 md5\nlocal all by_scram scram-sha-256\nlocal all by_text password\n\
               local all all trust\nhost all by_scram 127.0.0.1/32 scram-sha-256\n\
               hostssl all all 127.0.0.1/32 trust\n";
    std::fs::write(server.dir.join("data/pg_hba.conf"), hba).unwrap();
    let loaded = || server.psql("postgres", "select pg_conf_load_time()");
    let before = loaded();
    server.psql("postgres", "select pg_reload_conf()");
    while loaded() == before {
        std::thread::sleep(Duration::from_millis(5));
    }
    let wire = |user: &str, password: Option<&str>| {
        let mut wire = server.wire("postgres");
        wire["user"] = json!(user);
        wire["password"] = json!(password);
        wire
    };
    for (user, password) in [("by_md5", "se 'cret"), ("by_scram", "sécret"), ("by_text", "secret")]
    {
        // Let in, and told that there is nothing to drive.
        let error = failure(&server, &wire(user, Some(password)));
        assert_eq!(error.kind, ErrorKind::Usage, "{error}");
        assert!(error.message.contains("load the workload"), "{error}");
        for wrong in [Some("wrong"), None] {
            let error = failure(&server, &wire(user, wrong));
            assert_eq!(error.kind, ErrorKind::Denied, "{error}");
            assert!(!error.to_string().contains("wrong"), "{error}");
        }
    }

    let mut tcp = wire("by_scram", Some("sécret"));
    tcp["host"] = json!("localhost");
    assert_eq!(failure(&server, &tcp).kind, ErrorKind::Usage);
    let mut tls = server.wire("postgres");
    tls["host"] = json!("127.0.0.1");
    let error = failure(&server, &tls);
    assert_eq!(error.kind, ErrorKind::Denied);
    assert!(error.message.contains("TLS"), "{error}");

    assert_eq!(failure(&server, &server.wire("nowhere")).kind, ErrorKind::Unreachable);
    let mut elsewhere = server.wire("postgres");
    elsewhere["port"] = json!(1);
    assert_eq!(failure(&server, &elsewhere).kind, ErrorKind::Unreachable);
    elsewhere["host"] = json!(format!("/{}", "x".repeat(120)));
    assert_eq!(failure(&server, &elsewhere).kind, ErrorKind::Usage);

    server.create(Workload::Tpcc);
    let error = run(&server, "crowd", &json!({"users": 150})).unwrap_err();
    assert_eq!(error.kind, ErrorKind::TooManyConnections, "{error}");
    assert!(error.message.contains("max_connections"), "{error}");
    server.psql("tpcc", "alter table warehouse alter w_tax type text");
    let error = run(&server, "types", &json!({})).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Usage);
    assert!(error.message.contains("warehouse_tax"), "{error}");
}

#[test]
fn tables_elsewhere_are_found_by_schema() {
    let Some(server) = Server::start(&[]) else { return };
    server.create(Workload::Tpch);
    let missing = load(&load_plan(&server, Workload::Tpcc, 1.0), &Control::new()).unwrap_err();
    assert_eq!(missing.kind, ErrorKind::Unreachable, "{missing}");

    let moves: Vec<String> = Workload::Tpch
        .tables()
        .iter()
        .map(|table| format!("alter table {} set schema \"odd \"\"name\"", table.name))
        .collect();
    let moves = moves.join(";");
    server.psql("tpch", &format!("create schema \"odd \"\"name\"; {moves}"));
    let mut plan = json!({
        "wire": server.wire("tpch"), "workload": "tpch", "scale": 0.01, "seed": SEED, "streams": 3
    });
    let absent = load(&serde_json::from_value(plan.clone()).unwrap(), &Control::new()).unwrap_err();
    assert_eq!(absent.kind, ErrorKind::Usage, "{absent}");
    plan["wire"]["schema"] = json!("odd \"name");
    let control = Control::new();
    let outcome = load(&serde_json::from_value(plan).unwrap(), &control).unwrap();
    let count = server.psql("tpch", "select count(*) from \"odd \"\"name\".lineitem");
    let lineitem = outcome.tables.iter().find(|table| table.table == "lineitem").unwrap();
    assert_eq!(count, lineitem.rows.to_string());
    assert_eq!(control.progress().done, outcome.rows);
    assert!(lineitem.seconds > 0.0 && lineitem.seconds <= outcome.seconds);
}

#[test]
fn a_load_that_is_stopped_leaves_whole_parts_only() {
    let Some(mut server) = Server::start(&[]) else { return };
    server.create(Workload::Tpch);
    for crash in [false, true] {
        let plan = load_plan(&server, Workload::Tpch, 1.0);
        let control = Control::new();
        let handle = control.clone();
        let loading = std::thread::spawn(move || (load(&plan, &control), Instant::now()));
        while handle.progress().done < 100_000 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let stopped = Instant::now();
        if crash {
            server.kill();
        } else {
            handle.cancel();
        }
        let (result, ended) = loading.join().unwrap();
        let error = result.unwrap_err();
        if crash {
            assert_eq!(error.kind, ErrorKind::ConnectionLost, "{error}");
            server.launch();
        } else {
            assert_eq!(error.kind, ErrorKind::Cancelled, "{error}");
            assert!(ended - stopped < Duration::from_secs(300), "{:?}", ended - stopped);
        }
        // The first parts, of half a million lines and more, were under way: nothing of them stays.
        assert_eq!(server.psql("tpch", "select count(*) from lineitem"), "0");
        let copying =
            "select count(*) from pg_stat_activity where query like 'copy%' and state = 'active'";
        // The server takes a moment to notice that its client has hung up.
        let asked = Instant::now();
        while server.psql("tpch", copying) != "0" {
            assert!(
                asked.elapsed() < Duration::from_secs(300),
                "a COPY goes on without its client"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Processes of a server that are stopped where they are, and go on when this is dropped.
struct Stalled(Vec<Pid>);

impl Stalled {
    fn new(pids: &str) -> Self {
        let pids = pids.lines().map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap());
        let stalled = Self(pids.collect());
        for pid in &stalled.0 {
            kill_process(*pid, Signal::STOP).unwrap();
        }
        stalled
    }
}

impl Drop for Stalled {
    fn drop(&mut self) {
        for pid in &self.0 {
            let _ = kill_process(*pid, Signal::CONT);
        }
    }
}

#[test]
fn a_load_is_stopped_while_the_server_stalls() {
    let Some(server) = Server::start(&[]) else { return };
    server.create(Workload::Tpch);
    let plan = load_plan(&server, Workload::Tpch, 1.0);
    let control = Control::new();
    let handle = control.clone();
    let (ended, result) = mpsc::channel();
    std::thread::spawn(move || ended.send(load(&plan, &control)));
    let copying = "select pid from pg_stat_activity where query like 'copy%' and state = 'active'";
    let copies = || server.psql("tpch", copying);
    while handle.progress().done < 100_000 || copies().lines().count() < 2 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let stalled = Stalled::new(&copies());
    // Until what lies between is full and no row goes out any more.
    let (mut done, mut looks) = (0, 0);
    while looks < 20 {
        std::thread::sleep(Duration::from_millis(10));
        let now = handle.progress().done;
        looks = if now == done { looks + 1 } else { 0 };
        done = now;
    }
    handle.cancel();
    let result = result.recv_timeout(Duration::from_secs(300));
    drop(stalled);
    let error = result.expect("the load waits for the server").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled, "{error}");
    while !copies().is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(server.psql("tpch", "select count(*) from lineitem"), "0");
}
