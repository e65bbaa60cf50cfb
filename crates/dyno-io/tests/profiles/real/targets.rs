//! Existing files and devices, and several files at once.
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::plans::{Mounted, curve, plan, run, with};
use dyno_io::{Kind, Note, Outcome, Topic};
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

/// A plan for one existing target.
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
fn an_existing_file_in_memory_is_not_taken_for_a_device() {
    let Some(volume) = Mounted::new("size=8m") else { return };
    let (path, _) = file(volume.0.path(), "data");
    let outcome = measure(on(&path, 100, json!({})));
    assert!(!outcome.direct && !outcome.targets[0].direct);
    let notes = outcome.notes.as_slice();
    assert!(notes.iter().any(|note| note.text.contains("use the page cache")), "{notes:?}");
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
        (on(&path, 100, json!({"bytes": 5 * MIB})), ErrorKind::Usage, "omit 'bytes'"),
        (on(folder.path(), 100, json!({})), ErrorKind::Usage, "use 'directory'"),
        (on(Path::new("/dev/null"), 100, json!({})), ErrorKind::Usage, "neither a file nor"),
        (on(&folder.path().join("x"), 100, json!({})), ErrorKind::Io, "does not exist"),
        (twice, ErrorKind::Usage, "are the same"),
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

/// A loop device on a file, detached on drop.
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
    // Like a mount: holds the device exclusively.
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

#[test]
fn what_a_target_holds_is_sampled_and_told() {
    let folder = tempdir().unwrap();
    let (path, _) = file(folder.path(), "data");
    let outcome = measure(on(&path, 100, json!({})));
    let content = outcome.targets[0].content.unwrap();
    assert_eq!(content.sampled, 256);
    // 16 different blocks repeat every 128 KiB, and each has 512 equal bytes in a row.
    assert!(content.duplicate_percent > 99.0 && content.zero_percent == 0.0, "{content:?}");
    assert!(content.compressed_percent < 10.0, "{content:?}");
    let notes = outcome.notes.as_slice();
    for words in ["are duplicates", "compress to"] {
        let told = |note: &&Note| note.code == Topic::Content && note.text.contains(words);
        assert!(notes.iter().any(|note| told(&note)), "{words}: {notes:?}");
    }
    let sparse = folder.path().join("sparse");
    File::create(&sparse).unwrap().set_len(MIB).unwrap();
    let outcome = measure(on(&sparse, 100, json!({})));
    let notes = outcome.notes.as_slice();
    assert!(
        notes.iter().any(|note| note.text.contains("100 % of 128 sampled blocks are zero")),
        "{notes:?}"
    );
    // Content that Dyno filled causes no note, and created files are not sampled.
    let outcome = measure(on(&path, 100, json!({"destroy": true, "fill": true})));
    assert!(outcome.targets[0].content.unwrap().compressed_percent > 99.9);
    let made = plan(folder.path(), &json!([curve("c", job(100, 1), short())]));
    assert_eq!(measure(made).targets[0].content, None);
}

#[test]
fn what_was_read_elsewhere_is_not_written() {
    let folder = tempdir().unwrap();
    for engine in ["auto", "psync"] {
        let path = folder.path().join("zeroes");
        std::fs::write(&path, vec![0; 4 * MIB as usize]).unwrap();
        // Two block sizes: a small block leaves the rest of the buffer unchanged.
        let job = json!({"pattern": "random", "read_percent": 50, "queue_depths": [2],
                         "blocks": [{"bytes": 8192, "percent": 50}, {"bytes": 65536, "percent": 50}],
                         "align_bytes": 8192});
        let steps = json!([curve("c", job, short())]);
        let targets = json!([{"path": path, "destroy": true}]);
        let plan = with(
            plan(Path::new("/nowhere"), &steps),
            json!({"targets": targets, "engine": engine}),
        );
        let outcome = measure(plan);
        assert!(outcome.steps[0].figures.reads > 0 && outcome.steps[0].figures.writes > 0);
        let after = std::fs::read(&path).unwrap();
        let written: Vec<&[u8]> =
            after.chunks(4096).filter(|page| page.iter().any(|byte| *byte != 0)).collect();
        assert!(!written.is_empty());
        for page in written {
            assert!(lz4_flex::block::compress(page).len() >= 4096, "{engine}: can be compressed");
        }
    }
}
