//! The database file that is driven, and how its sessions are set.

use std::path::PathBuf;

use serde::Deserialize;

use super::settings::Settings;

/// A database file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The file, which exists. The process may not have it open through another copy of the
    /// library: closing that one would drop the locks of this one.
    pub path: PathBuf,
    /// How long a statement waits for a lock of another session.
    #[serde(default = "default_busy_timeout")]
    pub busy_timeout_s: f64,
    /// Pragmas of every session, each read back.
    #[serde(default)]
    pub settings: Settings,
}

fn default_busy_timeout() -> f64 {
    5.0
}
