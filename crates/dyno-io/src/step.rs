//! One step: workers that start together, and what they hand in.

mod gather;

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::Instant;

use dyno_record::{Control, Error, ErrorKind, Result, monotonic_ns};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

use crate::engine::{self, Choice, Name, Setup};
use crate::flow::Flow;
use crate::lane::{Desk, Lane, Slot, Window};
use crate::pace::Pace;
use crate::pattern::Pattern;
use crate::plan::{Curve, Level};
use crate::tally::Counts;
use crate::worker::{self, Intervals, Share, Shared, TICK};
use crate::{Notes, Plan, cores};
use gather::Gather;

/// What to do.
pub(crate) struct Spec<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) curve: &'a Curve,
    pub(crate) level: &'a Level,
    /// By target; empty with the null engine.
    pub(crate) files: &'a [&'a File],
    pub(crate) engine: Choice,
    /// Where a simulated clock starts.
    pub(crate) start_ns: u64,
    pub(crate) seed: u64,
}

/// The job totals of one interval: when it began and ended, on the engine's clock.
pub(crate) struct Interval {
    pub(crate) window: Window,
    pub(crate) jobs: Vec<Counts>,
}

/// What was seen.
pub(crate) struct Seen {
    pub(crate) engine: Name,
    pub(crate) threads: usize,
    /// Time from the first preparation to the start of all workers.
    pub(crate) start_seconds: f64,
    pub(crate) window: Window,
    pub(crate) drain_ns: u64,
    pub(crate) now_ns: u64,
    /// By job, then by target of the job.
    pub(crate) lanes: Vec<Lane>,
    pub(crate) failure: Option<(usize, Error)>,
}

enum Message {
    /// The worker waits for the signal to start.
    Ready(Name, Notes),
    /// An interval of one worker: index, end, totals by job.
    Interval(u64, u64, Vec<Counts>),
}

/// Runs a step. `patterns` are those of the lanes (by job, then by target of the job); they come
/// back inside the lanes, to go on in the next step. `tick` hears now and then of the time since
/// the start (ns), `interval` of each interval as soon as all workers have ended it.
///
/// # Errors
/// `cancelled`, those of opening an engine, or those of `interval`. Failed I/Os are in what was
/// seen.
pub(crate) fn run(
    spec: &Spec<'_>,
    patterns: Vec<Pattern>,
    control: &Control,
    notes: &mut Notes,
    tick: impl Fn(u64),
    interval: impl FnMut(Interval) -> Result<()>,
) -> Result<Seen> {
    let begin = Instant::now();
    let crews = crews(spec, patterns);
    let shared = Shared { control, on_error: spec.plan.on_error, stop: AtomicBool::new(false) };
    let shared = &shared;
    std::thread::scope(|scope| {
        let (messages, inbox) = channel();
        let mut started = Vec::with_capacity(crews.len());
        for (index, crew) in crews.into_iter().enumerate() {
            started.push(start(scope, spec, (index, crew), messages.clone(), shared)?);
        }
        drop(messages);
        let (handles, signals): (Vec<_>, Vec<_>) = started.into_iter().unzip();
        let engine = all_ready(&inbox, &handles, notes);
        let begin_ns = if engine == Some(Name::Null) { spec.start_ns } else { monotonic_ns() };
        let window = window(spec.curve, begin_ns);
        if engine.is_some() {
            for signal in &signals {
                let _ = signal.send(window);
            }
        }
        drop(signals);
        let start_seconds = begin.elapsed().as_secs_f64();
        let told = attend(&inbox, Gather::new(handles.len(), window, interval), || {
            // Simulated time is over at once.
            if engine != Some(Name::Null) {
                tick(monotonic_ns().saturating_sub(begin_ns));
            }
        });
        if told.is_err() {
            shared.stop.store(true, Relaxed);
        }
        let threads = handles.len();
        let ended = join(handles)?;
        told?;
        let engine = engine.ok_or_else(|| internal("an I/O thread never started"))?;
        Ok(seen(ended, (engine, threads, start_seconds), window))
    })
}

