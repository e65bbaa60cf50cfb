//! A session: passes batches to its thread and waits for their answers.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use dyno_record::{Error, ErrorKind, Result};
use rusqlite::InterruptHandle;
use rusqlite::types::ValueRef;
use tokio::sync::{mpsc, oneshot};

use super::Shared;
use super::batch::{Batch, Command};
use super::config::Config;
use super::worker::Worker;
use crate::wire::{Access, Dialect, Session, Slot, Statement, StatementId, Value};

/// A connection with prepared statements, in its own thread.
#[derive(Debug)]
pub struct SqliteSession {
    thread: Thread,
    declared: Arc<[Statement]>,
    batch: Batch,
    /// Set while answers can be read; the next `queue…` call starts a new batch.
    answered: bool,
    /// Set by the first flush that did not return.
    broken: bool,
}

/// The thread of a session. Dropping this ends and joins it: the process must not have the file
/// open after a run.
struct Thread {
    handle: Option<JoinHandle<()>>,
    /// Each channel holds the one batch that circulates, so none is allocated.
    batches: Option<SyncSender<Batch>>,
    answers: mpsc::Receiver<Batch>,
    leaving: Arc<AtomicBool>,
    interrupt: Option<InterruptHandle>,
}

impl SqliteSession {
    /// Opens the file in a new thread.
    ///
    /// # Errors
    /// As [`Wire::connect`](crate::wire::Wire::connect).
    pub(super) async fn open(
        config: &Arc<Config>,
        shared: &Arc<Shared>,
        declared: Arc<[Statement]>,
    ) -> Result<Self> {
        let (batches, to_do) = sync_channel(1);
        let (done, answers) = mpsc::channel(1);
        let (opened, opening) = oneshot::channel();
        let leaving = Arc::new(AtomicBool::new(false));
        let worker = Worker {
            config: Arc::clone(config),
            statements: declared.to_vec(),
            shared: Arc::clone(shared),
            leaving: Arc::clone(&leaving),
            batches: to_do,
            answers: done,
        };
        let handle = thread::Builder::new()
            .name("dyno-sqlite".to_owned())
            .spawn(move || worker.run(opened))
            .map_err(|error| Error::from_io(&error, "starting the thread of a session"))?;
        let mut thread = Thread {
            handle: Some(handle),
            batches: Some(batches),
            answers,
            leaving,
            interrupt: None,
        };
        thread.interrupt = Some(opening.await.map_err(|_| died())??);
        Ok(Self { thread, declared, batch: Batch::default(), answered: true, broken: false })
    }

    /// Makes the next interrupt arrive between two statements.
    #[cfg(test)]
    pub(super) fn miss_interruption(&mut self) {
        self.thread.interrupt = None;
    }

    fn open_batch(&mut self) {
        if self.answered {
            self.answered = false;
            self.batch.clear();
        }
    }

    fn add(&mut self, command: Command) -> Slot {
        self.open_batch();
        Slot(self.batch.add(command))
    }

    fn cell(&self, slot: Slot, row: usize, column: usize) -> Result<ValueRef<'_>> {
        self.batch.cell(slot.0, row, column).map_err(|error| self.told(error, slot))
    }

    #[cold]
    fn unlike(&self, slot: Slot, column: usize, what: &str) -> Error {
        let message = format!("SQLite returned a column {column} that is not {what}");
        self.told(Error::new(ErrorKind::Protocol, message), slot)
    }

    #[cold]
    fn told(&self, error: Error, slot: Slot) -> Error {
        match self.batch.commands.get(usize::from(slot.0)) {
            Some(command) => error.context(self.name(*command)),
            None => error,
        }
    }

    fn name(&self, command: Command) -> String {
        match command {
            Command::Execute(position) => {
                format!("statement {}", self.declared[usize::from(position)].name)
            }
            Command::Begin(Access::Read) => "beginning to read".to_owned(),
            Command::Begin(Access::Write) => "beginning to write".to_owned(),
            Command::Commit => "committing".to_owned(),
            Command::Rollback => "rolling back".to_owned(),
        }
    }
}

