//! The database file, opened for a load and left as it was.

use dyno_record::{Error, ErrorKind, Result};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

use super::error::classed;
use crate::load::config::{Setting, SqliteFile};

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
            let (result, wanted) = match setting {
                Setting::Number(value) => {
                    (opened.connection.pragma_update(None, name, value), value.to_string())
                }
                Setting::Word(value) => {
                    (opened.connection.pragma_update(None, name, value), value.clone())
                }
            };
            result.map_err(fail)?;
            let found = read(&opened.connection, name).map_err(fail)?;
            if found != wanted {
                let message = format!("SQLite has {name} at {found}, not {wanted}");
                return Err(Error::new(ErrorKind::Usage, message).context(place()));
            }
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

/// A pragma's value as text.
fn read(connection: &Connection, name: &str) -> rusqlite::Result<String> {
    connection.pragma_query_value(None, name, |row| {
        Ok(match row.get(0)? {
            Value::Integer(number) => number.to_string(),
            Value::Text(text) => text,
            other => format!("{other:?}"),
        })
    })
}
