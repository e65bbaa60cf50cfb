//! One suite for all engines with real I/O.

use std::fs::{File, OpenOptions};
use std::time::{Duration, Instant};

use dyno_io::engine::{Completion, Engine, Op, Request, Setup, null, psync};
use dyno_io::{Notes, Pages};
use dyno_record::Result;

const SLOTS: u32 = 8;
const LENGTHS: [u32; SLOTS as usize] = [BLOCK; SLOTS as usize];
const BLOCK: u32 = 8192;
const LONG: Duration = Duration::from_secs(120);

type Open = fn(&Setup<'_>) -> Result<Box<dyn Engine>>;

fn open_psync(setup: &Setup<'_>) -> Result<Box<dyn Engine>> {
    Ok(Box::new(psync::Psync::open(setup)?))
}

#[cfg(target_os = "linux")]
mod ring {
    use super::*;
    use dyno_io::engine::uring::{Buffers, Uring};

    pub fn open_registered(setup: &Setup<'_>) -> Result<Box<dyn Engine>> {
        Ok(Box::new(Uring::open(setup, Buffers::Registered, &mut Notes::default())?))
    }

    pub fn open_plain(setup: &Setup<'_>) -> Result<Box<dyn Engine>> {
        let engine = Uring::open(setup, Buffers::Plain, &mut Notes::default())?;
        assert_eq!(engine.buffers(), Buffers::Plain);
        Ok(Box::new(engine))
    }
}

/// Opens the engine on two empty files and runs `check`; false if the system forbids the engine.
fn with(open: Open, check: impl FnOnce(&mut dyn Engine)) -> bool {
    let files = [tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap()];
    with_files(open, &files, check)
}

fn with_files(open: Open, files: &[File], check: impl FnOnce(&mut dyn Engine)) -> bool {
    let null = null::Model::default();
    let files: Vec<_> = files.iter().collect();
    let pages = Pages::Ordinary;
    let setup = Setup { files: &files, slots: &LENGTHS, pages, seed: 1, null: &null, start_ns: 0 };
    match open(&setup) {
        Ok(mut engine) => {
            check(engine.as_mut());
            true
        }
        Err(error) if error.message.contains("io_uring") => {
            eprintln!("skipped: {error}");
            false
        }
        Err(error) => panic!("{error}"),
    }
}

fn request(slot: u32, file: u32, write: bool, block: u64) -> Request {
    let op = if write { Op::Write } else { Op::Read };
    Request { slot, file, op, offset: block * u64::from(BLOCK), bytes: BLOCK }
}

/// Runs a batch to completion.
fn complete(engine: &mut dyn Engine, batch: &[Request]) -> Vec<Completion> {
    let mut done = Vec::with_capacity(SLOTS as usize);
    let room = done.capacity();
    let told = engine.submit_and_wait(batch, LONG, &mut done).unwrap();
    assert!(done.iter().all(|completion| completion.ended_ns <= told));
    while done.len() < batch.len() {
        engine.submit_and_wait(&[], LONG, &mut done).unwrap();
    }
    assert_eq!(done.capacity(), room, "reallocated");
    done.sort_by_key(|completion| completion.slot);
    done
}

fn content(file: u32, block: u64) -> u8 {
    (u64::from(file) * 100 + block) as u8
}

fn what_is_written_is_read_back(engine: &mut dyn Engine) {
    for file in 0..2 {
        let batch: Vec<_> =
            (0..SLOTS).map(|slot| request(slot, file, true, u64::from(slot))).collect();
        for write in &batch {
            engine.buffer_mut(write.slot).fill(content(file, u64::from(write.slot)));
        }
        assert!(complete(engine, &batch).iter().all(|done| done.result == BLOCK as i32));
    }
    for file in 0..2 {
        // Not the slots that wrote.
        let batch: Vec<_> = (0..SLOTS)
            .map(|slot| request(slot, file, false, u64::from(SLOTS - 1 - slot)))
            .collect();
        assert!(complete(engine, &batch).iter().all(|done| done.result == BLOCK as i32));
        for read in &batch {
            let expected = content(file, read.offset / u64::from(BLOCK));
            assert!(engine.buffer_mut(read.slot).iter().all(|byte| *byte == expected));
        }
    }
}

fn every_request_completes_once(engine: &mut dyn Engine) {
    for round in 0..50u64 {
        let depth = 1 + (round % u64::from(SLOTS)) as u32;
        let batch: Vec<_> =
            (0..depth).map(|slot| request(slot, 0, true, round + u64::from(slot))).collect();
        let before = engine.now_ns();
        let done = complete(engine, &batch);
        let after = engine.now_ns();
        let slots: Vec<_> = done.iter().map(|completion| completion.slot).collect();
        assert_eq!(slots, (0..depth).collect::<Vec<_>>());
        for completion in &done {
            assert!(before <= completion.started_ns);
            assert!(completion.started_ns < completion.ended_ns);
            assert!(completion.ended_ns <= after);
        }
    }
}

fn an_idle_turn_returns_at_once(engine: &mut dyn Engine) {
    let begin = Instant::now();
    let mut done = Vec::new();
    engine.submit_and_wait(&[], LONG, &mut done).unwrap();
    assert!(done.is_empty() && begin.elapsed() < LONG / 2);
}

fn syncs_move_nothing_and_succeed(engine: &mut dyn Engine) {
    complete(engine, &[request(0, 1, true, 0)]);
    let sync = |slot, op| Request { slot, file: 1, op, offset: 0, bytes: 0 };
    let done = complete(engine, &[sync(0, Op::Fsync), sync(5, Op::Fdatasync)]);
    assert_eq!(done.iter().map(|done| done.result).collect::<Vec<_>>(), [0, 0]);
}

fn a_pause_lasts_as_long_as_asked(engine: &mut dyn Engine) {
    let before = engine.now_ns();
    let after = engine.pause(Duration::from_millis(2));
    assert!(after - before >= 2_000_000 && engine.now_ns() >= after);
}

fn a_short_read_is_told(engine: &mut dyn Engine) {
    assert_eq!(complete(engine, &[request(0, 1, false, 1000)])[0].result, 0);
}

fn a_failed_io_is_a_completion(open: Open) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    std::fs::write(&path, vec![7; BLOCK as usize]).unwrap();
    let read_only = OpenOptions::new().read(true).open(&path).unwrap();
    with_files(open, &[read_only], |engine| {
        assert_eq!(complete(engine, &[request(3, 0, true, 0)])[0].result, -libc::EBADF);
        assert_eq!(complete(engine, &[request(3, 0, false, 0)])[0].result, BLOCK as i32);
        assert!(engine.buffer_mut(3).iter().all(|byte| *byte == 7));
    });
}

