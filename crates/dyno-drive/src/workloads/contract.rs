//! A workload for the driver: its operations, its statements, and its users' behaviour.

use std::future::Future;

use dyno_record::{Error, Result};

use crate::wire::{Dialect, Session, Statement};

/// How a successful transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TxnOutcome {
    /// Committed.
    Committed,
    /// Rolled back, as the workload prescribes.
    RolledBack,
}

/// The workload parameters of a plan.
pub trait Params {
    /// The workload that they configure.
    type Workload: Workload + Clone;

    /// The workload with `seed` for all its random choices.
    ///
    /// # Errors
    /// `usage` for invalid parameters, with the field.
    fn workload(&self, seed: u64) -> Result<Self::Workload>;
}

/// An OLTP workload, shared by all driver threads.
pub trait Workload: Send + Sync + 'static {
    /// One user's state.
    type Terminal: Terminal;

    /// Its name, part of its random seeds.
    fn name(&self) -> &'static str;

    /// Names of the operations, such as `new_order`; other code uses their index.
    fn operations(&self) -> &'static [&'static str];

    /// The statements in a dialect, in the order of their
    /// [`StatementId`](crate::wire::StatementId).
    fn statements(&self, dialect: Dialect) -> Vec<Statement>;

    /// Largest delay since the last call of work that the workload schedules itself, also of work
    /// that is due now, ns; None if it schedules none. Called at the bounds of the window.
    fn take_behind_ns(&self) -> Option<u64> {
        None
    }

    /// Pieces of work that were lost since the last call, because the transaction that had them
    /// failed; None if it cannot lose any. Called at the bounds of the window.
    fn take_lost(&self) -> Option<u64> {
        None
    }

    /// Prepares the database for a level: once, in the session of one user, when all of them are
    /// connected and none has begun. It counts for no operation. A retry runs it again.
    /// `unix_us` is the wall time in microseconds.
    ///
    /// # Errors
    /// The database's. The transaction may then still be open.
    fn prepare<S: Session>(
        &self,
        _session: &mut S,
        _unix_us: i64,
    ) -> impl Future<Output = Result<()>> {
        async { Ok(()) }
    }

    /// The state of user number `user`, the same for the same seed.
    fn terminal(&self, user: u32) -> Self::Terminal;
}

/// A user at a terminal: draws the next operation with its inputs, then runs it, over and over.
pub trait Terminal: 'static {
    /// Draws the next operation and its inputs; returns its position among the operations. It runs
    /// at once, after a pause if users think.
    fn draw(&mut self) -> usize;

    /// The pause between the previous operation's end and the start of the one just drawn, in ns:
    /// the first one's thinking and the second one's keying time.
    fn pause_ns(&mut self) -> u64;

    /// When the drawn operation was due, monotonic ns, if the workload schedules it itself. Its
    /// response time begins then.
    fn due_ns(&self) -> Option<u64> {
        None
    }

    /// Runs the drawn operation as one transaction. A retry runs it again with the same inputs.
    /// `unix_us` is the wall time in microseconds, for the rows that record it.
    ///
    /// # Errors
    /// The database's. The transaction may then still be open.
    fn attempt<S: Session>(
        &mut self,
        session: &mut S,
        unix_us: i64,
    ) -> impl Future<Output = Result<TxnOutcome>>;

    /// Whether a failed attempt has no effect, so that the operation may run again.
    fn can_repeat(&self) -> bool {
        true
    }

    /// The drawn operation has failed with `error`, the one of its last attempt, and is not retried.
    fn gave_up(&mut self, _error: &Error) {}
}
