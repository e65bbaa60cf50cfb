use super::*;
use crate::wire::{Dialect, Session, Statement};
use crate::workloads::contract::{Terminal, TxnOutcome};
use serde_json::json;

/// Transactions without cost; the first one blocks the whole thread.
#[derive(Clone)]
struct Standstill(Duration);

struct FakeTerminal {
    standstill: Option<Duration>,
}

impl Workload for Standstill {
    type Terminal = FakeTerminal;

    fn name(&self) -> &'static str {
        "standstill"
    }

    fn operations(&self) -> &'static [&'static str] {
        &["nothing"]
    }

    fn statements(&self, _dialect: Dialect) -> Vec<Statement> {
        Vec::new()
    }

    fn terminal(&self, user: u32) -> FakeTerminal {
        FakeTerminal { standstill: (user == 0).then_some(self.0) }
    }
}

impl Terminal for FakeTerminal {
    fn draw(&mut self) -> usize {
        0
    }

    fn pause_ns(&mut self) -> u64 {
        0
    }

    async fn attempt<S: Session>(&mut self, _session: &mut S, _unix_us: i64) -> Result<TxnOutcome> {
        if let Some(standstill) = self.standstill.take() {
            thread::sleep(standstill);
        }
        Ok(TxnOutcome::Committed)
    }
}

fn stood_still(name: &str, standstill_ms: u64, duration_s: f64) -> Outcome {
    let name = format!("dyno-drive-{}-{name}.jsonl", std::process::id());
    let file = std::env::temp_dir().join(name);
    let plan = json!({
        "wire": {"kind": "null"}, "seed": 1,
        "workload": {"kind": "point_select", "params": {"sql": "select c from t", "keys": 1}},
        "users": 4, "threads": 1, "loop": {"kind": "open", "rate_per_s": 1000},
        "warmup_s": 0, "duration_s": duration_s, "spool": file,
        "clock": {"unix_ns": 0, "monotonic_ns": 0},
    });
    let plan: DrivePlan = serde_json::from_value(plan).unwrap();
    let WirePlan::Null(model) = &plan.wire else { panic!("{plan:?}") };
    let workload = Standstill(Duration::from_millis(standstill_ms));
    let spool = Spool::open(&file).unwrap();
    let outcome = conduct(&plan, &Null::new(model), &workload, spool, &Control::new());
    std::fs::remove_file(file).unwrap();
    outcome.unwrap()
}

fn control_of_held(name: &str) -> (DrivePlan, std::path::PathBuf) {
    let file = std::env::temp_dir().join(format!("dyno-drive-{}-{name}", std::process::id()));
    let plan = json!({
        "wire": {"kind": "null"}, "seed": 1,
        "workload": {"kind": "point_select", "params": {"sql": "select c from t", "keys": 1}},
        "users": 2, "threads": 1, "loop": {"kind": "closed"}, "warmup_s": 0,
        "duration_s": 0.05, "spool": file, "clock": {"unix_ns": 0, "monotonic_ns": 0},
    });
    (serde_json::from_value(plan).unwrap(), file)
}

#[test]
fn held_work_begins_once_it_is_released() {
    let (plan, file) = control_of_held("held");
    let control = Control::new();
    control.hold();
    let handle = control.clone();
    let run = thread::spawn(move || {
        let outcome = drive(&plan, &control);
        (outcome, monotonic_ns())
    });
    while !handle.is_ready() {
        thread::yield_now();
    }
    assert!(!run.is_finished());
    assert_eq!(handle.progress().done, 0);
    let released_ns = monotonic_ns();
    handle.release();
    let (outcome, ended_ns) = run.join().unwrap();
    std::fs::remove_file(file).unwrap();
    assert!(outcome.unwrap().tps > 0.0);
    assert!(ended_ns - released_ns >= 50_000_000, "the whole window came after the release");
}

#[test]
fn held_work_can_be_cancelled() {
    let (plan, file) = control_of_held("held-cancelled");
    let control = Control::new();
    control.hold();
    control.cancel();
    let error = drive(&plan, &control).unwrap_err();
    std::fs::remove_file(file).unwrap();
    assert_eq!(error.kind, ErrorKind::Cancelled);
}

#[test]
fn a_driver_that_stood_still_takes_the_blame_for_what_was_due() {
    // Four sessions are soon busy. The target would respond at once, but got no request.
    let outcome = stood_still("standstill", 300, 1.0);
    assert_eq!(outcome.scheduled, Some(1000));
    assert!(outcome.late >= 250, "{outcome:?}");
    assert!(outcome.lag_p99_ms >= 200.0, "{outcome:?}");
}

#[test]
fn so_it_does_for_what_it_never_sent() {
    let outcome = stood_still("standstill-end", 400, 0.2);
    assert_eq!(outcome.scheduled, Some(200));
    assert!(outcome.unsent >= 150, "{outcome:?}");
    assert!(outcome.lag_p99_ms >= 200.0, "{outcome:?}");
}

#[test]
fn the_time_for_work_in_progress_counts_only_as_far_as_it_was_used() {
    const MS: u64 = 1_000_000;
    let course = |duration_s: f64, drain_s: f64| Course {
        users: 1,
        shown: String::new(),
        open: true,
        warmup_s: 0.0,
        duration_s: duration_s + drain_s,
        interval_s: 0.1,
        lead_ns: 0,
        drain_s,
    };
    let replay = course(1.0, 60.0);
    let window = Window::new(7 * MS, 0.0, replay.duration_s, 0.1).cut(7 * MS + 1_301 * MS);
    let measured = |last_ms: u64| replay.measured_ns(&window, 7 * MS + last_ms * MS) / MS;
    assert_eq!([990, 1_000, 1_250, 9_999].map(measured), [1_000, 1_000, 1_250, 1_400]);
    assert_eq!(replay.measured_ns(&window, 0) / MS, 1_000, "nothing ended");
    let early = window.cut(7 * MS + 501 * MS);
    assert_eq!(replay.measured_ns(&early, 7 * MS + 450 * MS) / MS, 600, "it was ended early");
    assert_eq!(course(0.0, 60.0).measured_ns(&window, 8 * MS) / MS, 100, "an interval at least");
    assert_eq!(course(1.0, 0.0).measured_ns(&window, 8 * MS) / MS, 1_400, "no replay");
}
