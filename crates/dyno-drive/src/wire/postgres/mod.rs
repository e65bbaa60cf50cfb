//! PostgreSQL's protocol 3.0: unix sockets, TCP and TLS, binary values, pipelined batches.

mod config;
mod copy;
mod error;
mod frame;
mod numeric;
mod prepare;
mod results;
mod session;
mod startup;
mod tls;
mod verbatim;

use std::sync::Arc;

use dyno_record::{Error, ErrorKind, Result};

pub use config::{Binding, Config};
pub use session::PostgresSession;

pub(crate) use copy::CopyIn;

use super::tls::Connector;
use super::transport::Transport;
use super::{Dialect, Statement, Wire, within};
use crate::alarm::Alarm;

/// Opens sessions to one server.
#[derive(Debug, Clone)]
pub struct Postgres(Arc<Server>);

#[derive(Debug)]
struct Server {
    config: Config,
    /// Set if TLS is used.
    connector: Option<Connector>,
}

impl Postgres {
    /// Creates a wire to the server of `config`.
    ///
    /// # Errors
    /// `usage` if TLS files cannot be used, or for TLS over a unix socket.
    pub fn new(config: Config) -> Result<Self> {
        if config.tls.is_some() && config.socket().is_some() {
            let message = "TLS over a unix socket is not supported; omit one of the two";
            return Err(Error::new(ErrorKind::Usage, message));
        }
        let tls = config.tls.as_deref();
        let connector = tls.map(|tls| Connector::new(tls, Some(tls::PROTOCOL))).transpose()?;
        Ok(Self(Arc::new(Server { config, connector })))
    }

    /// Connects and logs in within the configured timeout.
    ///
    /// # Errors
    /// As [`Wire::connect`], with the server as context.
    async fn log_in(&self) -> Result<Transport> {
        self.limited(self.open()).await
    }

    async fn open(&self) -> Result<Transport> {
        let Server { config, connector } = &*self.0;
        let mut transport = connect(config, connector.as_ref()).await?;
        startup::log_in(&mut transport, config).await?;
        Ok(transport)
    }

    async fn limited<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        let config = &self.0.config;
        within(config.connect_timeout_s, config.server(), work).await
    }
}

/// Connects, with TLS if there is a `connector`.
///
/// # Errors
/// `unreachable` or `denied`; `usage` for a socket path that is too long.
async fn connect(config: &Config, connector: Option<&Connector>) -> Result<Transport> {
    let transport = match config.socket() {
        Some(path) => Transport::unix(&path).await?,
        None => Transport::tcp(config.address(), config.port).await?,
    };
    match connector {
        Some(connector) => tls::secure(transport, config, connector).await,
        None => Ok(transport),
    }
}

impl Wire for Postgres {
    const DIALECT: Dialect = Dialect::Postgres;

    type Session = PostgresSession;

    async fn connect(&self, statements: &[Statement], _alarm: &Alarm) -> Result<PostgresSession> {
        let connecting = async {
            let mut transport = self.open().await?;
            let prepared = prepare::prepare(&mut transport, statements).await?;
            Ok(PostgresSession::new(transport, prepared))
        };
        self.limited(connecting).await
    }
}
