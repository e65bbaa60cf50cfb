//! Classifies the server's errors.

use dyno_record::{Error, ErrorKind};

use super::packet::Reader;
use super::text::utf16_lossy;

/// The number of most errors of Babelfish, which has PostgreSQL's messages.
const BABELFISH: i32 = 33_557_097;
/// From this severity on, the server closes the connection.
const FATAL: u8 = 20;

/// Classes by the words of a message, for errors that share a number.
const WORDS: [(&str, ErrorKind); 11] = [
    ("deadlock detected", ErrorKind::Deadlock),
    ("could not serialize access", ErrorKind::Serialization),
    ("due to lock timeout", ErrorKind::LockTimeout),
    ("could not obtain lock", ErrorKind::LockTimeout),
    ("canceling statement", ErrorKind::Timeout),
    ("permission denied", ErrorKind::Denied),
    ("No space left", ErrorKind::DiskFull),
    ("out of memory", ErrorKind::OutOfMemory),
    ("terminating connection", ErrorKind::ConnectionLost),
    ("too many clients", ErrorKind::TooManyConnections),
    ("does not exist", ErrorKind::Usage),
];

/// Classifies an error number (SQL Server's documentation, "Database Engine events and errors"). The
/// Python half has the same numbers (`targets/sqlserver/errors.py`); a test compares the two.
pub fn class(code: i32, message: &str) -> ErrorKind {
    match code {
        1205 => ErrorKind::Deadlock,
        // Rows that moved under a scan without locks; conflicts of snapshots, and of
        // memory-optimised tables.
        601 | 3960 | 41_301 | 41_302 | 41_305 | 41_325 | 41_839 => ErrorKind::Serialization,
        1222 => ErrorKind::LockTimeout,
        3617 => ErrorKind::Timeout,
        // The limit of connections, and those of Azure.
        10_928 | 10_929 | 17_809 | 17_810 => ErrorKind::TooManyConnections,
        229 | 230 | 262 | 297 | 300 | 378 | 916 | 1088 | 2571 | 2760 | 3110 | 4834 | 5011
        | 5812 | 6004 | 7983 | 15_151 | 15_247 | 18_452 | 18_456 | 18_470 | 18_486 | 18_487
        | 18_488 | 40_615 => ErrorKind::Denied,
        1101 | 1105 | 3257 | 5149 | 9002 => ErrorKind::DiskFull,
        701 | 802 | 1204 | 8645 | 8651 | 41_805 => ErrorKind::OutOfMemory,
        596 | 3989 | 6005 | 17_142 | 17_143 | 17_147 | 40_197 | 40_501 | 40_613 => {
            ErrorKind::ConnectionLost
        }
        207 | 208 | 911 | 2812 | 4060 | 4064 => ErrorKind::Usage,
        BABELFISH => {
            let found = WORDS.iter().find(|(words, _)| message.contains(words));
            found.map_or(ErrorKind::Database, |(_, kind)| *kind)
        }
        _ => ErrorKind::Database,
    }
}

/// An error as the server reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerError {
    /// The number.
    pub code: i32,
    /// The severity.
    pub severity: u8,
    /// The message, on one line.
    pub message: String,
}

impl ServerError {
    /// The error of a request that the server marks as failed without an error.
    pub fn unexplained() -> Self {
        let message = "a request failed without a reason".to_owned();
        Self { code: 0, severity: 16, message }
    }

    /// Parses the body of an error: number, state, severity, message, and what follows.
    pub fn parse(body: &[u8]) -> Option<Self> {
        let mut reader = Reader(body);
        let code = reader.u32()? as i32;
        reader.u8()?;
        let severity = reader.u8()?;
        let message = utf16_lossy(reader.long_text()?).replace(['\n', '\r'], " ");
        Some(Self { code, severity, message })
    }

    /// Whether the server closes the connection after it.
    pub fn is_fatal(&self) -> bool {
        self.severity >= FATAL
    }

    /// Like [`into_error`](Self::into_error), but what is missing is a usage error with the
    /// `advice`.
    pub fn into_error_with(self, advice: &str) -> Error {
        let mut error = self.into_error();
        if error.kind == ErrorKind::Usage {
            error.message = format!("{}; {advice}", error.message);
        }
        error
    }