/// The lanes of each thread.
fn crews(spec: &Spec<'_>, patterns: Vec<Pattern>) -> Vec<Vec<Lane>> {
    let jobs = spec.curve.jobs.iter().enumerate();
    let pairs: Vec<(usize, usize, usize)> = jobs
        .flat_map(|(job, of)| of.on.iter().enumerate().map(move |(place, on)| (job, place, *on)))
        .collect();
    let cores = cores::list().len();
    let wanted = spec.plan.threads.map_or(cores, |threads| threads as usize);
    let threads = wanted.min(pairs.len()).max(1);
    let targets: Vec<_> = pairs.iter().map(|(_, _, target)| *target).collect();
    let of_lane = cores::spread(&targets, threads);
    let mut crews: Vec<Vec<Lane>> = (0..threads).map(|_| Vec::new()).collect();
    for (index, ((job, place, target), pattern)) in pairs.into_iter().zip(patterns).enumerate() {
        let of = &spec.curve.jobs[job];
        let pace = spec.level.jobs[job].1.map(|per_second| {
            let arrivals = of.rate.as_ref().map(|rate| rate.arrivals).unwrap_or_default();
            let seed = spec.seed.wrapping_add(index as u64);
            // Times are moved to the start once that is known.
            Pace::new((per_second, arrivals), (place, of.on.len()), 0, seed)
        });
        crews[of_lane[index]].push(Lane {
            index,
            job,
            target,
            file: 0,
            pattern,
            pace,
            flow: Flow::of(of),
            idle: Vec::new(),
            counts: Counts::of(of),
            in_flight_ns: 0,
            failure: None,
        });
    }
    crews.retain(|crew| !crew.is_empty());
    crews
}

fn window(curve: &Curve, begin_ns: u64) -> Window {
    let start_ns = begin_ns + (curve.warmup_seconds * 1e9) as u64;
    Window { start_ns, end_ns: start_ns + (curve.seconds * 1e9) as u64 }
}

type Started<'scope> = (ScopedJoinHandle<'scope, Result<Option<Share>>>, SyncSender<Window>);

fn start<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    spec: &'env Spec<'env>,
    (index, lanes): (usize, Vec<Lane>),
    messages: Sender<Message>,
    shared: &'env Shared<'env>,
) -> Result<Started<'scope>> {
    let (signal, go) = sync_channel(1);
    let work = move || {
        let share = work(spec, index, lanes, &go, &messages, shared);
        if share.is_err() {
            shared.stop.store(true, Relaxed);
        }
        share
    };
    let handle = Builder::new()
        .name(format!("io-{index}"))
        .spawn_scoped(scope, work)
        .map_err(|error| Error::from_io(&error, "starting a thread"))?;
    Ok((handle, signal))
}

/// One thread: opens an engine, waits for the signal, drives its lanes.
fn work(
    spec: &Spec<'_>,
    index: usize,
    mut lanes: Vec<Lane>,
    go: &Receiver<Window>,
    messages: &Sender<Message>,
    shared: &Shared<'_>,
) -> Result<Option<Share>> {
    let mut notes = Notes::default();
    if matches!(spec.engine, Choice::Auto | Choice::IoUring) {
        take_core(index, &mut notes);
    }
    let files = own_files(&mut lanes, spec.files);
    let (slots, lengths) = own_slots(&mut lanes, spec);
    let seed = spec.seed.wrapping_add((index as u64) << 32);
    let null = &spec.plan.null;
    let setup = Setup { files: &files, slots: &lengths, seed, null, start_ns: spec.start_ns };
    let mut engine = engine::open(spec.engine, &setup, &mut notes)?;
    let data = Xoshiro256PlusPlus::seed_from_u64(seed);
    let batch = Vec::with_capacity(slots.len());
    let desk = Desk { engine: engine.as_mut(), slots, batch, data };
    let ready = Message::Ready(desk.engine.name(), notes);
    let Ok(window) = messages.send(ready).map_err(|_| ()).and_then(|()| go.recv().map_err(|_| ()))
    else {
        return Ok(None);
    };
    let begin_ns = window.start_ns - (spec.curve.warmup_seconds * 1e9) as u64;
    for pace in lanes.iter_mut().filter_map(|lane| lane.pace.as_mut()) {
        pace.begin_at(begin_ns);
    }
    let fresh = || spec.curve.jobs.iter().map(Counts::of).collect();
    // The receiver lives until all workers have ended; if it is gone nobody wants to know.
    let hand_on = |index, end_ns, jobs| drop(messages.send(Message::Interval(index, end_ns, jobs)));
    let intervals = spec.plan.intervals.as_ref().map(|_| Intervals {
        length_ns: (spec.plan.interval_seconds * 1e9) as u64,
        fresh: &fresh,
        send: &hand_on,
    });
    worker::run(lanes, desk, window, intervals.as_ref(), shared).map(Some)
}

fn take_core(index: usize, notes: &mut Notes) {
    let cores = cores::list();
    if let Err(error) = cores::pin(cores[index % cores.len()]) {
        notes.add(format!("I/O threads could not be kept on a core each ({error})"));
    }
    cores::wake_precisely();
}

