//! Runs a level: starts the driver threads, aggregates their intervals, writes them as they close.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use dyno_record::{Control, Error, ErrorKind, Result, Spool, monotonic_ns};

use crate::aggregator::Aggregator;
use crate::outcome::{Embedded, Outcome};
use crate::plan::{DrivePlan, Pacing, WirePlan};
use crate::recorder::Message;
use crate::thread::{Job, died};
use crate::window::Window;
use crate::wire::Wire;
use crate::wire::mssql::Mssql;
use crate::wire::mysql::Mysql;
use crate::wire::null::Null;
use crate::wire::postgres::Postgres;
use crate::wire::sqlite::Sqlite;
use crate::workloads::Visitor;
use crate::workloads::contract::Workload;

/// Maximum time between two progress reports.
const TICK: Duration = Duration::from_millis(50);
/// Notice of an early end, so that every thread learns of it in time.
const NOTICE_NS: u64 = 200_000_000;

/// Pause between two looks at a caller that holds the work back.
const HELD: Duration = Duration::from_millis(1);

/// Drives one load level. On `control`, `done` and `total` count milliseconds; `finish` ends the
/// window with the current interval; `hold` keeps it from beginning after all users are connected.
///
/// # Errors
/// `usage` for an invalid plan, or a database without the workload's tables; connection errors;
/// `connection_lost` once all users have lost the server permanently; `cancelled`; `io` or
/// `disk_full` of the spool. Intervals that closed before are in the spool in any case.
pub fn drive(plan: &DrivePlan, control: &Control) -> Result<Outcome> {
    plan.validate()?;
    let spool = Spool::open(&plan.spool)?;
    plan.workload.visit(plan.seed, OverWire { plan, spool, control })
}

/// Drives a workload over the plan's wire.
struct OverWire<'a> {
    plan: &'a DrivePlan,
    spool: Spool,
    control: &'a Control,
}

impl Visitor for OverWire<'_> {
    type Output = Outcome;

    fn visit<L: Workload + Clone>(self, workload: &L) -> Result<Outcome> {
        let Self { plan, spool, control } = self;
        match &plan.wire {
            WirePlan::Postgres(config) => {
                conduct(plan, &Postgres::new(config.clone())?, workload, spool, control)
            }
            WirePlan::Mysql(config) => {
                conduct(plan, &Mysql::new(config.clone())?, workload, spool, control)
            }
            WirePlan::Mssql(config) => {
                conduct(plan, &Mssql::new(config.clone())?, workload, spool, control)
            }
            WirePlan::Sqlite(config) => {
                conduct(plan, &Sqlite::new(config.clone()), workload, spool, control)
            }
            WirePlan::Null(model) => conduct(plan, &Null::new(model), workload, spool, control),
        }
    }
}

fn conduct<W: Wire, L: Workload + Clone>(
    plan: &DrivePlan,
    wire: &W,
    workload: &L,
    spool: Spool,
    control: &Control,
) -> Result<Outcome> {
    let threads = plan.thread_count();
    let course = Course {
        users: u64::from(plan.users),
        shown: users(plan.users),
        open: matches!(plan.pacing, Pacing::Open { .. }),
        warmup_s: plan.warmup_s,
        duration_s: plan.duration_s,
        interval_s: plan.interval_s,
        // Far enough ahead for every thread to be ready.
        lead_ns: 2_000_000,
        drain_s: 0.0,
    };
    let aggregator = Aggregator::new(workload.operations(), plan.clock, spool, threads);
    let job = |thread, signals: &Signals, out, go| {
        Job {
            thread,
            threads,
            plan,
            wire: wire.clone(),
            workload: workload.clone(),
            control,
            signals,
            out,
            go,
        }
        .run();
    };
    let (behind_ns, lost) = (Cell::new(None), Cell::new(None));
    let at_bounds = || {
        behind_ns.set(workload.take_behind_ns());
        lost.set(workload.take_lost());
        wire.embedded()
    };
    let outcome = conducted(&course, threads, &job, aggregator, control, &at_bounds)?;
    Ok(Outcome {
        behind_ms: behind_ns.get().map(|ns: u64| ns as f64 / 1e6),
        lost: lost.get(),
        ..outcome
    })
}

