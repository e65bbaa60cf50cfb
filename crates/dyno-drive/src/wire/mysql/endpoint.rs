//! A server, and what is needed to be let in there.

use dyno_record::Result;

use super::config::{Config, Tls};
use super::key::Key;
use crate::wire::tls::Connector;

/// The protocol's name where TLS asks for one; no server has been given one.
const PROTOCOL: &str = "mysql";

/// Where sessions are opened. Its files are read once.
#[derive(Debug)]
pub struct Endpoint {
    /// How it is reached.
    pub config: Config,
    /// There if TLS is to be spoken.
    pub connector: Option<Connector>,
    /// The key that the server is known by, if it is.
    pub key: Option<Key>,
}

impl Endpoint {
    /// The server of `config`.
    ///
    /// # Errors
    /// `usage` if its files cannot be used, or for TLS over a unix socket.
    pub fn new(config: Config) -> Result<Self> {
        config.require_encryptable()?;
        let tls = config.tls.as_ref().map(Tls::checks);
        let connector = tls.map(|tls| Connector::new(&tls, PROTOCOL)).transpose()?;
        let key = config.server_key.as_deref().map(Key::read).transpose()?;
        Ok(Self { config, connector, key })
    }
}
