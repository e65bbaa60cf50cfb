//! From a connected socket to a session that is ready for commands.

use std::io;

use bytes::{BufMut as _, BytesMut};
use dyno_record::{Error, ErrorKind, Result};

use super::Config;
use super::auth::{self, NATIVE, SHA2};
use super::error::ServerError;
use super::greeting::{Greeting, SSL};
use super::packet::{Packet, Reader, broken, frame, put_bytes, put_text};
use crate::wire::Secret;
use crate::wire::tls::Connector;
use crate::wire::transport::Transport;

/// Bytes of a packet that we could take.
const LONGEST_PACKET: u32 = 1 << 24;
/// utf8mb4 with the collation of its bytes, as every version numbers it.
const COLLATION: u8 = 46;
/// What the URL calls the file of authorities.
const CA: &str = "ssl_ca";
/// The command of a statement that is not prepared.
pub const QUERY: u8 = 0x03;

/// What of the server its sessions go by.
#[derive(Debug, Clone, Copy)]
pub struct Server {
    /// Whether it is MariaDB.
    pub mariadb: bool,
    /// Whether answers say if columns are described in them.
    pub tells_metadata: bool,
}

/// Connects, introduces us, authenticates, and sets what every session has.
///
/// # Errors
/// `unreachable`, `denied`, `too_many_connections`; whatever else the server answers.
pub async fn log_in(config: &Config, connector: Option<&Connector>) -> Result<(Transport, Server)> {
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
        frame(&mut transport.write, sequence, |out| put_abilities(&greeting, SSL, out));
        send(&mut transport).await?;
        transport = transport.secure(connector, &config.host, CA).await?;
        sequence += 1;
    }
    let secure = if connector.is_some() { SSL } else { 0 };
    let password = config.password.as_ref().map(Secret::as_bytes).unwrap_or_default();
    // Of a plugin that we do not know the server will hear when it insists on it.
    let plugin = auth::known(&greeting.plugin).unwrap_or(NATIVE);
    let proof = auth::proof(plugin, &greeting.nonce, password)?;
    frame(&mut transport.write, sequence, |out| {
        put_abilities(&greeting, secure, out);
        put_text(out, config.user.as_bytes());
        put_bytes(out, &proof);
        put_text(out, config.database.as_bytes());
        put_text(out, plugin.as_bytes());
        put_attributes(out);
    });
    send(&mut transport).await?;
    authenticate(&mut transport, plugin, greeting.nonce.clone(), password).await?;
    let server = Server { mariadb: greeting.mariadb, tells_metadata: greeting.tells_metadata() };
    set_up(&mut transport, config, server).await?;
    Ok((transport, server))
}

/// The head of our answer to the greeting, and all of a request for TLS.
fn put_abilities(greeting: &Greeting, more: u32, out: &mut BytesMut) {
    out.put_u32_le(greeting.abilities | more);
    out.put_u32_le(LONGEST_PACKET);
    out.put_u8(COLLATION);
    out.put_bytes(0, 19);
    out.put_u32_le(greeting.own_abilities);
}

/// Who we are, as the server's `performance_schema` tells.
fn put_attributes(out: &mut BytesMut) {
    let mut all = BytesMut::new();
    for (name, value) in [("_client_name", "dyno"), ("program_name", "dyno")] {
        put_bytes(&mut all, name.as_bytes());
        put_bytes(&mut all, value.as_bytes());
    }
    put_bytes(out, &all);
}

/// Answers what the server asks until it lets us in.
async fn authenticate(
    transport: &mut Transport,
    plugin: &str,
    mut nonce: Vec<u8>,
    password: &[u8],
) -> Result<()> {
    let mut plugin = plugin.to_owned();
    loop {
        let (sequence, body) = packet(transport).await?;
        let answer = match (body.as_slice(), plugin.as_str()) {
            ([0x00, ..], _) => return Ok(()),
            ([0xFF, ..], _) => return Err(ServerError::parse(&body).into_error()),
            // Another plugin's turn.
            ([0xFE, rest @ ..], _) => {
                let mut reader = Reader(rest);
                plugin = String::from_utf8_lossy(reader.text()).into_owned();
                nonce = reader.0.to_vec();
                auth::proof(&plugin, &nonce, password)?
            }
            // The server knows the proof; it says so once more.
            ([0x01, 0x03], SHA2) => continue,
            // It does not, and wants the password itself.
            ([0x01, 0x04], SHA2) if transport.is_private() => [password, b"\0"].concat(),
            ([0x01, 0x04], SHA2) => vec![0x02],
            ([0x01, key @ ..], SHA2) => auth::encrypted(key, &nonce, password)?,
            _ => return Err(broken("an unexpected packet while logging in")),
        };
        frame(&mut transport.write, sequence.wrapping_add(1), |out| out.put_slice(&answer));
        send(transport).await?;
    }
}

