//! A driver thread: its users on one runtime, and the supervisor that keeps the time.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use dyno_record::{Control, Error, ErrorKind, Result, derive_seed, monotonic_ns};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use tokio::sync::Notify;
use tokio::task::{JoinSet, LocalSet};

use crate::alarm::Alarm;
use crate::cpu::thread_cpu_ns;
use crate::pacer::Schedule;
use crate::plan::{DrivePlan, Pacing};
use crate::rate::Curve;
use crate::recorder::{Fate, Message, Recorder};
use crate::run::Signals;
use crate::user::{Shared, Starts, User};
use crate::window::Window;
use crate::wire::{Session, Statement, Wire};
use crate::workloads::contract::Workload;

/// Connections that a thread opens in parallel.
const CONNECTING: usize = 8;
/// Period of the supervisor and of its timer lateness probe.
const TICK_NS: u64 = 10_000_000;
/// Pause before another attempt to prepare a level.
const RETRY_NS: u64 = 100_000_000;
/// How long transactions in progress may take after the window or a cancel.
const GRACE: Duration = Duration::from_secs(5);
const GRACE_CANCELLED: Duration = Duration::from_secs(1);

/// Input of a thread.
pub struct Job<'a, W, L> {
    /// Index of the thread, from 0.
    pub thread: u32,
    /// Number of threads.
    pub threads: u32,
    /// The plan of the run.
    pub plan: &'a DrivePlan,
    /// Opens connections.
    pub wire: W,
    /// The workload.
    pub workload: L,
    /// The caller's control handle.
    pub control: &'a Control,
    /// From the conductor.
    pub signals: &'a Signals,
    /// To the aggregating thread.
    pub out: Sender<Message>,
    /// Receives the time line once all users are connected; disconnects if the run is aborted.
    pub go: Receiver<Window>,
}

