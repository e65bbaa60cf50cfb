//! A session's connection and statements: opened, set, prepared and compared with what is declared.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use dyno_record::{Error, ErrorKind, Result};
use rusqlite::{Connection, OpenFlags};

use super::config::Config;
use super::error::{classed, unprepared};
use super::{patience, settings, words};
use crate::wire::{Statement, Type};

/// Steps of a statement between two looks at whether its session is to leave. SQLite forgets an
/// interruption that meets no statement: without them, one that was just about to begin would run
/// on to its end.
const LOOK: i32 = 10_000;

/// Opens the file and gives the connection its settings.
///
/// # Errors
/// What SQLite meets; `usage` if a setting does not take.
pub fn open(config: &Config, leaving: &Arc<AtomicBool>) -> Result<Connection> {
    let opened = || {
        // The connection never leaves its thread, so that it needs no mutex.
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
/// `usage` where tables are missing or a column's type is not the declared one.
pub fn prepare<'c>(
    connection: &'c Connection,
    declared: &Statement,
) -> Result<rusqlite::Statement<'c>> {
    let told = |error: Error| error.context(format!("preparing statement {}", declared.name));
    let prepared =
        connection.prepare(&words::sql(declared)).map_err(|error| told(unprepared(&error)))?;
    let columns = prepared.columns();
    let same = columns.len() == declared.returns.len()
        && columns
            .iter()
            .zip(declared.returns)
            .all(|(column, kind)| accepts(*kind, column.decl_type()))
        && prepared.parameter_count() == declared.params.len();
    if !same {
        let found: Vec<_> = columns.iter().map(|it| it.decl_type().unwrap_or("?")).collect();
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

/// Whether a column of a declared type may hold such values. An expression has no declared type;
/// what it returns is looked at when it is read.
fn accepts(kind: Type, declared: Option<&str>) -> bool {
    let Some(declared) = declared else { return true };
    let wanted = match kind {
        // Decimals are whole units of their last digit: in a REAL they would not be exact.
        Type::Int | Type::BigInt | Type::Decimal(_) => "INTEGER",
        Type::Text | Type::Timestamp => "TEXT",
    };
    declared.eq_ignore_ascii_case(wanted)
}
