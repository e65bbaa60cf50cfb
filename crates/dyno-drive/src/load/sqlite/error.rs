//! What SQLite's errors mean, in the classes that a bundle counts.

use dyno_record::{Error, ErrorKind};
use rusqlite::ErrorCode;

/// The error for a call that failed.
pub fn classed(error: &rusqlite::Error) -> Error {
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => ErrorKind::DiskFull,
        Some(ErrorCode::OutOfMemory) => ErrorKind::OutOfMemory,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorKind::Serialization,
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
        ErrorKind::Serialization => "; another process uses the file, wait for it",
        _ => "",
    };
    Error::new(kind, format!("SQLite: {error}{advice}"))
}
