//! A session: prepared statements, batches over the extended protocol, one Sync per batch.

use bytes::{BufMut as _, BytesMut};
use dyno_record::{Error, ErrorKind, Result};
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;

use super::frame::broken;
use super::numeric;
use super::results::Results;
use crate::wire::transport::{Transport, lost};
use crate::wire::{Access, Dialect, Session, Slot, StatementId, Type, Value};

/// Formats of parameters and results: a single entry, binary, for all.
const BINARY: [i16; 1] = [1];
/// Statement index in [`Results`] of undeclared statements.
const UNDECLARED: u16 = u16::MAX;
/// PostgreSQL's epoch, 2000-01-01, in microseconds since the Unix epoch.
/// The same in days.
const EPOCH_DAYS: i32 = 10_957;
const EPOCH_US: i64 = 946_684_800_000_000;

pub const BEGIN: &str = "begin";
pub const COMMIT: &str = "commit";
pub const ROLLBACK: &str = "rollback";

/// A connection with prepared statements.
#[derive(Debug)]
pub struct PostgresSession {
    transport: Transport,
    prepared: Vec<Prepared>,
    results: Results,
    /// Set while answers can be read; the next `queue…` call starts a new batch.
    answered: bool,
    broken: bool,
}

/// A prepared statement.
#[derive(Debug)]
pub struct Prepared {
    /// Its name on the server.
    pub key: String,
    /// Its name in messages.
    pub name: &'static str,
    /// The declared result types.
    pub returns: &'static [Type],
}

impl PostgresSession {
    pub(super) fn new(transport: Transport, prepared: Vec<Prepared>) -> Self {
        Self { transport, prepared, results: Results::default(), answered: true, broken: false }
    }

    /// The transport, for a statement that is not declared.
    ///
    /// # Errors
    /// `connection_lost` if the session is unusable.
    pub(super) fn open_verbatim(&mut self) -> Result<&mut Transport> {
        if self.broken {
            return Err(Error::new(ErrorKind::ConnectionLost, "the connection is closed"));
        }
        Ok(&mut self.transport)
    }

    /// Marks the session as unusable if it `is_lost`.
    pub(super) const fn close_verbatim(&mut self, is_lost: bool) {
        self.broken |= is_lost;
    }

    fn open_batch(&mut self) {
        if self.answered {
            self.answered = false;
            self.results.clear();
            self.transport.forget();
        }
    }

    fn queue_undeclared(&mut self, key: &str) {
        self.open_batch();
        self.results.expect(UNDECLARED);
        bind(key, &[], &mut self.transport.write);
    }

    async fn exchange(&mut self) -> Result<()> {
        frontend::sync(&mut self.transport.write);
        let sent = self.transport.send().await;
        // Even if sending failed: the server's last message may have the reason.
        loop {
            if self.results.advance(&self.transport.read)? {
                return Ok(());
            }
            let received = self.transport.receive().await;
            if let Err(error) = received {
                return Err(lost(sent.as_ref().err().unwrap_or(&error)));
            }
        }
    }

    fn name(&self, statement: u16) -> &'static str {
        self.prepared.get(usize::from(statement)).map_or("transaction control", |it| it.name)
    }

    #[inline]
    fn cell(&self, slot: Slot, row: usize, column: usize) -> Result<Option<&[u8]>> {
        self.results
            .cell(&self.transport.read, slot.0, row, column)
            .map_err(|error| self.told(error, slot))
    }

    #[inline]
    fn value(&self, slot: Slot, row: usize, column: usize, what: &str) -> Result<&[u8]> {
        self.cell(slot, row, column)?.ok_or_else(|| self.unlike(slot, column, what))
    }

    #[cold]
    fn unlike(&self, slot: Slot, column: usize, what: &str) -> Error {
        self.told(broken(format_args!("a column {column} that is not {what}")), slot)
    }

    #[cold]
    fn told(&self, error: Error, slot: Slot) -> Error {
        error.context(format!("statement {}", self.name(self.results.statement(slot.0) as u16)))
    }
}

impl Session for PostgresSession {
    const DIALECT: Dialect = Dialect::Postgres;

