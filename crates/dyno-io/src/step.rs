//! One step: workers that start together, and their results.

mod aggregator;
mod crew;

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::Instant;

use dyno_record::{Control, Error, ErrorKind, Result, StopOnPanic, monotonic_ns};

use crate::engine::{Choice, Name};
use crate::health::Health;
use crate::lane::Lane;
use crate::pattern::Pattern;
use crate::plan::{Curve, Level};
use crate::tally::Counts;
use crate::window::Window;
use crate::worker::{Share, Shared, TICK};
use crate::{Notes, Plan};
use aggregator::Aggregator;
use crew::{crews, work};

/// The parameters of a step.
pub(crate) struct Spec<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) curve: &'a Curve,
    pub(crate) level: &'a Level,
    /// By target; empty with the null engine.
    pub(crate) files: &'a [&'a File],
    /// By target: whether it has data that is not Dyno's. Empty with the null engine.
    pub(crate) foreign: &'a [bool],
    pub(crate) engine: Choice,
    /// Start of a simulated clock.
    pub(crate) start_ns: u64,
    pub(crate) seed: u64,
}

/// The job totals of one interval, with its begin and end on the engine's clock.
pub(crate) struct Interval {
    pub(crate) window: Window,
    pub(crate) jobs: Vec<Counts>,
}

/// The results of a step.
pub(crate) struct Seen {
    pub(crate) engine: Name,
    pub(crate) threads: usize,
    /// Of the worker with the lowest, see `Engine::huge_share`.
    pub(crate) huge_share: Option<f64>,
    /// Time from the first preparation to the start of all workers.
    pub(crate) start_seconds: f64,
    pub(crate) window: Window,
    pub(crate) drain_ns: u64,
    pub(crate) now_ns: u64,
    /// CPU time of the busiest worker as a share of the time; `None` with the null engine.
    pub(crate) busiest: Option<f64>,
    /// By job, then by target of the job.
    pub(crate) lanes: Vec<Lane>,
    pub(crate) failure: Option<(usize, Error)>,
}

enum Message {
    /// The worker waits for the start signal; engine, share of buffers in huge pages, notes.
    Ready(Name, Option<f64>, Notes),
    /// An interval of one worker: index, end, totals by job.
    Interval(u64, u64, Vec<Counts>),
}

/// Runs a step. `patterns` are those of the lanes (by job, then by target of the job); the lanes
/// return them for the next step. Calls `tick` regularly with the time since the start (ns), and
/// `interval` for each interval as soon as all workers have ended it.
///
/// # Errors
/// `cancelled`, those of opening an engine, or those of `interval`. Failed I/Os are in the results.
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
    let health = Health::new(spec.plan.on_error, spec.level.queue_depth);
    let shared = Shared { control, health, workers: crews.len(), stop: AtomicBool::new(false) };
    let shared = &shared;
    std::thread::scope(|scope| {
        let (messages, inbox) = channel();
        let mut started = Vec::with_capacity(crews.len());
        for (index, crew) in crews.into_iter().enumerate() {
            started.push(start(scope, spec, (index, crew), messages.clone(), shared)?);
        }
        drop(messages);
        let (handles, signals): (Vec<_>, Vec<_>) = started.into_iter().unzip();
        let ready = all_ready(&inbox, &handles, notes);
        let engine = ready.map(|(name, _)| name);
        let begin_ns = if engine == Some(Name::Null) { spec.start_ns } else { monotonic_ns() };
        let window = window(spec.curve, begin_ns);
        if engine.is_some() {
            for signal in &signals {
                let _ = signal.send(window);
            }
        }
        drop(signals);
        let start_seconds = begin.elapsed().as_secs_f64();
        let told = attend(&inbox, Aggregator::new(handles.len(), window, interval), || {
            // Simulated time passes at once.
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
        let ready = ready.ok_or_else(|| internal("an I/O thread never started"))?;
        Ok(seen(ended, &shared.health, (ready, threads, start_seconds), window))
    })
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
        let _death = StopOnPanic(&shared.stop);
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

/// Waits until every worker is ready. Returns the engine (psync if any worker uses that) and the
/// lowest share of buffers in huge pages; `None` if a worker ended instead.
fn all_ready(
    inbox: &Receiver<Message>,
    handles: &[ScopedJoinHandle<'_, Result<Option<Share>>>],
    notes: &mut Notes,
) -> Option<(Name, Option<f64>)> {
    let (mut names, mut least) = (Vec::with_capacity(handles.len()), None::<f64>);
    while names.len() < handles.len() {
        match inbox.recv_timeout(TICK) {
            Ok(Message::Ready(name, huge, said)) => {
                names.push(name);
                least = least.into_iter().chain(huge).reduce(f64::min);
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
    let name = names.iter().find(|name| **name == Name::Psync).or(names.first()).copied()?;
    Some((name, least))
}

/// Receives intervals until all workers have ended.
fn attend<F: FnMut(Interval) -> Result<()>>(
    inbox: &Receiver<Message>,
    mut aggregator: Aggregator<F>,
    tick: impl Fn(),
) -> Result<()> {
    loop {
        match inbox.recv_timeout(TICK) {
            Ok(Message::Interval(index, end_ns, jobs)) => aggregator.add(index, end_ns, jobs)?,
            Ok(Message::Ready(..)) => {}
            Err(RecvTimeoutError::Timeout) => tick(),
            Err(RecvTimeoutError::Disconnected) => return aggregator.finish(),
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
    health: &Health,
    ((engine, huge_share), threads, start_seconds): ((Name, Option<f64>), usize, f64),
    window: Window,
) -> Seen {
    let mut seen = Seen {
        engine,
        threads,
        huge_share,
        start_seconds,
        window,
        drain_ns: 0,
        now_ns: 0,
        busiest: None,
        lanes: Vec::new(),
        failure: None,
    };
    let mut all = health.failed();
    for share in shares {
        seen.window.start_ns = seen.window.start_ns.min(share.window.start_ns);
        seen.window.end_ns = seen.window.end_ns.min(share.window.end_ns);
        seen.drain_ns = seen.drain_ns.max(share.drain_ns);
        seen.now_ns = seen.now_ns.max(share.now_ns);
        if engine != Name::Null {
            seen.busiest = Some(seen.busiest.unwrap_or(0.0).max(share.busy));
        }
        all += share.succeeded;
        seen.failure = seen.failure.or(share.failure);
        seen.lanes.extend(share.lanes);
    }
    seen.failure = seen.failure.filter(|_| health.has_failed()).map(|(target, error)| {
        (target, error.context(format!("{} of {all} I/Os failed", health.failed())))
    });
    seen.lanes.sort_by_key(|lane| lane.index);
    seen
}

fn internal(message: &str) -> Error {
    Error::new(ErrorKind::Internal, message)
}
