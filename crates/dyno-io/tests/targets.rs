//! Existing files and devices, many files at once, and what may happen to them meanwhile.

mod common;

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{curve, plan, run, with};
use dyno_io::{Fault, Kind, Outcome, profile};
use dyno_record::{Control, Error, ErrorKind};
use serde_json::{Value, json};
use tempfile::tempdir;

const MIB: u64 = 1 << 20;

fn job(read_percent: u8, depth: u32) -> Value {
    json!({"pattern": "random", "block_bytes": 8192, "read_percent": read_percent,
           "queue_depths": [depth]})
}

fn short() -> Value {
    json!({"seconds": 0.5, "warmup_seconds": 0})
}

/// A plan on one target that is there.
fn on(path: &Path, read_percent: u8, change: Value) -> Value {
    let steps = json!([curve("c", job(read_percent, 4), short())]);
    let target = with(json!({"path": path}), change);
    with(plan(Path::new("/nowhere"), &steps), json!({"targets": [target]}))
}

fn measure(plan: Value) -> Outcome {
    run(plan, &Control::new()).0.unwrap()
}

fn refused(plan: Value) -> Error {
    let (outcome, spool) = run(plan, &Control::new());
    assert!(spool.is_empty());
    outcome.unwrap_err()
}

fn file(folder: &Path, name: &str) -> (PathBuf, Vec<u8>) {
    let path = folder.join(name);
    let content: Vec<u8> = (0..4 * MIB).map(|at| (at / 512) as u8).collect();
    std::fs::write(&path, &content).unwrap();
    File::open(&path).unwrap().sync_all().unwrap();
    (path, content)
}

#[test]
fn an_existing_file_is_read_and_stays_as_it_was() {
    let folder = tempdir().unwrap();
    let (path, content) = file(folder.path(), "data");
    let outcome = measure(on(&path, 100, json!({})));
    assert!(outcome.steps[0].figures.reads > 0);
    let target = &outcome.targets[0];
    assert_eq!((target.kind, target.bytes, &target.path), (Kind::File, 4 * MIB, &path));
    assert_ne!(target.extents_written, Some(false));
    assert!(std::fs::read(&path).unwrap() == content);
}

#[test]
fn writing_needs_the_word_destroy_and_never_removes() {
    let folder = tempdir().unwrap();
    let (path, content) = file(folder.path(), "data");
    for percent in [0, 70] {
        let error = refused(on(&path, percent, json!({})));
        assert_eq!(error.kind, ErrorKind::Usage);
        let text = error.to_string();
        assert!(text.contains("job 'c'") && text.contains("destroy: true"), "{text}");
    }
    assert!(std::fs::read(&path).unwrap() == content);

    let outcome = measure(on(&path, 0, json!({"destroy": true, "bytes": MIB})));
    assert!(outcome.steps[0].figures.writes > 0);
    let after = std::fs::read(&path).unwrap();
    assert!(after[..MIB as usize] != content[..MIB as usize], "nothing was written");
    assert!(after[MIB as usize..] == content[MIB as usize..], "written beyond 'bytes'");

    measure(on(&path, 100, json!({"destroy": true, "fill": true})));
    let filled = std::fs::read(&path).unwrap();
    assert_eq!(filled.len(), content.len());
    assert!(filled.chunks(4096).zip(content.chunks(4096)).all(|(new, old)| new != old));
}

#[test]
fn what_is_no_target_is_told() {
    let folder = tempdir().unwrap();
    let (path, _) = file(folder.path(), "data");
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let twice =
        with(on(&path, 100, json!({})), json!({"targets": [{"path": path}, {"path": link}]}));
    let other = File::open(&path).unwrap();
    for (plan, kind, words) in [
        (on(&path, 100, json!({"bytes": 5 * MIB})), ErrorKind::Usage, "leave 'bytes' out"),
        (on(folder.path(), 100, json!({})), ErrorKind::Usage, "give it as 'directory'"),
        (on(Path::new("/dev/null"), 100, json!({})), ErrorKind::Usage, "neither a file nor"),
        (on(&folder.path().join("x"), 100, json!({})), ErrorKind::Io, "is not there"),
        (twice, ErrorKind::Usage, "one and the same"),
    ] {
        let error = refused(plan);
        let text = error.to_string();
        assert!(error.kind == kind && text.contains(words), "{words}: {text}");
    }
    rustix::fs::flock(&other, rustix::fs::FlockOperation::LockShared).unwrap();
    let text = refused(on(&path, 0, json!({"destroy": true}))).to_string();
    assert!(text.contains("in use"), "{text}");
    assert!(measure(on(&path, 100, json!({}))).steps[0].figures.reads > 0, "readers may share");
}

