//! How to reach a MariaDB or MySQL server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dyno_record::{Error, ErrorKind, Result};
use serde::Deserialize;

use crate::wire::{Secret, tls};

/// What does not fit a column is told and never cut; there is one meaning of a time stamp. A
/// statement outside of transactions commits by itself, whatever the server's default.
///
/// `unique_checks` stays on. Without it and `foreign_key_checks` MariaDB sorts the rows of an empty
/// table before it stores them and locks the whole table: twice the processor time (5.0 s against
/// 2.5 s for `lineitem` at scale 0.1, 10.11) for rows that come sorted, and one stream at a time.
const SESSION: [&str; 2] = [
    "SET NAMES utf8mb4 COLLATE utf8mb4_bin",
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES', time_zone = '+00:00', unique_checks = 1, \
     autocommit = 1",
];

/// Of the driver's sessions: what comes after a statement that failed is run all the same, and must
/// not wait for locks for as long as the server would (50 s each, and a day for a table's). A server
/// that is less patient still is left as it is.
const LOCK_WAITS: [&str; 2] = ["innodb_lock_wait_timeout", "lock_wait_timeout"];

/// An answer from the cache of answers is no measurement.
const MARIADB: &str = "SET SESSION query_cache_type = OFF";

/// How to reach a MariaDB or MySQL server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
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
    /// Whether a server beyond this machine may say itself, over plain TCP, by which key a password
    /// is to be encrypted: anybody on the way could give theirs.
    #[serde(default)]
    pub key_retrieval: bool,
    /// A file with that key in PEM; the server is not asked for it then.
    #[serde(default)]
    pub server_key: Option<PathBuf>,
    /// Longest wait of a driven transaction for a lock, in whole seconds; the server's if absent or
    /// shorter.
    #[serde(default)]
    pub lock_wait_s: Option<u32>,
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

impl Tls {
    /// What the connection checks.
    pub(super) fn checks(&self) -> tls::Tls {
        let Self { ca, cert, key } = self.clone();
        tls::Tls { check_host: ca.is_some(), ca, cert, key, ..tls::Tls::default() }
    }
}

impl Config {
    /// Refuses TLS over a unix socket, which would not be encrypted.
    ///
    /// # Errors
    /// `usage`.
    pub(crate) fn require_encryptable(&self) -> Result<()> {
        if self.tls.is_some() && self.unix_socket.is_some() {
            let message = "TLS over a unix socket is not supported; omit one of the two";
            return Err(Error::new(ErrorKind::Usage, message));
        }
        Ok(())
    }

    /// The statements that begin a session of the driver's.
    pub(super) fn driven(&self, mariadb: bool) -> Vec<String> {
        let waits = self.lock_wait_s.map(|most| {
            // MySQL takes the least of two numbers for a decimal, and no variable takes that.
            let least = |name| format!("{name} = CAST(LEAST(@@{name}, {most}) AS UNSIGNED)");
            format!("SET SESSION {}", LOCK_WAITS.map(least).join(", "))
        });
        let mut all = self.session(mariadb);
        all.extend(waits);
        all
    }

    /// The statements that begin a session.
    pub(crate) fn session(&self, mariadb: bool) -> Vec<String> {
        let own = self.settings.iter().map(|(name, value)| format!("SET SESSION {name} = {value}"));
        let product = mariadb.then(|| MARIADB.to_owned());
        SESSION.iter().map(ToString::to_string).chain(product).chain(own).collect()
    }

    /// The server in a few words, for messages.
    pub(super) fn server(&self) -> String {
        match &self.unix_socket {
            Some(socket) => format!("MariaDB/MySQL at {socket}"),
            None => format!("MariaDB/MySQL at {}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(more: &str) -> Config {
        serde_json::from_str(&format!(
            r#"{{"host": "h", "port": 1, "user": "u", "password": "p4ss", "database": "d"{more}}}"#
        ))
        .unwrap()
    }

    #[test]
    fn passwords_do_not_show() {
        assert!(!format!("{:?}", config("")).contains("p4ss"));
    }

    #[test]
    fn sessions_set_what_they_are_given() {
        let config = config(r#", "settings": {"sort_buffer_size": 65536}"#);
        assert_eq!(config.session(false)[2], "SET SESSION sort_buffer_size = 65536");
        assert_eq!(config.session(true)[2], MARIADB);
    }

    #[test]
    fn driven_sessions_wait_for_locks_as_long_as_they_are_told() {
        let patient = config("");
        assert_eq!(patient.driven(true), patient.session(true));
        let waits = config(r#", "lock_wait_s": 5"#).driven(true);
        assert_eq!(
            waits.last().unwrap(),
            "SET SESSION innodb_lock_wait_timeout = \
             CAST(LEAST(@@innodb_lock_wait_timeout, 5) AS UNSIGNED), \
             lock_wait_timeout = CAST(LEAST(@@lock_wait_timeout, 5) AS UNSIGNED)"
        );
    }

    #[test]
    fn what_would_go_unencrypted_is_refused() {
        let error =
            config(r#", "tls": {}, "unix_socket": "/s""#).require_encryptable().unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
        assert!(!error.message.contains("p4ss"));
        assert!(config(r#", "tls": {}"#).require_encryptable().is_ok());
    }
}
