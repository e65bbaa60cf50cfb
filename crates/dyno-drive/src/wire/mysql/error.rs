//! Classifies the server's errors.

use dyno_record::{Error, ErrorKind};

use super::packet::Reader;

/// Classifies an error number (MariaDB manual, "MariaDB Error Codes"; MySQL manual, "Server Error
/// Message Reference"). Operating-system errors are nested in others: 28 is "no space left on
/// device".
pub fn class(code: u16, message: &str) -> ErrorKind {
    if message.contains("No space left") || message.contains("error 28 ") {
        return ErrorKind::DiskFull;
    }
    match code {
        // The last one: each session prepares its statements, and the server limits their number.
        1040 | 1203 | 1226 | 1461 => ErrorKind::TooManyConnections,
        1044 | 1045 | 1129 | 1130 | 1142 | 1143 | 1148 | 1227 | 1251 | 1370 | 1524 | 1698
        | 1820 | 1862 | 3118 | 3159 | 3948 | 4151 | 4166 => ErrorKind::Denied,
        1021 | 1114 => ErrorKind::DiskFull,
        5 | 1037 | 1038 | 1041 | 1206 => ErrorKind::OutOfMemory,
        1205 | 3572 => ErrorKind::LockTimeout,
        1317 | 1969 | 3024 => ErrorKind::Timeout,
        1213 => ErrorKind::Deadlock,
        1020 => ErrorKind::Serialization,
        1053 | 1080 | 1152 | 1158..=1161 | 1184 | 1927 | 4031 => ErrorKind::ConnectionLost,
        1156 => ErrorKind::Protocol,
        1049 | 1146 => ErrorKind::Usage,
        _ => ErrorKind::Database,
    }
}

/// A parsed error packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerError {
    /// The server's error number.
    pub code: u16,
    /// The message, on one line.
    pub message: String,
}

impl ServerError {
    /// Parses an error packet: 0xFF, the number, an SQLSTATE after `#` once the session has begun,
    /// and the message.
    pub fn parse(body: &[u8]) -> Self {
        let mut reader = Reader(body.get(1..).unwrap_or_default());
        let code = reader.u16().unwrap_or_default();
        let message = match reader.0 {
            [b'#', rest @ ..] => rest.get(5..).unwrap_or_default(),
            rest => rest,
        };
        Self { code, message: String::from_utf8_lossy(message).replace('\n', " ") }
    }

    /// Like [`into_error`](Self::into_error), but missing databases, tables, columns or procedures
    /// are usage errors with the `advice`.
    pub fn into_error_unless_missing(self, advice: &str) -> Error {
        let missing = matches!(self.code, 1049 | 1054 | 1146 | 1305);
        let mut error = self.into_error();
        if missing {
            error.kind = ErrorKind::Usage;
            error.message = format!("{}; {advice}", error.message);
        }
        error
    }

    /// Converts to Dyno's error, with advice where available.
    pub fn into_error(self) -> Error {
        let kind = class(self.code, &self.message);
        let advice = match (kind, self.code) {
            (_, 1461) => "; raise max_prepared_stmt_count on the server or use fewer users",
            (_, 1226) => "; raise that limit of the user, or use fewer users",
            (ErrorKind::TooManyConnections, _) => {
                "; raise max_connections on the server or use fewer users"
            }
            (ErrorKind::DiskFull, _) => "; free space on the server's volume",
            // Not for 3572, from a statement with NOWAIT.
            (_, 1205) => {
                "; other sessions held the lock for the whole timeout \
                 (driver_innodb_lock_wait_timeout in the bundle): use fewer users"
            }
            (_, 1148 | 3948 | 4166) => "; allow it on the server: SET GLOBAL local_infile = 1",
            (_, 1290 | 1792 | 1836) => "; the server is read-only: use its primary",
            _ => "",
        };
        Error::new(kind, format!("{}{advice} [error {}]", self.message, self.code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, proptest};

    #[test]
    fn every_listed_number_has_its_class() {
        let table = [
            (1213, ErrorKind::Deadlock),
            (1020, ErrorKind::Serialization),
            (1205, ErrorKind::LockTimeout),
            (3572, ErrorKind::LockTimeout),
            (1317, ErrorKind::Timeout),
            (1969, ErrorKind::Timeout),
            (3024, ErrorKind::Timeout),
            (1040, ErrorKind::TooManyConnections),
            (1203, ErrorKind::TooManyConnections),
            (1461, ErrorKind::TooManyConnections),
            (1045, ErrorKind::Denied),
            (1142, ErrorKind::Denied),
            (1698, ErrorKind::Denied),
            (1114, ErrorKind::DiskFull),
            (1041, ErrorKind::OutOfMemory),
            (1053, ErrorKind::ConnectionLost),
            (1160, ErrorKind::ConnectionLost),
            (1927, ErrorKind::ConnectionLost),
            (1146, ErrorKind::Usage),
            (1062, ErrorKind::Database),
            (1792, ErrorKind::Database),
            (0, ErrorKind::Database),
        ];
        for (code, kind) in table {
            assert_eq!(class(code, ""), kind, "{code}");
        }
        assert_eq!(class(1030, "Got error 28 from storage engine"), ErrorKind::DiskFull);
    }

    #[test]
    fn packets_are_read_with_and_without_a_state() {
        let error = ServerError::parse(b"\xFF\xBD\x04#40001Deadlock\nfound");
        assert_eq!(error, ServerError { code: 1213, message: "Deadlock found".into() });
        let early = ServerError::parse(b"\xFF\x10\x04Too many connections").into_error();
        assert_eq!(early.kind, ErrorKind::TooManyConnections);
        assert!(early.message.contains("max_connections"), "{early}");
        let told = |code| ServerError { code, message: "No lock".into() }.into_error().message;
        assert!(told(1205).contains("driver_innodb_lock_wait_timeout"), "{}", told(1205));
        assert_eq!(told(3572), "No lock [error 3572]");
        assert_eq!(ServerError::parse(b"\xFF").message, "");
        assert_eq!(ServerError::parse(b"\xFF\x01\0#4").message, "");
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = ServerError::parse(&bytes).into_error_unless_missing("x");
        }
    }

    #[test]
    fn what_is_missing_is_a_wrong_use_with_advice() {
        let error = ServerError { code: 1054, message: "Unknown column 'x'".into() };
        let error = error.into_error_unless_missing("load it first");
        assert_eq!(error.kind, ErrorKind::Usage);
        assert_eq!(error.message, "Unknown column 'x' [error 1054]; load it first");
    }
}
