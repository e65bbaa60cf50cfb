use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::shape::Transaction;
use super::*;
use serde_json::json;

/// A log of `count` statements, one every `gap_ms`, by sessions in turn.
fn log(name: &str, count: u64, gap_ms: u64, sessions: u64) -> PathBuf {
    let mut text = String::new();
    for number in 0..count {
        let ms = number * gap_ms;
        let (second, ms) = (ms / 1000, ms % 1000);
        let session = number % sessions + 1;
        let row = json!({
            "timestamp": format!("2026-11-26 14:00:{second:02}.{ms:03} UTC"), "dbname": "shop",
            "session_id": format!("a.{session:x}"), "message": match number % 4 {
                0 => format!("statement: select {number}"),
                1 => format!("statement: update t set a = {number}"),
                2 => "statement: create table t (a int)".to_owned(),
                _ => format!("statement: select a from t where b = '{number}'"),
            },
        });
        writeln!(text, "{row}").unwrap();
    }
    let path = std::env::temp_dir().join(format!("dyno-replay-{}-{name}.json", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

fn scanned(select: &serde_json::Value) -> Scan {
    let plan = serde_json::from_value(json!({"select": select})).unwrap();
    scan(&plan, &Control::new()).unwrap()
}

fn replayed(
    path: &std::path::Path,
    select: serde_json::Value,
    mean_ms: f64,
    speed: f64,
) -> Outcome {
    let found = scanned(&select);
    let mut select = select;
    select["first_ns"] = json!(found.first_ns);
    select["ends"] = json!(found.ends);
    let classes: BTreeMap<_, _> =
        found.classes.iter().enumerate().map(|(at, class)| (class.hash.clone(), at)).collect();
    let mut operations: Vec<_> = (0..classes.len()).map(|at| format!("c{at}")).collect();
    operations.push("other".to_owned());
    let spool = path.with_extension("spool");
    let span_s = (found.last_ns.unwrap() - found.first_ns.unwrap()) as f64 / 1e9;
    let plan = json!({
        "select": select, "wire": {"kind": "null", "mean_ms": mean_ms},
        "speed": speed, "duration_s": span_s / speed, "sessions": found.sessions,
        "operations": operations, "classes": classes, "spool": spool, "interval_s": 0.1,
        "clock": {"unix_ns": 0, "monotonic_ns": 0}, "reconnect_s": 1.0,
    });
    let plan: ReplayPlan = serde_json::from_value(plan).unwrap();
    let outcome = replay(&plan, &Control::new()).unwrap();
    std::fs::remove_file(spool).unwrap();
    outcome
}

fn done(outcome: &Outcome) -> BTreeMap<&str, u64> {
    outcome.ops.iter().map(|(name, op)| (*name, op.done)).collect()
}

#[test]
fn a_scan_counts_what_is_replayed_and_why_the_rest_is_not() {
    let path = log("scan", 40, 1, 5);
    let found = scanned(&json!({"log": path, "writes": true}));
    assert_eq!((found.statements, found.sessions, found.at_once), (30, 5, 5));
    assert_eq!(found.classes.iter().map(|class| class.count).collect::<Vec<_>>(), [10, 10, 10]);
    assert!(found.classes.iter().any(|class| class.text == "select ?"));
    let left: Vec<_> = found.left_out.into_values().collect();
    assert_eq!(left, [(10, 3)]);
    let found = scanned(&json!({"log": path, "database": "other"}));
    assert_eq!(found.statements, 0);
    let found = scanned(&json!({"log": path, "span_s": 0.02}));
    assert_eq!(found.statements, 10);
    let all = scanned(&json!({"log": path}));
    let found = scanned(&json!({"log": path, "most": 2, "ends": all.ends}));
    assert_eq!(found.at_once, 2);
    std::fs::remove_file(path).unwrap();
}

/// A JSON log of what sessions said: seconds, session, database, message.
fn said(name: &str, rows: &[(f64, &str, &str, &str)]) -> PathBuf {
    let mut text = String::new();
    for (at_s, session, database, message) in rows {
        let (minute, second) = ((at_s / 60.0) as u32, at_s % 60.0);
        let row = json!({
            "timestamp": format!("2026-11-26 14:{minute:02}:{second:06.3} UTC"),
            "dbname": database, "session_id": session, "message": message,
        });
        writeln!(text, "{row}").unwrap();
    }
    let path = std::env::temp_dir().join(format!("dyno-replay-{}-{name}.json", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_session_that_only_reads_stays_so() {
    let rows = [
        (0.0, "a.1", "shop", "statement: set session characteristics as transaction read write"),
        (0.1, "a.1", "shop", "statement: set transaction read write"),
        (0.2, "a.1", "shop", "statement: begin read write"),
        (0.3, "a.1", "shop", "statement: reset all"),
        (0.4, "a.1", "shop", "statement: select 1"),
    ];
    let path = said("unlock", &rows);
    let reads = scanned(&json!({"log": path}));
    let all = scanned(&json!({"log": path, "writes": true}));
    std::fs::remove_file(path).unwrap();
    assert_eq!(reads.statements, 1);
    assert_eq!(reads.left_out[&chosen::Reason::Writes], (3, 1));
    assert_eq!(all.statements, 4);
    assert_eq!(all.left_out[&chosen::Reason::Pinned], (1, 4));
}

#[test]
fn the_span_counts_from_the_first_statement_to_replay() {
    let mut rows = vec![(0.0, "a.9", "other", "statement: select 0")];
    rows.extend(
        (0..80)
            .map(|number| (0.2 + f64::from(number) / 100.0, "a.1", "shop", "statement: select 1")),
    );
    let path = said("span", &rows);
    let select = json!({"log": path, "database": "shop", "span_s": 0.4});
    let found = scanned(&select);
    let outcome = replayed(&path, select, 0.0, 1.0);
    std::fs::remove_file(path).unwrap();
    assert_eq!(found.statements, 40);
    assert_eq!(done(&outcome).values().sum::<u64>(), 40);
    assert_eq!((outcome.scheduled, outcome.unsent), (Some(40), 0));
}

#[test]
fn what_ran_when_the_log_began_is_sent_at_its_start() {
    let rows = [
        (0.0, "a.1", "shop", "duration: 1800000.000 ms  statement: select 1"),
        (0.1, "a.1", "shop", "duration: 1.000 ms  statement: select 2"),
        (0.2, "a.2", "shop", "duration: 600000.000 ms  statement: select 3"),
        (0.9, "a.1", "shop", "duration: 1.000 ms  statement: select 4"),
        (1.2, "a.1", "shop", "duration: 1.000 ms  statement: select 5"),
    ];
    let path = said("before", &rows);
    let select = json!({"log": path, "span_s": 1.0});
    let found = scanned(&select);
    let outcome = replayed(&path, select, 0.0, 1.0);
    std::fs::remove_file(path).unwrap();
    assert_eq!((found.statements, found.ends.len()), (4, 2));
    assert_eq!(found.last_ns.unwrap() - found.first_ns.unwrap(), 899_000_000);
    assert_eq!(done(&outcome).values().sum::<u64>(), 4);
    let alone = said("alone", &rows[..1]);
    let found = scanned(&json!({"log": alone}));
    std::fs::remove_file(alone).unwrap();
    assert_eq!(found.last_ns, found.first_ns);
}

#[test]
fn an_idle_session_counts_until_it_ends() {
    let rows = [
        (0.0, "a.1", "shop", "statement: select 1"),
        (0.1, "a.2", "shop", "statement: select 2"),
        (0.2, "a.1", "shop", "disconnection: session time: 0:00:01"),
    ];
    let path = said("idle", &rows);
    let found = scanned(&json!({"log": path}));
    std::fs::remove_file(path).unwrap();
    assert_eq!(found.at_once, 2);
}

#[test]
fn every_statement_of_the_log_is_replayed_once() {
    let path = log("whole", 400, 1, 7);
    let outcome = replayed(&path, json!({"log": path, "writes": true, "ddl": true}), 0.0, 2.0);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(done(&outcome).values().sum::<u64>(), 400);
    assert_eq!(done(&outcome).values().max(), Some(&100));
    assert_eq!((outcome.scheduled, outcome.unsent), (Some(400), 0));
    assert_eq!((outcome.gone, outcome.unfinished), (0, 0));
}

#[test]
fn a_slow_server_makes_statements_late_from_their_intended_start() {
    // One session, a statement every 10 ms that takes 20 ms: the last is about 190 ms late.
    let path = log("slow", 20, 10, 1);
    let select = json!({"log": path, "writes": true, "ddl": true});
    let outcome = replayed(&path, select, 20.0, 1.0);
    std::fs::remove_file(&path).unwrap();
    let late = outcome.schedule_late_ms.unwrap();
    assert!(late.max > 150.0, "{late:?}");
    let slowest = outcome.ops.values().map(|op| op.response_ms.max).fold(0.0, f64::max);
    let service = outcome.ops.values().map(|op| op.service_ms.p50).fold(0.0, f64::max);
    assert!(slowest > 150.0 && slowest > service, "{slowest} {service}");
    assert!(outcome.late > 0);
}

#[test]
fn invalid_plans_are_refused_by_name() {
    let plan = |speed: f64, place: usize| {
        let plan = json!({
            "select": {"log": "x"}, "wire": {"kind": "null"}, "speed": speed, "duration_s": 1.0,
            "sessions": 1, "operations": ["a"], "classes": {"0a": place}, "spool": "x",
            "interval_s": 1.0, "clock": {"unix_ns": 0, "monotonic_ns": 0}, "reconnect_s": 1.0,
        });
        serde_json::from_value::<ReplayPlan>(plan).unwrap().validate()
    };
    assert!(plan(1.0, 0).is_ok());
    assert!(plan(0.0, 0).unwrap_err().message.contains("speed"));
    assert!(plan(1.0, 1).unwrap_err().message.contains("classes"));
}

#[test]
fn statements_between_begin_and_commit_are_one_transaction() {
    let said = [
        ("a.1", "begin"),
        ("a.2", "select 9"),
        ("a.1", "select a from t where b = 1"),
        ("a.1", "update t set a = 2 where b = 1"),
        ("a.1", "update t set a = 3 where b = 2"),
        ("a.2", "select 7"),
        ("a.1", "commit"),
        ("a.1", "begin"),
        ("a.1", "rollback"),
        ("a.1", "start transaction"),
        ("a.1", "select a from t where b = 5"),
        ("a.1", "update t set a = 2 where b = 1"),
        ("a.1", "commit"),
    ];
    let mut text = String::new();
    for (session, sql) in said {
        let row = json!({
            "timestamp": "2026-11-26 14:00:00.000 UTC", "dbname": "shop", "session_id": session,
            "message": format!("statement: {sql}"),
        });
        writeln!(text, "{row}").unwrap();
    }
    let found = shaped("begin", &text);
    let counted: Vec<_> = found.transactions.iter().map(|one| (one.count, one.explicit)).collect();
    assert_eq!(counted, [(2, true), (2, false)]);
    let runs: Vec<_> = found.transactions[0].statements.iter().map(|one| one.runs).collect();
    assert_eq!(runs, [2, 3]);
    assert_eq!(found.transactions[0].statements[0].sql, "select a from t where b = 1");
    assert_eq!(found.rolled_back, 1);
}

#[test]
fn without_autocommit_each_commit_begins_the_next_transaction() {
    let said = [
        (1, "Connect", "app@localhost on shop using TCP/IP"),
        (2, "Connect", "app@localhost on shop using TCP/IP"),
        (1, "Query", "SET @@session.autocommit = OFF"),
        (2, "Query", "set autocommit=1"),
        (1, "Query", "select a from t where b = 1"),
        (2, "Query", "select a from t where b = 2"),
        (1, "Query", "update t set a = 2 where b = 1"),
        (1, "Query", "COMMIT"),
        (1, "Query", "select a from t where b = 3"),
        (1, "Query", "update t set a = 9 where b = 3"),
        (1, "Query", "SET autocommit=1"),
        (1, "Query", "select c from t"),
        (1, "Query", "set autocommit=0, names utf8mb4"),
        (1, "Query", "select d from t"),
        (1, "Query", "rollback"),
        (1, "Query", "delete from t"),
        (1, "Quit", ""),
    ];
    let mut text = String::new();
    for (session, command, argument) in said {
        writeln!(text, "261126 14:00:00\t{session:6} {command}\t{argument}").unwrap();
    }
    let found = shaped("autocommit", &text);
    let shown = |one: &Transaction| {
        let statements: Vec<_> = one.statements.iter().map(|each| each.text.as_str()).collect();
        (one.count, one.explicit, statements.join("; "))
    };
    let counted: Vec<_> = found.transactions.iter().map(shown).collect();
    let both = "select a from t where b = ?; update t set a = ? where b = ?";
    assert_eq!(
        counted,
        [
            (2, true, both.to_owned()),
            (1, false, "select a from t where b = ?".to_owned()),
            (1, false, "select c from t".to_owned()),
            (1, true, "select d from t".to_owned()),
        ]
    );
    assert_eq!(found.rolled_back, 1);
}

fn shaped(name: &str, text: &str) -> Shapes {
    let name = format!("dyno-replay-{}-shapes-{name}.log", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, text).unwrap();
    let plan = serde_json::from_value(json!({"select": {"log": path, "writes": true}})).unwrap();
    let found = shapes(&plan, &Control::new()).unwrap();
    std::fs::remove_file(path).unwrap();
    found
}
