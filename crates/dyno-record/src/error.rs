//! Errors carry a kind, a message for the user, and their context.

use std::fmt;

use serde::{Deserialize, Serialize};

/// `Result` with Dyno's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error classes: a run counts each separately, the command line maps them to exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The plan is invalid (exit 2).
    Usage,
    /// The user or a signal stopped the work (exit 130).
    Cancelled,
    /// The server refused the connection or could not be reached (exit 3).
    Unreachable,
    /// Wrong user, password or missing privilege (exit 3).
    Denied,
    /// The server has no connection left (exit 3).
    TooManyConnections,
    /// An established connection broke: the server died, or the network was cut.
    ConnectionLost,
    /// The database chose this transaction as the victim of a deadlock.
    Deadlock,
    /// The database could not keep the isolation level.
    Serialization,
    /// A transaction waited too long for a lock.
    LockTimeout,
    /// A statement took longer than allowed, or was cancelled in the server.
    Timeout,
    /// The server or Dyno ran out of memory.
    OutOfMemory,
    /// A file system or the quota for temporary files is full.
    DiskFull,
    /// A file or device could not be opened, read or written.
    Io,
    /// The peer violated the protocol, or uses a version that Dyno does not support.
    Protocol,
    /// A statement returned or changed another number of rows than the workload needs.
    RowCount,
    /// The database rejected a statement for any other reason.
    Database,
    /// A bug in Dyno.
    Internal,
}

impl ErrorKind {
    /// Every kind, in the order of declaration.
    pub const ALL: [Self; 17] = [
        Self::Usage,
        Self::Cancelled,
        Self::Unreachable,
        Self::Denied,
        Self::TooManyConnections,
        Self::ConnectionLost,
        Self::Deadlock,
        Self::Serialization,
        Self::LockTimeout,
        Self::Timeout,
        Self::OutOfMemory,
        Self::DiskFull,
        Self::Io,
        Self::Protocol,
        Self::RowCount,
        Self::Database,
        Self::Internal,
    ];

    /// The name in bundles and in Python, in snake case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Cancelled => "cancelled",
            Self::Unreachable => "unreachable",
            Self::Denied => "denied",
            Self::TooManyConnections => "too_many_connections",
            Self::ConnectionLost => "connection_lost",
            Self::Deadlock => "deadlock",
            Self::Serialization => "serialization",
            Self::LockTimeout => "lock_timeout",
            Self::Timeout => "timeout",
            Self::OutOfMemory => "out_of_memory",
            Self::DiskFull => "disk_full",
            Self::Io => "io",
            Self::Protocol => "protocol",
            Self::RowCount => "row_count",
            Self::Database => "database",
            Self::Internal => "internal",
        }
    }

    /// Whether the same transaction may succeed when retried.
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Deadlock | Self::Serialization | Self::LockTimeout)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error with its kind and context. Displays as one line: `message (context; context)`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// The class of the error.
    pub kind: ErrorKind,
    /// What happened and, if known, what to do.
    pub message: String,
    /// Where it happened, innermost first.
    pub context: Vec<String>,
}

impl Error {
    /// An error of `kind` without context.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), context: Vec::new() }
    }

    /// Adds the place where the error happened.
    #[must_use]
    pub fn context(mut self, context: impl Into<String>) -> Self {
        self.context.push(context.into());
        self
    }

    /// Classifies an operating-system error that occurred while doing `what`.
    pub fn from_io(error: &std::io::Error, what: impl Into<String>) -> Self {
        use std::io::ErrorKind as Os;
        let kind = match error.kind() {
            Os::StorageFull | Os::QuotaExceeded | Os::FileTooLarge => ErrorKind::DiskFull,
            Os::OutOfMemory => ErrorKind::OutOfMemory,
            Os::TimedOut => ErrorKind::Timeout,
            Os::ConnectionRefused => ErrorKind::Unreachable,
            Os::ConnectionReset | Os::ConnectionAborted | Os::BrokenPipe | Os::UnexpectedEof => {
                ErrorKind::ConnectionLost
            }
            _ => ErrorKind::Io,
        };
        Self::new(kind, error.to_string()).context(what)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.context.is_empty() {
            write!(f, " ({})", self.context.join("; "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_their_serialised_form() {
        for kind in ErrorKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }

    #[test]
    fn a_full_disk_is_classed_and_told_in_one_line() {
        let os = std::io::Error::from_raw_os_error(28);
        let error = Error::from_io(&os, "writing /x/data");
        assert_eq!(error.kind, ErrorKind::DiskFull);
        assert!(error.to_string().ends_with("(writing /x/data)"));
    }
}
