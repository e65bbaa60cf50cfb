//! Takes a connected socket to a server that is ready for queries.

use std::io;

use dyno_record::{Error, ErrorKind, Result};
use fallible_iterator::FallibleIterator as _;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{
    ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};
use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

use super::error::{ServerError, hung_up};
use super::frame::{Frame, broken};
use super::{Binding, Config};
use crate::wire::transport::Transport;
use crate::wire::{Secret, quoted};

/// Maximum bytes of a login message (libpq allows 30,000). A server that announces more is not
/// PostgreSQL, and is not waited for.
const LONGEST_MESSAGE: usize = 1 << 16;

/// Sends the startup message and authenticates.
///
/// # Errors
/// `denied` for a wrong or missing password; other errors of the server.
pub async fn log_in(transport: &mut Transport, config: &Config) -> Result<()> {
    let path = config.schema.as_deref().map(quoted);
    let parameters = [
        ("user", config.user.as_str()),
        ("database", config.database.as_str()),
        ("application_name", config.application_name.as_str()),
        ("client_encoding", "UTF8"),
    ];
    let settings = config.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let parameters = parameters
        .into_iter()
        .chain(path.iter().map(|path| ("search_path", path.as_str())))
        .chain(settings);
    frontend::startup_message(parameters, &mut transport.write)
        .map_err(|error| unusable(&error))?;
    send(transport).await;
    let mut scram = None;
    let mut bound = false;
    loop {
        match message(transport).await? {
            Message::AuthenticationCleartextPassword => {
                require_bound(config, false)?;
                frontend::password_message(password(config)?, &mut transport.write)
                    .map_err(|error| unusable(&error))?;
                send(transport).await;
            }
            Message::AuthenticationMd5Password(body) => {
                require_bound(config, false)?;
                let hash = md5_hash(config.user.as_bytes(), password(config)?, body.salt());
                frontend::password_message(hash.as_bytes(), &mut transport.write)
                    .map_err(|error| unusable(&error))?;
                send(transport).await;
            }
            Message::AuthenticationSasl(body) => {
                let offered: Vec<&str> = body.mechanisms().collect().map_err(wrong)?;
                let end_point = match config.channel_binding {
                    Binding::Disable => None,
                    Binding::Prefer | Binding::Require => transport.end_point(),
                };
                let (mechanism, binding) = mechanism(&offered, end_point)?;
                bound = mechanism == SCRAM_SHA_256_PLUS;
                require_bound(config, bound)?;
                let step = ScramSha256::new(password(config)?, binding);
                frontend::sasl_initial_response(mechanism, step.message(), &mut transport.write)
                    .map_err(wrong)?;
                scram = Some(step);
                send(transport).await;
            }
            Message::AuthenticationSaslContinue(body) => {
                let step = scram.as_mut().ok_or_else(|| broken("an unexpected SCRAM message"))?;
                step.update(body.data()).map_err(wrong)?;
                frontend::sasl_response(step.message(), &mut transport.write).map_err(wrong)?;
                send(transport).await;
            }
            Message::AuthenticationSaslFinal(body) => {
                let mut step = scram.take().ok_or_else(|| broken("an unexpected SCRAM message"))?;
                step.finish(body.data()).map_err(|_| {
                    Error::new(ErrorKind::Denied, "the server does not know the password either")
                })?;
            }
            Message::AuthenticationKerberosV5 => return Err(unsupported("Kerberos V5")),
            Message::AuthenticationGss => return Err(unsupported("GSSAPI")),
            Message::AuthenticationSspi => return Err(unsupported("SSPI")),
            Message::AuthenticationScmCredential => return Err(unsupported("SCM credentials")),
            // SCRAM authenticates both sides; a server that skips its proof may be an impostor.
            Message::AuthenticationOk | Message::ReadyForQuery(_) if scram.is_some() => {
                let message = "the server did not prove that it knows the password";
                return Err(Error::new(ErrorKind::Denied, message));
            }
            Message::AuthenticationOk
            | Message::ParameterStatus(_)
            | Message::BackendKeyData(_)
            | Message::NoticeResponse(_) => {}
            Message::ReadyForQuery(_) => return require_bound(config, bound),
            _ => return Err(broken("an unexpected message during login")),
        }
    }
}