impl<W: Wire, L: Workload> Job<'_, W, L> {
    /// Runs the thread. Sends failures to the aggregating thread.
    pub fn run(self) {
        let out = self.out.clone();
        reported(&out, || on_runtime(|alarm| self.drive(alarm)));
    }

    async fn drive(self, alarm: Alarm) -> Result<()> {
        let statements: Rc<[Statement]> = self.workload.statements(W::DIALECT).into();
        let mut sessions = self.connect(&statements, &alarm).await?;
        // The first thread has the first user.
        if let (0, Some((_, session))) = (self.thread, sessions.first_mut()) {
            let prepared = prepared(&self.workload, session, self.plan, &alarm);
            self.unless_stopped(prepared).await?;
        }
        let _ = self.out.send(Message::Ready);
        // Blocks the runtime, which has no other work yet.
        let Ok(window) = self.go.recv() else { return Ok(()) };

        let shared = Rc::new(self.shared(window, alarm, sessions.len() as u32));
        let mut users = JoinSet::new();
        for (user, session) in sessions {
            let terminal = self.workload.terminal(user);
            let seed = self.seed(user, "retries");
            let (wire, statements) = (self.wire.clone(), Rc::clone(&statements));
            let user = User::new(wire, statements, session, terminal, seed, Rc::clone(&shared));
            users.spawn_local(user.run());
        }
        let cpu_ns = supervise(&shared, self.control, self.signals).await;
        self.finish(&shared, users).await?;

        let mut report = std::mem::take(&mut shared.recorder.borrow_mut().report);
        report.cpu_ns = cpu_ns;
        let _ = self.out.send(Message::Finished(Box::new(report)));
        Ok(())
    }

    /// Opens the sessions of this thread's users.
    async fn connect(
        &self,
        statements: &Rc<[Statement]>,
        alarm: &Alarm,
    ) -> Result<Vec<(u32, W::Session)>> {
        let mut waiting = (self.thread..self.plan.users).step_by(self.threads as usize);
        let mut connecting = JoinSet::new();
        let mut sessions = Vec::new();
        let mut tick = tokio::time::interval(Duration::from_nanos(TICK_NS));
        loop {
            while connecting.len() < CONNECTING {
                let Some(user) = waiting.next() else { break };
                let (wire, statements) = (self.wire.clone(), Rc::clone(statements));
                let alarm = alarm.clone();
                connecting.spawn_local(async move {
                    let session = wire.connect(&statements, &alarm).await;
                    session.map(|session| (user, session))
                });
            }
            tokio::select! {
                next = connecting.join_next() => match next {
                    Some(Ok(Ok(session))) => sessions.push(session),
                    Some(Ok(Err(error))) => return Err(error),
                    Some(Err(_)) => return Err(died()),
                    None => break,
                },
                _ = tick.tick() => self.check()?,
            }
        }
        Ok(sessions)
    }

    /// Waits for work before the window, unless the run is stopped.
    async fn unless_stopped(&self, work: impl Future<Output = Result<()>>) -> Result<()> {
        let mut work = pin!(work);
        let mut tick = tokio::time::interval(Duration::from_nanos(TICK_NS));
        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = tick.tick() => self.check()?,
            }
        }
    }

    /// # Errors
    /// `cancelled` once the run is stopped, or has failed elsewhere.
    fn check(&self) -> Result<()> {
        self.control.check()?;
        if self.signals.abort.load(Relaxed) {
            return Err(Error::new(ErrorKind::Cancelled, "another thread failed"));
        }
        Ok(())
    }

    fn shared(&self, window: Window, alarm: Alarm, users: u32) -> Shared {
        let plan = self.plan;
        let starts = match &plan.pacing {
            Pacing::Closed { think } => Starts::Closed { think: *think },
            Pacing::Open { rate_per_s, poisson } => {
                let curve = Curve::new(rate_per_s, plan.warmup_s);
                let schedule = if *poisson {
                    let seed = self.seed(self.thread, "schedule");
                    let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
                    Schedule::poisson(curve, self.threads, rng)
                } else {
                    let offset = f64::from(plan.turn) / f64::from(plan.drivers);
                    Schedule::fixed(curve, self.thread, self.threads, offset)
                };
                Starts::Open(schedule.into())
            }
        };
        let operations = self.workload.operations().len();
        Shared {
            alarm,
            recorder: RefCell::new(Recorder::new(window, operations, self.out.clone())),
            window: Cell::new(window),
            clock: plan.clock,
            starts,
            stopping: Cell::new(false),
            cut: Notify::new(),
            busy: Cell::new(0),
            alive: Cell::new(users),
            max_retries: plan.max_retries,
            reconnect_ns: (plan.reconnect_s * 1e9) as u64,
            out: self.out.clone(),
        }
    }

    /// Lets the users end, and counts their unfinished work.
    async fn finish(&self, shared: &Shared, mut users: JoinSet<()>) -> Result<()> {
        ended_in_time(shared, &mut users, self.control, self.signals).await?;
        // What is still in progress is cancelled where the protocol allows it, so that the server
        // does not go on with it.
        shared.cut.notify_waiters();
        let cancelled = async { while users.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(GRACE_CANCELLED, cancelled).await;
        // The results of a stopped run are discarded, so it need not count them.
        if let (Starts::Open(schedule), false) = (&shared.starts, self.is_stopped()) {
            let mut recorder = shared.recorder.borrow_mut();
            let (window, now_ns) = (shared.window.get(), monotonic_ns());
            for turn in 1u64.. {
                let due_ns = window.start_ns.saturating_add(schedule.borrow_mut().next_ns());
                // There may be many: a rate can be far above the throughput.
                if due_ns >= window.end_ns || (turn.is_multiple_of(0x1_0000) && self.is_stopped()) {
                    break;
                }
                recorder.due(due_ns, Fate::Unsent);
                shared.lag_of_stall(&mut recorder, due_ns, now_ns);
            }
        }
        Ok(())
    }

    /// The seed of a user or thread for a purpose.
    fn seed(&self, user: u32, purpose: &str) -> u64 {
        derive_seed(self.plan.seed, self.workload.name(), user.into(), purpose)
    }

    fn is_stopped(&self) -> bool {
        is_stopped(self.control, self.signals)
    }
}

/// Prepares the database for the level, with retries if they may succeed.
async fn prepared<S: Session>(
    workload: &impl Workload,
    session: &mut S,
    plan: &DrivePlan,
    alarm: &Alarm,
) -> Result<()> {
    let mut attempts = 0;
    loop {
        let unix_us = plan.clock.unix_ns_at(monotonic_ns()) / 1_000;
        let Err(error) = workload.prepare(session, unix_us).await else { return Ok(()) };
        let again = error.kind.is_retryable() && attempts < plan.max_retries;
        if !again || session.recover().await.is_err() {
            return Err(error.context("preparing the level"));
        }
        attempts += 1;
        alarm.sleep_until(monotonic_ns() + RETRY_NS).await;
    }
}

