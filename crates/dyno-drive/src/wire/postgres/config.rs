//! Connection settings of a PostgreSQL server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::wire::Secret;
use crate::wire::tls::Tls;

/// Connection settings of a PostgreSQL server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// A host name or address; a path that starts with `/` is the directory of a unix socket.
    pub host: String,
    /// Address to connect to instead of `host`, which remains the server's name.
    #[serde(default)]
    pub hostaddr: Option<String>,
    /// TCP port, also part of the unix socket's name.
    #[serde(default = "default_port")]
    pub port: u16,
    /// Role to log in as.
    pub user: String,
    /// Its password, if needed.
    #[serde(default)]
    pub password: Option<Secret>,
    /// TLS settings; default: no TLS. A unix socket never uses it.
    #[serde(default)]
    pub tls: Option<Box<Tls>>,
    /// Whether the login is bound to its TLS connection.
    #[serde(default)]
    pub channel_binding: Binding,
    /// Database with the tables.
    pub database: String,
    /// Schema of the tables; default: the role's search path.
    #[serde(default)]
    pub schema: Option<String>,
    /// Session parameters, by name.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// Application name in the server's `pg_stat_activity`.
    #[serde(default = "default_application")]
    pub application_name: String,
    /// Maximum time to connect and authenticate, seconds.
    #[serde(default = "default_timeout")]
    pub connect_timeout_s: f64,
}

/// Whether SCRAM proves that both ends of the login are those of the TLS connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Binding {
    /// Never.
    Disable,
    /// If both sides support it.
    #[default]
    Prefer,
    /// Required: refuses a server that accepts a login without it.
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
    /// Path of the socket file, if `host` is a directory.
    pub(super) fn socket(&self) -> Option<PathBuf> {
        self.host
            .starts_with('/')
            .then(|| Path::new(&self.host).join(format!(".s.PGSQL.{}", self.port)))
    }

    /// Address to connect to over TCP.
    pub(super) fn address(&self) -> &str {
        self.hostaddr.as_deref().unwrap_or(&self.host)
    }

    /// Describes the server in messages.
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
