//! Pragmas of a connection, set and verified.

use std::collections::BTreeMap;

use dyno_record::{Error, ErrorKind, Result};
use rusqlite::Connection;
use rusqlite::types::Value;
use serde::Deserialize;

use super::error::classed;

/// Pragmas and their expected values.
pub type Settings = BTreeMap<String, Setting>;

/// The value of a pragma.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    /// A number.
    Number(i64),
    /// A text.
    Word(String),
}

/// Sets a pragma and reads it back; returns the current value.
///
/// # Errors
/// Errors of SQLite; `usage` if the setting is not accepted.
pub fn set(connection: &Connection, name: &str, setting: &Setting) -> Result<String> {
    let (result, wanted) = match setting {
        Setting::Number(value) => (connection.pragma_update(None, name, value), value.to_string()),
        Setting::Word(value) => (connection.pragma_update(None, name, value), value.clone()),
    };
    let found = result.and_then(|()| read(connection, name)).map_err(|error| classed(&error))?;
    if found == wanted {
        Ok(found)
    } else {
        let message = format!("SQLite reports {name} = {found}, not {wanted}");
        Err(Error::new(ErrorKind::Usage, message))
    }
}

/// A pragma's value as text.
///
/// # Errors
/// Errors of SQLite.
pub fn read(connection: &Connection, name: &str) -> rusqlite::Result<String> {
    connection.pragma_query_value(None, name, |row| {
        Ok(match row.get(0)? {
            Value::Integer(number) => number.to_string(),
            Value::Text(text) => text,
            other => format!("{other:?}"),
        })
    })
}
