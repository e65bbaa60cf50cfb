//! A server with everything needed to log in.

use dyno_record::Result;

use super::config::{Config, Tls};
use crate::wire::tls::Connector;

/// Opens sessions. Reads its files once.
#[derive(Debug)]
pub struct Endpoint {
    /// Connection settings.
    pub config: Config,
    /// Set if TLS is used.
    pub connector: Option<Connector>,
}

impl Endpoint {
    /// Creates an endpoint for `config`.
    ///
    /// # Errors
    /// `usage` if its files cannot be used.
    pub fn new(config: Config) -> Result<Self> {
        let tls = config.tls.as_ref().map(Tls::checks);
        // This version of the protocol has no name in TLS.
        let connector = tls.map(|tls| Connector::new(&tls, None)).transpose()?;
        Ok(Self { config, connector })
    }
}
