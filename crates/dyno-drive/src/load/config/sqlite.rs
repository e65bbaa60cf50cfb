//! A SQLite file and its load settings.

use std::path::PathBuf;

use dyno_gen::sink::Decimals;
use serde::Deserialize;

use crate::wire::sqlite::Settings;

/// A database file and its load settings.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqliteFile {
    /// Path of an existing file. The process must not have it open through another copy of the
    /// library: closing that one would drop this one's locks.
    pub path: PathBuf,
    /// How to convert decimals.
    pub decimals: Decimals,
    /// Pragmas of the loading connection and the values they read back as. `journal_mode` belongs
    /// to the file, and is restored after the load.
    #[serde(default)]
    pub settings: Settings,
}
