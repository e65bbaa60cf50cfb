//! Where a server is and who we are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::wire::Secret;
use crate::wire::tls::Tls;

/// How to reach a PostgreSQL server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// A host name or address; a path that starts with `/` is the directory of a unix socket.
    pub host: String,
    /// The address to connect to in the place of `host`, which stays the server's name.
    #[serde(default)]
    pub hostaddr: Option<String>,
    /// TCP port, also part of the unix socket's name.
    #[serde(default = "default_port")]
    pub port: u16,
    /// Role to log in as.
    pub user: String,
    /// Its password, if the server asks for one.
    #[serde(default)]
    pub password: Option<Secret>,
    /// How TLS is to be spoken; not at all if absent, as over a unix socket always.
    #[serde(default)]
    pub tls: Option<Box<Tls>>,
    /// Whether a login is bound to the TLS connection that it goes over.
    #[serde(default)]
    pub channel_binding: Binding,
    /// Database to use.
    pub database: String,
    /// Schema of the tables; the role's search path if absent.
    #[serde(default)]
    pub schema: Option<String>,
    /// Parameters that hold for the session, by name.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Shown in the server's `pg_stat_activity`.
    #[serde(default = "default_application")]
    pub application_name: String,
    /// Longest wait for a connection, authentication included.
    #[serde(default = "default_timeout")]
    pub connect_timeout_s: f64,
}

/// Whether SCRAM proves that both ends of the login are those of the TLS connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Binding {
    /// Never.
    Disable,
    /// Where both sides can.
    #[default]
    Prefer,
    /// A server that lets us in without is refused.
    Require,
}

fn default_port() -> u16 {
    5432
}

fn default_application() -> String {
    "dyno".to_owned()
}

fn default_timeout() -> f64 {
    10.0
}

impl Config {
    /// The socket file, if `host` is a directory.
    pub(super) fn socket(&self) -> Option<PathBuf> {
        self.host
            .starts_with('/')
            .then(|| Path::new(&self.host).join(format!(".s.PGSQL.{}", self.port)))
    }

    /// Where to connect, if that is no socket.
    pub(super) fn address(&self) -> &str {
        self.hostaddr.as_deref().unwrap_or(&self.host)
    }

    /// The server in a few words, for messages.
    pub(super) fn server(&self) -> String {
        match self.socket() {
            Some(socket) => format!("PostgreSQL at {}", socket.display()),
            None => format!("PostgreSQL at {}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_sockets_and_secrets() {
        let config: Config = serde_json::from_str(
            r#"{"host": "/run/pg", "user": "u", "password": "p4ss", "database": "d"}"#,
        )
        .unwrap();
        assert_eq!(config.port, 5432);
        assert_eq!(config.socket().unwrap(), Path::new("/run/pg/.s.PGSQL.5432"));
        assert!(!format!("{config:?}").contains("p4ss"));
        assert!(
            serde_json::from_str::<Config>(r#"{"host": "h", "user": "u", "db": "d"}"#).is_err()
        );
    }
}