/// The strongest offered mechanism, bound to the server's end of TLS if possible.
fn mechanism(
    offered: &[&str],
    end_point: Option<Vec<u8>>,
) -> Result<(&'static str, ChannelBinding)> {
    match end_point {
        Some(end_point) if offered.contains(&SCRAM_SHA_256_PLUS) => {
            Ok((SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(end_point)))
        }
        _ if !offered.contains(&SCRAM_SHA_256) => Err(unsupported(&offered.join(", "))),
        // Lets a server detect that someone in between has removed its offer.
        Some(_) => Ok((SCRAM_SHA_256, ChannelBinding::unrequested())),
        None => Ok((SCRAM_SHA_256, ChannelBinding::unsupported())),
    }
}

fn require_bound(config: &Config, bound: bool) -> Result<()> {
    if bound || config.channel_binding != Binding::Require {
        return Ok(());
    }
    let message = "channel_binding=require, but the login cannot be bound to the TLS \
     connection: it needs TLS, SCRAM-SHA-256 and a common certificate type on the server";
    Err(Error::new(ErrorKind::Denied, message))
}

async fn send(transport: &mut Transport) {
    // If sending fails, the connection has ended and the server's last message has the reason: the
    // next read returns it.
    let _ = transport.send().await;
}

async fn message(transport: &mut Transport) -> Result<Message> {
    loop {
        if let Some(frame) = Frame::first_below(&transport.read, LONGEST_MESSAGE)? {
            if frame.tag == b'E' {
                return Err(ServerError::parse(frame.body).into_error());
            }
            if let Some(message) = Message::parse(&mut transport.read).map_err(wrong)? {
                return Ok(message);
            }
        }
        transport.receive().await.map_err(|error| hung_up(&error))?;
    }
}

fn password(config: &Config) -> Result<&[u8]> {
    let missing = || {
        let message =
            format!("the server requires a password for user {} and none was given", config.user);
        Error::new(ErrorKind::Denied, message)
    };
    config.password.as_ref().map(Secret::as_bytes).ok_or_else(missing)
}

fn unsupported(method: &str) -> Error {
    Error::new(
        ErrorKind::Denied,
        format!(
            "the server requires authentication by {method}; Dyno supports trust, password, md5 \
             and SCRAM-SHA-256"
        ),
    )
}

fn unusable(error: &io::Error) -> Error {
    Error::new(ErrorKind::Usage, format!("the user, password or database name: {error}"))
}

fn wrong(error: io::Error) -> Error {
    broken(error)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::super::connect;
    use super::*;

    /// A server that accepts any login after requesting SCRAM, as one without the password could.
    fn impostor() -> (std::thread::JoinHandle<()>, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            client.write_all(b"R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0").unwrap();
            client.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I").unwrap();
            // Until the client disconnects, in whatever way.
            let _ = client.read_to_end(&mut Vec::new());
        });
        (server, port)
    }

    #[test]
    fn a_server_that_skips_its_proof_is_not_believed() {
        let (server, port) = impostor();
        let config: Config = serde_json::from_value(serde_json::json!({
            "host": "127.0.0.1", "port": port, "user": "u", "password": "p", "database": "d"
        }))
        .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = runtime.block_on(async {
            let mut transport = connect(&config, None).await.unwrap();
            log_in(&mut transport, &config).await.unwrap_err()
        });
        server.join().unwrap();
        assert_eq!(error.kind, ErrorKind::Denied);
        assert!(error.message.contains("did not prove"), "{error}");
    }
}
