//! The database file, opened for a load and left as it was.

use dyno_record::Result;
use rusqlite::{Connection, OpenFlags};

use crate::load::config::SqliteFile;
use crate::wire::sqlite::{classed, read, set};

const JOURNAL: &str = "journal_mode";

/// An open file, with the settings of a load.
pub struct Opened {
    pub connection: Connection,
    /// The journal mode to be set back, where it was changed.
    journal: Option<String>,
}

impl Opened {
    /// Opens the file and applies the settings.
    ///
    /// # Errors
    /// What SQLite meets; `usage` if a setting does not take.
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
