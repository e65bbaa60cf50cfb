//! Encrypts a plain connection: PostgreSQL's own request, then TLS.

use bytes::Buf as _;
use dyno_record::{Error, ErrorKind, Result};
use postgres_protocol::message::frontend;

use super::Config;
use super::error::hung_up;
use super::frame::broken;
use crate::wire::tls::Connector;
use crate::wire::transport::Transport;

/// The protocol's ALPN name.
pub const PROTOCOL: &str = "postgresql";

/// The name of libpq, and so of the URL, for the file of authorities.
const CA: &str = "sslrootcert";

/// Encrypts a connection over which nothing has been sent.
///
/// # Errors
/// `unreachable` if the server has no TLS or fails its checks.
pub async fn secure(
    mut transport: Transport,
    config: &Config,
    connector: &Connector,
) -> Result<Transport> {
    frontend::ssl_request(&mut transport.write);
    transport.send().await.map_err(|error| hung_up(&error))?;
    transport.receive().await.map_err(|error| hung_up(&error))?;
    // The answer is this one byte. TLS refuses anything injected after it.
    match transport.read.get_u8() {
        b'S' => transport.secure(connector, &config.host, CA).await,
        b'N' => Err(Error::new(
            ErrorKind::Unreachable,
            "the server does not offer TLS; turn it on there (ssl = on), or connect without it \
             (sslmode=disable)",
        )),
        // The message is unencrypted and could be from anyone; libpq does not show it either.
        b'E' => {
            let message = "the server rejected the TLS request with an error";
            Err(Error::new(ErrorKind::Unreachable, message))
        }
        other => Err(broken(format_args!("{:?} to a request for TLS", char::from(other)))),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::super::connect;
    use super::*;
    use crate::wire::tls::Tls;

    /// The result with a server that answers the TLS request with `answer`.
    fn told(answer: &'static [u8]) -> Error {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            let mut request = [0; 8];
            client.read_exact(&mut request).unwrap();
            client.write_all(answer).unwrap();
            client.shutdown(std::net::Shutdown::Write).unwrap();
            // Until the client disconnects, in whatever way.
            let _ = client.read_to_end(&mut Vec::new());
            request
        });
        let config: Config = serde_json::from_value(serde_json::json!({
            "host": "127.0.0.1", "port": port, "user": "u", "database": "d"
        }))
        .unwrap();
        let connector = Connector::new(&Tls::default(), Some(PROTOCOL)).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let connecting = connect(&config, Some(&connector));
        let error = runtime.block_on(connecting).unwrap_err();
        assert_eq!(server.join().unwrap(), *b"\0\0\0\x08\x04\xd2\x16\x2f");
        error
    }

    #[test]
    fn a_server_without_tls_is_refused() {
        let error = told(b"N");
        assert_eq!(error.kind, ErrorKind::Unreachable);
        assert!(error.message.contains("does not offer TLS"), "{error}");
    }

    #[test]
    fn what_is_slipped_in_before_tls_is_not_taken_for_the_servers() {
        let error = told(b"SR\0\0\0\x08\0\0\0\0Z\0\0\0\x05I");
        assert_eq!(error.kind, ErrorKind::Unreachable);
        assert!(error.message.contains("TLS with the server failed"), "{error}");
    }

    #[test]
    fn words_from_before_tls_are_not_shown() {
        let error = told(b"EMsecret\0\0");
        assert_eq!(error.kind, ErrorKind::Unreachable);
        assert!(!error.message.contains("secret"), "{error}");
        assert_eq!(told(b"X").kind, ErrorKind::Protocol);
        assert_eq!(told(b"").kind, ErrorKind::Unreachable);
    }
}
