//! A session: prepared statements, several calls in a message, answers in order.

use std::time::Duration;

use dyno_record::{Error, ErrorKind, Result};

use super::answer::{self, has_row, run};
use super::batch::{Batch, Kind, PREFIX, Part, headers, put_control};
use super::column::{Cell, Column};
use super::login::Server;
use super::packet::{ATTENTION, CALLS, HEADER, broken, header, put_message};
use super::prepared::{Prepared, Request, put_handle};
use super::results::{Results, UNDECLARED};
use super::text::Encoding;
use super::value;
use crate::wire::transport::{Transport, lost};
use crate::wire::{Access, Dialect, Session, Slot, StatementId, Type, Value};
use bytes::BytesMut;

const BEGINS: &str = "set implicit_transactions on";
/// Returns a row if the server begins transactions.
const DOES_BEGIN: &str = "if @@options & 2 = 2 select 1";

/// A connection with prepared statements.
#[derive(Debug)]
pub struct MssqlSession {
    transport: Transport,
    prepared: Vec<Prepared>,
    results: Results,
    batch: Batch,
    server: Server,
    /// Reused for messages that are not in the transport's buffer.
    scratch: BytesMut,
    transactions: Transactions,
    /// Whether the server begins transactions again after a prepared text that turned it off;
    /// unknown before the first such text.
    restores: Option<bool>,
    /// Whether such a text was sent and has not succeeded.
    alone: bool,
    progress: Progress,
    /// Maximum wait until the server confirms that a request is cancelled.
    patience: Duration,
    /// Why a value cannot be sent, and the name of its statement.
    unfit: Option<(&'static str, &'static str)>,
    /// Set while answers can be read; the next `queue…` call starts a new batch.
    answered: bool,
    broken: bool,
}

/// How a session's transactions begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transactions {
    /// By a message: all statements are calls of procedures, which begin and end their own.
    Explicit,
    /// Not yet: each statement is a transaction of its own.
    None,
    /// The server begins one with the first statement.
    Implicit,
}

/// How far the current request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// Answered, or not begun.
    Idle,
    /// Being sent.
    Sending,
    /// Sent; its answer is not complete.
    Sent,
}

impl MssqlSession {
    pub(super) fn new(
        transport: Transport,
        prepared: Vec<Prepared>,
        server: &Server,
        patience: Duration,
    ) -> Self {
        let call = |prepared: &Prepared| !matches!(prepared.request, Request::Prepared(_));
        let calls = !prepared.is_empty() && prepared.iter().all(call);
        Self {
            transport,
            prepared,
            results: Results::default(),
            batch: Batch::default(),
            server: *server,
            scratch: BytesMut::new(),
            transactions: if calls { Transactions::Explicit } else { Transactions::None },
            restores: None,
            alone: false,
            progress: Progress::Idle,
            patience,
            unfit: None,
            answered: true,
            broken: false,
        }
    }

    fn open_batch(&mut self) {
        if self.answered {
            self.answered = false;
            self.results.clear();
            self.batch.open();
            self.transport.forget();
        }
    }

    fn queue_control(&mut self, kind: Kind) {
        self.open_batch();
        self.results.expect(UNDECLARED);
        self.batch.put(kind, self.results.len());
    }

    /// Sends the batch part by part, each only once all of the previous part has succeeded.
    async fn exchange(&mut self) -> Result<()> {
        let begins = self.batch.needs_transaction();
        let implicit = self.transactions == Transactions::Implicit;
        let alone = implicit && self.restores != Some(false) && self.let_alone();
        if self.transactions != Transactions::Explicit {
            if alone {
                self.alone = true;
            } else if self.batch.is_loose() && (begins || implicit) {
                self.queue_commit();
            }
            if begins && self.transactions == Transactions::None {
                self.begin_transactions().await?;
            }
        }
        for number in 0..self.batch.parts.len() {
            let part = self.batch.parts[number].clone();
            self.exchange_part(&part).await?;
            if self.results.has_failed() {
                return Ok(());
            }
        }
        if alone {
            self.alone = false;
            if self.restores.is_none() {
                self.learn_mode().await?;
            }
        }
        Ok(())
    }

    /// Turns the batch, if it is one statement, into a transaction of its own, without a commit that
    /// would cost a round trip. False if it is anything else.
    fn let_alone(&mut self) -> bool {
        let Self { transport, prepared, results, batch, .. } = self;
        let statement = prepared.get(results.statement(0)).filter(|_| batch.is_lone());
        let Some(handle) = statement.and_then(|it| it.alone) else { return false };
        let start = batch.parts[0].bytes.start + PREFIX;
        put_handle(&mut transport.write[start..], handle);
        true
    }

