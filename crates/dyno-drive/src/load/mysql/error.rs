//! What the driver's and the server's errors mean.

use dyno_record::{Error, ErrorKind};
use mysql_async::{DriverError, IoError, ServerError};

use crate::wire::mysql::class;
use crate::wire::tls::{of_io, told};

pub fn connect_error(error: mysql_async::Error) -> Error {
    match error {
        mysql_async::Error::Server(error) => server_error(&error),
        mysql_async::Error::Driver(DriverError::NoClientSslFlagFromServer) => {
            Error::new(ErrorKind::Unreachable, "the server does not offer TLS")
        }
        mysql_async::Error::Driver(DriverError::NoKeyFound) => {
            Error::new(ErrorKind::Unreachable, "no usable key in the TLS client certificate's file")
        }
        mysql_async::Error::Io(error) => {
            Error::new(ErrorKind::Unreachable, format!("cannot connect: {}", innermost(&error)))
        }
        other => Error::new(ErrorKind::Protocol, format!("cannot connect: {other}")),
    }
}

pub fn statement_error(error: mysql_async::Error) -> Error {
    match error {
        mysql_async::Error::Server(error) => server_error(&error),
        mysql_async::Error::Io(error) => {
            Error::new(ErrorKind::ConnectionLost, format!("the connection broke: {error}"))
        }
        mysql_async::Error::Driver(DriverError::ConnectionClosed) => {
            Error::new(ErrorKind::ConnectionLost, "the server closed the connection")
        }
        other => Error::new(ErrorKind::Protocol, other.to_string()),
    }
}

/// What the system or the TLS library said, without the driver's words before it.
fn innermost(error: &IoError) -> String {
    match error {
        IoError::Io(error) => {
            of_io(error).map_or_else(|| error.to_string(), |error| told(error, "ssl_ca"))
        }
        // Files of our own that are not what they should be.
        IoError::Tls(error) => error.to_string(),
    }
}

fn server_error(error: &ServerError) -> Error {
    let advice = match error.code {
        1148 | 3948 | 4166 => "; allow it on the server: SET GLOBAL local_infile = 1",
        1146 | 1049 => "; create the tables first",
        _ => "",
    };
    let kind = class(error.code, &error.message);
    let message = error.message.replace('\n', " ");
    Error::new(kind, format!("{message}{advice} [error {}]", error.code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_classed() {
        let classed = |code, message: &str| {
            let (message, state) = (message.to_owned(), "HY000".to_owned());
            server_error(&ServerError { code, message, state })
        };
        assert_eq!(classed(1213, "Deadlock found").kind, ErrorKind::Deadlock);
        assert_eq!(classed(1030, "Got error 28 from storage engine").kind, ErrorKind::DiskFull);
        let disabled = classed(4166, "The used command is not allowed");
        assert!(disabled.message.contains("SET GLOBAL local_infile = 1"), "{disabled}");
    }
}
