//! Changes to a target during a run, and features that a system may lack.
use std::fs::File;
use std::path::Path;
use std::process::Command;

use crate::plans::{Mounted, curve, plan, run, with};
use dyno_io::{Fault, Outcome, profile};
use dyno_record::{Control, ErrorKind};
use serde_json::{Value, json};
use tempfile::tempdir;

fn job(read_percent: u8, depth: u32) -> Value {
    json!({"pattern": "random", "block_bytes": 8192, "read_percent": read_percent,
           "queue_depths": [depth]})
}

/// Runs a plan; calls `meddle` with the created file as soon as the first step runs.
fn meddled(change: Value, meddle: impl Fn(&Path)) -> (dyno_record::Result<Outcome>, Vec<Value>) {
    let folder = tempdir().unwrap();
    let steps = json!([curve("c", job(100, 4), json!({"seconds": 2, "warmup_seconds": 0}))]);
    let plan = with(plan(folder.path(), &steps), change);
    let control = Control::new();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| run(plan, &control));
        while !control.progress().step.contains("depth 4") {
            assert!(!running.is_finished(), "ended by itself");
            std::thread::yield_now();
        }
        meddle(&folder.path().join(".dyno-io-test-0.dat"));
        let seen = running.join().unwrap();
        assert!(folder.path().read_dir().unwrap().next().is_none(), "files are left");
        seen
    })
}

#[test]
fn a_file_cut_underneath_is_counted_and_told() {
    let cut = |path: &Path| File::options().write(true).open(path).unwrap().set_len(8192).unwrap();
    let (outcome, _) = meddled(json!({"on_error": "continue"}), cut);
    let outcome = outcome.unwrap();
    let errors = &outcome.steps[0].figures.errors;
    assert!(errors[&Fault::ShortRead] > 0, "{errors:?}");
    let notes = outcome.notes.as_slice();
    assert!(notes.iter().any(|note| note.text.contains("truncated")), "{notes:?}");
    assert!(outcome.best.is_empty());

    let (outcome, spool) = meddled(json!({}), cut);
    let error = outcome.unwrap_err();
    assert_eq!((error.kind, spool.len()), (ErrorKind::Io, 1), "{error}");
    assert!(error.to_string().contains("bytes were transferred"), "{error}");
}

#[test]
fn a_file_that_vanishes_is_told() {
    let (outcome, _) = meddled(json!({}), |path| std::fs::remove_file(path).unwrap());
    let outcome = outcome.unwrap();
    let notes = outcome.notes.as_slice();
    assert!(notes.iter().any(|note| note.text.contains("another process removed")), "{notes:?}");
}

#[test]
fn a_volume_that_fills_up_underneath_is_counted() {
    let Some(volume) = Mounted::new("size=2m") else { return };
    // Larger than the volume and sparse: space runs out while it is written.
    let path = volume.0.path().join("sparse");
    File::create(&path).unwrap().set_len(64 << 20).unwrap();
    let steps = json!([curve("c", job(0, 4), json!({"seconds": 0.5, "warmup_seconds": 0}))]);
    let targets = json!([{"path": path, "destroy": true}]);
    let write = with(plan(Path::new("/nowhere"), &steps), json!({"targets": targets}));
    let carry_on = with(write.clone(), json!({"on_error": "continue"}));
    let outcome = run(carry_on, &Control::new()).0.unwrap();
    let figures = &outcome.steps[0].figures;
    assert!(figures.errors[&Fault::DiskFull] > 0 && figures.writes > 0, "{figures:?}");
    let (outcome, _) = run(write, &Control::new());
    assert_eq!(outcome.unwrap_err().kind, ErrorKind::DiskFull);
}

/// Runs in a separate process, for the tests below to limit.
#[test]
fn run_limited() {
    let Ok(plan) = std::env::var("DYNO_IO_TEST_LIMITED") else { return };
    let outcome = profile(serde_json::from_str(&plan).unwrap(), &Control::new()).unwrap();
    println!("OUTCOME {}", serde_json::to_string(&outcome).unwrap());
}

