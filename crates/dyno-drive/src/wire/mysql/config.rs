//! Connection settings of a MariaDB or MySQL server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dyno_record::{Error, ErrorKind, Result};
use serde::Deserialize;

use crate::wire::{Secret, tls};

/// Values that do not fit a column cause an error rather than being truncated, and time stamps have
/// one meaning. Statements outside transactions commit by themselves, whatever the server's
/// default.
///
/// `unique_checks` stays on. Without it and `foreign_key_checks`, MariaDB sorts the rows of an
/// empty table before it stores them, and locks the whole table: twice the CPU time (5.0 s against
/// 2.5 s for `lineitem` at scale 0.1, 10.11) for rows that are already sorted, and one stream at a
/// time.
///
/// Procedures return lists as one text, and MySQL cuts one at 1,024 bytes unless told otherwise;
/// MariaDB's default is set for both.
const SESSION: [&str; 2] = [
    "SET NAMES utf8mb4 COLLATE utf8mb4_bin",
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES', time_zone = '+00:00', unique_checks = 1, \
     autocommit = 1, group_concat_max_len = 1048576",
];

/// For the driver's sessions: statements after a failed one still run, and must not wait for locks
/// as long as the server's default (50 s each, and a day for table locks). Shorter limits of the
/// server stay.
const LOCK_WAITS: [&str; 2] = ["innodb_lock_wait_timeout", "lock_wait_timeout"];

/// An answer from the query cache is not a measurement.
const MARIADB: &str = "SET SESSION query_cache_type = OFF";

/// Connection settings of a MariaDB or MySQL server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// A host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Path of a unix socket; takes precedence over host and port.
    #[serde(default)]
    pub unix_socket: Option<String>,
    /// User to log in as.
    pub user: String,
    /// Their password, if any.
    #[serde(default)]
    pub password: Option<Secret>,
    /// Database with the tables.
    pub database: String,
    /// TLS settings; default: no TLS.
    #[serde(default)]
    pub tls: Option<Tls>,
    /// Whether a remote server may send the key for encrypting the password over plain TCP: anyone
    /// in between could send theirs.
    #[serde(default)]
    pub key_retrieval: bool,
    /// A file with that key in PEM; the server is then not asked for it.
    #[serde(default)]
    pub server_key: Option<PathBuf>,
    /// Maximum wait of a driven transaction for a lock, in whole seconds; default: the server's,
    /// which also applies if it is shorter.
    #[serde(default)]
    pub lock_wait_s: Option<u32>,
    /// Maximum time to connect and authenticate, seconds.
    #[serde(default = "default_timeout")]
    pub connect_timeout_s: f64,
    /// Variables that every session sets to an integer.
    #[serde(default)]
    pub settings: BTreeMap<String, u64>,
}

/// TLS settings. A server without TLS is refused.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// A PEM file with the authorities that may have signed the server's certificate, which must
    /// also match the host. Without it the connection is encrypted, but the server is not
    /// authenticated.
    #[serde(default)]
    pub ca: Option<PathBuf>,
    /// The client's certificate in PEM, with intermediate certificates.
    #[serde(default)]
    pub cert: Option<PathBuf>,
    /// Its key in PEM, without a passphrase; default: in the certificate's file.
    #[serde(default)]
    pub key: Option<PathBuf>,
}

fn default_timeout() -> f64 {
    10.0
}

impl Tls {
    /// The checks of the connection.
    pub(super) fn checks(&self) -> tls::Tls {
        let Self { ca, cert, key } = self.clone();
        tls::Tls { check_host: ca.is_some(), ca, cert, key, ..tls::Tls::default() }
    }
}

impl Config {
    /// Refuses TLS over a unix socket, which it would not encrypt.
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

    /// The initial statements of a driver session.
    pub(super) fn driven(&self, mariadb: bool) -> Vec<String> {
        let waits = self.lock_wait_s.map(|most| {
            // MySQL returns a decimal for the least of two numbers, which no variable accepts.
            let least = |name| format!("{name} = CAST(LEAST(@@{name}, {most}) AS UNSIGNED)");
            format!("SET SESSION {}", LOCK_WAITS.map(least).join(", "))
        });
        let mut all = self.session(mariadb);
        all.extend(waits);
        all
    }

    /// The initial statements of any session.
    pub(crate) fn session(&self, mariadb: bool) -> Vec<String> {
        let own = self.settings.iter().map(|(name, value)| format!("SET SESSION {name} = {value}"));
        let product = mariadb.then(|| MARIADB.to_owned());
        SESSION.iter().map(ToString::to_string).chain(product).chain(own).collect()
    }

    /// Describes the server in messages.
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
