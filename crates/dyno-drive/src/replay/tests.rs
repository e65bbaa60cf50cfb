use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::chosen::Found;
use super::feed::Next;
use super::*;
use crate::alarm::Alarm;
use crate::window::Window;
use crate::wire::Statement;
use crate::wire::null::NullSession;
use dyno_record::monotonic_ns;
use serde_json::json;

mod changed;
mod placed;
mod shapes;

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
    let plan = planned(path, select, mean_ms, speed);
    let outcome = replay(&plan, &Control::new()).unwrap();
    std::fs::remove_file(plan.spool).unwrap();
    outcome
}

/// A replay of what a scan finds.
fn planned(
    path: &std::path::Path,
    select: serde_json::Value,
    mean_ms: f64,
    speed: f64,
) -> ReplayPlan {
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
        "statements": found.statements,
        "operations": operations, "classes": classes, "spool": spool, "interval_s": 0.1,
        "clock": {"unix_ns": 0, "monotonic_ns": 0}, "reconnect_s": 1.0, "threads": 1,
    });
    serde_json::from_value(plan).unwrap()
}

/// The null target, which notes when sessions connect.
#[derive(Clone)]
struct Noting(Null, Arc<Mutex<Vec<u64>>>);

impl Wire for Noting {
    const DIALECT: Dialect = Null::DIALECT;

    type Session = NullSession;

    async fn connect(&self, statements: &[Statement], alarm: &Alarm) -> Result<NullSession> {
        self.1.lock().unwrap().push(monotonic_ns());
        self.0.connect(statements, alarm).await
    }
}