#[test]
fn many_targets_start_together() {
    let folder = tempdir().unwrap();
    let names = |n: u32| {
        (0..n).map(|i| {
            json!({"name": format!("t{i}"), "directory": folder.path(),
                                               "bytes": 256 << 10})
        })
    };
    let targets: Vec<Value> = names(128).collect();
    let steps = json!([curve("c", job(100, 32), json!({"seconds": 1, "warmup_seconds": 0}))]);
    let outcome = measure(with(plan(folder.path(), &steps), json!({"targets": targets})));
    let step = &outcome.steps[0];
    assert_eq!(step.figures.queue_depth, 128 * 32);
    assert_eq!(step.parts.len(), 128 + 1 + 128);
    let sum: u64 =
        step.parts.iter().filter(|part| part.job.is_none()).map(|part| part.figures.reads).sum();
    assert_eq!(sum, step.figures.reads);
    assert!(step.figures.errors.is_empty() && step.start_seconds > 0.0);
    assert!(folder.path().read_dir().unwrap().next().is_none(), "files are left");
}

#[test]
fn a_log_is_synced_on_every_engine() {
    for engine in ["auto", "psync"] {
        let folder = tempdir().unwrap();
        let log = json!({"pattern": "sequential", "block_bytes": 4096, "read_percent": 0,
                         "queue_depths": [4], "sync": {"call": "fdatasync", "every": 4}});
        let steps = json!([curve("log", log, short())]);
        let figures =
            measure(with(plan(folder.path(), &steps), json!({"engine": engine}))).steps.remove(0);
        let figures = figures.figures;
        assert!(figures.syncs > 0 && figures.errors.is_empty(), "{figures:?}");
        assert!(figures.writes.abs_diff(figures.syncs * 4) <= 4, "{figures:?}");
    }
}

/// Runs a plan while `meddle` does something to the made file as soon as the first step is under
/// way.
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
    assert!(notes.iter().any(|note| note.contains("was cut")), "{notes:?}");
    assert!(outcome.best.is_empty());

    let (outcome, spool) = meddled(json!({}), cut);
    let error = outcome.unwrap_err();
    assert_eq!((error.kind, spool.len()), (ErrorKind::Io, 1), "{error}");
    assert!(error.to_string().contains("bytes were moved"), "{error}");
}

#[test]
fn a_file_that_vanishes_is_told() {
    let (outcome, _) = meddled(json!({}), |path| std::fs::remove_file(path).unwrap());
    let outcome = outcome.unwrap();
    let notes = outcome.notes.as_slice();
    assert!(notes.iter().any(|note| note.contains("was removed by someone else")), "{notes:?}");
}

/// A file system of `bytes` in memory, for as long as this lives.
struct Mounted(tempfile::TempDir);

