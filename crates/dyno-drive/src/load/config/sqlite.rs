//! A SQLite file and how it is loaded.

use std::path::PathBuf;

use dyno_gen::sink::Decimals;
use serde::Deserialize;

use crate::wire::sqlite::Settings;

/// A database file and how it is loaded.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqliteFile {
    /// The file, which exists. The process may not have it open through another copy of the
    /// library: closing that one would drop the locks of this one.
    pub path: PathBuf,
    /// What decimals become.
    pub decimals: Decimals,
    /// Pragmas of the loading connection and the values that they read back as. `journal_mode`,
    /// which belongs to the file, is set back afterwards.
    #[serde(default)]
    pub settings: Settings,
}