    fn queue(&mut self, statement: StatementId, parameters: &[Value<'_>]) -> Slot {
        self.open_batch();
        let prepared = &self.prepared[usize::from(statement.0)];
        bind(&prepared.key, parameters, &mut self.transport.write);
        Slot(self.results.expect(statement.0))
    }

    fn queue_begin(&mut self, _access: Access) {
        self.queue_undeclared(BEGIN);
    }

    fn queue_commit(&mut self) {
        self.queue_undeclared(COMMIT);
    }

    fn queue_rollback(&mut self) {
        self.queue_undeclared(ROLLBACK);
    }

    async fn flush(&mut self) -> Result<()> {
        if self.broken {
            return Err(Error::new(ErrorKind::ConnectionLost, "the connection is closed"));
        }
        self.open_batch();
        let exchanged = self.exchange().await;
        self.answered = true;
        self.broken = exchanged.is_err();
        let failure = self.results.take_error();
        if let Some((error, statement)) = failure {
            self.broken |= error.is_fatal();
            let mut error = error.into_error();
            if self.broken && error.kind != ErrorKind::TooManyConnections {
                error.kind = ErrorKind::ConnectionLost;
            }
            return Err(error.context(format!("statement {}", self.name(statement))));
        }
        exchanged
    }

    async fn recover(&mut self) -> Result<()> {
        if !self.answered {
            // Discard statements of the failed transaction that were not sent.
            self.transport.write.clear();
            self.answered = true;
        }
        if !self.broken && !self.results.in_transaction() {
            return Ok(());
        }
        self.queue_rollback();
        self.flush().await
    }

    async fn close(mut self) {
        self.transport.write.clear();
        frontend::terminate(&mut self.transport.write);
        // Ignore errors: the server may be gone.
        let _ = self.transport.send().await;
    }

    fn rows(&self, slot: Slot) -> usize {
        self.results.rows(slot.0)
    }

    fn affected(&self, slot: Slot) -> Result<u64> {
        self.results.affected(&self.transport.read, slot.0).map_err(|error| self.told(error, slot))
    }

    fn is_null(&self, slot: Slot, row: usize, column: usize) -> Result<bool> {
        Ok(self.cell(slot, row, column)?.is_none())
    }

    #[inline]
    fn int(&self, slot: Slot, row: usize, column: usize) -> Result<i64> {
        let bytes = self.value(slot, row, column, "an integer")?;
        match bytes.len() {
            4 => Ok(i64::from(i32::from_be_bytes(bytes.try_into().unwrap_or_default()))),
            2 => Ok(i64::from(i16::from_be_bytes(bytes.try_into().unwrap_or_default()))),
            8 => Ok(i64::from_be_bytes(bytes.try_into().unwrap_or_default())),
            _ => Err(self.unlike(slot, column, "an integer")),
        }
    }

    #[inline]
    fn decimal(&self, slot: Slot, row: usize, column: usize) -> Result<i64> {
        let bytes = self.value(slot, row, column, "a number")?;
        let declared = &self.prepared[self.results.statement(slot.0)].returns[column];
        let Type::Decimal(scale) = declared else {
            return Err(self.unlike(slot, column, "declared a decimal"));
        };
        numeric::decode(bytes, *scale).ok_or_else(|| self.unlike(slot, column, "a number in range"))
    }

    fn text(&self, slot: Slot, row: usize, column: usize) -> Result<&str> {
        let bytes = self.value(slot, row, column, "a text")?;
        std::str::from_utf8(bytes).map_err(|_| self.unlike(slot, column, "UTF-8"))
    }
}

/// Queues Bind and Execute of the statement named `key`.
#[inline]
fn bind(key: &str, parameters: &[Value<'_>], out: &mut BytesMut) {
    let encode = |value: &Value<'_>, out: &mut BytesMut| Ok(encode(*value, out));
    let bound = if parameters.iter().any(|value| matches!(value, Value::Text(_))) {
        let formats = parameters.iter().map(|value| i16::from(!matches!(value, Value::Text(_))));
        frontend::bind("", key, formats, parameters, encode, BINARY, out)
    } else {
        frontend::bind("", key, BINARY, parameters, encode, BINARY, out)
    };
    debug_assert!(bound.is_ok(), "names have no zero byte, values stay far below 2 GiB");
    let executed = frontend::execute("", 0, out);
    debug_assert!(executed.is_ok(), "the unnamed portal is a valid name");
}

#[inline]
fn encode(value: Value<'_>, out: &mut BytesMut) -> IsNull {
    match value {
        Value::Null => return IsNull::Yes,
        Value::Int(value) => out.put_i32(value),
        Value::BigInt(value) => out.put_i64(value),
        Value::Decimal { units, scale } => numeric::encode(units, scale, out),
        Value::Text(text) => out.put_slice(text.as_bytes()),
        Value::Date(days) => out.put_i32(days - EPOCH_DAYS),
        Value::Timestamp(unix_us) => out.put_i64(unix_us - EPOCH_US),
    }
    IsNull::No
}