impl Mounted {
    fn new(options: &str) -> Option<Self> {
        let folder = tempdir().unwrap();
        let mount = ["-t", "tmpfs", "-o", options, "tmpfs"];
        let status = Command::new("mount").args(mount).arg(folder.path()).output();
        if status.is_ok_and(|output| output.status.success()) {
            return Some(Self(folder));
        }
        eprintln!("skipped: cannot mount a tmpfs here");
        None
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_volume_that_fills_up_underneath_is_counted() {
    let Some(volume) = Mounted::new("size=2m") else { return };
    // Larger than the volume, and without content: room runs out as it is written.
    let path = volume.0.path().join("sparse");
    File::create(&path).unwrap().set_len(64 * MIB).unwrap();
    let write = on(&path, 0, json!({"destroy": true}));
    let outcome = measure(with(write.clone(), json!({"on_error": "continue"})));
    let figures = &outcome.steps[0].figures;
    assert!(figures.errors[&Fault::DiskFull] > 0 && figures.writes > 0, "{figures:?}");
    let (outcome, _) = run(write, &Control::new());
    assert_eq!(outcome.unwrap_err().kind, ErrorKind::DiskFull);
}

/// A loop device on a file, for as long as this lives.
struct Loop {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Loop {
    fn new() -> Option<Self> {
        let folder = tempdir().unwrap();
        let (path, _) = file(folder.path(), "image");
        let made = Command::new("losetup").args(["--find", "--show"]).arg(&path).output();
        let text = made.ok().filter(|output| output.status.success()).map(|output| output.stdout);
        let Some(text) = text else {
            eprintln!("skipped: cannot make a loop device here");
            return None;
        };
        Some(Self { path: String::from_utf8(text).unwrap().trim().into(), _folder: folder })
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.path).status();
    }
}

#[test]
fn a_device_is_measured_and_written_only_if_told() {
    let Some(device) = Loop::new() else { return };
    let outcome = measure(on(&device.path, 100, json!({})));
    assert!(outcome.steps[0].figures.reads > 0);
    assert_eq!((outcome.targets[0].kind, outcome.targets[0].bytes), (Kind::Device, 4 * MIB));
    let error = refused(on(&device.path, 0, json!({})));
    assert!(error.kind == ErrorKind::Usage && error.message.contains("destroy"), "{error}");
    let error = refused(on(&device.path, 100, json!({"bytes": 8 * MIB})));
    assert!(error.kind == ErrorKind::Usage && error.message.contains("4194304"), "{error}");
    let mut first = [0; 512];
    File::open(&device.path).unwrap().read_exact_at(&mut first, 512).unwrap();
    assert_eq!(first, [1; 512], "written to without leave");
    let outcome = measure(on(&device.path, 50, json!({"destroy": true, "fill": true})));
    assert!(outcome.steps[0].figures.writes > 0);
}

#[test]
fn a_device_in_use_is_refused() {
    let Some(device) = Loop::new() else { return };
    // What a mount does as well: the device is held exclusively.
    let mut options = File::options();
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_EXCL);
    let holder = options.read(true).open(&device.path).unwrap();
    for (percent, change) in [(100, json!({})), (0, json!({"destroy": true}))] {
        let error = refused(on(&device.path, percent, change));
        let text = error.to_string();
        assert!(error.kind == ErrorKind::Io && text.contains("is in use: unmount it"), "{text}");
    }
    drop(holder);
    measure(on(&device.path, 100, json!({})));
}

/// Runs in a process of its own, for the tests below to limit.
#[test]
fn run_limited() {
    let Ok(plan) = std::env::var("DYNO_IO_TEST_LIMITED") else { return };
    let outcome = profile(serde_json::from_str(&plan).unwrap(), &Control::new()).unwrap();
    println!("OUTCOME {}", serde_json::to_string(&outcome).unwrap());
}

/// Runs a plan in a child that `limit` has prepared; its outcome as JSON, `None` if no child could
/// be started so.
#[cfg(target_os = "linux")]
fn limited(limit: impl FnOnce(&mut Command)) -> Option<Value> {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let steps = json!([curve("c", job(100, 32), short())]);
    let plan = with(plan(folder.path(), &steps), json!({"spool": folder.path().join("io.jsonl")}));
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "run_limited", "--nocapture"]).current_dir("/");
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

/// A seccomp filter that answers `io_uring_setup` with `EPERM`, as container runtimes do.
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
        // Root may lock what it likes: nobody may not.
        // SAFETY: asks for a number.
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
    // Kernels before 5.12 lock the ring itself, and can have none then.
    if outcome["engine"] == "io_uring" {
        assert!(notes(&outcome).contains("unregistered ones were used"), "{outcome}");
    } else {
        assert!(notes(&outcome).contains("psync is used"), "{outcome}");
    }
}
