//! The interface between transactions and databases: statements are declared once, sent as batches
//! in one round trip, and results are read from the receive buffer.
//!
//! A transaction is written once, over [`Session`]; each protocol is one wire.

mod gate;
pub mod mssql;
pub mod mysql;
pub mod null;
mod places;
pub mod postgres;
mod secret;
pub mod sqlite;
pub mod tls;
mod transport;
mod unix;
mod value;

use std::borrow::Cow;
use std::future::{Future, ready};
use std::time::Duration;

use dyno_record::{Error, ErrorKind, Result};
use serde::Deserialize;

use crate::alarm::Alarm;
use crate::outcome::Embedded;
pub use secret::Secret;
pub use value::{Type, Value};
use value::{is_declared, read_columns};

/// Maximum bytes of a batch's answers, far above any workload. A server that never stops sending
/// must not fill the memory, and offsets into the answers have 32 bits. Tests reach it sooner.
pub(crate) const LONGEST_ANSWERS: usize = if cfg!(test) { 1 << 24 } else { 1 << 30 };

/// Quotes an identifier in standard SQL.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Converts a plan's `connect_timeout_s`, for [`within`].
///
/// # Errors
/// `usage` if it is not a valid duration.
fn connect_timeout(seconds: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(seconds).map_err(|_| {
        let message = format!("connect_timeout_s is {seconds}; it must be 0 or more");
        Error::new(ErrorKind::Usage, message)
    })
}

/// Runs `work` with `server` within a plan's `connect_timeout_s`.
///
/// # Errors
/// Those of `work`, and `unreachable` after the timeout, all with `server` as context; `usage` if
/// the timeout is not a valid duration.
pub(crate) async fn within<T>(
    limit_s: f64,
    server: String,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    let limited = tokio::time::timeout(connect_timeout(limit_s)?, work).await;
    let result = limited.unwrap_or_else(|_| {
        let message = format!("no response within {limit_s} s: is the server up and reachable?");
        Err(Error::new(ErrorKind::Unreachable, message))
    });
    result.map_err(|error| error.context(server))
}

/// Separates the commands of a statement.
pub const AND_THEN: &str = ";\n";

/// An SQL dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// PostgreSQL, the default dialect of statements.
    Postgres,
    /// MariaDB and MySQL.
    Mysql,
    /// SQLite.
    Sqlite,
    /// SQL Server.
    #[serde(rename = "sqlserver")]
    Mssql,
}

/// A statement that a workload declares and a session prepares once.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Short name for messages, unique within the workload.
    pub name: &'static str,
    /// SQL with parameters `$1`, `$2` … In MySQL's dialect it may be several commands, separated by
    /// [`AND_THEN`], at most one of which returns rows.
    pub sql: Cow<'static, str>,
    /// Types of the parameters, in order.
    pub params: &'static [Type],
    /// Types of the result columns, in order; empty if it returns no rows.
    pub returns: &'static [Type],
}

/// Whether a transaction writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It only reads.
    Read,
    /// It may also write.
    Write,
}

/// A statement by its index in the workload's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatementId(pub u16);

/// A queued statement of the current batch; after the flush, its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(pub u16);

/// One connection to a database, used by one user at a time.
///
/// `queue…` calls build a batch, and [`flush`](Self::flush) sends it. A statement outside a
/// transaction is a transaction of its own. Results can be read by their [`Slot`] until the next
/// `queue…` call. In the steady state nothing allocates.
///
/// Obligations of the caller: parameters match the declared types in number and order; a flush
/// whose future was dropped leaves the session unusable, so drop that too, unless
/// [`cancel`](Self::cancel) succeeds; after an error, call [`recover`](Self::recover) before the
/// next transaction.
pub trait Session {
    /// SQL dialect of the database.
    const DIALECT: Dialect;