    /// Converts to Dyno's error, with advice where available.
    pub fn into_error(self) -> Error {
        let kind = class(self.code, &self.message);
        let advice = match (kind, self.code) {
            (ErrorKind::TooManyConnections, _) => {
                "; raise the limit 'user connections' on the server or use fewer users"
            }
            (ErrorKind::DiskFull, _) => "; free space on the volumes of the database and its log",
            (ErrorKind::LockTimeout, _) => {
                "; other sessions held the lock for the whole timeout: use fewer users"
            }
            (_, 3906) => "; the database is read-only: use the primary",
            (_, 4060) => "; check the name of the database and the login's rights to it",
            _ => "",
        };
        Error::new(kind, format!("{}{advice} [error {}]", self.message, self.code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::{BufMut as _, BytesMut};
    use proptest::prelude::{any, prop, proptest};

    #[test]
    fn every_listed_number_has_its_class() {
        let table = [
            (1205, ErrorKind::Deadlock),
            (3960, ErrorKind::Serialization),
            (41_302, ErrorKind::Serialization),
            (1222, ErrorKind::LockTimeout),
            (17_809, ErrorKind::TooManyConnections),
            (18_456, ErrorKind::Denied),
            (229, ErrorKind::Denied),
            (1105, ErrorKind::DiskFull),
            (9002, ErrorKind::DiskFull),
            (701, ErrorKind::OutOfMemory),
            // A null in a column without nulls; 233 of Windows, a broken pipe, is another number.
            (233, ErrorKind::Database),
            (596, ErrorKind::ConnectionLost),
            (40_197, ErrorKind::ConnectionLost),
            (601, ErrorKind::Serialization),
            (40_615, ErrorKind::Denied),
            (17_810, ErrorKind::TooManyConnections),
            (4064, ErrorKind::Usage),
            (208, ErrorKind::Usage),
            (4060, ErrorKind::Usage),
            (2627, ErrorKind::Database),
            (0, ErrorKind::Database),
        ];
        for (code, kind) in table {
            assert_eq!(class(code, ""), kind, "{code}");
        }
    }

    #[test]
    fn a_shared_number_is_classified_by_its_words() {
        let of = |message| class(BABELFISH, message);
        assert_eq!(of("could not serialize access due to update"), ErrorKind::Serialization);
        assert_eq!(of("canceling statement due to lock timeout"), ErrorKind::LockTimeout);
        assert_eq!(of("relation \"t\" does not exist"), ErrorKind::Usage);
        assert_eq!(of("something else"), ErrorKind::Database);
        assert_eq!(class(50_000, "relation \"t\" does not exist"), ErrorKind::Database);
    }

    fn body(code: u32, severity: u8, message: &str) -> BytesMut {
        let mut out = BytesMut::new();
        out.put_u32_le(code);
        out.put_slice(&[1, severity]);
        out.put_u16_le(message.encode_utf16().count() as u16);
        super::super::text::put_utf16(&mut out, message);
        out.put_slice(&[0, 0, 1, 0, 0, 0]);
        out
    }

    #[test]
    fn errors_are_parsed_with_advice() {
        let bytes = body(208, 16, "Invalid object\nname 'd'.");
        let error = ServerError::parse(&bytes).unwrap();
        assert_eq!((error.code, error.is_fatal()), (208, false));
        let error = error.into_error_with("load it first");
        assert_eq!(error.kind, ErrorKind::Usage);
        assert_eq!(error.message, "Invalid object name 'd'. [error 208]; load it first");
        assert!(ServerError::parse(&body(596, 21, "")).unwrap().is_fatal());
        let read_only = |code| {
            let error = ServerError { code, severity: 16, message: "x".to_owned() };
            error.into_error().message.contains("read-only")
        };
        // 3908: the database is damaged, or in emergency mode.
        assert!(read_only(3906) && !read_only(3908));
        for cut in 0..8 {
            assert_eq!(ServerError::parse(&bytes[..cut]), None);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = ServerError::parse(&bytes).map(ServerError::into_error);
        }
    }
}