/// Runs a plan in a child prepared by `limit`; returns its outcome as JSON, `None` if no such child
/// could be started.
#[cfg(target_os = "linux")]
fn limited(limit: impl FnOnce(&mut Command)) -> Option<Value> {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let steps = json!([curve("c", job(100, 32), json!({"seconds": 0.5}))]);
    let plan = with(plan(folder.path(), &steps), json!({"spool": folder.path().join("io.jsonl")}));
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "real::faults::run_limited", "--nocapture"]).current_dir("/");
    limit(child.env("DYNO_IO_TEST_LIMITED", plan.to_string()));
    let output = match child.output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("skipped: cannot limit a child here ({error})");
            return None;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let said = text.lines().find_map(|line| line.split("OUTCOME ").nth(1));
    let said = said.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    Some(serde_json::from_str(said).unwrap())
}

#[cfg(target_os = "linux")]
fn notes(outcome: &Value) -> String {
    outcome["notes"].to_string()
}

#[cfg(target_os = "linux")]
#[test]
fn without_io_uring_psync_is_used_and_told() {
    use std::os::unix::process::CommandExt as _;

    let forbid = |child: &mut Command| {
        // SAFETY: the closure makes two system calls between fork and exec, and allocates nothing.
        unsafe { child.pre_exec(forbid_io_uring) };
    };
    let Some(outcome) = limited(forbid) else { return };
    assert_eq!(outcome["engine"], "psync");
    assert!(outcome["steps"][0]["reads"].as_u64().unwrap() > 0);
    assert!(notes(&outcome).contains("psync is used"), "{outcome}");
}

/// A seccomp filter that returns `EPERM` for `io_uring_setup`, like container runtimes.
#[cfg(target_os = "linux")]
fn forbid_io_uring() -> std::io::Result<()> {
    let bpf = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut filter = [
        bpf(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        bpf(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_io_uring_setup as u32),
        bpf(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        bpf(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program and its filter live until the kernel has copied them.
    let status = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
    };
    if status == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[cfg(target_os = "linux")]
#[test]
fn with_too_little_locked_memory_buffers_are_not_registered() {
    use std::os::unix::process::CommandExt as _;

    let limit = |child: &mut Command| {
        // Root has no limit on locked memory; `nobody` has one.
        // SAFETY: returns a number.
        if unsafe { libc::geteuid() } == 0 {
            child.uid(65_534).gid(65_534);
        }
        // SAFETY: the closure makes one system call between fork and exec, and allocates nothing.
        unsafe {
            child.pre_exec(|| {
                let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const none);
                Ok(())
            });
        };
    };
    let Some(outcome) = limited(limit) else { return };
    assert!(outcome["steps"][0]["reads"].as_u64().unwrap() > 0);
    // Kernels before 5.12 also charge the ring to locked memory, so there may be no ring.
    if outcome["engine"] == "io_uring" {
        assert!(notes(&outcome).contains("Dyno used unregistered ones"), "{outcome}");
    } else {
        assert!(notes(&outcome).contains("psync is used"), "{outcome}");
    }
}

#[test]
fn a_volume_that_fills_up_between_two_stages_is_told() {
    let Some(volume) = Mounted::new("size=80m") else { return };
    let steps = json!([curve("c", job(100, 4), json!({"seconds": 1, "warmup_seconds": 0}))]);
    let targets = json!([{"directory": volume.0.path(), "stages": [1 << 20, 8 << 20]}]);
    let plan = with(plan(volume.0.path(), &steps), json!({"targets": targets}));
    let control = Control::new();
    let other = volume.0.path().join("other");
    let (outcome, spool) = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(plan, &control));
        while !control.progress().step.contains("stage 1 of 2") {
            assert!(!running.is_finished(), "ended by itself");
            std::thread::yield_now();
        }
        assert!(std::fs::write(&other, vec![1; 80 << 20]).is_err(), "there was room");
        running.join().unwrap()
    });
    let error = outcome.unwrap_err();
    assert_eq!((error.kind, spool.len()), (ErrorKind::DiskFull, 1), "{error}");
    let left: Vec<_> =
        volume.0.path().read_dir().unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(left, [other]);
}