/// The files of these lanes only, in the order that the lanes are told.
fn own_files<'a>(lanes: &mut [Lane], all: &[&'a File]) -> Vec<&'a File> {
    let mut targets: Vec<usize> = lanes.iter().map(|lane| lane.target).collect();
    targets.sort_unstable();
    targets.dedup();
    for lane in lanes {
        lane.file = targets.binary_search(&lane.target).unwrap_or(0) as u32;
    }
    targets.iter().filter_map(|target| all.get(*target).copied()).collect()
}

/// Gives each lane its slots; returns whose each slot is, and the length of its buffer.
fn own_slots(lanes: &mut [Lane], spec: &Spec<'_>) -> (Vec<Slot>, Vec<u32>) {
    let (mut slots, mut lengths) = (Vec::new(), Vec::new());
    for (index, lane) in lanes.iter_mut().enumerate() {
        let depth = spec.level.jobs[lane.job].0;
        let first = slots.len() as u32;
        lane.idle = (first..first + depth).rev().collect();
        for _ in 0..depth {
            slots.push(Slot::of(index as u32));
            lengths.push(spec.curve.jobs[lane.job].largest_block());
        }
    }
    (slots, lengths)
}

/// Waits until every worker is ready; returns the engine, psync if one of them has that, or `None`
/// if a worker has ended instead.
fn all_ready(
    inbox: &Receiver<Message>,
    handles: &[ScopedJoinHandle<'_, Result<Option<Share>>>],
    notes: &mut Notes,
) -> Option<Name> {
    let mut names = Vec::with_capacity(handles.len());
    while names.len() < handles.len() {
        match inbox.recv_timeout(TICK) {
            Ok(Message::Ready(name, said)) => {
                names.push(name);
                notes.add_all(&said);
            }
            Ok(Message::Interval(..)) => {}
            Err(RecvTimeoutError::Timeout) => {
                if handles.iter().any(ScopedJoinHandle::is_finished) {
                    return None;
                }
            }
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
    names.iter().find(|name| **name == Name::Psync).or(names.first()).copied()
}

/// Takes in intervals until all workers have ended.
fn attend<F: FnMut(Interval) -> Result<()>>(
    inbox: &Receiver<Message>,
    mut gather: Gather<F>,
    tick: impl Fn(),
) -> Result<()> {
    loop {
        match inbox.recv_timeout(TICK) {
            Ok(Message::Interval(index, end_ns, jobs)) => gather.add(index, end_ns, jobs)?,
            Ok(Message::Ready(..)) => {}
            Err(RecvTimeoutError::Timeout) => tick(),
            Err(RecvTimeoutError::Disconnected) => return gather.finish(),
        }
    }
}

fn join(handles: Vec<ScopedJoinHandle<'_, Result<Option<Share>>>>) -> Result<Vec<Share>> {
    let mut shares = Vec::with_capacity(handles.len());
    let mut first = None;
    for handle in handles {
        match handle.join().unwrap_or_else(|_| Err(internal("an I/O thread panicked"))) {
            Ok(share) => shares.extend(share),
            Err(error) => first = first.or(Some(error)),
        }
    }
    first.map_or(Ok(shares), Err)
}

fn seen(
    shares: Vec<Share>,
    (engine, threads, start_seconds): (Name, usize, f64),
    window: Window,
) -> Seen {
    let mut seen = Seen {
        engine,
        threads,
        start_seconds,
        window,
        drain_ns: 0,
        now_ns: 0,
        lanes: Vec::new(),
        failure: None,
    };
    for share in shares {
        seen.window.start_ns = seen.window.start_ns.min(share.window.start_ns);
        seen.window.end_ns = seen.window.end_ns.min(share.window.end_ns);
        seen.drain_ns = seen.drain_ns.max(share.drain_ns);
        seen.now_ns = seen.now_ns.max(share.now_ns);
        seen.failure = seen.failure.or(share.failure);
        seen.lanes.extend(share.lanes);
    }
    seen.lanes.sort_by_key(|lane| lane.index);
    seen
}

fn internal(message: &str) -> Error {
    Error::new(ErrorKind::Internal, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_registers_the_files_of_its_lanes_only() {
        let files: Vec<File> = (0..4).map(|_| tempfile::tempfile().unwrap()).collect();
        let all: Vec<&File> = files.iter().collect();
        let lane = |target| Lane {
            index: 0,
            job: 0,
            target,
            file: 9,
            pattern: crate::pattern::tests::any(),
            pace: None,
            flow: Flow::Free,
            idle: Vec::new(),
            counts: Counts::default(),
            in_flight_ns: 0,
            failure: None,
        };
        let mut lanes = [lane(3), lane(1), lane(3)];
        assert_eq!(own_files(&mut lanes, &all).len(), 2);
        assert_eq!(lanes.each_ref().map(|lane| lane.file), [1, 0, 1]);
    }
}