/// The course of a level: what the conductor needs of its plan.
pub struct Course {
    /// Users, for the count of those without a connection.
    pub users: u64,
    /// The load in words, for the progress.
    pub shown: String,
    /// Whether starts follow a schedule.
    pub open: bool,
    /// See [`DrivePlan`].
    pub warmup_s: f64,
    /// See [`DrivePlan`].
    pub duration_s: f64,
    /// See [`DrivePlan`].
    pub interval_s: f64,
    /// From the moment that all threads are connected to the start.
    pub lead_ns: u64,
    /// The part of the duration that is only for work in progress.
    pub drain_s: f64,
}

impl Course {
    /// The length of the measurement in a window, ns: without the time for work in progress after
    /// the last operation, which ended at `last_ns`.
    fn measured_ns(&self, window: &Window, last_ns: u64) -> u64 {
        let whole_ns = window.end_ns - window.measure_ns;
        if self.drain_s == 0.0 {
            return whole_ns;
        }
        let planned_ns = ((self.duration_s - self.drain_s) * 1e9) as u64;
        let worked_ns = last_ns.saturating_sub(window.measure_ns);
        planned_ns.max(worked_ns).max(window.interval_ns).min(whole_ns)
    }
}

/// Signals from the conductor to its threads.
#[derive(Debug)]
pub struct Signals {
    /// Set when the run has failed elsewhere.
    pub abort: AtomicBool,
    /// Early end of the window, monotonic; far in the future if there is none.
    pub end_ns: AtomicU64,
}

/// A driver thread: its number, the signals, and the channels from and to the conductor.
pub type Hand<'a> = &'a (dyn Fn(u32, &Signals, Sender<Message>, Receiver<Window>) + Sync);

/// Runs `hand` in each of `threads` threads and aggregates what they measure. `at_bounds` is called
/// at the start and at the end of the measurement.
///
/// # Errors
/// As [`drive`].
pub fn conducted(
    course: &Course,
    threads: u32,
    hand: Hand<'_>,
    aggregator: Aggregator,
    control: &Control,
    at_bounds: &dyn Fn() -> Option<Embedded>,
) -> Result<Outcome> {
    let signals = &Signals { abort: AtomicBool::new(false), end_ns: AtomicU64::new(u64::MAX) };
    let (out, messages) = mpsc::channel();
    control.set_step(format!("connecting {}", course.shown));
    thread::scope(|scope| {
        let mut go = Vec::new();
        for thread in 0..threads {
            let (start, started) = mpsc::channel();
            go.push(start);
            let out = out.clone();
            thread::Builder::new()
                .name(format!("dyno-drive-{thread}"))
                .spawn_scoped(scope, move || hand(thread, signals, out, started))
                .map_err(|error| {
                    signals.abort.store(true, Relaxed);
                    Error::from_io(&error, "starting a driver thread")
                })?;
        }
        drop(out);
        let run = Conductor { course, messages, signals, control, threads, at_bounds };
        let result = run.conduct(go, aggregator);
        signals.abort.store(true, Relaxed);
        result
    })
}

struct Conductor<'a> {
    course: &'a Course,
    messages: Receiver<Message>,
    signals: &'a Signals,
    control: &'a Control,
    threads: u32,
    /// Called at the start and at the end of the measurement.
    at_bounds: &'a dyn Fn() -> Option<Embedded>,
}

