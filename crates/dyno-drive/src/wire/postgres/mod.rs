//! PostgreSQL's protocol 3.0: unix sockets and TCP, binary values, batches pipelined.

mod config;
mod copy;
mod error;
mod frame;
mod numeric;
mod prepare;
mod results;
mod session;
mod startup;
mod transport;

use std::sync::Arc;

use dyno_record::{Error, ErrorKind, Result};

pub use config::Config;
pub use session::PostgresSession;

pub(crate) use copy::CopyIn;

use super::{Statement, Wire, connect_timeout};
use crate::alarm::Alarm;
use transport::Transport;

/// Opens sessions to one server.
#[derive(Debug, Clone)]
pub struct Postgres(Arc<Config>);

impl Postgres {
    /// A wire to the server of `config`.
    pub fn new(config: Config) -> Self {
        Self(Arc::new(config))
    }
}

impl Wire for Postgres {
    type Session = PostgresSession;

    async fn connect(&self, statements: &[Statement], _alarm: &Alarm) -> Result<PostgresSession> {
        let connecting = async {
            let mut transport = open(&self.0).await?;
            let prepared = prepare::prepare(&mut transport, statements).await?;
            Ok(PostgresSession::new(transport, prepared))
        };
        limited(&self.0, connecting).await
    }
}

/// Connects and logs in within the configured time.
///
/// # Errors
/// As [`Wire::connect`], with the server as context.
async fn log_in(config: &Config) -> Result<Transport> {
    limited(config, open(config)).await
}

async fn open(config: &Config) -> Result<Transport> {
    let mut transport = Transport::connect(config).await?;
    startup::log_in(&mut transport, config).await?;
    Ok(transport)
}

async fn limited<T>(config: &Config, work: impl Future<Output = Result<T>>) -> Result<T> {
    let limit_s = config.connect_timeout_s;
    let limited = tokio::time::timeout(connect_timeout(limit_s)?, work).await;
    let result = limited.unwrap_or_else(|_| {
        let message = format!("no answer within {limit_s} s: is the server up and reachable?");
        Err(Error::new(ErrorKind::Unreachable, message))
    });
    result.map_err(|error| error.context(config.server()))
}