#[test]
fn a_session_connects_just_before_its_first_statement() {
    let rows =
        [(0.0, "a.1", "shop", "statement: select 1"), (1.5, "a.2", "shop", "statement: select 2")];
    let path = said("connects", &rows);
    let plan = planned(&path, json!({"log": path}), 0.0, 1.0);
    let wire = Noting(
        Null::new(&serde_json::from_value(json!({})).unwrap()),
        Arc::new(Mutex::new(Vec::new())),
    );
    over(&plan, &wire, &Control::new()).unwrap();
    std::fs::remove_file(path).unwrap();
    std::fs::remove_file(&plan.spool).unwrap();
    let at_ns = wire.1.lock().unwrap();
    // The first connection is the thread's trial; the replay begins `LEAD_NS` after it at the soonest.
    // The first session connects in between.
    let [trial, _, second] = at_ns[..] else { panic!("{at_ns:?}") };
    assert!(second - trial >= LEAD_NS + 1_250_000_000, "{at_ns:?}");
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

/// The end of a general log, after which its last statement is complete.
const LAST: &str = "\t\t     1 Ping\t\n";

/// A general log of what sessions did: session, command, argument.
fn general(name: &str, rows: &[(u64, &str, &str)]) -> PathBuf {
    let mut text = String::new();
    for (session, command, argument) in rows {
        writeln!(text, "261126 14:00:00\t{session:6} {command}\t{argument}").unwrap();
    }
    text.push_str(LAST);
    let path = std::env::temp_dir().join(format!("dyno-replay-{}-{name}.log", std::process::id()));
    std::fs::write(&path, text).unwrap();
    path
}

/// The lines of the statements to replay.
fn lines(select: &serde_json::Value) -> Vec<u64> {
    let select: plan::Selection = serde_json::from_value(select.clone()).unwrap();
    let mut chosen = select.chosen().unwrap();
    let mut found = Vec::new();
    while let Some(next) = chosen.next().unwrap() {
        if let Found::Run { line, .. } = next {
            found.push(line);
        }
    }
    found
}

#[test]
fn a_transaction_of_the_chosen_database_ends_in_whatever_database() {
    let rows = [
        (1, "Connect", "app@localhost on shop using TCP/IP"),
        (1, "Query", "begin"),
        (1, "Query", "update item set a = 1"),
        (1, "Init DB", "other"),
        (1, "Query", "update x set a = 1"),
        (1, "Query", "commit"),
        (1, "Query", "begin"),
        (1, "Query", "commit"),
        (2, "Connect", "app@localhost on  using TCP/IP"),
        (2, "Query", "set autocommit = 0"),
        (2, "Query", "update shop.item set a = 2"),
        (2, "Query", "use shop"),
        (2, "Query", "update item set a = 2"),
        (2, "Query", "use other"),
        (2, "Query", "commit"),
    ];
    let path = general("ends", &rows);
    let select = json!({"log": path, "writes": true, "database": "shop"});
    let (run, found) = (lines(&select), scanned(&select));
    std::fs::remove_file(path).unwrap();
    assert_eq!(run, [2, 3, 6, 10, 13, 15]);
    assert_eq!(found.left_out[&chosen::Reason::Database], (3, 5));
    assert_eq!(found.left_out[&chosen::Reason::Unknown], (1, 11));
}

#[test]
fn statements_of_procedures_run_with_their_callers() {
    let rows = [
        (1, "Query", "call new_order(7)"),
        (1, "Query", "update stock set q = q - 1 where id =  NAME_CONST('p_id',7)"),
    ];
    let path = general("inner", &rows);
    let found = scanned(&json!({"log": path, "writes": true}));
    std::fs::remove_file(path).unwrap();
    assert_eq!((found.statements, found.left_out[&chosen::Reason::Inner]), (1, (1, 2)));
}

#[test]
fn a_log_that_grows_is_read_as_far_as_it_was_scanned() {
    let path = general("grows", &[(1, "Query", "select 1")]);
    let found = scanned(&json!({"log": path, "writes": true}));
    let line = format!("261126 14:00:00\t     1 Query\tdelete from item\n{LAST}");
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
    let read = lines(&json!({"log": path, "writes": true, "bytes": found.bytes}));
    let all = lines(&json!({"log": path, "writes": true}));
    std::fs::remove_file(path).unwrap();
    assert_eq!((read, all), (vec![1], vec![1, 3]));
}

#[test]
fn sessions_of_an_unknown_database_are_left_out_if_one_is_chosen() {
    let rows = [
        (1, "Connect", "app@localhost on shop using TCP/IP"),
        (1, "Query", "select 1"),
        (2, "Query", "delete from item"),
        (2, "Query", "commit"),
    ];
    let path = general("unknown", &rows);
    let found = scanned(&json!({"log": path, "writes": true, "database": "shop"}));
    let all = scanned(&json!({"log": path, "writes": true}));
    std::fs::remove_file(path).unwrap();
    assert_eq!(found.statements, 1);
    assert_eq!(found.left_out[&chosen::Reason::Unknown], (2, 3));
    assert_eq!((all.statements, all.unknown, all.databases["shop"]), (3, 2, 1));
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
fn the_rate_does_not_count_the_time_after_the_last_statement() {
    let path = log("rate", 1000, 1, 7);
    let outcome = replayed(&path, json!({"log": path, "writes": true, "ddl": true}), 0.0, 1.0);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(done(&outcome).values().sum::<u64>(), 1000);
    assert!((outcome.tps - 1000.0 / outcome.seconds).abs() < 1e-6);
    // The last statement is due at 0.999 s, and ends within the longest response time.
    let longest_ms = outcome.ops.values().map(|op| op.response_ms.max).fold(0.0, f64::max);
    let over_ms = outcome.seconds * 1e3 - 999.0;
    assert!((-0.001..=longest_ms * 1.01 + 0.001).contains(&over_ms), "{over_ms} {longest_ms}");
}

#[test]
fn the_first_statement_is_read_before_the_replay_begins() {
    let path = log("first", 40, 1, 5);
    let plan = planned(&path, json!({"log": path, "writes": true}), 0.0, 1.0);
    let control = Control::new();
    let (queue, mut given) = unbounded_channel();
    let (found, first) = mpsc::channel();
    let (begin, start) = mpsc::channel();
    let (budget, queues) = (Arc::new(Budget::default()), vec![queue]);
    let chosen = plan.select.chosen().unwrap();
    let feed = Feed { plan: &plan, chosen, budget, queues, control: &control, found, start };
    thread::scope(|scope| {
        let reader = scope.spawn(|| feed.run());
        first.recv().unwrap();
        assert!(given.try_recv().is_err(), "nothing has a time yet");
        begin.send(Window::new(0, 0.0, 1.0, 1.0)).unwrap();
        reader.join().unwrap().unwrap();
    });
    std::fs::remove_file(path).unwrap();
    let mut statements = 0;
    while let Ok(items) = given.try_recv() {
        statements += items.iter().filter(|item| matches!(item, (_, Next::Run(_)))).count();
    }
    assert_eq!(statements, 30);
}

#[test]
fn an_id_that_returns_is_another_session() {
    let rows = [
        (5, "Connect", "app@localhost on shop using TCP/IP"),
        (5, "Query", "select 1"),
        (5, "Connect", "app@localhost on shop using TCP/IP"),
        (5, "Query", "select 2"),
        (5, "Change user", "root@localhost on shop"),
        (5, "Query", "select 3"),
    ];
    let path = general("returns", &rows);
    let select = json!({"log": path});
    let found = scanned(&select);
    let plan = planned(&path, select, 0.0, 1.0);
    let null = Null::new(&serde_json::from_value(json!({})).unwrap());
    let wire = Noting(null, Arc::new(Mutex::new(Vec::new())));
    over(&plan, &wire, &Control::new()).unwrap();
    std::fs::remove_file(path).unwrap();
    std::fs::remove_file(&plan.spool).unwrap();
    assert_eq!((found.sessions, found.ends), (3, BTreeMap::from([(5, 6)])));
    assert_eq!(wire.1.lock().unwrap().len(), 1 + 3, "a trial, and one for each session");
}

#[test]
fn the_statements_of_dynos_observers_are_left_out() {
    let path = std::env::temp_dir().join(format!("dyno-replay-{}-own.json", std::process::id()));
    let rows = [
        ("psql", "select 1"),
        ("dyno", "select 2"),
        ("dyno observer", "select 3"),
        ("psql", "/* dyno observer */ select 4"),
    ];
    let mut text = String::new();
    for (application, sql) in rows {
        let row = json!({
            "timestamp": "2026-11-26 14:00:00.000 UTC", "dbname": "shop", "session_id": "a.1",
            "application_name": application, "message": format!("statement: {sql}"),
        });
        writeln!(text, "{row}").unwrap();
    }
    std::fs::write(&path, text).unwrap();
    let found = scanned(&json!({"log": path}));
    std::fs::remove_file(path).unwrap();
    assert_eq!(found.statements, 2);
    assert_eq!(found.left_out[&chosen::Reason::Own], (2, 3));
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
            "statements": 1,
            "sessions": 1, "operations": ["a"], "classes": {"0a": place}, "spool": "x",
            "interval_s": 1.0, "clock": {"unix_ns": 0, "monotonic_ns": 0}, "reconnect_s": 1.0,
        });
        serde_json::from_value::<ReplayPlan>(plan).unwrap().validate()
    };
    assert!(plan(1.0, 0).is_ok());
    assert!(plan(0.0, 0).unwrap_err().message.contains("speed"));
    assert!(plan(1.0, 1).unwrap_err().message.contains("classes"));
}
