//! Classifies SQLite's errors.

use dyno_record::{Error, ErrorKind};
use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_BUSY_SNAPSHOT as BUSY_SNAPSHOT;

/// Converts the error of a failed call.
pub fn classed(error: &rusqlite::Error) -> Error {
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => ErrorKind::DiskFull,
        Some(ErrorCode::OutOfMemory) => ErrorKind::OutOfMemory,
        // Data that the transaction read has changed before its first write.
        Some(ErrorCode::DatabaseBusy) if extended(error) == Some(BUSY_SNAPSHOT) => {
            ErrorKind::Serialization
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorKind::LockTimeout,
        Some(ErrorCode::OperationInterrupted) => ErrorKind::Timeout,
        Some(
            ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::AuthorizationForStatementDenied,
        ) => ErrorKind::Denied,
        Some(
            ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase,
        ) => ErrorKind::Io,
        _ => ErrorKind::Database,
    };
    let advice = match kind {
        ErrorKind::DiskFull => "; free space on the volume of the database file",
        ErrorKind::LockTimeout => {
            "; another session or process held the lock for the whole timeout"
        }
        _ => "",
    };
    Error::new(kind, format!("SQLite: {}{advice}", words(error)))
}

/// Converts the error of a statement that could not be prepared: missing tables or columns are
/// usage errors.
pub fn unprepared(error: &rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::Unknown) => {
            let advice = "load the workload into this file first";
            Error::new(ErrorKind::Usage, format!("SQLite: {}; {advice}", words(error)))
        }
        _ => classed(error),
    }
}

/// SQLite's message, without the statement.
fn words(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    }
}

fn extended(error: &rusqlite::Error) -> Option<i32> {
    error.sqlite_error().map(|error| error.extended_code)
}
