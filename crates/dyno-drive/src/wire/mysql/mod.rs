//! The MySQL protocol, also used by MariaDB: unix sockets, TCP and TLS, binary values, pipelined
//! batches.
//!
//! **Batches.** The server reads one command after another from its socket. A batch is several
//! executions of prepared statements in one write, and the answers come in order. Unlike
//! PostgreSQL, the server continues after a statement that fails; after a deadlock even in a new
//! transaction, because the old one is gone. Three rules keep transactions intact:
//!
//! - Nothing is committed unless requested: before its first transaction the session turns off
//!   `autocommit`. Only a session that never has one, such as that of a single query, keeps it on.
//!   Statements after a deadlock in the batch wait for a commit that never comes.
//! - A COMMIT is sent only after everything before it has succeeded, which costs an extra round
//!   trip inside `flush`. Transactions that only read send it along, because there is nothing to
//!   commit.
//! - The first failure is the batch's error; later answers are read and dropped, and `recover`
//!   rolls back. That includes a lock timeout, after which InnoDB rolls back only the statement.
//!   Sessions set a shorter limit (`lock_wait_s`), so that the statements after it do not wait long
//!   as well.
//!
//! **Statements** that the server lacks become two commands (`dialect`): an update that returns
//! rows is followed by a query of them in the same batch.
//!
//! **Procedures** end with a query, so they return a row. Each begins and ends its own transaction,
//! so autocommit stays on and a call is one round trip.
//!
//! **Isolation** is the server's default for sessions, as with PostgreSQL: REPEATABLE READ unless
//! set otherwise. Amounts are changed relative to the stored values. Values that are read and then
//! written elsewhere (order numbers, prices of lines) come from rows that the transaction has
//! locked. So the consistency conditions hold from READ COMMITTED up. MariaDB may refuse to change
//! rows that others changed since the first read (`innodb_snapshot_isolation`, on from 11.6.2); the
//! transaction is then retried and counted as a serialisation failure.

mod auth;
mod batch;
mod bulk;
mod config;
mod decimal;
mod dialect;
mod endpoint;
mod error;
mod greeting;
mod key;
mod login;
mod packet;
mod prepare;
mod prepared;
mod results;
mod row;
mod session;
mod value;
mod verbatim;

#[cfg(test)]
pub(crate) use dialect::commands;

use std::sync::Arc;

use dyno_record::Result;

pub use config::Config;
pub use session::MysqlSession;

pub(crate) use bulk::Loader;
pub(crate) use endpoint::Endpoint;
pub(crate) use error::class;

use super::{Dialect, Statement, Wire, within};
use crate::alarm::Alarm;

/// Opens sessions to one server.
#[derive(Debug, Clone)]
pub struct Mysql(Arc<Endpoint>);

impl Mysql {
    /// Creates a wire to the server of `config`.
    ///
    /// # Errors
    /// `usage` if its files cannot be used, or for TLS over a unix socket.
    pub fn new(config: Config) -> Result<Self> {
        Ok(Self(Arc::new(Endpoint::new(config)?)))
    }
}

impl Wire for Mysql {
    const DIALECT: Dialect = Dialect::Mysql;

    type Session = MysqlSession;

    async fn connect(&self, statements: &[Statement], alarm: &Alarm) -> Result<MysqlSession> {
        let config = &self.0.config;
        let connecting = async {
            let (mut transport, server) = login::log_in(&self.0, 0).await?;
            login::set_up(&mut transport, &config.driven(server.mariadb)).await?;
            let prepared = prepare::prepare(&mut transport, statements).await?;
            Ok(MysqlSession::new(transport, prepared, server, alarm.clone()))
        };
        within(config.connect_timeout_s, config.server(), connecting).await
    }
}

#[cfg(test)]
mod server_tests;
