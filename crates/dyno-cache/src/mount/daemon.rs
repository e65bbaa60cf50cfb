//! The daemon: from a plan to the end of the mount.

use super::beginning::Beginning;
use super::content::MAX_REQUEST;
use super::files::{Files, create};
use super::fuse::Fuse;
use super::keeper::{Given, Keeper};
use super::kinds::{Kinds, Rule, Shown};
use super::nodes::Nodes;
use super::passing::Passing;
use super::recording::Recording;
use super::volume::{Volume, number_of};
use crate::flash::{Cache, Counts, Device, FileDevice, Geometry, NullDevice};
use crate::policy::SegmentedS3Fifo;
use fuser::{Config, Session, SessionACL};
use rustix::fs::{FlockOperation, OFlags, flock};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant, SystemTime};

/// The cache in its folder.
const CACHE: &str = "cache";
const STATUS: &str = "status.json";
const STATUS_EVERY: Duration = Duration::from_secs(1);
/// Blocks of a segment: 2 MiB, or less in small caches, which need enough segments.
const SEGMENT: u32 = 256;
const SMALL_SEGMENT: u32 = 32;
const SMALL_BYTES: u64 = 1 << 30;
const INTENT_PAGES: u32 = 16;

/// What to serve.
#[derive(Clone, Debug, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "answers to different questions")]
pub struct Plan {
    /// The supervisor's socket.
    pub socket: PathBuf,
    /// The folder of the cache.
    pub folder: PathBuf,
    /// Rules for kinds of files.
    pub rules: Vec<Rule>,
    /// A sequential read of more bytes does not fill the cache.
    pub scan_bytes: u64,
    /// Threads that serve requests.
    pub threads: usize,
    /// Seconds between checkpoints.
    pub checkpoint_s: u64,
    /// Whether an earlier daemon served the same mount.
    pub continued: bool,
    /// Whether the cache must begin empty.
    pub empty: bool,
    /// Whether the kernel may read and write files itself that are not cached.
    pub passthrough: bool,
    /// Whether the mount is for all users.
    pub everyone: bool,
}

#[derive(Serialize)]
struct Status {
    /// Seconds since 1970.
    time: f64,
    pid: u32,
    usable: bool,
    /// Whether reads leave flash out, because the origin is faster.
    aside: bool,
    blocks: usize,
    capacity_blocks: u64,
    hits: u64,
    misses: u64,
    filled: u64,
    overtaken: u64,
    busy: u64,
    damaged: u64,
    errors: u64,
    kinds: Vec<Shown>,
}

/// Serves a mount until it ends.
///
/// # Errors
/// `InvalidData` if the folder has the cache of another origin; `WouldBlock` if another daemon uses
/// it; otherwise of the cache, the supervisor or FUSE.
pub fn serve(plan: &Plan) -> io::Result<()> {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        // A thread that is gone would leave its request without an answer; another daemon gives it.
        report(info);
        std::process::abort();
    }));
    let (keeper, given) = Keeper::connect(&plan.socket)?;
    let Given { fuse, root, nodes, backings } = given;
    let (cache, files, usable) = match open(plan, &root) {
        Ok((cache, files)) => (cache, files, true),
        // A database uses the folder: it goes on without a cache.
        Err(error) if plan.continued => {
            eprintln!("the cache is not used: {error}");
            let (cache, files) = nothing(root.try_clone()?)?;
            (cache, files, false)
        }
        Err(error) => return Err(error),
    };
    let nodes = Nodes::new(root, nodes, keeper)?;
    let (kinds, recording) = (Kinds::new(&plan.rules)?, Recording::new(&plan.folder));
    let volume = Arc::new(Volume::new(nodes, kinds, cache, files, recording, plan.scan_bytes));
    if !usable {
        volume.give_up();
    }
    volume.keep_quotas();
    if plan.continued {
        resend(fuse.try_clone()?)?;
    }
    let beginning = Arc::new(Beginning::new(fuse, plan.threads));
    let passing = plan.passthrough.then(|| Passing::new(backings));
    let fuse = Fuse::new(volume.clone(), passing, beginning.clone());
    let (session, kernel) = session(plan, fuse, &beginning)?;
    let over = AtomicBool::new(false);
    let served = std::thread::scope(|scope| {
        scope.spawn(|| upkeep(&volume, &over));
        scope.spawn(|| checkpoints(&volume, plan, &over));
        scope.spawn(|| statuses(&volume, &plan.folder, &over));
        scope.spawn(|| beginning.send(&kernel));
        volume.nodes.keeper().ready();
        let served = session.run();
        over.store(true, SeqCst);
        served
    });
    served?;
    volume.cache.maintain();
    // What files are is not written any more: others may be changing them.
    volume.close()
}

/// The cache in a folder with the numbers of its files, as they were left, or new ones.
fn open(plan: &Plan, root: &OwnedFd) -> io::Result<(Cache, Files)> {
    let cache = open_cache(plan, root)?;
    let files = if cache.is_empty() {
        Files::create(&plan.folder, root.try_clone()?)?
    } else {
        Files::open(&plan.folder, root.try_clone()?, plan.continued)?
    };
    let numbers = files.numbers();
    cache.retain(|key| numbers.contains(&number_of(key)));
    Ok((cache, files))
}

/// A cache that keeps nothing.
fn nothing(root: OwnedFd) -> io::Result<(Cache, Files)> {
    let geometry = Geometry { segments: 4, blocks: SMALL_SEGMENT, intent_pages: 1 };
    let device = NullDevice(geometry.segment(geometry.segments));
    let retention = Box::new(SegmentedS3Fifo::new(4, SMALL_SEGMENT as usize));
    Ok((Cache::create(Arc::new(device), geometry, "", retention)?, Files::none(root)?))
}

