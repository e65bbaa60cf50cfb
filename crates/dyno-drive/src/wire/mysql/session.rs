//! A session: prepared statements, batches in one write, answers in order.

use std::ops::RangeInclusive;

use dyno_record::{Error, ErrorKind, Result};

use super::batch::{Batch, Part};
use super::decimal;
use super::login::{Server, done, put_query};
use super::packet::{broken, frame};
use super::prepared::Prepared;
use super::results::{Results, UNDECLARED};
use super::row::Column;
use crate::alarm::Alarm;
use crate::wire::transport::{Transport, lost};
use crate::wire::{Access, Dialect, Session, Slot, StatementId, Type, Value};

/// The command that closes the connection.
pub const QUIT: u8 = 0x01;

/// Batch sizes for which the client wakes only twice, not for each answer. For fewer statements it
/// does not pay; for more, even short answers may not fit in the socket until they are read.
const HUSHED: RangeInclusive<usize> = 3..=64;

/// A connection with prepared statements.
#[derive(Debug)]
pub struct MysqlSession {
    transport: Transport,
    prepared: Vec<Prepared>,
    results: Results,
    batch: Batch,
    alarm: Alarm,
    /// Whether autocommit is on: until the first transaction.
    autocommit: bool,
    /// Set while answers can be read; the next `queue…` call starts a new batch.
    answered: bool,
    broken: bool,
}

impl MysqlSession {
    pub(super) fn new(
        transport: Transport,
        prepared: Vec<Prepared>,
        server: Server,
        alarm: Alarm,
    ) -> Self {
        Self {
            transport,
            prepared,
            results: Results::new(server.tells_metadata),
            batch: Batch::new(),
            alarm,
            autocommit: true,
            answered: true,
            broken: false,
        }
    }

    /// The transport, for a statement that is not declared, and whether answers state if they
    /// describe their columns.
    ///
    /// # Errors
    /// `connection_lost` if the session is unusable.
    pub(super) fn open_verbatim(&mut self) -> Result<(&mut Transport, bool)> {
        if self.broken {
            return Err(Error::new(ErrorKind::ConnectionLost, "the connection is closed"));
        }
        Ok((&mut self.transport, self.results.tells_metadata()))
    }

    /// Marks the session as unusable if it `is_lost`.
    pub(super) const fn close_verbatim(&mut self, is_lost: bool) {
        self.broken |= is_lost;
    }

    fn open_batch(&mut self) {
        if self.answered {
            self.answered = false;
            self.results.clear();
            self.batch.open();
            self.transport.forget();
        }
    }

    /// Sends the batch part by part, each only once all of the previous part has succeeded.
    async fn exchange(&mut self) -> Result<()> {
        if self.batch.is_loose() && (self.batch.needs_transaction() || !self.autocommit) {
            self.queue_commit();
        }
        if self.autocommit && self.batch.needs_transaction() {
            self.begin_transactions().await?;
        }
        let all = Part { bytes: self.transport.write.len(), statements: self.results.len() };
        let (mut sent, mut number) = (0, 0);
        while let Some(part) = self.batch.part(number, all) {
            self.exchange_part(sent, part).await?;
            if self.results.has_failed() {
                break;
            }
            sent = part.bytes;
            number += 1;
        }
        Ok(())
    }

    async fn exchange_part(&mut self, start: usize, part: Part) -> Result<()> {
        let statements = part.statements - self.results.answered();
        let sent = if HUSHED.contains(&statements) {
            self.transport.send_commands(start..part.bytes, &self.alarm).await
        } else {
            self.transport.send_part(start..part.bytes).await
        };
        // Even if sending failed: the server's last message may have the reason.
        loop {
            let Self { results, transport, prepared, .. } = self;
            if results.advance(&transport.read, part.statements, prepared)? {
                return Ok(());
            }
            if let Err(error) = transport.receive().await {
                return Err(lost(sent.as_ref().err().unwrap_or(&error)));
            }
        }
    }

    /// Turns off autocommit. Waits for the answer before anything else is sent, because a statement
    /// could otherwise be committed alone.
    async fn begin_transactions(&mut self) -> Result<()> {
        let batch = self.transport.write.split();
        put_query("SET SESSION autocommit = 0", &mut self.transport.write);
        let set = match self.transport.send().await {
            Ok(()) => done(&mut self.transport).await,
            Err(error) => Err(lost(&error)),
        };
        self.transport.write.unsplit(batch);
        self.transport.forget();
        self.autocommit = false;
        set.map(drop).map_err(|mut error| {
            error.kind = ErrorKind::ConnectionLost;
            error
        })
    }

