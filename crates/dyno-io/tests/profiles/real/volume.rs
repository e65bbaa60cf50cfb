//! Profiles of real directories, usable and unusable.
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::plans::{Mounted, curve, plan, run};
use dyno_io::{Outcome, profile};
use dyno_record::{Control, Error, ErrorKind};
use serde_json::{Value, json};
use tempfile::tempdir;

/// Steps that outlast the pauses of a busy device, so that I/O ends in each.
fn steps() -> Value {
    json!([
        curve(
            "sequential_write",
            json!({"pattern": "sequential", "block_bytes": 262_144, "read_percent": 0,
                   "queue_depths": [4]}),
            json!({"seconds": 1, "warmup_seconds": 0}),
        ),
        curve(
            "mixed",
            json!({"pattern": "random", "block_bytes": 8192, "read_percent": 70,
                   "queue_depths": [1, 16]}),
            // A busy device may be slow even at depth 1.
            json!({"seconds": 1, "warmup_seconds": 0.05, "stop_at_ceiling": false}),
        ),
    ])
}

fn is_empty(folder: &Path) -> bool {
    folder.read_dir().unwrap().next().is_none()
}

fn error_of(plan: Value) -> Error {
    let (outcome, spool) = run(plan, &Control::new());
    assert!(spool.is_empty());
    outcome.unwrap_err()
}

fn check_measured(outcome: &Outcome, spool: &[Value]) {
    assert_eq!((outcome.steps.len(), spool.len()), (3, 3));
    for (step, line) in outcome.steps.iter().zip(spool) {
        assert!(step.figures.reads + step.figures.writes > 0, "{step:?}");
        assert_eq!(step.figures.read.is_some(), step.figures.reads > 0);
        assert!(
            step.figures.in_flight_mean <= f64::from(step.figures.queue_depth) + 1e-6,
            "{step:?}"
        );
        assert_eq!(line["phase"], step.phase.as_str());
        let columns: Vec<_> = line.as_object().unwrap().keys().map(String::as_str).collect();
        let mut expected = [
            "t_ns",
            "seconds",
            "volume",
            "arm",
            "stage",
            "repeat",
            "phase",
            "level",
            "purpose",
            "job",
            "pattern",
            "block_bytes",
            "read_percent",
            "queue_depth",
            "rate",
            "reads",
            "writes",
            "syncs",
            "read_bytes",
            "write_bytes",
            "late",
            "unissued",
            "errors",
            "read_latency",
            "write_latency",
            "sync_latency",
            "read_response",
            "write_response",
            "in_flight_mean",
            "inside_ceiling",
            "thread_percent",
        ];
        expected.sort_unstable();
        assert_eq!(columns, expected);
    }
}

#[test]
fn each_engine_measures_a_directory_and_leaves_nothing() {
    for engine in ["auto", "io_uring", "psync"] {
        let folder = tempdir().unwrap();
        let mut plan = plan(folder.path(), &steps());
        plan["engine"] = json!(engine);
        let control = Control::new();
        let (outcome, spool) = run(plan, &control);
        let outcome = match outcome {
            Err(error) if engine == "io_uring" && error.message.contains("io_uring") => {
                eprintln!("skipped: {error}");
                continue;
            }
            outcome => outcome.unwrap(),
        };
        check_measured(&outcome, &spool);
        assert_ne!(outcome.targets[0].extents_written, Some(false), "{:?}", outcome.notes);
        assert!(is_empty(folder.path()));
        let progress = control.progress();
        assert_eq!(progress.done, progress.total);
        assert_eq!(progress.step, "random 70/30 8 KiB, depth 16");
        let moved: u64 = spool.iter().map(|line| line["read_bytes"].as_u64().unwrap()).sum();
        assert!(progress.bytes > moved, "{progress:?}");
    }
}