    /// Queues an execution of a declared statement.
    fn queue(&mut self, statement: StatementId, parameters: &[Value<'_>]) -> Slot;

    /// Queues the start of a transaction. Most databases ignore `access`.
    fn queue_begin(&mut self, access: Access);

    /// Queues the commit of the open transaction.
    fn queue_commit(&mut self);

    /// Queues the rollback of the open transaction.
    fn queue_rollback(&mut self);

    /// Sends everything queued in one round trip and waits for all the answers.
    ///
    /// Statements run in order. The first failure ends the batch and is returned.
    ///
    /// # Errors
    /// The database's error, classified; `connection_lost` if the session is unusable.
    fn flush(&mut self) -> impl Future<Output = Result<()>>;

    /// Rolls back a failed transaction, if it is still open.
    ///
    /// # Errors
    /// As [`flush`](Self::flush).
    fn recover(&mut self) -> impl Future<Output = Result<()>>;

    /// Cancels the request of a flush whose future was dropped, and rolls back: the session can be
    /// used again. Only possible where the protocol has a signal for it on the same connection.
    ///
    /// # Errors
    /// `connection_lost` if the session is unusable.
    fn cancel(&mut self) -> impl Future<Output = Result<()>> {
        let message = "a request cannot be cancelled on its own connection";
        ready(Err(Error::new(ErrorKind::ConnectionLost, message)))
    }

    /// Closes the session without waiting for an answer.
    fn close(self) -> impl Future<Output = ()>;

    /// Number of rows that `slot` returned.
    fn rows(&self, slot: Slot) -> usize;

    /// Number of rows that `slot` inserted, updated, deleted or returned.
    ///
    /// # Errors
    /// `protocol` if the server's answer is invalid.
    fn affected(&self, slot: Slot) -> Result<u64>;

    /// Whether a value is null.
    ///
    /// # Errors
    /// `database` if there is no such row or column.
    fn is_null(&self, slot: Slot, row: usize, column: usize) -> Result<bool>;

    /// An integer of any width.
    ///
    /// # Errors
    /// `database` if there is no such row or column; `protocol` if it is null or not an integer.
    fn int(&self, slot: Slot, row: usize, column: usize) -> Result<i64>;

    /// A decimal in units of its declared scale: 12.34 declared `Decimal(2)` is 1234.
    ///
    /// # Errors
    /// As [`int`](Self::int); also if digits beyond the scale would be lost.
    fn decimal(&self, slot: Slot, row: usize, column: usize) -> Result<i64>;

    /// A text, borrowed from the receive buffer.
    ///
    /// # Errors
    /// As [`int`](Self::int), or it is not UTF-8.
    fn text(&self, slot: Slot, row: usize, column: usize) -> Result<&str>;
}

/// A session that also runs statements that nobody declared, as a log has them.
pub trait Verbatim: Session {
    /// Allows texts of several statements, where a server refuses them unless asked.
    ///
    /// # Errors
    /// The database's error; `connection_lost` if the session is unusable.
    fn allow_several(&mut self) -> impl Future<Output = Result<()>> {
        std::future::ready(Ok(()))
    }

    /// Runs a statement alone and drops its rows. `parameters` are the values of `$1`, `$2` … of
    /// PostgreSQL's extended protocol; None selects the simple one.
    ///
    /// A transaction stays open, or failed, as the statements leave it. Obligation of the caller: a
    /// session runs either declared statements or these.
    ///
    /// # Errors
    /// The database's error, classified; `connection_lost` if the session is unusable.
    fn verbatim(
        &mut self,
        sql: &str,
        parameters: Option<&[Option<String>]>,
    ) -> impl Future<Output = Result<()>>;
}

/// A way to open sessions; shared by all driver threads.
pub trait Wire: Clone + Send + Sync + 'static {
    /// SQL dialect of the database.
    const DIALECT: Dialect;

    /// The session type.
    type Session: Session + 'static;

    /// Connects, authenticates and prepares `statements`. `alarm` is the calling thread's timer.
    ///
    /// # Errors
    /// `unreachable`, `denied`, `too_many_connections`, or `usage` if the database lacks the tables
    /// that the statements need.
    fn connect(
        &self,
        statements: &[Statement],
        alarm: &Alarm,
    ) -> impl Future<Output = Result<Self::Session>>;

    /// What a database inside this process has counted since the last call; None for a server.
    fn embedded(&self) -> Option<Embedded> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use std::pin::Pin;

    #[test]
    fn a_timeout_is_a_length_of_time() {
        assert_eq!(connect_timeout(2.5).unwrap(), Duration::from_millis(2500));
        for wrong in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(connect_timeout(wrong).unwrap_err().kind, ErrorKind::Usage);
        }
    }

    #[test]
    fn whoever_does_not_answer_in_time_is_named_with_the_limit() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let tried = |limit_s, work: Pin<Box<dyn Future<Output = Result<u8>>>>| {
            runtime.block_on(within(limit_s, "Server at h:1".to_owned(), work))
        };
        let error = tried(0.01, Box::pin(pending())).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unreachable);
        assert!(error.to_string().contains("Server at h:1"), "{error}");
        assert!(error.message.contains("no response within 0.01 s"), "{error}");
        let refused = Error::new(ErrorKind::Denied, "not you");
        let error = tried(60.0, Box::pin(ready(Err(refused)))).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Denied);
        assert!(error.to_string().contains("Server at h:1"), "{error}");
        assert_eq!(tried(60.0, Box::pin(ready(Ok(7)))).unwrap(), 7);
    }
}