/// The cache in a folder, as it was left, or a new one.
fn open_cache(plan: &Plan, root: &OwnedFd) -> io::Result<Cache> {
    let path = plan.folder.join(CACHE);
    let direct = OFlags::DIRECT.bits() as i32;
    let mut options = File::options();
    options.read(true).write(true);
    let file = match options.clone().custom_flags(direct).open(&path) {
        // A file system without direct I/O, such as one in memory.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => options.open(&path)?,
        other => other?,
    };
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    let size = file.metadata()?.len();
    let device: Arc<dyn Device> = Arc::new(FileDevice::new(file, size));
    let origin = origin(root)?;
    let retention = |geometry: &Geometry| {
        let (segments, blocks) = (geometry.segments as usize, geometry.blocks as usize);
        Box::new(SegmentedS3Fifo::new(segments, blocks)) as _
    };
    if !plan.empty {
        return Cache::open(device, &origin, retention);
    }
    let blocks = if size < SMALL_BYTES { SMALL_SEGMENT } else { SEGMENT };
    let geometry = Geometry::fitting(size, blocks, INTENT_PAGES)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the cache is too small"))?;
    Cache::create(device, geometry, &origin, retention(&geometry))
}

/// What tells the origin from others: its folder's inode and when it was created.
fn origin(root: &OwnedFd) -> io::Result<String> {
    let wanted = rustix::fs::StatxFlags::BASIC_STATS | rustix::fs::StatxFlags::BTIME;
    let found = rustix::fs::statx(root, "", rustix::fs::AtFlags::EMPTY_PATH, wanted)?;
    let born = found.stx_btime;
    Ok(format!("{}:{}.{:09}", found.stx_ino, born.tv_sec, born.tv_nsec))
}

/// A session of FUSE whose handshake is over, as it is when a daemon replaces another, and the other
/// end of its socket.
fn session(
    plan: &Plan,
    fuse: Fuse,
    beginning: &Beginning,
) -> io::Result<(Session<Fuse>, UnixDatagram)> {
    let mut config = Config::default();
    config.n_threads = Some(plan.threads);
    // All threads use the descriptor that the supervisor has too. What a daemon received through
    // one of its own would fail when it dies.
    config.clone_fd = false;
    let access = if plan.everyone { SessionACL::All } else { SessionACL::Owner };
    // The library begins with a handshake, which the supervisor had with the kernel already. It has
    // it with a socket, whose descriptor becomes the device when all threads have begun.
    let (kernel, ours) = UnixDatagram::pair()?;
    kernel.send(&handshake())?;
    let session = Session::from_fd(fuse, ours.into(), access, config)?;
    beginning.reads_from(session.as_fd().as_raw_fd());
    Ok((session, kernel))
}

/// The first request of the kernel, with protocol 7.40 and no wishes.
fn handshake() -> Vec<u8> {
    let words = [104_u32, 26, 1, 0, 0, 0, 0, 0, 0, 0, 7, 40, MAX_REQUEST as u32];
    let mut request: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    request.resize(104, 0);
    request
}

/// Asks the kernel to send again what an earlier daemon received and did not answer.
fn resend(device: OwnedFd) -> io::Result<()> {
    let message = [16_u32, 7, 0, 0];
    let bytes: Vec<u8> = message.iter().flat_map(|word| word.to_le_bytes()).collect();
    match File::from(device).write_all(&bytes) {
        // A kernel before 6.9: what was not answered waits until its caller is killed.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(()),
        done => done,
    }
}

fn upkeep(volume: &Volume, over: &AtomicBool) {
    while !over.load(SeqCst) {
        volume.cache.wait_for_upkeep(STATUS_EVERY / 10);
        volume.cache.maintain();
    }
}

fn checkpoints(volume: &Volume, plan: &Plan, over: &AtomicBool) {
    let mut last = Instant::now();
    while !over.load(SeqCst) {
        std::thread::park_timeout(STATUS_EVERY / 10);
        if last.elapsed().as_secs() >= plan.checkpoint_s {
            // The next one may succeed; until then, more is dropped at a crash.
            drop(volume.checkpoint());
            last = Instant::now();
        }
    }
}

fn statuses(volume: &Volume, folder: &Path, over: &AtomicBool) {
    let mut round = 0_u64;
    loop {
        let last = over.load(SeqCst);
        // A count takes long in a large cache.
        if round.is_multiple_of(1 + (volume.cache.capacity() >> 20)) {
            volume.keep_quotas();
        }
        round += 1;
        // Who reads it sees that it is old.
        drop(write_status(volume, folder));
        drop(volume.recording.follow());
        if last {
            return;
        }
        std::thread::park_timeout(STATUS_EVERY);
    }
}

fn write_status(volume: &Volume, folder: &Path) -> io::Result<()> {
    let Counts { hits, misses, filled, overtaken, busy, damaged, errors } = volume.cache.counts();
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let status = Status {
        time: now.as_secs_f64(),
        pid: std::process::id(),
        usable: volume.usable(),
        aside: volume.aside.judge(),
        blocks: volume.cache.len(),
        capacity_blocks: volume.cache.capacity(),
        hits,
        misses,
        filled,
        overtaken,
        busy,
        damaged,
        errors,
        kinds: volume.kinds.shown(),
    };
    let new = folder.join(format!("{STATUS}.new"));
    create(&new)?.write_all(&serde_json::to_vec(&status)?)?;
    std::fs::rename(new, folder.join(STATUS))
}
