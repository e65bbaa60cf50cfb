//! Takes a connected socket to a session that is ready for commands.

use std::io;

use bytes::{BufMut as _, BytesMut};
use dyno_record::{Error, ErrorKind, Result};

use super::auth::{self, NATIVE, SHA2};
use super::endpoint::Endpoint;
use super::error::ServerError;
use super::greeting::{Greeting, SSL};
use super::key::Key;
use super::packet::{Done, Packet, Reader, broken, frame, put_bytes, put_text};
use crate::wire::Secret;
use crate::wire::transport::Transport;

/// Maximum packet size of this client.
const LONGEST_PACKET: u32 = 1 << 24;
/// utf8mb4 with binary collation, which has the same number in all versions.
const COLLATION: u8 = 46;
/// The URL's name for the file of authorities.
const CA: &str = "ssl_ca";
/// Maximum packets of a login; the longest valid one has six.
const LONGEST_TALK: usize = 16;
/// Maximum bytes of a login packet and of an answer without rows. A server that announces more is
/// not a MySQL server, and is not waited for.
const LONGEST_ANSWER: usize = 1 << 16;
/// The command for a statement that is not prepared.
pub const QUERY: u8 = 0x03;

/// Properties of the server that sessions depend on.
#[derive(Debug, Clone, Copy)]
pub struct Server {
    /// Whether it is MariaDB.
    pub mariadb: bool,
    /// Whether answers state if they include column descriptions.
    pub tells_metadata: bool,
}

/// Connects, sends the client's capabilities plus `more`, and authenticates.
///
/// # Errors
/// `unreachable`, `denied`, `too_many_connections`; other errors of the server.
pub async fn log_in(endpoint: &Endpoint, more: u32) -> Result<(Transport, Server)> {
    let Endpoint { config, connector, .. } = endpoint;
    let mut transport = match &config.unix_socket {
        Some(path) => Transport::unix(path.as_ref()).await?,
        None => Transport::tcp(&config.host, config.port).await?,
    };
    let greeting = Greeting::parse(&packet(&mut transport).await?.1)?;
    let mut sequence = 1;
    if let Some(connector) = connector {
        if !greeting.tls {
            let message = "the server does not offer TLS";
            return Err(Error::new(ErrorKind::Unreachable, message));
        }
        frame(&mut transport.write, sequence, |out| put_abilities(&greeting, more | SSL, out));
        send(&mut transport).await?;
        transport = transport.secure(connector, &config.host, CA).await?;
        sequence += 1;
    }
    let more = if connector.is_some() { more | SSL } else { more };
    let password = config.password.as_ref().map(Secret::as_bytes).unwrap_or_default();
    // If the plugin is unsupported, the login fails later, if the server insists on it.
    let plugin = auth::known(&greeting.plugin).unwrap_or(NATIVE);
    let proof = auth::proof(plugin, &greeting.nonce, password)?;
    frame(&mut transport.write, sequence, |out| {
        put_abilities(&greeting, more, out);
        put_text(out, config.user.as_bytes());
        put_bytes(out, &proof);
        put_text(out, config.database.as_bytes());
        put_text(out, plugin.as_bytes());
        put_attributes(out);
    });
    send(&mut transport).await?;
    authenticate(&mut transport, plugin, greeting.nonce.clone(), password, endpoint).await?;
    let server = Server { mariadb: greeting.mariadb, tells_metadata: greeting.tells_metadata() };
    Ok((transport, server))
}

/// The first part of the response to the greeting, or the whole of a TLS request.
fn put_abilities(greeting: &Greeting, more: u32, out: &mut BytesMut) {
    out.put_u32_le(greeting.abilities | more);
    out.put_u32_le(LONGEST_PACKET);
    out.put_u8(COLLATION);
    out.put_bytes(0, 19);
    out.put_u32_le(greeting.own_abilities);
}

/// The client's attributes, shown in the server's `performance_schema`.
fn put_attributes(out: &mut BytesMut) {
    let mut all = BytesMut::new();
    for (name, value) in [("_client_name", "dyno"), ("program_name", "dyno")] {
        put_bytes(&mut all, name.as_bytes());
        put_bytes(&mut all, value.as_bytes());
    }
    put_bytes(out, &all);
}

