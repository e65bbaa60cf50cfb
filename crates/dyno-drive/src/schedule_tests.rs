//! Work that a workload schedules itself, such as that of an exchange.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::wire::{Dialect, Session, Statement};
use crate::workloads::contract::{Terminal, TxnOutcome};

const MS: u64 = 1_000_000;

/// Each operation was due `since_ns` before it is drawn.
#[derive(Clone, Default)]
struct Scheduled {
    since_ns: u64,
    /// Longest time from a draw to its transaction.
    held_ns: Arc<AtomicU64>,
    asked: Arc<AtomicU64>,
    /// How many of the first operations fail, at each attempt.
    fails: Arc<AtomicU64>,
    /// Operations that a user gave up.
    given_up: Arc<AtomicU64>,
}

struct Due {
    workload: Scheduled,
    drawn_ns: u64,
}

impl Workload for Scheduled {
    type Terminal = Due;

    fn name(&self) -> &'static str {
        "scheduled"
    }

    fn operations(&self) -> &'static [&'static str] {
        &["nothing"]
    }

    fn statements(&self, _dialect: Dialect) -> Vec<Statement> {
        Vec::new()
    }

    fn take_behind_ns(&self) -> Option<u64> {
        Some((self.asked.fetch_add(1, Relaxed) + 1) * MS)
    }

    fn take_lost(&self) -> Option<u64> {
        Some(self.asked.load(Relaxed))
    }

    fn terminal(&self, _user: u32) -> Due {
        Due { workload: self.clone(), drawn_ns: 0 }
    }
}

impl Terminal for Due {
    fn draw(&mut self) -> usize {
        self.drawn_ns = monotonic_ns();
        0
    }

    fn pause_ns(&mut self) -> u64 {
        0
    }

    fn due_ns(&self) -> Option<u64> {
        (self.workload.since_ns > 0).then(|| self.drawn_ns - self.workload.since_ns)
    }

    async fn attempt<S: Session>(&mut self, _session: &mut S, _unix_us: i64) -> Result<TxnOutcome> {
        self.workload.held_ns.fetch_max(monotonic_ns() - self.drawn_ns, Relaxed);
        // Long enough for few transactions, short enough for a short test.
        tokio::time::sleep(Duration::from_millis(1)).await;
        if self.workload.given_up.load(Relaxed) < self.workload.fails.load(Relaxed) {
            return Err(Error::new(ErrorKind::Deadlock, "it failed"));
        }
        Ok(TxnOutcome::Committed)
    }

    fn gave_up(&mut self, error: &Error) {
        assert_eq!(error.kind, ErrorKind::Deadlock);
        self.workload.given_up.fetch_add(1, Relaxed);
    }
}

fn run(name: &str, workload: &Scheduled, starts: &serde_json::Value) -> Outcome {
    let name = format!("dyno-drive-{}-scheduled-{name}.jsonl", std::process::id());
    let file = std::env::temp_dir().join(name);
    let plan = json!({
        "wire": {"kind": "null"}, "seed": 1,
        "workload": {"kind": "point_select", "params": {"sql": "select c from t", "keys": 1}},
        "users": 4, "threads": 1, "loop": starts, "max_retries": 1, "warmup_s": 0.1, "duration_s": 0.4,
        "spool": file, "clock": {"unix_ns": 0, "monotonic_ns": 0},
    });
    let plan: DrivePlan = serde_json::from_value(plan).unwrap();
    let WirePlan::Null(model) = &plan.wire else { panic!("{plan:?}") };
    let spool = Spool::open(&file).unwrap();
    let outcome = conduct(&plan, &Null::new(model), workload, spool, &Control::new());
    std::fs::remove_file(file).unwrap();
    outcome.unwrap()
}

#[test]
fn an_open_loop_draws_when_a_start_is_due() {
    // A user waits for 200 ms from one start to the next.
    let workload = Scheduled::default();
    let outcome = run("open", &workload, &json!({"kind": "open", "rate_per_s": 20}));
    assert_eq!(outcome.scheduled, Some(8));
    assert!(workload.held_ns.load(Relaxed) < 100 * MS, "{:?}", workload.held_ns);
}

#[test]
fn response_times_begin_when_the_work_was_due() {
    let workload = Scheduled { since_ns: 500 * MS, ..Scheduled::default() };
    let outcome = run("closed", &workload, &json!({"kind": "closed"}));
    let op = &outcome.ops["nothing"];
    assert!(op.response_ms.p50 > 499.0, "{op:?}");
    assert!(op.service_ms.p50 < 400.0, "{op:?}");
    // In an open loop, not before the start that takes it.
    let outcome = run("paced", &workload, &json!({"kind": "open", "rate_per_s": 20}));
    assert!(outcome.ops["nothing"].response_ms.p50 < 400.0, "{outcome:?}");
}

#[test]
fn delays_count_from_the_start_of_the_measurement_to_its_end() {
    let workload = Scheduled::default();
    let outcome = run("bounds", &workload, &json!({"kind": "closed"}));
    assert_eq!((outcome.behind_ms, workload.asked.load(Relaxed)), (Some(2.0), 2));
    assert_eq!(outcome.lost, Some(2));
}

#[test]
fn a_workload_learns_what_failed_for_good() {
    let workload = Scheduled { fails: Arc::new(1.into()), ..Scheduled::default() };
    // A rate that one user keeps up with, so that the others are free.
    let outcome = run("fails", &workload, &json!({"kind": "open", "rate_per_s": 20}));
    let failed: u64 = outcome.ops["nothing"].errors.values().sum();
    // Those that failed in the warm-up count nowhere.
    assert!(workload.given_up.load(Relaxed) >= 1.max(failed), "{outcome:?}");
}
