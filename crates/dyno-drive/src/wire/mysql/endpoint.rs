//! A server with everything needed to log in.

use dyno_record::Result;

use super::config::{Config, Tls};
use super::key::Key;
use crate::wire::tls::Connector;

/// ALPN name of the protocol, which has no registered one.
const PROTOCOL: &str = "mysql";

/// Opens sessions. Reads its files once.
#[derive(Debug)]
pub struct Endpoint {
    /// Connection settings.
    pub config: Config,
    /// Set if TLS is used.
    pub connector: Option<Connector>,
    /// The server's configured key, if any.
    pub key: Option<Key>,
}

impl Endpoint {
    /// Creates an endpoint for `config`.
    ///
    /// # Errors
    /// `usage` if its files cannot be used, or for TLS over a unix socket.
    pub fn new(config: Config) -> Result<Self> {
        config.require_encryptable()?;
        let tls = config.tls.as_ref().map(Tls::checks);
        let connector = tls.map(|tls| Connector::new(&tls, Some(PROTOCOL))).transpose()?;
        let key = config.server_key.as_deref().map(Key::read).transpose()?;
        Ok(Self { config, connector, key })
    }
}
