//! Fills targets with incompressible data before they are measured.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use dyno_record::{Control, Error, ErrorKind, Result, StopOnPanic};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

use super::OpenTarget;
use crate::arena::{Pages, stamp};
use crate::engine::{self, Engine, Name, Op, Request, Setup};
use crate::seeds::derived;
use crate::worker::TICK;
use crate::{Notes, Plan};

/// I/Os in flight during filling, and their size: large enough for full speed.
const SLOTS: [u32; 8] = [BLOCK; 8];
const BLOCK: u32 = 512 << 10;
/// Without `O_DIRECT`, bytes between two syncs: limits dirty memory and the last sync.
const SYNC_BYTES: u64 = 64 << 20;

/// What all filling threads share.
struct Job<'a, W> {
    plan: &'a Plan,
    /// Differs for each filling, so no data is written twice.
    seed: u64,
    control: &'a Control,
    /// Receives the bytes written since the last call.
    written: &'a W,
    /// Set when a thread fails, so that the others stop.
    stop: AtomicBool,
}

/// Fills targets: those of one device one after another, all devices at once. Calls `written` with
/// the bytes written since the last call. Returns the engine.
///
/// # Errors
/// `cancelled`, `disk_full` or `io`.
pub(crate) fn fill_all(
    plan: &Plan,
    (stage, places): (usize, &[OpenTarget]),
    control: &Control,
    notes: &mut Notes,
    written: impl Fn(u64) + Sync,
) -> Result<Option<Name>> {
    let mut devices: BTreeMap<u64, Vec<&OpenTarget>> = BTreeMap::new();
    for place in places.iter().filter(|place| !place.to_fill.is_empty()) {
        devices.entry(place.device()).or_default().push(place);
    }
    let seed = derived(plan.seed, stage, "fill");
    let job = Job { plan, seed, control, written: &written, stop: AtomicBool::new(false) };
    let job = &job;
    let filled = std::thread::scope(|scope| {
        let start = |(index, targets): (usize, Vec<_>)| {
            scope.spawn(move || {
                let _death = StopOnPanic(&job.stop);
                let filled = fill(job, index, &targets);
                if filled.is_err() {
                    job.stop.store(true, Relaxed);
                }
                filled
            })
        };
        let threads: Vec<_> = devices.into_values().enumerate().map(start).collect();
        let panicked = |_| Err(Error::new(ErrorKind::Internal, "a filling thread panicked"));
        let filled = threads.into_iter().map(|thread| thread.join().unwrap_or_else(panicked));
        // Join all threads before returning the first error.
        filled.collect::<Vec<_>>().into_iter().collect::<Result<Vec<_>>>()
    })?;
    let mut names = Vec::with_capacity(filled.len());
    for (name, said) in filled {
        notes.add_all(&said);
        names.push(name);
    }
    Ok(names.iter().find(|name| **name == Name::Psync).or(names.first()).copied())
}

/// Fills targets one after another with one engine.
fn fill<W: Fn(u64)>(
    job: &Job<'_, W>,
    device: usize,
    targets: &[&OpenTarget],
) -> Result<(Name, Notes)> {
    let mut notes = Notes::default();
    let files: Vec<_> = targets.iter().map(|place| &place.file).collect();
    let seed = derived(job.seed, device, "buffers");
    let setup = Setup {
        files: &files,
        slots: &SLOTS,
        pages: Pages::Auto,
        seed,
        null: &job.plan.null,
        start_ns: 0,
    };
    let mut engine = engine::open(job.plan.engine, &setup, &mut notes)?;
    let data = derived(job.seed, device, "content");
    let mut data = Xoshiro256PlusPlus::seed_from_u64(data);
    for target in targets.iter().enumerate() {
        write_all(job, target, engine.as_mut(), &mut data)?;
    }
    Ok((engine.name(), notes))
}

/// Writes the unfilled part of the target in order, and syncs it.
fn write_all<W: Fn(u64)>(
    job: &Job<'_, W>,
    (file, place): (usize, &&OpenTarget),
    engine: &mut dyn Engine,
    data: &mut Xoshiro256PlusPlus,
) -> Result<()> {
    let mut idle: Vec<u32> = (0..SLOTS.len() as u32).collect();
    let mut lengths = [0; SLOTS.len()];
    let (mut batch, mut done) = (Vec::new(), Vec::new());
    let (mut next, mut ended, mut synced) = (place.to_fill.start, 0, 0);
    let all = place.to_fill.end - place.to_fill.start;
    while ended < all {
        job.control.check()?;
        if job.stop.load(Relaxed) {
            // The other thread reports its own error.
            return Ok(());
        }
        batch.clear();
        while next < place.to_fill.end
            && let Some(slot) = idle.pop()
        {
            let bytes = u64::from(BLOCK).min(place.to_fill.end - next) as u32;
            stamp(engine.buffer_mut(slot), data);
            batch.push(Request { slot, file: file as u32, op: Op::Write, offset: next, bytes });
            lengths[slot as usize] = bytes;
            next += u64::from(bytes);
        }
        engine.submit_and_wait(&batch, TICK, &mut done)?;
        let before = ended;
        for completion in done.drain(..) {
            let bytes = lengths[completion.slot as usize];
            written_whole(place, completion.result, bytes)?;
            idle.push(completion.slot);
            ended += u64::from(bytes);
        }
        if !place.direct && ended - synced >= SYNC_BYTES {
            sync(place)?;
            synced = ended;
        }
        (job.written)(ended - before);
    }
    sync(place)
}

fn written_whole(place: &OpenTarget, result: i32, bytes: u32) -> Result<()> {
    if result == bytes as i32 {
        return Ok(());
    }
    let error = if result < 0 {
        io::Error::from_raw_os_error(-result)
    } else {
        // After a short write, the next one would fail for lack of space.
        io::Error::from_raw_os_error(libc::ENOSPC)
    };
    Err(place.error(&error, "filling"))
}

fn sync(place: &OpenTarget) -> Result<()> {
    place.file.sync_all().map_err(|error| place.error(&error, "syncing"))
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    #[test]
    fn what_fails_elsewhere_ends_it_as_well() {
        let plan = serde_json::json!({
            "file_id": "a", "spool": "/nowhere", "clock": {"unix_ns": 0, "monotonic_ns": 0},
            "engine": "psync", "targets": [], "steps": [],
        });
        let plan: Plan = serde_json::from_value(plan).unwrap();
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        let place = OpenTarget {
            name: String::new(),
            path: "a file".into(),
            kind: Kind::File,
            bytes: 1 << 20,
            to_fill: 4096..1 << 20,
            file,
            direct: false,
            extents_written: None,
            content: None,
            fill: true,
            _made: None,
            _lock: None,
        };
        let moved = std::sync::atomic::AtomicU64::new(0);
        let written = |bytes| {
            moved.fetch_add(bytes, Relaxed);
        };
        let control = Control::new();
        for (stop, expected) in [(true, 0), (false, (1 << 20) - 4096)] {
            let stop = AtomicBool::new(stop);
            let job = Job { plan: &plan, seed: 1, control: &control, written: &written, stop };
            fill(&job, 0, &[&place]).unwrap();
            assert_eq!(moved.load(Relaxed), expected);
        }
        let mut first = vec![0; 8192];
        std::os::unix::fs::FileExt::read_exact_at(&place.file, &mut first, 0).unwrap();
        assert!(first[..4096].iter().all(|byte| *byte == 0), "written twice");
        assert!(first[4096..].iter().any(|byte| *byte != 0));
    }
}
