//! Opens the database file for a load, and restores its settings afterwards.

use dyno_record::Result;
use rusqlite::{Connection, OpenFlags};

use crate::load::config::SqliteFile;
use crate::wire::sqlite::{classed, read, set};

const JOURNAL: &str = "journal_mode";

/// An open file with load settings.
pub struct Opened {
    pub connection: Connection,
    /// The journal mode to restore, if it was changed.
    journal: Option<String>,
}

impl Opened {
    /// Opens the file and applies the settings.
    ///
    /// # Errors
    /// Errors of SQLite; `usage` if a setting is not accepted.
    pub fn open(file: &SqliteFile) -> Result<Self> {
        let place = || format!("opening {}", file.path.display());
        let fail = |error: rusqlite::Error| classed(&error).context(place());
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&file.path, flags).map_err(fail)?;
        let before = read(&connection, JOURNAL).map_err(fail)?;
        let mut opened = Self { connection, journal: None };
        for (name, setting) in &file.settings {
            let found = set(&opened.connection, name, setting).map_err(|it| it.context(place()))?;
            if name == JOURNAL && found != before {
                opened.journal = Some(before.clone());
            }
        }
        Ok(opened)
    }

    /// Restores the file's settings and closes it.
    ///
    /// # Errors
    /// Errors of SQLite.
    pub fn close(mut self) -> Result<()> {
        self.restore().map_err(|error| classed(&error).context("restoring the journal mode"))
    }

    fn restore(&mut self) -> rusqlite::Result<()> {
        match self.journal.take() {
            Some(mode) => self.connection.pragma_update(None, JOURNAL, mode),
            None => Ok(()),
        }
    }
}

impl Drop for Opened {
    /// After an error, which matters more than one of closing.
    fn drop(&mut self) {
        let _ = self.restore();
    }
}