#[test]
fn cancelling_stops_soon_and_removes_the_file() {
    let folder = tempdir().unwrap();
    let mut value = plan(folder.path(), &steps());
    value["steps"][1]["seconds"] = json!(3600);
    let spool = value["spool"].clone();
    let control = Control::new();
    let running = std::thread::spawn({
        let (control, plan) = (control.clone(), serde_json::from_value(value).unwrap());
        move || profile(plan, &control)
    });
    while !control.progress().step.contains("70/30") {
        assert!(!running.is_finished(), "{:?}", running.join());
        std::thread::yield_now();
    }
    assert!(!is_empty(folder.path()));
    let begin = Instant::now();
    control.cancel();
    assert_eq!(running.join().unwrap().unwrap_err().kind, ErrorKind::Cancelled);
    assert!(begin.elapsed() < Duration::from_secs(600));
    assert!(is_empty(folder.path()));
    let spool = spool.as_str().unwrap();
    assert_eq!(std::fs::read_to_string(spool).unwrap().lines().count(), 1, "finished steps stay");
    std::fs::remove_file(spool).unwrap();
}

#[test]
fn cancelling_while_the_file_is_filled_removes_it() {
    let folder = tempdir().unwrap();
    let control = Control::new();
    control.cancel();
    let (outcome, _) = run(plan(folder.path(), &steps()), &control);
    assert_eq!(outcome.unwrap_err().kind, ErrorKind::Cancelled);
    assert!(is_empty(folder.path()));
}

/// Runs in a separate process, for the test below to kill.
#[test]
fn run_until_killed() {
    let Ok(plan) = std::env::var("DYNO_IO_TEST_PLAN") else { return };
    let plan = serde_json::from_str(&plan).unwrap();
    profile(plan, &Control::new()).unwrap();
}

#[test]
fn a_killed_run_leaves_its_steps_and_the_next_run_tidies_up() {
    let folder = tempdir().unwrap();
    let mut long = plan(folder.path(), &steps());
    long["steps"][1]["seconds"] = json!(3600);
    let spool = Path::new(long["spool"].as_str().unwrap()).to_owned();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "real::volume::run_until_killed"])
        .env("DYNO_IO_TEST_PLAN", long.to_string())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let lines = || std::fs::read_to_string(&spool).unwrap_or_default().lines().count();
    while lines() == 0 {
        assert_eq!(child.try_wait().unwrap(), None, "ended by itself");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(lines(), 1);
    std::fs::remove_file(&spool).unwrap();
    assert!(!is_empty(folder.path()), "nothing was left to remove");

    let mut next = plan(folder.path(), &steps());
    next["file_id"] = json!("next");
    let (outcome, _) = run(next, &Control::new());
    assert!(outcome.unwrap().notes.as_slice().iter().any(|note| note.text.contains("killed run")));
    assert!(is_empty(folder.path()));
}

#[test]
fn a_file_in_use_is_left_alone() {
    let folder = tempdir().unwrap();
    let path = folder.path().join(".dyno-io-test-0.dat");
    let other = File::create(&path).unwrap();
    rustix::fs::flock(&other, rustix::fs::FlockOperation::LockExclusive).unwrap();
    assert_eq!(error_of(plan(folder.path(), &steps())).kind, ErrorKind::Usage);
    assert!(path.exists());
}

#[test]
fn a_missing_directory_is_named() {
    let error = error_of(plan(Path::new("/nowhere/at/all"), &steps()));
    assert_eq!(error.kind, ErrorKind::Io);
    assert!(error.message.contains("/nowhere/at/all is not a directory"), "{error}");
}

#[test]
fn a_directory_without_permission_is_refused() {
    // Nobody can create files there, not even root.
    let volume = Path::new("/sys");
    if !volume.is_dir() {
        return eprintln!("skipped: no /sys");
    }
    let error = error_of(plan(volume, &steps()));
    assert!(matches!(error.kind, ErrorKind::Denied | ErrorKind::Io), "{error:?}");
    assert!(
        ["use another", "use a "].iter().any(|advice| error.message.contains(advice)),
        "{error}"
    );
}

#[test]
fn too_large_a_file_says_what_it_needs() {
    let folder = tempdir().unwrap();
    let mut plan = plan(folder.path(), &steps());
    plan["targets"][0]["bytes"] = json!(1_u64 << 60);
    let error = error_of(plan);
    assert_eq!(error.kind, ErrorKind::DiskFull);
    assert!(error.message.contains("needs 1099511627840 MiB"), "{error}");
    assert!(is_empty(folder.path()));
}

