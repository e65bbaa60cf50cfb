//! Connection settings of a SQL Server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::wire::{Secret, tls};

/// Connection settings of a SQL Server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// A host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Login.
    pub user: String,
    /// Its password, if any.
    #[serde(default)]
    pub password: Option<Secret>,
    /// Database with the tables.
    pub database: String,
    /// TLS settings; default: no TLS.
    #[serde(default)]
    pub tls: Option<Tls>,
    /// Maximum wait of a driven transaction for a lock, in whole seconds; default: the server's,
    /// which is no limit.
    #[serde(default)]
    pub lock_wait_s: Option<u32>,
    /// Isolation level of all sessions; default: the server's.
    #[serde(default)]
    pub isolation: Option<Isolation>,
    /// Maximum time to connect and authenticate, seconds.
    #[serde(default = "default_timeout")]
    pub connect_timeout_s: f64,
    /// Options that every session sets to an integer.
    #[serde(default)]
    pub settings: BTreeMap<String, u64>,
}

/// TLS settings. A server without TLS is refused.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The authorities that may have signed the server's certificate, which must also match the
    /// host: a PEM file, or `system` (default) for those that this machine trusts.
    #[serde(default)]
    pub ca: Option<PathBuf>,
    /// Whether to trust any certificate: the connection is encrypted, but the server is not
    /// authenticated.
    #[serde(default)]
    pub trust: bool,
}

/// An isolation level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// READ UNCOMMITTED.
    ReadUncommitted,
    /// READ COMMITTED.
    ReadCommitted,
    /// REPEATABLE READ.
    RepeatableRead,
    /// SNAPSHOT.
    Snapshot,
    /// SERIALIZABLE.
    Serializable,
}

impl Isolation {
    const fn sql(self) -> &'static str {
        match self {
            Self::ReadUncommitted => "read uncommitted",
            Self::ReadCommitted => "read committed",
            Self::RepeatableRead => "repeatable read",
            Self::Snapshot => "snapshot",
            Self::Serializable => "serializable",
        }
    }
}

fn default_timeout() -> f64 {
    10.0
}

impl Tls {
    /// The checks of the connection. In this version of the protocol the handshake is inside of
    /// its packets, which the messages after the handshake of TLS 1.3 do not fit.
    pub(super) fn checks(&self) -> tls::Tls {
        let ca = self.ca.clone().unwrap_or_else(|| "system".into());
        tls::Tls {
            ca: (!self.trust).then_some(ca),
            check_host: !self.trust,
            newest: Some(tls::Version::V1_2),
            ..tls::Tls::default()
        }
    }
}

impl Config {
    /// The initial statements of a driver session, as one text.
    pub(super) fn driven(&self) -> String {
        let wait =
            self.lock_wait_s.map(|most| format!("set lock_timeout {}", u64::from(most) * 1000));
        self.session().into_iter().chain(wait).collect::<Vec<_>>().join("; ")
    }

    /// The initial statements of a loading session, as one text.
    pub(super) fn loading(&self) -> String {
        self.session().join("; ")
    }

    /// A failed statement leaves its transaction to the session, which rolls it back, and numbers
    /// of changed rows are reported, whatever the server's defaults.
    fn session(&self) -> Vec<String> {
        let fixed = ["set nocount off", "set xact_abort off", "set implicit_transactions off"];
        let isolation = self.isolation.map(|level| {
            let sql = level.sql();
            format!("set transaction isolation level {sql}")
        });
        let own = self.settings.iter().map(|(name, value)| format!("set {name} {value}"));
        fixed.into_iter().map(str::to_owned).chain(isolation).chain(own).collect()
    }

    /// Describes the server in messages.
    pub(super) fn server(&self) -> String {
        format!("SQL Server at {}:{}", self.host, self.port)
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
        let all = config(r#", "isolation": "snapshot", "settings": {"textsize": 5}"#);
        assert!(
            all.loading().ends_with("set transaction isolation level snapshot; set textsize 5")
        );
        assert!(config(r#", "lock_wait_s": 5"#).driven().ends_with("set lock_timeout 5000"));
        assert_eq!(config("").driven(), config("").loading());
    }

    #[test]
    fn certificates_are_checked_unless_trusted() {
        let checked = config(r#", "tls": {}"#).tls.unwrap().checks();
        assert!(checked.check_host && checked.ca.is_some());
        let trusted = config(r#", "tls": {"trust": true}"#).tls.unwrap().checks();
        assert!(!trusted.check_host && trusted.ca.is_none());
    }

    #[test]
    fn unknown_words_are_refused() {
        let text = r#"{"host": "h", "port": 1, "user": "u", "database": "d", "encrypt": "strict"}"#;
        assert!(serde_json::from_str::<Config>(text).is_err());
    }
}
