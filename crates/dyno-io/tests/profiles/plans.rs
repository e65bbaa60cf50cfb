//! Plans for tests.

use std::path::Path;

use dyno_io::{Outcome, Plan, profile};
use dyno_record::{Control, Result};
use serde_json::{Value, json};

/// A small plan with a created file in `volume`.
pub fn plan(volume: &Path, steps: &Value) -> Value {
    json!({
        "targets": [{"directory": volume, "bytes": 4 << 20}], "file_id": "test", "seed": 7,
        "clock": {"unix_ns": 1_700_000_000_000_000_000_i64, "monotonic_ns": 0},
        "spool": std::env::temp_dir().join(format!("dyno-io-test-{}.jsonl", unique())),
        "steps": steps,
    })
}

/// A curve of one job, adapted by `change`.
#[allow(dead_code)]
pub fn curve(name: &str, job: Value, change: Value) -> Value {
    with(json!({"name": name, "jobs": [with(json!({"name": name}), job)]}), change)
}

/// `value` updated with the fields of `change`.
pub fn with(mut value: Value, change: Value) -> Value {
    let Value::Object(change) = change else { panic!("an object is needed") };
    value.as_object_mut().expect("an object").extend(change);
    value
}

/// Runs a plan, returns its outcome and the lines of its spool.
pub fn run(plan: Value, control: &Control) -> (Result<Outcome>, Vec<Value>) {
    let plan: Plan = serde_json::from_value(plan).expect("the plan is well formed");
    let spool = plan.spool.clone();
    let outcome = profile(plan, control);
    (outcome, lines(&spool))
}

/// The lines of a spool, which is then removed.
pub fn lines(spool: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(spool).unwrap_or_default();
    let _ = std::fs::remove_file(spool);
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON"));
    lines.collect()
}

fn unique() -> String {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed))
}

/// A separate tmpfs, mounted until this is dropped.
#[allow(dead_code)]
pub struct Mounted(pub tempfile::TempDir);

impl Mounted {
    #[allow(dead_code)]
    pub fn new(options: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mount = ["-t", "tmpfs", "-o", options, "tmpfs"];
        let status = std::process::Command::new("mount").args(mount).arg(folder.path()).output();
        if status.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        eprintln!("skipped: cannot mount a tmpfs here");
        None
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(self.0.path()).status();
    }
}
