//! Takes a connected socket to a session that is ready for requests (MS-TDS, 2.2.6.4).

use bytes::{BufMut as _, BytesMut};
use dyno_record::{Error, ErrorKind, Result};

use super::answer::{Summary, read, send};
use super::endpoint::Endpoint;
use super::packet::{LOGIN, PRELOGIN};
use super::prelogin;
use super::text::{Collation, put_utf16};
use super::token::Change;
use crate::wire::Secret;
use crate::wire::transport::Transport;

/// TDS 7.4: SQL Server 2012 and later.
const VERSION: u32 = 0x7400_0004;
/// Bytes of a packet until the login has agreed on another size.
pub const SMALLEST_PACKET: usize = 512;
const FIRST_PACKET: usize = 4096;
/// Bytes of a packet for the driver.
pub const DRIVEN_PACKET: usize = 8000;
/// Bytes of a packet for a load: the maximum.
pub const LOADING_PACKET: usize = 32_767;
/// The maximum of an encrypted connection. A record of TLS has 16,384 bytes, and one packet.
pub const ENCRYPTED_PACKET: usize = 16_383;
/// The client's name in the server's views of sessions.
const PROGRAM: &str = "dyno";
/// The URL's name for the file of authorities.
const CA: &str = "ca";

/// Errors are reported if the database or the language cannot be set.
const FLAGS_1: u8 = 0xE0;
/// A failed language is an error; ANSI settings as ODBC has them.
const FLAGS_2: u8 = 0x03;
/// There is a list of features.
const FLAGS_3: u8 = 0x10;
/// Bytes before the variable part.
const FIXED: usize = 94;
/// The feature of texts in UTF-8, with its one byte.
const FEATURES: [u8; 7] = [0x0A, 1, 0, 0, 0, 1, 0xFF];

/// Properties of the server that sessions depend on.
#[derive(Debug, Clone, Copy)]
pub struct Server {
    /// Maximum bytes of a packet.
    pub packet_size: usize,
    /// Collation of the database.
    pub collation: Collation,
    /// Whether it is Babelfish, if the session has asked.
    pub babelfish: bool,
}

/// Connects and authenticates; asks for packets of `packet_size` bytes, or the maximum if there is
/// TLS.
///
/// # Errors
/// `unreachable`, `denied`, `too_many_connections`; `usage` for a wrong database; other errors of
/// the server.
pub async fn log_in(endpoint: &Endpoint, packet_size: usize) -> Result<(Transport, Server)> {
    let config = &endpoint.config;
    let mut transport = Transport::tcp(&config.host, config.port).await?;
    let mut body = BytesMut::new();
    prelogin::put_request(endpoint.connector.is_some(), &mut body);
    send(&mut transport, PRELOGIN, &body, FIRST_PACKET).await.map_err(unreachable)?;
    let answer = read(&mut transport).await.map_err(unreachable)?;
    prelogin::check(&answer, endpoint.connector.is_some())?;
    if let Some(connector) = &endpoint.connector {
        transport = transport.tunnel(connector, &config.host, CA).await?;
    }
    let most = if endpoint.connector.is_some() { ENCRYPTED_PACKET } else { LOADING_PACKET };
    body.clear();
    put_login(endpoint, packet_size.min(most), &mut body);
    send(&mut transport, LOGIN, &body, FIRST_PACKET).await.map_err(unreachable)?;
    let answer = read(&mut transport).await.map_err(unreachable)?;
    let summary = Summary::of(&answer)?;
    if let Some(error) = summary.error.filter(|_| !summary.accepted) {
        return Err(error.into_error());
    }
    if !summary.accepted {
        let message = "the server did not answer the login";
        return Err(Error::new(ErrorKind::Unreachable, message));
    }
    let mut server =
        Server { packet_size: FIRST_PACKET, collation: Collation::default(), babelfish: false };
    for change in summary.changes {
        match change {
            Change::PacketSize(size) => {
                let size = size as usize;
                server.packet_size = size.clamp(SMALLEST_PACKET, most);
            }
            Change::Collation(collation) => server.collation = collation,
            Change::Redirected => {
                let message = "the server redirects to another one, which is not supported: use \
                               the address of that one";
                return Err(Error::new(ErrorKind::Unreachable, message));
            }
            Change::Transaction(_) | Change::Other => {}
        }
    }
    Ok((transport, server))
}

/// The server disconnected during the login: it is starting up or shutting down.
fn unreachable(error: Error) -> Error {
    match error.kind {
        ErrorKind::ConnectionLost => Error { kind: ErrorKind::Unreachable, ..error },
        _ => error,
    }
}

/// Appends the login's body.
fn put_login(endpoint: &Endpoint, packet_size: usize, out: &mut BytesMut) {
    let config = &endpoint.config;
    let password = config.password.as_ref().map(Secret::as_bytes).unwrap_or_default();
    let password = String::from_utf8_lossy(password);
    let port = config.port;
    let server = format!("{},{port}", config.host);
    let mut variable = BytesMut::new();
    let mut places = BytesMut::new();
    let mut put = |text: &str, hidden: bool| {
        places.put_u16_le((FIXED + variable.len()) as u16);
        let start = variable.len();
        put_utf16(&mut variable, text);
        places.put_u16_le(((variable.len() - start) / 2) as u16);
        if hidden {
            variable[start..].iter_mut().for_each(|byte| *byte = byte.rotate_left(4) ^ 0xA5);
        }
    };
    // Machine, user, password, program, server.
    for (text, hidden) in [
        ("", false),
        (config.user.as_str(), false),
        (&password, true),
        (PROGRAM, false),
        (&server, false),
    ] {
        put(text, hidden);
    }
    // Where the list of features is, is itself in the variable part.
    places.put_u16_le((FIXED + variable.len()) as u16);
    places.put_u16_le(4);
    let features_at = variable.len();
    variable.put_u32_le(0);
    // The library, the language, the database.
    for text in [PROGRAM, "", &config.database] {
        places.put_u16_le((FIXED + variable.len()) as u16);
        places.put_u16_le(text.encode_utf16().count() as u16);
        put_utf16(&mut variable, text);
    }
    let end = (FIXED + variable.len()) as u16;
    let features = (FIXED + variable.len()) as u32;
    variable[features_at..features_at + 4].copy_from_slice(&features.to_le_bytes());
    variable.put_slice(&FEATURES);
    // The client's address, and what has no value: a ticket, a file, a new password.
    places.put_slice(&[0; 6]);
    for _ in 0..3 {
        places.put_u16_le(end);
        places.put_u16_le(0);
    }
    places.put_u32_le(0);

    out.put_u32_le((FIXED + variable.len()) as u32);
    out.put_u32_le(VERSION);
    out.put_u32_le(packet_size as u32);
    out.put_u32_le(0);
    out.put_u32_le(std::process::id());
    out.put_u32_le(0);
    out.put_slice(&[FLAGS_1, FLAGS_2, 0, FLAGS_3]);
    // Time zone and locale.
    out.put_u32_le(0);
    out.put_u32_le(0x0409);
    out.put_slice(&places);
    debug_assert_eq!(out.len(), FIXED);
    out.put_slice(&variable);
}

#[cfg(test)]
#[path = "login_tests.rs"]
mod tests;