/// Whether the run was cancelled, or has failed elsewhere.
pub fn is_stopped(control: &Control, signals: &Signals) -> bool {
    control.is_cancelled() || signals.abort.load(Relaxed)
}

/// Runs a thread's work and sends its failure to the aggregating thread.
pub fn reported(out: &Sender<Message>, work: impl FnOnce() -> Result<()>) {
    // The other threads wait for this one, so a panic must be reported.
    let ended = catch_unwind(AssertUnwindSafe(work));
    if let Err(error) = ended.unwrap_or_else(|_| Err(died())) {
        // The receiver is gone only if the run has failed elsewhere.
        let _ = out.send(Message::Failed(error));
    }
}

/// Runs a thread's work on a runtime with a timer.
///
/// # Errors
/// Those of the work; `io` if the process has no file descriptors left.
pub fn on_runtime<F: Future<Output = Result<()>>>(work: impl FnOnce(Alarm) -> F) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::from_io(&error, "starting a driver thread"))?;
    LocalSet::new().block_on(&runtime, async {
        let alarm = Alarm::new()?;
        let timer = alarm.clone();
        tokio::select! {
            biased;
            failed = timer.run() => failed.map(|never: Infallible| match never {}),
            done = work(alarm) => done,
        }
    })
}

/// Keeps the time until the window ends or the run is stopped. Returns the thread's CPU time in
/// the window.
pub async fn supervise(shared: &Shared, control: &Control, signals: &Signals) -> u64 {
    let mut window = shared.window.get();
    let mut cpu_before_ns = None;
    let mut now_ns = monotonic_ns();
    loop {
        let end_ns = signals.end_ns.load(Relaxed);
        if end_ns < window.end_ns {
            window.end_ns = end_ns;
            shared.window.set(window);
            shared.recorder.borrow_mut().cut(window);
        }
        let bound_ns = if now_ns < window.measure_ns { window.measure_ns } else { window.end_ns };
        let next_ns = (now_ns + TICK_NS).min(bound_ns);
        shared.alarm.sleep_until(next_ns).await;
        now_ns = monotonic_ns();
        let mut recorder = shared.recorder.borrow_mut();
        recorder.lag(next_ns, now_ns - next_ns);
        recorder.advance(now_ns);
        if now_ns >= window.measure_ns {
            cpu_before_ns.get_or_insert_with(thread_cpu_ns);
        }
        if now_ns >= window.end_ns {
            break;
        }
        if is_stopped(control, signals) {
            recorder.stop(now_ns);
            break;
        }
    }
    cpu_before_ns.map_or(0, |before_ns| thread_cpu_ns() - before_ns)
}

/// Tells the users to end, waits for a while, and counts their unfinished work.
///
/// # Errors
/// `internal` if one of them panicked.
pub async fn ended_in_time(
    shared: &Shared,
    users: &mut JoinSet<()>,
    control: &Control,
    signals: &Signals,
) -> Result<()> {
    shared.stopping.set(true);
    shared.alarm.ring();
    let ended = async {
        while let Some(ended) = users.join_next().await {
            ended.map_err(|_| died())?;
        }
        Ok(())
    };
    let impatient = async {
        tokio::time::sleep(GRACE_CANCELLED).await;
        let mut waited = GRACE_CANCELLED;
        while waited < GRACE && !is_stopped(control, signals) {
            tokio::time::sleep(Duration::from_nanos(TICK_NS)).await;
            waited += Duration::from_nanos(TICK_NS);
        }
    };
    tokio::select! {
        result = ended => result?,
        () = impatient => {}
    }
    {
        let report = &mut shared.recorder.borrow_mut().report;
        report.stuck = shared.busy.get();
        report.unfinished += report.stuck;
    }
    Ok(())
}

/// The error of a panic; its message is on standard error.
pub fn died() -> Error {
    Error::new(
        ErrorKind::Internal,
        "a driver thread panicked: please report this with its \
     message",
    )
}
