//! Classifies the server's errors.

use std::io;

use dyno_record::{Error, ErrorKind};

use crate::wire::tls::{of_io, told};

/// The server disconnected during the login: it is starting up or shutting down, or refuses the
/// client's certificate, which TLS reports only now.
pub fn hung_up(error: &io::Error) -> Error {
    let words = of_io(error).map_or_else(|| error.to_string(), |error| told(error, "sslrootcert"));
    Error::new(ErrorKind::Unreachable, format!("the server closed the connection: {words}"))
}

/// Classifies an SQLSTATE (PostgreSQL manual, appendix A).
pub fn class(sqlstate: &str) -> ErrorKind {
    match sqlstate {
        "40P01" => ErrorKind::Deadlock,
        "40001" => ErrorKind::Serialization,
        // The second is a configured limit, that of temporary files.
        "53100" | "53400" => ErrorKind::DiskFull,
        "53200" => ErrorKind::OutOfMemory,
        "53300" => ErrorKind::TooManyConnections,
        "55P03" => ErrorKind::LockTimeout,
        "57014" => ErrorKind::Timeout,
        "42501" => ErrorKind::Denied,
        "08P01" => ErrorKind::Protocol,
        "57P03" | "3D000" => ErrorKind::Unreachable,
        "58030" => ErrorKind::Io,
        _ => match sqlstate.get(..2) {
            Some("28") => ErrorKind::Denied,
            Some("08") => ErrorKind::ConnectionLost,
            Some("57") if sqlstate.starts_with("57P0") => ErrorKind::ConnectionLost,
            Some("25") if matches!(sqlstate, "25P03" | "25P04") => ErrorKind::ConnectionLost,
            _ => ErrorKind::Database,
        },
    }
}

/// A parsed `ErrorResponse`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerError {
    /// `ERROR`, `FATAL` or `PANIC`, never translated.
    pub severity: String,
    /// The SQLSTATE.
    pub code: String,
    /// The message, on one line.
    pub message: String,
}

impl ServerError {
    /// Parses the body of an `ErrorResponse` or `NoticeResponse`: fields of one tag byte and a
    /// zero-terminated text, then a zero.
    pub fn parse(mut body: &[u8]) -> Self {
        let mut error = Self::default();
        while let [tag, rest @ ..] = body {
            if *tag == 0 {
                break;
            }
            let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
            let text = String::from_utf8_lossy(&rest[..end]).replace('\n', " ");
            match tag {
                b'V' => error.severity = text,
                b'S' if error.severity.is_empty() => error.severity = text,
                b'C' => error.code = text,
                b'M' => error.message = text,
                _ => {}
            }
            body = rest.get(end + 1..).unwrap_or_default();
        }
        error
    }

    /// Whether the server closes the connection after this error.
    pub fn is_fatal(&self) -> bool {
        matches!(self.severity.as_str(), "FATAL" | "PANIC")
    }

    /// Like [`into_error`](Self::into_error), but missing tables, columns or functions are usage
    /// errors with the `advice`.
    pub fn into_error_unless_missing(self, advice: &str) -> Error {
        // 42501 is a missing privilege.
        let missing = self.code.starts_with("42") && self.code != "42501";
        let mut error = self.into_error();
        if missing {
            error.kind = ErrorKind::Usage;
            error.message = format!("{}; {advice}", error.message);
        }
        error
    }

    /// Converts to Dyno's error, with advice where available.
    pub fn into_error(self) -> Error {
        let kind = match class(&self.code) {
            // Of a connection of the server's own, such as to a foreign server.
            ErrorKind::ConnectionLost if !self.is_fatal() => ErrorKind::Database,
            kind => kind,
        };
        let wants_tls = kind == ErrorKind::Denied
            && (self.message.contains("no encryption") || self.message.contains("SSL off"));
        let advice = match kind {
            _ if wants_tls => {
                "; the server requires TLS from this user: use sslmode=require in the URL"
            }
            ErrorKind::TooManyConnections => {
                "; raise max_connections on the server or use fewer users"
            }
            ErrorKind::DiskFull => "; free space on the server's volume",
            ErrorKind::LockTimeout => {
                "; another session held the lock for the whole timeout (lock_timeout)"
            }
            _ => "",
        };
        Error::new(kind, format!("{}{advice} [SQLSTATE {}]", self.message, self.code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_connection_of_the_server_s_own_is_no_loss_of_this_one() {
        let kind = |severity: &str, code: &str| {
            let (severity, code) = (severity.to_owned(), code.to_owned());
            ServerError { severity, code, ..ServerError::default() }.into_error().kind
        };
        assert_eq!(kind("ERROR", "08001"), ErrorKind::Database);
        assert_eq!(kind("FATAL", "08006"), ErrorKind::ConnectionLost);
        assert_eq!(kind("FATAL", "57P01"), ErrorKind::ConnectionLost);
    }

    #[test]
    fn every_listed_state_has_its_class() {
        let table = [
            ("40P01", ErrorKind::Deadlock),
            ("40001", ErrorKind::Serialization),
            ("53100", ErrorKind::DiskFull),
            ("53400", ErrorKind::DiskFull),
            ("53200", ErrorKind::OutOfMemory),
            ("53300", ErrorKind::TooManyConnections),
            ("57014", ErrorKind::Timeout),
            ("55P03", ErrorKind::LockTimeout),
            ("28P01", ErrorKind::Denied),
            ("28000", ErrorKind::Denied),
            ("42501", ErrorKind::Denied),
            ("08006", ErrorKind::ConnectionLost),
            ("08P01", ErrorKind::Protocol),
            ("57P01", ErrorKind::ConnectionLost),
            ("57P02", ErrorKind::ConnectionLost),
            ("57P03", ErrorKind::Unreachable),
            ("25P03", ErrorKind::ConnectionLost),
            ("25P04", ErrorKind::ConnectionLost),
            ("3D000", ErrorKind::Unreachable),
            ("58030", ErrorKind::Io),
            ("23505", ErrorKind::Database),
            ("25P02", ErrorKind::Database),
            ("57000", ErrorKind::Database),
            ("", ErrorKind::Database),
        ];
        for (state, kind) in table {
            assert_eq!(class(state), kind, "{state}");
        }
    }

    #[test]
    fn fields_are_read_whatever_their_order_and_end() {
        let body = b"SFEHLER\0VFATAL\0C53300\0Mtoo many\nclients\0Fproc.c\0\0";
        let error = ServerError::parse(body);
        assert_eq!(error.severity, "FATAL");
        assert_eq!(error.message, "too many clients");
        assert!(error.is_fatal());
        assert_eq!(error.into_error().kind, ErrorKind::TooManyConnections);
        assert_eq!(ServerError::parse(b"M").message, "");
        assert_eq!(ServerError::parse(b"Mcut").message, "cut");
    }

    #[test]
    fn a_server_that_demands_tls_is_told_apart() {
        let message = "no pg_hba.conf entry for host \"::1\", user \"u\", no encryption";
        let error =
            ServerError { severity: "FATAL".into(), code: "28000".into(), message: message.into() };
        assert!(error.into_error().message.contains("TLS"));
    }
}