fn dropping_with_io_in_flight_is_safe(open: Open) {
    for _ in 0..20 {
        with(open, |engine| {
            let batch: Vec<_> =
                (0..SLOTS).map(|slot| request(slot, 0, true, u64::from(slot))).collect();
            engine.submit_and_wait(&batch, Duration::ZERO, &mut Vec::new()).unwrap();
        });
    }
}

fn suite(open: Open) {
    if !with(open, what_is_written_is_read_back) {
        return;
    }
    with(open, every_request_completes_once);
    with(open, an_idle_turn_returns_at_once);
    with(open, syncs_move_nothing_and_succeed);
    with(open, a_pause_lasts_as_long_as_asked);
    with(open, a_short_read_is_told);
    a_failed_io_is_a_completion(open);
    dropping_with_io_in_flight_is_safe(open);
}

#[test]
fn psync() {
    suite(open_psync);
}

#[cfg(target_os = "linux")]
#[test]
fn uring_with_registered_buffers() {
    suite(ring::open_registered);
}

#[cfg(target_os = "linux")]
#[test]
fn uring_with_plain_buffers() {
    suite(ring::open_plain);
}

#[test]
fn null_keeps_the_rules_on_its_own_clock() {
    let open: Open = |setup| Ok(Box::new(null::Null::open(setup)));
    with(open, every_request_completes_once);
    with(open, an_idle_turn_returns_at_once);
    with(open, syncs_move_nothing_and_succeed);
    with(open, a_pause_lasts_as_long_as_asked);
    with(open, |engine| {
        let begin = engine.now_ns();
        let mut done = Vec::new();
        // After 40 µs the model's 100 µs have not passed; after 60 µs more they have.
        engine
            .submit_and_wait(&[request(0, 0, false, 0)], Duration::from_micros(40), &mut done)
            .unwrap();
        assert!(done.is_empty());
        engine.submit_and_wait(&[], LONG, &mut done).unwrap();
        assert_eq!((done.len(), engine.now_ns() - begin), (1, 100_000));
    });
}