impl Session for SqliteSession {
    const DIALECT: Dialect = Dialect::Sqlite;

    fn queue(&mut self, statement: StatementId, parameters: &[Value<'_>]) -> Slot {
        let slot = self.add(Command::Execute(statement.0));
        let declared = self.declared[usize::from(statement.0)].params;
        for (value, kind) in parameters.iter().zip(declared) {
            self.batch.add_parameter(value, *kind);
        }
        slot
    }

    fn queue_begin(&mut self, access: Access) {
        self.add(Command::Begin(access));
    }

    fn queue_commit(&mut self) {
        self.add(Command::Commit);
    }

    fn queue_rollback(&mut self) {
        self.add(Command::Rollback);
    }

    async fn flush(&mut self) -> Result<()> {
        self.open_batch();
        if self.broken {
            return Err(died());
        }
        self.broken = true;
        let batch = std::mem::take(&mut self.batch);
        let sent = self.thread.batches.as_ref().is_some_and(|it| it.send(batch).is_ok());
        if !sent {
            return Err(died());
        }
        self.batch = self.thread.answers.recv().await.ok_or_else(died)?;
        self.broken = false;
        self.answered = true;
        match self.batch.failure.take() {
            None => Ok(()),
            Some((error, command)) => Err(error.context(self.name(command))),
        }
    }

    async fn recover(&mut self) -> Result<()> {
        // Discard the unsent rest of the failed transaction.
        self.answered = true;
        if !self.broken && !self.batch.in_transaction {
            return Ok(());
        }
        self.queue_rollback();
        self.flush().await
    }

    async fn close(mut self) {
        self.thread.batches = None;
        // The channel closes after the connection has been closed.
        while self.thread.answers.recv().await.is_some() {}
    }

    fn rows(&self, slot: Slot) -> usize {
        self.batch.rows(slot.0)
    }

    fn affected(&self, slot: Slot) -> Result<u64> {
        self.batch.affected(slot.0).ok_or_else(|| {
            self.told(Error::new(ErrorKind::Protocol, "the statement has no answer"), slot)
        })
    }

    fn is_null(&self, slot: Slot, row: usize, column: usize) -> Result<bool> {
        Ok(matches!(self.cell(slot, row, column)?, ValueRef::Null))
    }

    fn int(&self, slot: Slot, row: usize, column: usize) -> Result<i64> {
        match self.cell(slot, row, column)? {
            ValueRef::Integer(value) => Ok(value),
            _ => Err(self.unlike(slot, column, "an integer")),
        }
    }

    fn decimal(&self, slot: Slot, row: usize, column: usize) -> Result<i64> {
        match self.cell(slot, row, column)? {
            ValueRef::Integer(units) => Ok(units),
            _ => Err(self.unlike(slot, column, "a decimal in whole units")),
        }
    }

    fn text(&self, slot: Slot, row: usize, column: usize) -> Result<&str> {
        match self.cell(slot, row, column)? {
            ValueRef::Text(bytes) => {
                std::str::from_utf8(bytes).map_err(|_| self.unlike(slot, column, "UTF-8"))
            }
            _ => Err(self.unlike(slot, column, "a text")),
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("handle", &self.handle).finish_non_exhaustive()
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.leaving.store(true, Relaxed);
        self.batches = None;
        self.answers.close();
        if let Some(handle) = self.handle.take() {
            if let Some(interrupt) = &self.interrupt {
                interrupt.interrupt();
            }
            // It may be waiting for a lock.
            handle.thread().unpark();
            // The panic's message is on standard error.
            let _ = handle.join();
        }
    }
}

#[cold]
fn died() -> Error {
    Error::new(ErrorKind::ConnectionLost, "the thread of this session has ended")
}
