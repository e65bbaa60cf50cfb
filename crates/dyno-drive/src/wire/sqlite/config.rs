//! The database file to drive, and the settings of its sessions.

use std::path::PathBuf;

use serde::Deserialize;

use super::settings::Settings;

/// A database file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Path of an existing file. The process must not have it open through another copy of the
    /// library: closing that one would drop this one's locks.
    pub path: PathBuf,
    /// How long a statement waits for another session's lock.
    #[serde(default = "default_busy_timeout")]
    pub busy_timeout_s: f64,
    /// Pragmas of every session, each verified by reading it back.
    #[serde(default)]
    pub settings: Settings,
}

fn default_busy_timeout() -> f64 {
    5.0
}