    /// Learns whether the server begins transactions again after a text that turned it off.
    async fn learn_mode(&mut self) -> Result<()> {
        self.progress = Progress::Sending;
        let restored = has_row(&mut self.transport, DOES_BEGIN, self.server.packet_size).await;
        self.progress = Progress::Idle;
        let restored =
            restored.map_err(|error| answer::lost_during(error, "asking for the mode"))?;
        self.restores = Some(restored);
        if restored { Ok(()) } else { self.begin_transactions().await }
    }

    async fn exchange_part(&mut self, part: &Part) -> Result<()> {
        self.progress = Progress::Sending;
        let sent = self.send(part).await;
        self.progress = Progress::Sent;
        // Even if sending failed: the server's last message may have the reason.
        loop {
            let Self { results, transport, prepared, .. } = self;
            if results.advance(&mut transport.read, part.requests, prepared)? {
                self.progress = Progress::Idle;
                return Ok(());
            }
            if let Err(error) = transport.receive().await {
                return Err(lost(sent.as_ref().err().unwrap_or(&error)));
            }
        }
    }

    async fn send(&mut self, part: &Part) -> std::io::Result<()> {
        let transaction = self.results.transaction();
        self.scratch.clear();
        if part.kind == Kind::Calls {
            let message = &mut self.transport.write[part.bytes.clone()];
            message[HEADER..PREFIX].copy_from_slice(&headers(transaction));
            if message.len() <= self.server.packet_size {
                let length = message.len();
                message[..HEADER].copy_from_slice(&header(CALLS, true, length, 1));
                return self.transport.send_part(part.bytes.clone()).await;
            }
            put_message(&mut self.scratch, CALLS, &message[HEADER..], self.server.packet_size);
        } else {
            put_control(part.kind, transaction, &mut self.scratch);
        }
        self.transport.send_bytes(&self.scratch).await
    }

    /// Lets the server begin transactions. Waits for the answer before anything else is sent,
    /// because a statement could otherwise be committed alone.
    async fn begin_transactions(&mut self) -> Result<()> {
        self.progress = Progress::Sending;
        let set = run(&mut self.transport, BEGINS, self.server.packet_size).await;
        self.progress = Progress::Idle;
        self.transactions = Transactions::Implicit;
        set.map_err(|error| answer::lost_during(error, "turning on transactions"))
    }

    /// Sends the signal that cancels a request, and reads until the server has confirmed it.
    async fn stop(&mut self) -> Result<()> {
        let signal = header(ATTENTION, true, HEADER, 1);
        self.transport.send_bytes(&signal).await.map_err(|error| lost(&error))?;
        while !self.results.advance_cancelled(&mut self.transport.read, &mut self.prepared)? {
            self.transport.receive().await.map_err(|error| lost(&error))?;
        }
        self.progress = Progress::Idle;
        Ok(())
    }

    fn name(&self, statement: usize) -> &'static str {
        self.prepared.get(statement).map_or("transaction control", |it| it.name)
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
        match self.cell(slot, row, at)? {
            Cell::Whole(bytes) => {
                let prepared = &self.prepared[self.results.statement(slot.0)];
                let declared = prepared.returns.get(at).copied().unwrap_or(Type::Rest);
                Ok((bytes, prepared.columns[at], declared))
            }
            _ => Err(self.unlike(slot, at, what)),
        }
    }

    #[inline]
    fn cell(&self, slot: Slot, row: usize, column: usize) -> Result<Cell<'_>> {
        let prepared = self.prepared.get(self.results.statement(slot.0));
        let columns = prepared.map_or(&[][..], |it| &it.columns);
        self.results.cell(columns, slot.0, row, column).map_err(|error| self.told(error, slot))
    }

    #[cold]
    fn unlike(&self, slot: Slot, column: usize, what: &str) -> Error {
        self.told(broken(format_args!("a column {column} that is not {what}")), slot)
    }

    #[cold]
    fn unreadable(&self, slot: Slot, column: usize, encoding: Encoding) -> Error {
        let text = match encoding {
            Encoding::OtherPage => {
                "a text in a code page that Dyno does not read: cast it to nvarchar"
            }
            _ => "a text with invalid characters",
        };
        self.told(Error::new(ErrorKind::Database, format!("column {column} has {text}")), slot)
    }

    #[cold]
    fn told(&self, error: Error, slot: Slot) -> Error {
        error.context(format!("statement {}", self.name(self.results.statement(slot.0))))
    }
}

impl Session for MssqlSession {
    const DIALECT: Dialect = Dialect::Mssql;

