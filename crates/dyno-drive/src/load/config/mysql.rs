//! How to reach a MariaDB or MySQL server, and what a session there begins with.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dyno_record::{Error, ErrorKind, Result};
use mysql_async::{ClientIdentity, Opts, OptsBuilder, SslOpts};
use serde::Deserialize;

use crate::wire::Secret;

/// What does not fit a column is told and never cut; there is one meaning of a time stamp.
///
/// `unique_checks` stays on. Without it and `foreign_key_checks` MariaDB sorts the rows of an empty
/// table before it stores them and locks the whole table: twice the processor time (5.0 s against
/// 2.5 s for `lineitem` at scale 0.1, 10.11) for rows that come sorted, and one stream at a time.
const SESSION: [&str; 2] = [
    "SET NAMES utf8mb4 COLLATE utf8mb4_bin",
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES', time_zone = '+00:00', unique_checks = 1",
];

/// How to reach a MariaDB or MySQL server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MysqlConfig {
    /// A host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// A unix socket's path; it goes before host and port.
    #[serde(default)]
    pub unix_socket: Option<String>,
    /// User to log in as.
    pub user: String,
    /// Their password, if they have one.
    #[serde(default)]
    pub password: Option<Secret>,
    /// Database of the tables.
    pub database: String,
    /// How TLS is to be spoken; not at all if absent.
    #[serde(default)]
    pub tls: Option<Tls>,
    /// Longest wait for a connection, authentication included.
    #[serde(default = "default_timeout")]
    pub connect_timeout_s: f64,
    /// Variables that every session sets to a whole number.
    #[serde(default)]
    pub settings: BTreeMap<String, u64>,
}

/// A TLS connection. A server that does not offer TLS is refused.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// A file of certificates in PEM, the only ones that may have signed the server's. That must
    /// also be for the host. Without it the connection is encrypted, but whose it is is not known.
    #[serde(default)]
    pub ca: Option<PathBuf>,
    /// The client's own certificate in PEM, with those that lead to the authority's.
    #[serde(default)]
    pub cert: Option<PathBuf>,
    /// Its key in PEM, without a passphrase; looked for in the certificate's file if absent.
    #[serde(default)]
    pub key: Option<PathBuf>,
}

fn default_timeout() -> f64 {
    10.0
}

impl MysqlConfig {
    /// The driver's options.
    ///
    /// # Errors
    /// `usage` for TLS over a unix socket, over which the driver would not encrypt.
    pub(in crate::load) fn options(&self) -> Result<Opts> {
        if self.tls.is_some() && self.unix_socket.is_some() {
            let message = "TLS is not spoken over a unix socket; leave out one of the two";
            return Err(Error::new(ErrorKind::Usage, message));
        }
        let options = OptsBuilder::default()
            .ip_or_hostname(self.host.clone())
            .tcp_port(self.port)
            .socket(self.unix_socket.clone())
            // Otherwise the driver changes over to a socket on its own, and measures another path.
            .prefer_socket(self.unix_socket.is_some())
            .user(Some(self.user.clone()))
            .pass(self.password.as_ref().map(Secret::as_str))
            .db_name(Some(self.database.clone()))
            .ssl_opts(self.tls.as_ref().map(Tls::options))
            .init(self.session());
        Ok(options.into())
    }

    /// The statements that begin a session.
    fn session(&self) -> Vec<String> {
        let own = self.settings.iter().map(|(name, value)| format!("SET SESSION {name} = {value}"));
        SESSION.iter().map(ToString::to_string).chain(own).collect()
    }
}

impl Tls {
    fn options(&self) -> SslOpts {
        let identity = self.cert.as_ref().map(|cert| {
            let key = self.key.as_ref().unwrap_or(cert);
            ClientIdentity::new(cert.clone().into(), key.clone().into())
        });
        let options = SslOpts::default().with_client_identity(identity);
        match &self.ca {
            Some(file) => {
                options.with_root_certs(vec![file.clone().into()]).with_disable_built_in_roots(true)
            }
            None => options.with_danger_accept_invalid_certs(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(more: &str) -> MysqlConfig {
        serde_json::from_str(&format!(
            r#"{{"host": "h", "port": 1, "user": "u", "password": "p4ss", "database": "d"{more}}}"#
        ))
        .unwrap()
    }

    #[test]
    fn passwords_do_not_show() {
        let config = config("");
        assert!(!format!("{config:?}").contains("p4ss"));
        assert_eq!(config.options().unwrap().pass(), Some("p4ss"));
    }

    #[test]
    fn sessions_set_what_they_are_given() {
        let config = config(r#", "settings": {"sort_buffer_size": 65536}"#);
        assert_eq!(config.session()[2], "SET SESSION sort_buffer_size = 65536");
    }

    #[test]
    fn tls_checks_the_server_against_the_authority_alone() {
        assert!(config("").options().unwrap().ssl_opts().is_none());
        let options = config(r#", "tls": {}"#).options().unwrap();
        assert!(options.ssl_opts().unwrap().accept_invalid_certs());
        let options = config(r#", "tls": {"ca": "/ca.pem", "cert": "/me.pem"}"#).options().unwrap();
        let tls = options.ssl_opts().unwrap();
        assert!(!tls.accept_invalid_certs() && !tls.skip_domain_validation());
        assert!(tls.disable_built_in_roots() && tls.root_certs().len() == 1);
        let identity = tls.client_identity().unwrap();
        assert_eq!(identity.priv_key(), identity.cert_chain());
    }

    #[test]
    fn what_would_go_unencrypted_is_refused() {
        let error = config(r#", "tls": {}, "unix_socket": "/s""#).options().unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
        assert!(!error.message.contains("p4ss"));
    }
}
