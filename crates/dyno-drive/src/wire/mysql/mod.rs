//! MySQL's protocol, which MariaDB speaks too: unix sockets, TCP and TLS, binary values, batches
//! pipelined.
//!
//! **Batches.** The server reads one command after another from its socket, so a batch is several
//! executions of prepared statements in one write, and their answers come in order. Unlike
//! PostgreSQL it goes on after a statement that failed, and after a deadlock even in another
//! transaction, for that one is gone. Three rules keep a transaction whole all the same:
//!
//! - Nothing is committed that was not asked to be: before the first transaction the session gives
//!   up `autocommit`, and only a session that never has one, such as that of a single query, keeps
//!   it. What follows a deadlock in the batch waits for a commit that never comes.
//! - A COMMIT is sent only after everything before it is known to have succeeded: a round trip
//!   more, inside of `flush`. A transaction that has only read takes it along, since there is
//!   nothing to commit.
//! - The first failure is the batch's; the answers after it are read and dropped, and `recover`
//!   rolls back. That includes a lock that was not had in time, after which InnoDB takes back the
//!   statement only; so that those after it do not wait for long as well, sessions are given a limit
//!   (`lock_wait_s`).
//!
//! **Statements** that the server lacks are two commands in the place of one (`dialect`): an update
//! that returns rows is followed by a query of them, in the same batch.
//!
//! **Procedures** return a row: a query is the last that they do. Each begins and ends its own
//! transaction, so that the server goes on to commit by itself, and a call is one round trip.
//!
//! **Isolation** is what the server's sessions have, as with PostgreSQL: REPEATABLE READ unless it
//! is set otherwise. Amounts are changed relative to what is stored, and what is read to be written
//! elsewhere (order numbers, prices of lines) is read from rows that the transaction has locked, so
//! that the consistency conditions hold from READ COMMITTED up. Where MariaDB refuses to change
//! rows that others changed since the first read (`innodb_snapshot_isolation`, on from 11.6.2), the
//! transaction is sent again and counted as a serialisation failure.

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
    /// A wire to the server of `config`.
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