    fn name(&self, statement: usize) -> &'static str {
        self.prepared.get(statement).map_or("transaction control", |it| it.name)
    }

    #[inline]
    fn cell(&self, slot: Slot, row: usize, column: usize) -> Result<Option<&[u8]>> {
        let prepared = self.prepared.get(self.results.statement(slot.0));
        let columns = prepared.map_or(&[][..], |it| &it.columns);
        self.results
            .cell(&self.transport.read, columns, slot.0, row, column)
            .map_err(|error| self.told(error, slot))
    }

    /// A non-null value, with its column and declared type.
    #[inline]
    fn value(
        &self,
        slot: Slot,
        row: usize,
        at: usize,
        what: &str,
    ) -> Result<(&[u8], Column, Type)> {
        let value = self.cell(slot, row, at)?.ok_or_else(|| self.unlike(slot, at, what))?;
        let prepared = &self.prepared[self.results.statement(slot.0)];
        Ok((value, prepared.columns[at], prepared.returns[at]))
    }

    #[cold]
    fn unlike(&self, slot: Slot, column: usize, what: &str) -> Error {
        self.told(broken(format_args!("a column {column} that is not {what}")), slot)
    }

    #[cold]
    fn told(&self, error: Error, slot: Slot) -> Error {
        error.context(format!("statement {}", self.name(self.results.statement(slot.0))))
    }
}

impl Session for MysqlSession {
    const DIALECT: Dialect = Dialect::Mysql;

    fn queue(&mut self, statement: StatementId, parameters: &[Value<'_>]) -> Slot {
        self.open_batch();
        let prepared = &self.prepared[usize::from(statement.0)];
        debug_assert_eq!(prepared.params.len(), parameters.len(), "{}", prepared.name);
        for step in &prepared.steps {
            step.execute(prepared.params, parameters, &mut self.transport.write);
        }
        self.batch.statement(prepared.reads);
        Slot(self.results.expect(statement.0, prepared.steps.len() as u8))
    }

    fn queue_begin(&mut self, _access: Access) {
        self.open_batch();
        self.batch.begin();
    }

    fn queue_commit(&mut self) {
        self.open_batch();
        self.batch.commit(self.results.len(), &mut self.transport.write);
        self.results.expect(UNDECLARED, 1);
    }

    fn queue_rollback(&mut self) {
        self.open_batch();
        self.batch.rollback(&mut self.transport.write);
        self.results.expect(UNDECLARED, 1);
    }

    async fn flush(&mut self) -> Result<()> {
        if self.broken {
            return Err(Error::new(ErrorKind::ConnectionLost, "the connection is closed"));
        }
        self.open_batch();
        let exchanged = self.exchange().await;
        self.transport.write.clear();
        self.answered = true;
        self.broken = exchanged.is_err();
        if let Some((error, statement)) = self.results.take_failure() {
            let mut error = error.into_error();
            self.broken |= error.kind == ErrorKind::ConnectionLost;
            if self.broken {
                error.kind = ErrorKind::ConnectionLost;
            }
            return Err(error.context(format!("statement {}", self.name(usize::from(statement)))));
        }
        exchanged
    }

    async fn recover(&mut self) -> Result<()> {
        if !self.answered {
            // Discard statements of the failed transaction that were not sent.
            self.transport.write.clear();
            self.answered = true;
        }
        self.batch.forget();
        // Needed even with autocommit: a procedure that was stopped in the middle, by a timeout or
        // an administrator, runs no handler and leaves its transaction open. The start of the next
        // transaction would commit it.
        self.queue_rollback();
        self.flush().await
    }

    async fn close(mut self) {
        self.transport.write.clear();
        frame(&mut self.transport.write, 0, |out| out.extend_from_slice(&[QUIT]));
        // Ignore errors: the server may be gone.
        let _ = self.transport.send().await;
    }

    fn rows(&self, slot: Slot) -> usize {
        self.results.rows(slot.0)
    }

    fn affected(&self, slot: Slot) -> Result<u64> {
        self.results.affected(slot.0).map_err(|error| self.told(error, slot))
    }

    fn is_null(&self, slot: Slot, row: usize, column: usize) -> Result<bool> {
        Ok(self.cell(slot, row, column)?.is_none())
    }

    #[inline]
    fn int(&self, slot: Slot, row: usize, column: usize) -> Result<i64> {
        let (bytes, kind, _) = self.value(slot, row, column, "an integer")?;
        kind.integer(bytes).ok_or_else(|| self.unlike(slot, column, "an integer in range"))
    }

    #[inline]
    fn decimal(&self, slot: Slot, row: usize, column: usize) -> Result<i64> {
        let (text, _, declared) = self.value(slot, row, column, "a number")?;
        let Type::Decimal(scale) = declared else {
            return Err(self.unlike(slot, column, "declared a decimal"));
        };
        decimal::decode(text, scale).ok_or_else(|| self.unlike(slot, column, "a number in range"))
    }

    fn text(&self, slot: Slot, row: usize, column: usize) -> Result<&str> {
        let (bytes, _, declared) = self.value(slot, row, column, "a text")?;
        if declared != Type::Text {
            return Err(self.unlike(slot, column, "declared a text"));
        }
        std::str::from_utf8(bytes).map_err(|_| self.unlike(slot, column, "UTF-8"))
    }
}