/// Sets what every session has, in one round trip.
async fn set_up(transport: &mut Transport, config: &Config, server: Server) -> Result<()> {
    let statements = config.session(server.mariadb);
    for statement in &statements {
        put_query(statement, &mut transport.write);
    }
    send(transport).await?;
    let mut result = Ok(());
    for statement in &statements {
        let done = done(transport).await;
        let lost = done.as_ref().is_err_and(|error| error.kind == ErrorKind::Unreachable);
        result = result.and(done.map_err(|error| error.context(statement.clone())));
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

/// Reads the answer to a statement without rows.
///
/// # Errors
/// The server's; `unreachable` if it hung up.
pub async fn done(transport: &mut Transport) -> Result<()> {
    let (_, body) = packet(transport).await?;
    match body.first() {
        Some(0x00) => Ok(()),
        Some(0xFF) => Err(ServerError::parse(&body).into_error()),
        _ => Err(broken("rows for a statement that has none")),
    }
}

async fn send(transport: &mut Transport) -> Result<()> {
    transport.send().await.map_err(|error| refused(&error))
}

/// Takes one packet off the front of what arrived: its number and its body.
async fn packet(transport: &mut Transport) -> Result<(u8, Vec<u8>)> {
    loop {
        if let Some(packet) = Packet::first(&transport.read)? {
            let (taken, found) = (packet.length(), (packet.sequence, packet.body.to_vec()));
            drop(transport.read.split_to(taken));
            return Ok(found);
        }
        transport.receive().await.map_err(|error| refused(&error))?;
    }
}

/// The server hung up before it was ready: it is not there yet, or no more.
fn refused(error: &io::Error) -> Error {
    Error::new(ErrorKind::Unreachable, format!("the server closed the connection: {error}"))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    /// What comes of a login at a server that sends `words` and then listens.
    fn told(words: Vec<u8>) -> (Error, Vec<u8>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            client.write_all(&words).unwrap();
            client.shutdown(std::net::Shutdown::Write).unwrap();
            let mut heard = Vec::new();
            // Until the client hangs up; how it does so is its own affair.
            let _ = client.read_to_end(&mut heard);
            heard
        });
        let config: Config = serde_json::from_value(serde_json::json!({
            "host": "127.0.0.1", "port": port, "user": "u", "password": "p4ss", "database": "d"
        }))
        .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = runtime.block_on(log_in(&config, None)).unwrap_err();
        (error, server.join().unwrap())
    }

    fn packets(bodies: &[&[u8]]) -> Vec<u8> {
        let mut out = BytesMut::new();
        for (number, body) in (0..).step_by(2).zip(bodies) {
            frame(&mut out, number, |out| out.put_slice(body));
        }
        out.to_vec()
    }

    const GREETING: &[u8] = b"\x0A8.0.44\0\x01\0\0\x0012345678\0\xFF\xFF\x2E\x02\0\xFF\xDF\x15\0\0\0\0\0\0\0\0\0\x0090abcdefghij\0caching_sha2_password\0";

    #[test]
    fn a_server_that_hangs_up_or_says_no_is_told_apart() {
        assert_eq!(told(vec![]).0.kind, ErrorKind::Unreachable);
        let denied = b"\xFF\x15\x04#28000Access denied for user 'u'";
        assert_eq!(told(packets(&[GREETING, denied])).0.kind, ErrorKind::Denied);
        let (unknown, _) = told(packets(&[GREETING, b"\xFEdialog\0"]));
        assert_eq!(unknown.kind, ErrorKind::Denied);
        assert!(unknown.message.contains("dialog"), "{unknown}");
    }

    #[test]
    fn the_password_itself_is_not_sent_where_others_could_read_it() {
        let (_, heard) = told(packets(&[GREETING, b"\x01\x04", b"\x01no key"]));
        assert!(heard.ends_with(b"\x01\0\0\x03\x02"), "the key was asked for");
        assert!(!heard.windows(4).any(|bytes| bytes == b"p4ss"));
    }
}
