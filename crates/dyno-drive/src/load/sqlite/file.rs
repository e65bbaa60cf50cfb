//! The database file, opened for a load and left as it was.

use std::path::PathBuf;

use dyno_gen::sink::Decimals;
use dyno_record::Result;
use rusqlite::{Connection, OpenFlags};
use serde::Deserialize;

use crate::wire::sqlite::{Settings, classed, read, set};

const JOURNAL: &str = "journal_mode";

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

/// An open file, with the settings of a load.
pub struct Opened {
    pub connection: Connection,
    /// The journal mode to be set back, where it was changed.
    journal: Option<String>,
}

impl SqliteFile {
    /// Opens the file and applies the settings.
    ///
    /// # Errors
    /// What SQLite meets; `usage` if a setting does not take.
    pub fn open(&self) -> Result<Opened> {
        let place = || format!("opening {}", self.path.display());
        let fail = |error: rusqlite::Error| classed(&error).context(place());
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags).map_err(fail)?;
        let before = read(&connection, JOURNAL).map_err(fail)?;
        let mut opened = Opened { connection, journal: None };
        for (name, setting) in &self.settings {
            let found = set(&opened.connection, name, setting).map_err(|it| it.context(place()))?;
            if name == JOURNAL && found != before {
                opened.journal = Some(before.clone());
            }
        }
        Ok(opened)
    }
}

impl Opened {
    /// Sets back what belongs to the file, and closes it.
    ///
    /// # Errors
    /// What SQLite meets.
    pub fn close(mut self) -> Result<()> {
        self.restore().map_err(|error| classed(&error).context("setting the journal mode back"))
    }

    fn restore(&mut self) -> rusqlite::Result<()> {
        match self.journal.take() {
            Some(mode) => self.connection.pragma_update(None, JOURNAL, mode),
            None => Ok(()),
        }
    }
}

impl Drop for Opened {
    /// After an error, which matters more than one met here.
    fn drop(&mut self) {
        let _ = self.restore();
    }
}
