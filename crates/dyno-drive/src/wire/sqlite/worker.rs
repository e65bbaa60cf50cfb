//! The thread of a session. Only it uses the connection, so a statement that waits for a lock or
//! for storage blocks no other user. Its CPU time counts for the engine: the driver's is measured
//! by thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::Receiver;

use dyno_record::{Error, ErrorKind, Result, monotonic_ns};
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, InterruptHandle};
use tokio::sync::{mpsc, oneshot};

use super::Shared;
use super::batch::{Batch, Command};
use super::config::Config;
use super::error::classed;
use super::pages::Share;
use super::prepare::{open, prepare};
use super::turn::Turns;
use crate::wire::{Access, Statement};

/// Input of a session's thread.
pub struct Worker {
    /// The file and its settings.
    pub config: Arc<Config>,
    /// The statements to prepare.
    pub statements: Vec<Statement>,
    /// Receives the statistics of the write lock and of the page cache.
    pub shared: Arc<Shared>,
    /// Set when the thread must end at once.
    pub leaving: Arc<AtomicBool>,
    /// Batches to execute; the thread ends when this closes.
    pub batches: Receiver<Batch>,
    /// Batches with their answers. Closes after the connection has been closed.
    pub answers: mpsc::Sender<Batch>,
}

impl Worker {
    /// Opens the connection, reports that, and works until `batches` closes.
    pub fn run(self, opened: oneshot::Sender<Result<InterruptHandle>>) {
        let connection = match open(&self.config, &self.leaving) {
            Ok(connection) => connection,
            Err(error) => return tell(opened, Err(error)),
        };
        let mut engine = match Engine::new(&connection, &self) {
            Ok(engine) => engine,
            Err(error) => return tell(opened, Err(error)),
        };
        tell(opened, Ok(connection.get_interrupt_handle()));
        while let Ok(mut batch) = self.batches.recv() {
            engine.run(&mut batch);
            if self.answers.blocking_send(batch).is_err() {
                break;
            }
        }
        engine.leave();
    }
}

fn tell(opened: oneshot::Sender<Result<InterruptHandle>>, what: Result<InterruptHandle>) {
    // The receiver may have given up.
    let _ = opened.send(what);
}

/// A connection and its statements.
struct Engine<'c> {
    connection: &'c Connection,
    statements: Vec<rusqlite::Statement<'c>>,
    begin_read: rusqlite::Statement<'c>,
    begin_write: rusqlite::Statement<'c>,
    commit: rusqlite::Statement<'c>,
    rollback: rusqlite::Statement<'c>,
    turns: &'c Turns,
    cache: Share<'c>,
    leaving: &'c AtomicBool,
    /// Whether it holds the write lock.
    writes: bool,
}

impl<'c> Engine<'c> {
    fn new(connection: &'c Connection, worker: &'c Worker) -> Result<Self> {
        let control = |sql: &str| connection.prepare(sql).map_err(|error| classed(&error));
        let statements = worker.statements.iter().map(|it| prepare(connection, it));
        Ok(Self {
            connection,
            statements: statements.collect::<Result<_>>()?,
            // A transaction that only reads sees one state of the data and blocks nobody.
            begin_read: control("begin deferred")?,
            // A transaction that will write takes the write lock at once. Begun as a reader, its
            // first write would fail with SQLITE_BUSY, without any wait, if another has written
            // since: what it read would no longer be current.
            begin_write: control("begin immediate")?,
            commit: control("commit")?,
            rollback: control("rollback")?,
            turns: &worker.shared.turns,
            cache: worker.shared.pages.share(),
            leaving: &worker.leaving,
            writes: false,
        })
    }

    /// Executes a batch up to its end or its first error.
    fn run(&mut self, batch: &mut Batch) {
        let mut parameter = 0;
        for position in 0..batch.commands.len() {
            let command = batch.commands[position];
            if let Err(error) = self.execute(command, batch, &mut parameter) {
                batch.failure = Some((error, command));
                break;
            }
        }
        batch.in_transaction = !self.connection.is_autocommit();
        // Some errors end the transaction by themselves.
        self.note_end();
        self.cache.report(self.connection);
    }

    fn execute(
        &mut self,
        command: Command,
        batch: &mut Batch,
        parameter: &mut usize,
    ) -> Result<()> {
        if self.leaving.load(Relaxed) {
            return Err(Error::new(ErrorKind::Cancelled, "interrupted"));
        }
        if let Command::Execute(statement) = command {
            let done = self.query(statement, batch, parameter);
            return done.map_err(|error| classed(&error));
        }
        batch.begin_answer(0);
        match command {
            Command::Begin(Access::Write) => self.begin_write(),
            Command::Begin(Access::Read) => self.begin_read.raw_execute(),
            Command::Commit => self.commit.raw_execute(),
            Command::Rollback | Command::Execute(_) => self.rollback.raw_execute(),
        }
        .map_err(|error| classed(&error))?;
        self.note_end();
        Ok(())
    }

    fn begin_write(&mut self) -> rusqlite::Result<usize> {
        let asked_ns = monotonic_ns();
        let begun = self.begin_write.raw_execute();
        let now_ns = monotonic_ns();
        if begun.is_ok() {
            self.turns.taken(asked_ns, now_ns);
            self.writes = true;
        } else {
            self.turns.missed(asked_ns, now_ns);
        }
        begun
    }

    /// Records the release of the write lock if no transaction is open.
    fn note_end(&mut self) {
        if self.writes && self.connection.is_autocommit() {
            self.writes = false;
            self.turns.given_up(monotonic_ns());
        }
    }

    fn query(
        &mut self,
        statement: u16,
        batch: &mut Batch,
        parameter: &mut usize,
    ) -> rusqlite::Result<()> {
        let statement = &mut self.statements[usize::from(statement)];
        for place in 1..=statement.parameter_count() {
            let value = batch.parameters.get(*parameter).unwrap_or(rusqlite::types::ValueRef::Null);
            statement.raw_bind_parameter(place, ToSqlOutput::Borrowed(value))?;
            *parameter += 1;
        }
        let columns = statement.column_count();
        batch.begin_answer(columns);
        let mut found = 0;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            for column in 0..columns {
                batch.add_cell(row.get_ref(column)?);
            }
            found += 1;
        }
        drop(rows);
        let affected = if statement.readonly() { found as u64 } else { self.connection.changes() };
        batch.end_answer(found, affected);
        Ok(())
    }

    /// Rolls back an open transaction, so that the write lock is released and recorded as such.
    fn leave(mut self) {
        if !self.connection.is_autocommit() {
            // Closing the connection would roll back, too.
            let _ = self.rollback.raw_execute();
        }
        self.note_end();
    }
}
