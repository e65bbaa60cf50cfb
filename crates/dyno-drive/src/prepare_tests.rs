//! The preparation of a level: once, before the window.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Instant;

use serde_json::json;

use super::*;
use crate::wire::{Dialect, Session, Statement};
use crate::workloads::contract::{Terminal, TxnOutcome};

const PAUSE: Duration = Duration::from_millis(300);

/// Fails at first, then takes its time. Its transactions need the preparation.
#[derive(Clone, Default)]
struct Prepares {
    failures: &'static [ErrorKind],
    pause: Duration,
    calls: Arc<AtomicU32>,
    prepared: Arc<AtomicU32>,
}

struct Prepared(Arc<AtomicU32>);

impl Workload for Prepares {
    type Terminal = Prepared;

    fn name(&self) -> &'static str {
        "prepares"
    }

    fn operations(&self) -> &'static [&'static str] {
        &["nothing"]
    }

    fn statements(&self, _dialect: Dialect) -> Vec<Statement> {
        Vec::new()
    }

    async fn prepare<S: Session>(&self, _session: &mut S, _unix_us: i64) -> Result<()> {
        let call = self.calls.fetch_add(1, Relaxed) as usize;
        if let Some(kind) = self.failures.get(call) {
            return Err(Error::new(*kind, "not yet"));
        }
        tokio::time::sleep(self.pause).await;
        self.prepared.fetch_add(1, Relaxed);
        Ok(())
    }

    fn terminal(&self, _user: u32) -> Prepared {
        Prepared(Arc::clone(&self.prepared))
    }
}

impl Terminal for Prepared {
    fn draw(&mut self) -> usize {
        0
    }

    fn pause_ns(&mut self) -> u64 {
        0
    }

    async fn attempt<S: Session>(&mut self, _session: &mut S, _unix_us: i64) -> Result<TxnOutcome> {
        assert_eq!(self.0.load(Relaxed), 1, "the level is prepared once, before any transaction");
        Ok(TxnOutcome::Committed)
    }
}

fn run(name: &str, workload: &Prepares, control: &Control) -> Result<Outcome> {
    let name = format!("dyno-drive-{}-prepare-{name}.jsonl", std::process::id());
    let file = std::env::temp_dir().join(name);
    let plan = json!({
        "wire": {"kind": "null"}, "seed": 1,
        "workload": {"kind": "point_select", "params": {"sql": "select c from t", "keys": 1}},
        "users": 4, "threads": 2, "loop": {"kind": "open", "rate_per_s": 1000},
        "warmup_s": 0, "duration_s": 0.2, "spool": file,
        "clock": {"unix_ns": 0, "monotonic_ns": 0},
    });
    let plan: DrivePlan = serde_json::from_value(plan).unwrap();
    let WirePlan::Null(model) = &plan.wire else { panic!("{plan:?}") };
    let spool = Spool::open(&file).unwrap();
    let outcome = conduct(&plan, &Null::new(model), workload, spool, control);
    std::fs::remove_file(file).unwrap();
    outcome
}

#[test]
fn a_long_preparation_delays_no_transaction() {
    let workload = Prepares { pause: PAUSE, ..Prepares::default() };
    let outcome = run("long", &workload, &Control::new()).unwrap();
    assert_eq!(workload.calls.load(Relaxed), 1);
    // In the window it would have made all 200 wait.
    assert_eq!(outcome.scheduled, Some(200));
    assert!(outcome.late + outcome.unsent < 100, "{outcome:?}");
}

#[test]
fn a_deadlock_is_retried() {
    let workload = Prepares { failures: &[ErrorKind::Deadlock], ..Prepares::default() };
    let outcome = run("deadlock", &workload, &Control::new()).unwrap();
    assert_eq!(workload.calls.load(Relaxed), 2);
    assert!(outcome.errors_first.is_empty(), "{outcome:?}");
}

#[test]
fn another_failure_ends_the_level_before_it_begins() {
    let workload = Prepares { failures: &[ErrorKind::Database], ..Prepares::default() };
    let error = run("failure", &workload, &Control::new()).unwrap_err();
    assert_eq!((error.kind, workload.calls.load(Relaxed)), (ErrorKind::Database, 1));
    assert!(error.to_string().contains("preparing the level"), "{error}");
}

#[test]
fn a_preparation_that_does_not_end_can_be_cancelled() {
    let workload = Prepares { pause: Duration::from_secs(600), ..Prepares::default() };
    let (control, begun) = (Control::new(), Instant::now());
    let handle = control.clone();
    let calls = Arc::clone(&workload.calls);
    let canceller = thread::spawn(move || {
        while calls.load(Relaxed) == 0 {
            thread::yield_now();
        }
        handle.cancel();
    });
    let error = run("cancelled", &workload, &control).unwrap_err();
    canceller.join().unwrap();
    assert_eq!(error.kind, ErrorKind::Cancelled);
    assert!(begun.elapsed() < Duration::from_secs(60));
}
