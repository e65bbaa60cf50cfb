//! The server's greeting, and the capabilities to use.

use dyno_record::{Error, ErrorKind, Result};

use super::error::ServerError;
use super::packet::{Reader, broken};

// Capabilities; each side sends its own.
const MYSQL: u32 = 1;
const FOUND_ROWS: u32 = 1 << 1;
const LONG_FLAG: u32 = 1 << 2;
const CONNECT_WITH_DB: u32 = 1 << 3;
/// The server may request a file that a statement names; only loading connections allow it.
pub const LOCAL_FILES: u32 = 1 << 7;
const PROTOCOL_41: u32 = 1 << 9;
pub const SSL: u32 = 1 << 11;
const TRANSACTIONS: u32 = 1 << 13;
const SECURE_CONNECTION: u32 = 1 << 15;
const MULTI_RESULTS: u32 = 1 << 17;
const PS_MULTI_RESULTS: u32 = 1 << 18;
const PLUGIN_AUTH: u32 = 1 << 19;
const CONNECT_ATTRS: u32 = 1 << 20;
const PLUGIN_AUTH_LENGTHY: u32 = 1 << 21;
const DEPRECATE_EOF: u32 = 1 << 24;

/// Capabilities of every supported server.
const REQUIRED: u32 = PROTOCOL_41
    | SECURE_CONNECTION
    | PLUGIN_AUTH
    | PLUGIN_AUTH_LENGTHY
    | CONNECT_ATTRS
    | DEPRECATE_EOF;
/// Capabilities to use if available. Rows that an update finds count even if it leaves them
/// unchanged.
const WANTED: u32 =
    FOUND_ROWS | LONG_FLAG | CONNECT_WITH_DB | TRANSACTIONS | MULTI_RESULTS | PS_MULTI_RESULTS;

/// MariaDB only: sends column descriptions again only after a change.
const CACHE_METADATA: u32 = 1 << 4;

/// The server's first packet.
#[derive(Debug)]
pub struct Greeting {
    /// Whether it is MariaDB.
    pub mariadb: bool,
    /// Whether it offers TLS.
    pub tls: bool,
    /// Capabilities of both sides, without TLS.
    pub abilities: u32,
    /// Likewise for MariaDB's extended capabilities.
    pub own_abilities: u32,
    /// The authentication plugin that the server prefers.
    pub plugin: String,
    /// The nonce for the proof.
    pub nonce: Vec<u8>,
}

impl Greeting {
    /// Parses the greeting.
    ///
    /// # Errors
    /// The server's, such as too many connections; `protocol` if the server is too old or not
    /// MySQL.
    pub fn parse(body: &[u8]) -> Result<Self> {
        match body.first() {
            Some(10) => Self::fields(body).ok_or_else(|| broken("a truncated greeting"))?,
            Some(0xFF) => Err(ServerError::parse(body).into_error()),
            _ => Err(broken("no greeting")),
        }
    }

    fn fields(body: &[u8]) -> Option<Result<Self>> {
        let mut reader = Reader(body);
        reader.u8()?;
        let version = String::from_utf8_lossy(reader.text()).into_owned();
        reader.u32()?;
        let mut nonce = reader.bytes(8)?.to_vec();
        reader.u8()?;
        let low = reader.u16()?;
        // Collation and status.
        reader.bytes(3)?;
        let high = reader.u16()?;
        let nonce_length = usize::from(reader.u8()?);
        reader.bytes(6)?;
        let own = reader.u32()?;
        let theirs = u32::from(low) | u32::from(high) << 16;
        if theirs & REQUIRED != REQUIRED {
            return Some(Err(too_old(&version)));
        }
        nonce.extend(reader.bytes(nonce_length.saturating_sub(8).max(13))?);
        // Ignore the trailing zero.
        nonce.truncate(nonce_length.saturating_sub(1).max(20));
        let plugin = String::from_utf8_lossy(reader.text()).into_owned();
        // MariaDB leaves out MySQL's bit, and so must its clients.
        let mysql = theirs & MYSQL;
        Some(Ok(Self {
            mariadb: version.to_lowercase().contains("mariadb"),
            tls: theirs & SSL != 0,
            abilities: REQUIRED | (theirs & WANTED) | mysql,
            own_abilities: if mysql == 0 { own & CACHE_METADATA } else { 0 },
            plugin,
            nonce,
        }))
    }

    /// Whether answers state if they include column descriptions.
    pub const fn tells_metadata(&self) -> bool {
        self.own_abilities & CACHE_METADATA != 0
    }
}

fn too_old(version: &str) -> Error {
    let message = format!("the server has version {version}; Dyno needs MariaDB 10.6 or MySQL 8.0");
    Error::new(ErrorKind::Protocol, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, proptest};

    fn greeting(version: &str, abilities: u32, own: u32) -> Vec<u8> {
        let mut body = vec![10];
        body.extend(version.as_bytes());
        body.extend([0, 1, 0, 0, 0]);
        body.extend(b"12345678\0");
        body.extend((abilities as u16).to_le_bytes());
        body.extend([45, 2, 0]);
        body.extend(((abilities >> 16) as u16).to_le_bytes());
        body.push(21);
        body.extend([0; 6]);
        body.extend(own.to_le_bytes());
        body.extend(b"90abcdefghij\0mysql_native_password\0");
        body
    }

    #[test]
    fn products_are_told_apart_and_use_what_they_have() {
        let body = greeting("5.5.5-10.11.19-MariaDB-0+deb12u1", !MYSQL, u32::MAX);
        let mariadb = Greeting::parse(&body).unwrap();
        assert!(mariadb.mariadb && mariadb.tls && mariadb.tells_metadata());
        assert_eq!(mariadb.abilities & (MYSQL | SSL), 0);
        assert_eq!(mariadb.nonce, b"1234567890abcdefghij");
        assert_eq!(mariadb.plugin, "mysql_native_password");
        let mysql = Greeting::parse(&greeting("8.0.44", !SSL, u32::MAX)).unwrap();
        assert!(!mysql.mariadb && !mysql.tls && !mysql.tells_metadata());
        assert_eq!(mysql.abilities & MYSQL, MYSQL);
    }

    #[test]
    fn old_full_and_foreign_servers_are_told() {
        let old = Greeting::parse(&greeting("5.1.73", 0xF7FF, 0)).unwrap_err();
        assert_eq!(old.kind, ErrorKind::Protocol);
        assert!(old.message.contains("5.1.73"), "{old}");
        let full = Greeting::parse(b"\xFF\x10\x04Too many connections").unwrap_err();
        assert_eq!(full.kind, ErrorKind::TooManyConnections);
        assert_eq!(Greeting::parse(b"SSH-2.0").unwrap_err().kind, ErrorKind::Protocol);
        let whole = greeting("8.0.44", u32::MAX, 0);
        assert_eq!(Greeting::parse(&whole[..30]).unwrap_err().kind, ErrorKind::Protocol);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = Greeting::parse(&bytes);
            let _ = Greeting::parse(&[&[10], &bytes[..]].concat());
        }
    }
}