#[test]
fn a_full_file_system_is_told_and_left_clean() {
    let Some(volume) = Mounted::new("size=8m") else { return };
    let error = error_of(plan(volume.0.path(), &steps()));
    assert_eq!(error.kind, ErrorKind::DiskFull);
    assert!(error.message.contains("68 MiB") && error.message.contains("8 MiB"), "{error}");
    assert!(is_empty(volume.0.path()));
}

#[test]
fn a_read_only_file_system_is_told() {
    let Some(volume) = Mounted::new("size=8m,ro") else { return };
    let error = error_of(plan(volume.0.path(), &steps()));
    assert_eq!(error.kind, ErrorKind::Io);
    assert!(error.message.contains("read-only"), "{error}");
}

#[test]
fn a_file_system_in_memory_is_not_taken_for_a_device() {
    let Some(volume) = Mounted::new("size=128m") else { return };
    let (outcome, spool) = run(plan(volume.0.path(), &steps()), &Control::new());
    let outcome = outcome.unwrap();
    check_measured(&outcome, &spool);
    assert!(!outcome.direct);
    assert!(outcome.notes.as_slice().iter().any(|note| note.text.contains("use the page cache")));
}

#[test]
fn a_file_grows_in_stages_and_only_its_new_part_is_filled() {
    let folder = tempdir().unwrap();
    let job = json!({"pattern": "random", "block_bytes": 8192, "queue_depths": [2]});
    let steps = json!([curve("r", job, json!({"seconds": 0.3, "warmup_seconds": 0}))]);
    let mut plan = plan(folder.path(), &steps);
    plan["targets"] = json!([{"directory": folder.path(), "stages": [2 << 20, 3 << 20, 8 << 20]}]);
    let control = Control::new();
    let (outcome, spool) = run(plan, &control);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.targets[0].bytes, 8 << 20);
    assert_ne!(outcome.targets[0].extents_written, Some(false), "{:?}", outcome.notes);
    let stages: Vec<_> = spool.iter().map(|line| line["stage"].as_u64().unwrap()).collect();
    assert_eq!(stages, [0, 1, 2]);
    let progress = control.progress();
    assert_eq!(
        (progress.done, progress.step.as_str()),
        (progress.total, "random read 8 KiB, depth 2, stage 3 of 3")
    );
    // The filled bytes, each once, and the bytes read.
    let read: u64 = spool.iter().map(|line| line["read_bytes"].as_u64().unwrap()).sum();
    let in_flight = 3 * 2 * 8192;
    let moved = (8 << 20) + read;
    assert!((moved..=moved + in_flight).contains(&progress.bytes), "{progress:?}, {read} read");
    assert!(is_empty(folder.path()));
}

#[test]
fn the_room_of_the_last_stage_and_of_all_files_is_looked_at_first() {
    let Some(volume) = Mounted::new("size=80m") else { return };
    for (targets, needs) in [
        (
            json!([{"directory": volume.0.path(), "stages": [1 << 20, 40 << 20]}]),
            "the test file needs 104 MiB free in",
        ),
        (
            json!([{"name": "a", "directory": volume.0.path(), "bytes": 10 << 20},
                {"name": "b", "directory": volume.0.path(), "bytes": 10 << 20}]),
            "the 2 test files need 84 MiB free in",
        ),
    ] {
        let mut plan = plan(volume.0.path(), &steps());
        plan["targets"] = targets;
        let error = error_of(plan);
        assert_eq!(error.kind, ErrorKind::DiskFull);
        assert!(error.message.contains(needs) && error.message.contains("80 MiB"), "{error}");
        assert!(is_empty(volume.0.path()));
    }
}

#[test]
fn nothing_is_tidied_up_before_the_plan_is_found_fit() {
    let folder = tempdir().unwrap();
    let dead = folder.path().join(".dyno-io-dead-0.dat");
    File::create(&dead).unwrap();
    let mut plan = plan(folder.path(), &steps());
    plan["targets"] = json!([{"directory": folder.path()}, {"path": "/nowhere/at/all"}]);
    let error = error_of(plan);
    assert!(error.message.contains("does not exist") && dead.exists(), "{error}");
}
