//! A virtual user: a session, a terminal, and the loop that connects them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use dyno_record::{Clock, Error, ErrorKind, Result, monotonic_ns};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use tokio::sync::Notify;

use crate::alarm::Alarm;
use crate::pacer::{Schedule, closed_next_ns};
use crate::recorder::{Fate, Message, Recorder};
use crate::window::Window;
use crate::wire::{Session as _, Statement, Wire};
use crate::workloads::contract::{Terminal, TxnOutcome};

const MS: u64 = 1_000_000;
/// First and maximum pause before a retry.
const RETRY_NS: (u64, u64) = (MS, 100 * MS);
/// First and maximum pause before a reconnect.
const RECONNECT_NS: (u64, u64) = (10 * MS, 500 * MS);

/// When users start their transactions.
#[derive(Debug)]
pub enum Starts {
    /// After the previous response, and a pause if users think.
    Closed {
        /// Whether users have think times.
        think: bool,
    },
    /// According to a schedule.
    Open(RefCell<Schedule>),
}

/// State that the users of a thread share.
#[derive(Debug)]
pub struct Shared {
    /// The thread's timer.
    pub alarm: Alarm,
    /// The thread's recorder.
    pub recorder: RefCell<Recorder>,
    /// The run's time line, which can be shortened.
    pub window: Cell<Window>,
    /// The run's clock.
    pub clock: Clock,
    /// When transactions start.
    pub starts: Starts,
    /// Set when users must end before their next transaction.
    pub stopping: Cell<bool>,
    /// Notified when users must end in the middle of a transaction.
    pub cut: Notify,
    /// Transactions in progress.
    pub busy: Cell<u64>,
    /// Users with a connection or still trying to reconnect.
    pub alive: Cell<u32>,
    /// Maximum retries.
    pub max_retries: u32,
    /// How long to try to reconnect.
    pub reconnect_ns: u64,
    /// To the aggregating thread.
    pub out: std::sync::mpsc::Sender<Message>,
}

/// One user.
#[derive(Debug)]
pub struct User<W: Wire, T> {
    /// Opens its sessions.
    pub wire: W,
    /// The workload's statements.
    pub statements: Rc<[Statement]>,
    /// Its connection.
    pub session: W::Session,
    /// Its operations and inputs.
    pub terminal: T,
    /// Random jitter of its pauses.
    pub rng: Xoshiro256PlusPlus,
    /// The thread's shared state.
    pub shared: Rc<Shared>,
}

/// An operation at its start.
struct Start {
    op: usize,
    /// When its response time began.
    due_ns: u64,
    sent_ns: u64,
}

/// A failed operation, and whether its session is usable.
struct Failure {
    error: Error,
    session_lost: bool,
}

impl<W: Wire, T: Terminal> User<W, T> {
    /// Creates a user with a session; `seed` is the user's own.
    pub fn new(
        wire: W,
        statements: Rc<[Statement]>,
        session: W::Session,
        terminal: T,
        seed: u64,
        shared: Rc<Shared>,
    ) -> Self {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { wire, statements, session, terminal, rng, shared }
    }

    /// Runs until the window ends, the run is stopped, or the server is permanently lost.
    pub async fn run(mut self) {
        let shared = Rc::clone(&self.shared);
        let usable = tokio::select! {
            biased;
            usable = self.work() => usable,
            // If the server cannot be told, it sees the end of the connection.
            () = shared.cut.notified() => self.session.cancel().await.is_ok(),
        };
        if usable {
            self.session.close().await;
        }
    }

    /// Runs transactions. Returns whether the session can be used at the end.
    async fn work(&mut self) -> bool {
        let shared = Rc::clone(&self.shared);
        let mut free_ns = shared.window.get().start_ns;
        shared.alarm.sleep_until(free_ns).await;
        loop {
            let Some(Start { op, due_ns, sent_ns }) = self.start(free_ns).await else { break };

            shared.busy.set(shared.busy.get() + 1);
            let result = self.operate(op, sent_ns).await;
            let end_ns = monotonic_ns();
            shared.busy.set(shared.busy.get() - 1);
            free_ns = end_ns;

            match result {
                Ok(ended) => {
                    let (response_ns, service_ns) = (end_ns - due_ns, end_ns - sent_ns);
                    shared.recorder.borrow_mut().ended(op, end_ns, response_ns, service_ns, ended);
                }
                Err(Failure { error, session_lost }) => {
                    shared.recorder.borrow_mut().failed(op, end_ns, &error);
                    if session_lost {
                        if let Err(last) = self.reconnect().await {
                            shared.give_up(last);
                            return false;
                        }
                        free_ns = monotonic_ns();
                    }
                }
            }
            // A target that responds at once must not starve the thread's other tasks.
            tokio::task::coop::consume_budget().await;
        }
        shared.recorder.borrow_mut().report.connected += 1;
        true
    }

