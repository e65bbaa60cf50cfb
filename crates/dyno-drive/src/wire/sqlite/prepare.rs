//! A session's connection and statements: opened, configured, prepared and compared with the
//! declarations.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use dyno_record::{Error, ErrorKind, Result};
use rusqlite::{Connection, OpenFlags};

use super::config::Config;
use super::error::{classed, unprepared};
use super::{patience, settings, words};
use crate::wire::{Statement, Type, is_declared};

/// Steps of a statement between two checks of whether its session must end. SQLite discards an
/// interrupt that arrives between statements: without the checks, a statement about to begin would
/// run to its end.
const LOOK: i32 = 10_000;

/// Opens the file and applies the connection's settings.
///
/// # Errors
/// Errors of SQLite; `usage` if a setting is not accepted.
pub fn open(config: &Config, leaving: &Arc<AtomicBool>) -> Result<Connection> {
    let opened = || {
        // The connection never leaves its thread, so it needs no mutex.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(&config.path, flags).map_err(|error| classed(&error))?;
        let limit = Duration::try_from_secs_f64(config.busy_timeout_s).unwrap_or(Duration::MAX);
        patience::install(&connection, limit, leaving).map_err(|error| classed(&error))?;
        let left = Arc::clone(leaving);
        let leaves = move || left.load(Relaxed);
        connection.progress_handler(LOOK, Some(leaves)).map_err(|error| classed(&error))?;
        for (name, setting) in &config.settings {
            settings::set(&connection, name, setting)?;
        }
        Ok(connection)
    };
    opened().map_err(|error: Error| error.context(format!("opening {}", config.path.display())))
}

/// Prepares a statement.
///
/// # Errors
/// `usage` if tables are missing or a column's type differs from the declared one.
pub fn prepare<'c>(
    connection: &'c Connection,
    declared: &Statement,
) -> Result<rusqlite::Statement<'c>> {
    let told = |error: Error| error.context(format!("preparing statement {}", declared.name));
    let prepared =
        connection.prepare(&words::sql(declared)).map_err(|error| told(unprepared(&error)))?;
    let columns = prepared.columns();
    let found: Vec<_> = columns.iter().map(rusqlite::Column::decl_type).collect();
    let same = is_declared(declared.returns, &found, |decl, kind| accepts(kind, decl))
        && prepared.parameter_count() == declared.params.len();
    if !same {
        let found: Vec<_> = found.into_iter().map(|decl| decl.unwrap_or("?")).collect();
        let message = format!(
            "statement {} should return {:?}, but the types of its columns are {} here: load the \
             workload into this file again",
            declared.name,
            declared.returns,
            found.join(", ")
        );
        return Err(Error::new(ErrorKind::Usage, message));
    }
    drop(columns);
    Ok(prepared)
}

/// Whether a column of a declared type may store such values. An expression has no declared type;
/// its values are checked when they are read.
fn accepts(kind: Type, declared: Option<&str>) -> bool {
    let Some(declared) = declared else { return true };
    let wanted = match kind {
        // Decimals are integers in units of the last digit: REAL would not be exact.
        Type::Int | Type::BigInt | Type::Decimal(_) => "INTEGER",
        Type::Text | Type::Date | Type::Timestamp => "TEXT",
        Type::Rest => return true,
    };
    declared.eq_ignore_ascii_case(wanted)
}