/// Answers the server's requests until it accepts the login.
async fn authenticate(
    transport: &mut Transport,
    plugin: &str,
    mut nonce: Vec<u8>,
    password: &[u8],
    endpoint: &Endpoint,
) -> Result<()> {
    let mut plugin = plugin.to_owned();
    let mut asked = false;
    for _ in 0..LONGEST_TALK {
        let (sequence, body) = packet(transport).await?;
        let answer = match (body.as_slice(), plugin.as_str()) {
            ([0x00, ..], _) => return Ok(()),
            ([0xFF, ..], _) => return Err(ServerError::parse(&body).into_error()),
            // The server switches to another plugin.
            ([0xFE, rest @ ..], _) => {
                let mut reader = Reader(rest);
                plugin = String::from_utf8_lossy(reader.text()).into_owned();
                nonce = reader.0.to_vec();
                auth::proof(&plugin, &nonce, password)?
            }
            // The server has the proof cached; an OK packet follows.
            ([0x01, 0x03], SHA2) => continue,
            // The proof is not cached; the server requests the password.
            ([0x01, 0x04], SHA2) if transport.is_private() => [password, b"\0"].concat(),
            ([0x01, 0x04], SHA2) => {
                if let Some(key) = &endpoint.key {
                    key.encrypt(&nonce, password)?
                } else {
                    require_trust(endpoint, transport.is_local())?;
                    asked = true;
                    vec![0x02]
                }
            }
            // Accept a key from the connection only if it was requested.
            ([0x01, key @ ..], SHA2) if asked => match Key::parse(key) {
                Some(key) => key.encrypt(&nonce, password)?,
                None => return Err(broken("a public key that is not RSA")),
            },
            _ => return Err(broken("an unexpected packet during login")),
        };
        frame(&mut transport.write, sequence.wrapping_add(1), |out| out.put_slice(&answer));
        send(transport).await?;
    }
    Err(broken("too many login requests"))
}

/// Refuses to request the server's public key on a connection that others could intercept.
fn require_trust(endpoint: &Endpoint, local: bool) -> Result<()> {
    if local || endpoint.config.key_retrieval {
        return Ok(());
    }
    let message = "the server wants the password itself (caching_sha2_password), which others could \
                   read on its way over plain TCP: add ?ssl_ca=FILE or ?ssl=1 to the URL, or name \
                   the server's public_key.pem by ?server_public_key=FILE; where nobody is on the \
                   way, ?allow_public_key_retrieval=1 asks the server for that key";
    Err(Error::new(ErrorKind::Denied, message))
}

/// Runs a session's initial statements in one round trip.
///
/// # Errors
/// The server's; `unreachable` if it disconnected.
pub async fn set_up(transport: &mut Transport, statements: &[String]) -> Result<()> {
    for statement in statements {
        put_query(statement, &mut transport.write);
    }
    send(transport).await?;
    let mut result = Ok(());
    for statement in statements {
        let done = done(transport).await;
        let lost = done.as_ref().is_err_and(|error| error.kind == ErrorKind::Unreachable);
        let done = done.map(drop).map_err(|error| error.context(statement.clone()));
        result = result.and(done);
        if lost {
            break;
        }
    }
    transport.forget();
    result
}

/// Appends a statement that is not prepared.
pub fn put_query(statement: &str, out: &mut BytesMut) {
    frame(out, 0, |out| {
        out.put_u8(QUERY);
        out.put_slice(statement.as_bytes());
    });
}

/// Reads the answer to a statement that returns no rows.
///
/// # Errors
/// The server's; `unreachable` if it disconnected.
pub async fn done(transport: &mut Transport) -> Result<Done> {
    let (_, body) = packet(transport).await?;
    Done::answer(&body, |refusal| ServerError::parse(refusal).into_error())
}

/// Sends the write buffer.
///
/// # Errors
/// `unreachable` if the server disconnected.
async fn send(transport: &mut Transport) -> Result<()> {
    transport.send().await.map_err(|error| refused(&error))
}

/// Reads one packet: its number and body.
///
/// # Errors
/// `unreachable` if the server disconnected; `protocol` if the packet is too long for a login.
pub async fn packet(transport: &mut Transport) -> Result<(u8, Vec<u8>)> {
    loop {
        if let Some(packet) = Packet::first_below(&transport.read, LONGEST_ANSWER)? {
            let (taken, found) = (packet.length(), (packet.sequence, packet.body.to_vec()));
            drop(transport.read.split_to(taken));
            return Ok(found);
        }
        transport.receive().await.map_err(|error| refused(&error))?;
    }
}

/// The server disconnected during the login: it is starting up or shutting down.
fn refused(error: &io::Error) -> Error {
    Error::new(ErrorKind::Unreachable, format!("the server closed the connection: {error}"))
}

#[cfg(test)]
#[path = "login_tests.rs"]
mod tests;