    /// Waits for the next start, and draws the operation; None at the end.
    async fn start(&mut self, free_ns: u64) -> Option<Start> {
        let shared = &self.shared;
        let mut drawn = None;
        let intended_ns = match &shared.starts {
            Starts::Closed { think: false } => free_ns,
            Starts::Closed { think: true } => {
                // The pause depends on the operation.
                drawn = Some(self.terminal.draw());
                closed_next_ns(free_ns, self.terminal.pause_ns())
            }
            Starts::Open(schedule) => {
                shared.window.get().start_ns.saturating_add(schedule.borrow_mut().next_ns())
            }
        };
        let paced = intended_ns > free_ns;
        if paced {
            if intended_ns < shared.window.get().end_ns {
                shared.alarm.sleep_until(intended_ns).await;
            } else {
                shared.alarm.sleep_until(u64::MAX).await;
            }
        }
        let now_ns = monotonic_ns();
        let window = shared.window.get();
        let over = shared.stopping.get() || now_ns >= window.end_ns;
        let mut recorder = shared.recorder.borrow_mut();
        if matches!(shared.starts, Starts::Open(_)) {
            let fate = match (over, paced) {
                (true, _) => Fate::Unsent,
                (false, true) => Fate::OnTime,
                (false, false) => Fate::Late,
            };
            recorder.due(intended_ns, fate);
        }
        if paced {
            recorder.lag(intended_ns, now_ns.saturating_sub(intended_ns));
        } else if matches!(shared.starts, Starts::Open(_)) {
            shared.lag_of_stall(&mut recorder, intended_ns, now_ns);
        }
        if over {
            return None;
        }
        recorder.begun(intended_ns);
        drop(recorder);
        // What is due now, not what was due before the wait.
        let op = drawn.unwrap_or_else(|| self.terminal.draw());
        let due_ns = match (self.terminal.due_ns(), &self.shared.starts) {
            (None, _) => intended_ns,
            (Some(due_ns), Starts::Closed { .. }) => due_ns,
            // The rate lets nobody take it before a start is due.
            (Some(due_ns), Starts::Open(_)) => due_ns.max(intended_ns),
        };
        Some(Start { op, due_ns, sent_ns: monotonic_ns() })
    }

    /// Runs the drawn operation, with retries if they may succeed.
    async fn operate(&mut self, op: usize, sent_ns: u64) -> Result<TxnOutcome, Failure> {
        let unix_us = self.shared.clock.unix_ns_at(sent_ns) / 1_000;
        let mut attempts = 0;
        loop {
            let error = match self.terminal.attempt(&mut self.session, unix_us).await {
                Ok(ended) => return Ok(ended),
                Err(error) => error,
            };
            let session_lost = self.session.recover().await.is_err();
            let again = error.kind.is_retryable()
                && self.terminal.can_repeat()
                && !session_lost
                && attempts < self.shared.max_retries
                && !self.shared.stopping.get();
            if !again {
                // Now, not at the next draw: a user without a connection draws no more.
                self.terminal.gave_up(&error);
                return Err(Failure { error, session_lost });
            }
            let now_ns = monotonic_ns();
            self.shared.recorder.borrow_mut().retried(op, now_ns, &error);
            self.pause(RETRY_NS, attempts).await;
            attempts += 1;
        }
    }

    /// Reconnects.
    async fn reconnect(&mut self) -> Result<()> {
        let until_ns = monotonic_ns() + self.shared.reconnect_ns;
        let mut last = Error::new(ErrorKind::ConnectionLost, "the connection was lost");
        let mut attempts = 0;
        while monotonic_ns() < until_ns && !self.shared.stopping.get() {
            self.pause(RECONNECT_NS, attempts).await;
            attempts += 1;
            match self.wire.connect(&self.statements, &self.shared.alarm).await {
                Ok(session) => {
                    self.session = session;
                    self.shared.recorder.borrow_mut().report.reconnects += 1;
                    return Ok(());
                }
                Err(error) => {
                    self.shared.recorder.borrow_mut().first(&error);
                    last = error;
                }
            }
        }
        Err(last)
    }

    /// Waits for a random time between half and all of `first · 2^attempts`, at most `longest`.
    async fn pause(&mut self, (first_ns, longest_ns): (u64, u64), attempts: u32) {
        let bound_ns = first_ns.saturating_mul(1 << attempts.min(20)).min(longest_ns);
        let pause_ns = self.rng.random_range(bound_ns / 2..=bound_ns);
        self.shared.alarm.sleep_until(monotonic_ns() + pause_ns).await;
    }
}

impl Shared {
    /// Records the lateness of a start that was due while the thread was stalled.
    pub fn lag_of_stall(&self, recorder: &mut Recorder, intended_ns: u64, now_ns: u64) {
        if let Some(back_ns) = self.alarm.stalled_until(intended_ns, now_ns) {
            recorder.lag(intended_ns, back_ns - intended_ns);
        }
    }

    /// A user gives up without a connection; `last` is the error of the last attempt.
    fn give_up(&self, last: Error) {
        self.alive.set(self.alive.get() - 1);
        if self.alive.get() == 0 && !self.stopping.get() {
            // The receiver is gone only if the run has failed elsewhere.
            let _ = self.out.send(Message::Stranded(last));
        }
    }
}
