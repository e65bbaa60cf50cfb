//! Plans for tests.

use std::path::Path;

use dyno_io::{Outcome, Plan, profile};
use dyno_record::{Control, Result};
use serde_json::{Value, json};

/// A small plan on `volume` with its spool beside the test file.
pub fn plan(volume: &Path, steps: &Value) -> Value {
    json!({
        "volume": volume, "file_id": "test", "file_bytes": 4 << 20, "seed": 7,
        "clock": {"unix_ns": 1_700_000_000_000_000_000_i64, "monotonic_ns": 0},
        "spool": std::env::temp_dir().join(format!("dyno-io-test-{}.jsonl", unique())),
        "steps": steps,
    })
}

/// Runs a plan, returns its outcome and the lines of its spool.
pub fn run(plan: Value, control: &Control) -> (Result<Outcome>, Vec<Value>) {
    let plan: Plan = serde_json::from_value(plan).expect("the plan is well formed");
    let spool = plan.spool.clone();
    let outcome = profile(plan, control);
    let text = std::fs::read_to_string(&spool).unwrap_or_default();
    let _ = std::fs::remove_file(&spool);
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON"));
    (outcome, lines.collect())
}

fn unique() -> String {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed))
}