    fn queue(&mut self, statement: StatementId, parameters: &[Value<'_>]) -> Slot {
        self.open_batch();
        let alone = self.transactions == Transactions::Explicit;
        let Self { transport, prepared, results, batch, unfit, .. } = self;
        let collation = self.server.collation;
        let prepared = &prepared[usize::from(statement.0)];
        debug_assert_eq!(prepared.params.len(), parameters.len(), "{}", prepared.name);
        let slot = results.expect(statement.0);
        let mut reasons = parameters.iter().filter_map(|it| value::unfit(*it, collation));
        if let Some(reason) = reasons.next() {
            unfit.get_or_insert((reason, prepared.name));
        } else {
            batch.start_call(alone, &mut transport.write);
            prepared.put(parameters, collation, &mut transport.write);
            batch.end_call(prepared.reads, transport.write.len(), results.len());
        }
        Slot(slot)
    }

    fn queue_begin(&mut self, _access: Access) {
        self.open_batch();
        self.batch.begin();
        if self.transactions == Transactions::Explicit {
            self.queue_control(Kind::Begin);
        }
    }

    fn queue_commit(&mut self) {
        self.queue_control(Kind::Commit);
    }

    fn queue_rollback(&mut self) {
        self.queue_control(Kind::Rollback);
    }

    async fn flush(&mut self) -> Result<()> {
        if self.broken {
            return Err(closed());
        }
        self.open_batch();
        if let Some((reason, name)) = self.unfit.take() {
            self.transport.write.clear();
            self.answered = true;
            let error = Error::new(ErrorKind::Database, reason);
            return Err(error.context(format!("statement {name}")));
        }
        let exchanged = self.exchange().await;
        self.transport.write.clear();
        self.answered = true;
        self.broken = exchanged.is_err();
        if let Some((error, statement)) = self.results.take_failure() {
            self.broken |= error.is_fatal();
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
            self.unfit = None;
            self.answered = true;
        }
        self.batch.forget();
        // Needed without transactions of the session's own, too: a procedure that was stopped in
        // the middle leaves its transaction open.
        self.queue_rollback();
        self.flush().await?;
        if std::mem::take(&mut self.alone) {
            let begins = self.begin_transactions().await;
            self.broken |= begins.is_err();
            return begins;
        }
        Ok(())
    }

    async fn cancel(&mut self) -> Result<()> {
        let patience = self.patience;
        let ending = async {
            match self.progress {
                _ if self.broken => return Err(closed()),
                Progress::Idle => {}
                // The server waits for the rest of the request, which is gone.
                Progress::Sending => return Err(closed()),
                Progress::Sent => self.stop().await?,
            }
            self.recover().await
        };
        let ended = tokio::time::timeout(patience, ending).await;
        let ended = ended.unwrap_or_else(|_| Err(closed()));
        self.broken |= ended.is_err();
        ended.map_err(|error| answer::lost_during(error, "cancelling a request"))
    }

    async fn close(self) {
        // The protocol has no message for it: the server sees the end of the connection.
        drop(self);
    }

    fn rows(&self, slot: Slot) -> usize {
        self.results.rows(slot.0)
    }

    fn affected(&self, slot: Slot) -> Result<u64> {
        self.results.affected(slot.0).map_err(|error| self.told(error, slot))
    }

    fn is_null(&self, slot: Slot, row: usize, column: usize) -> Result<bool> {
        Ok(self.cell(slot, row, column)? == Cell::Null)
    }

    #[inline]
    fn int(&self, slot: Slot, row: usize, column: usize) -> Result<i64> {
        let (bytes, kind, _) = self.value(slot, row, column, "an integer")?;
        kind.integer(bytes).ok_or_else(|| self.unlike(slot, column, "an integer in range"))
    }

    #[inline]
    fn decimal(&self, slot: Slot, row: usize, column: usize) -> Result<i64> {
        let (bytes, kind, declared) = self.value(slot, row, column, "a number")?;
        let Type::Decimal(scale) = declared else {
            return Err(self.unlike(slot, column, "declared a decimal"));
        };
        kind.decimal(bytes, scale).ok_or_else(|| self.unlike(slot, column, "a number in range"))
    }

    fn text(&self, slot: Slot, row: usize, column: usize) -> Result<&str> {
        let unlike = || self.unlike(slot, column, "a text");
        let cell = self.cell(slot, row, column)?;
        let prepared = &self.prepared[self.results.statement(slot.0)];
        if prepared.returns.get(column) != Some(&Type::Text) {
            return Err(self.unlike(slot, column, "declared a text"));
        }
        let kind = prepared.columns[column];
        match cell {
            Cell::Null => Err(unlike()),
            Cell::Whole(bytes) if !kind.is_converted(cell) => {
                debug_assert_ne!(kind.encoding, Encoding::Utf16);
                std::str::from_utf8(bytes).map_err(|_| self.unlike(slot, column, "UTF-8"))
            }
            _ => {
                let text = self.results.converted(slot.0, row, column);
                text.ok_or_else(|| self.unreadable(slot, column, kind.encoding))
            }
        }
    }
}

fn closed() -> Error {
    Error::new(ErrorKind::ConnectionLost, "the connection is closed")
}

#[cfg(test)]
#[path = "played.rs"]
mod played;

#[cfg(test)]
#[path = "alone_tests.rs"]
mod alone_tests;

#[cfg(test)]
#[path = "cancel_tests.rs"]
mod cancel_tests;