impl Conductor<'_> {
    fn conduct(&self, go: Vec<Sender<Window>>, mut aggregator: Aggregator) -> Result<Outcome> {
        self.connected()?;
        self.held()?;
        let course = self.course;
        let start_ns = monotonic_ns() + course.lead_ns;
        let mut window =
            Window::new(start_ns, course.warmup_s, course.duration_s, course.interval_s);
        for start in go {
            // A thread that cannot receive has failed, and reports it.
            let _ = start.send(window);
        }
        self.follow(&mut window, &mut aggregator)?;
        self.control.check()?;
        let seconds = course.measured_ns(&window, aggregator.last_ns()) as f64 / 1e9;
        aggregator.outcome(seconds, course.users, course.open)
    }

    /// Waits until all threads have their connections.
    fn connected(&self) -> Result<()> {
        for _ in 0..self.threads {
            match self.messages.recv() {
                Ok(Message::Ready) => {}
                Ok(Message::Failed(error)) => return Err(error),
                Ok(_) | Err(_) => return Err(died()),
            }
        }
        Ok(())
    }

    /// Waits until the caller lets the work begin.
    fn held(&self) -> Result<()> {
        self.control.set_ready();
        while self.control.is_held() {
            self.control.check()?;
            thread::sleep(HELD);
        }
        Ok(())
    }

    /// Processes the threads' messages until all have ended.
    fn follow(&self, window: &mut Window, aggregator: &mut Aggregator) -> Result<()> {
        let (mut finished, mut stranded) = (0, 0);
        let mut lost = None;
        let (mut measuring, mut over) = (false, false);
        self.control.set_step(format!("{}, warm-up", self.course.shown));
        while finished < self.threads {
            let bound_ns = if measuring { window.end_ns } else { window.measure_ns };
            let message = self.messages.recv_timeout(until(bound_ns));
            let now_ns = monotonic_ns();
            let elapsed_ms = now_ns.saturating_sub(window.start_ns) / 1_000_000;
            if self.control.is_finishing() && self.signals.end_ns.load(Relaxed) == u64::MAX {
                *window = window.cut(now_ns + NOTICE_NS);
                self.signals.end_ns.store(window.end_ns, Relaxed);
            }
            let drain_ms = (self.course.drain_s * 1e3) as u64;
            let total_ms = ((window.end_ns - window.start_ns) / 1_000_000).saturating_sub(drain_ms);
            self.control.set_total(total_ms);
            self.control.set_done(elapsed_ms.min(total_ms));
            if !measuring && now_ns >= window.measure_ns {
                measuring = true;
                aggregator.start_measuring();
                let _ = (self.at_bounds)();
                self.control.set_step(self.course.shown.clone());
            }
            if !over && now_ns >= window.end_ns {
                over = true;
                aggregator.stop_measuring((self.at_bounds)());
            }
            match message {
                Ok(Message::Interval(interval)) => aggregator.interval(window, interval)?,
                Ok(Message::Finished(report)) => {
                    finished += 1;
                    aggregator.report(&report);
                }
                Ok(Message::Stranded(error)) => {
                    stranded += 1;
                    lost = Some(error);
                    if stranded == self.threads {
                        self.signals.abort.store(true, Relaxed);
                    }
                }
                Ok(Message::Failed(error)) => return Err(error),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Message::Ready) | Err(RecvTimeoutError::Disconnected) => return Err(died()),
            }
        }
        match lost {
            Some(error) if stranded == self.threads => Err(gone(&error)),
            _ => Ok(()),
        }
    }
}

/// How long to wait for a message without missing a bound of the window.
fn until(bound_ns: u64) -> Duration {
    let left = Duration::from_nanos(bound_ns.saturating_sub(monotonic_ns()));
    if left.is_zero() { TICK } else { left.min(TICK) }
}

/// All users have lost the server permanently; `last` is the error of the last attempt.
fn gone(last: &Error) -> Error {
    Error::new(ErrorKind::ConnectionLost, "every user lost the server and could not reconnect")
        .context(last.to_string())
}

fn users(count: u32) -> String {
    if count == 1 { "1 user".to_owned() } else { format!("{count} users") }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "prepare_tests.rs"]
mod prepare_tests;

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod schedule_tests;
