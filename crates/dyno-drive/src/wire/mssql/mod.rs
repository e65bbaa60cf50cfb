//! SQL Server's protocol, TDS 7.4: TCP and TLS, prepared statements, several calls in a message.
//! Decisions and measurements are in `docs/decisions/0028-tds.md`.
//!
//! **Batches.** A session has one request at a time. A request may call several procedures, so a
//! batch is one message with an `sp_execute` for each statement, and the answers come in order. The
//! server continues after a call that failed; after a deadlock even in a new transaction, because
//! the old one is gone. Three rules keep transactions intact, as with MySQL:
//!
//! - Nothing is committed unless requested: before its first transaction the session turns on
//!   `implicit_transactions`. Calls after a deadlock in the batch wait for a commit that never
//!   comes.
//! - A commit is a message of its own, sent after everything before it has succeeded. It cannot be
//!   one of the calls: the server reports error 266 for a call that changes the number of open
//!   transactions.
//! - The first failure is the batch's error, and `recover` rolls back.
//!
//! A lone statement needs no commit: it is also prepared as a text that first turns off
//! `implicit_transactions`, which the server turns on again at the end of the text. The session
//! asks for that after the first such text. Where it is not so, a commit follows the statement.
//!
//! **Cancelling.** `cancel` sends the attention signal, reads until the server has confirmed it,
//! and rolls back. If that takes longer than a connect may take, the connection is closed.
//!
//! **Procedures** are called by name. They return a row, or output parameters, which are read as a
//! row. Each begins and ends its own transaction, for which `implicit_transactions` must be off.
//! Sessions that only call procedures therefore leave it off, and begin a transaction of several
//! calls by a message.
//!
//! **Statements** are translated (`dialect`): TOP for LIMIT, OUTPUT for RETURNING, a hint for FOR
//! UPDATE.
//!
//! **Texts** are parameters of type `varchar`, because a national parameter keeps the server from
//! seeking in an index over a column that is not national. A text that the code page 1252 of a
//! database lacks is refused; other code pages are the server's to know. Results are read in place
//! where the column's collation is in UTF-8, or the text in ASCII. Only columns that are declared
//! texts are converted, and one that cannot be read fails only where it is read.

mod answer;
mod batch;
mod bulk;
mod column;
mod config;
mod converted;
mod dialect;
mod endpoint;
mod error;
mod lexed;
mod login;
mod packet;
mod prelogin;
mod prepare;
mod prepared;
mod results;
mod session;
mod text;
mod token;
mod tunnel;
mod value;

#[cfg(test)]
pub(crate) use dialect::{Command, command};

use std::sync::Arc;

use dyno_record::Result;

pub use config::Config;
pub use session::MssqlSession;

pub(crate) use bulk::{Field, Loader, quoted};
pub(crate) use endpoint::Endpoint;
pub(crate) use tunnel::Tunnel;

use super::{Dialect, Statement, Wire, connect_timeout, within};
use crate::alarm::Alarm;

/// Opens sessions to one server.
#[derive(Debug, Clone)]
pub struct Mssql(Arc<Endpoint>);

impl Mssql {
    /// Creates a wire to the server of `config`.
    ///
    /// # Errors
    /// `usage` if its files cannot be used.
    pub fn new(config: Config) -> Result<Self> {
        Ok(Self(Arc::new(Endpoint::new(config)?)))
    }
}

impl Wire for Mssql {
    const DIALECT: Dialect = Dialect::Mssql;

    type Session = MssqlSession;

    async fn connect(&self, statements: &[Statement], _alarm: &Alarm) -> Result<MssqlSession> {
        let config = &self.0.config;
        let connecting = async {
            let (mut transport, mut server) = login::log_in(&self.0, login::DRIVEN_PACKET).await?;
            answer::run(&mut transport, &config.driven(), server.packet_size).await?;
            server.babelfish = answer::is_babelfish(&mut transport, server.packet_size).await?;
            let prepared = prepare::prepare(&mut transport, statements, &server).await?;
            let patience = connect_timeout(config.connect_timeout_s)?;
            Ok(MssqlSession::new(transport, prepared, &server, patience))
        };
        within(config.connect_timeout_s, config.server(), connecting).await
    }
}

#[cfg(test)]
mod encrypted_tests;

#[cfg(test)]
mod server_tests;
