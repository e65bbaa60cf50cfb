//! The protocol's framing: messages in packets of at most the agreed size, each with an 8-byte
//! header (type, status, length, process, number, window). Numbers in bodies are little-endian, the
//! length in the header is not.

use bytes::{BufMut as _, BytesMut};
use dyno_record::{Error, ErrorKind, Result};

/// Type of a message: a batch of statements as text.
pub const BATCH: u8 = 0x01;
/// Calls of procedures.
pub const CALLS: u8 = 0x03;
/// The server's answer to any message.
pub const ANSWER: u8 = 0x04;
/// The signal that cancels the current request. It has no body.
pub const ATTENTION: u8 = 0x06;
/// Rows to load.
pub const ROWS: u8 = 0x07;
/// Begin, commit or roll back.
pub const TRANSACTION: u8 = 0x0E;
/// The login.
pub const LOGIN: u8 = 0x10;
/// What comes before the login, TLS included.
pub const PRELOGIN: u8 = 0x12;

/// Bytes of a header.
pub const HEADER: usize = 8;
/// Status of the last packet of a message.
const LAST: u8 = 1;

/// A header. `number` counts the packets of a message, from 1; the server ignores it.
pub fn header(kind: u8, last: bool, length: usize, number: usize) -> [u8; HEADER] {
    let [high, low] = (length as u16).to_be_bytes();
    [kind, u8::from(last) * LAST, high, low, 0, 0, number as u8, 0]
}

/// Appends a message in packets of at most `size` bytes.
pub fn put_message(out: &mut BytesMut, kind: u8, body: &[u8], size: usize) {
    let mut chunks = body.chunks(size - HEADER).enumerate().peekable();
    while let Some((number, chunk)) = chunks.next() {
        let last = chunks.peek().is_none();
        out.put_slice(&header(kind, last, chunk.len() + HEADER, number + 1));
        out.put_slice(chunk);
    }
}

/// A complete packet of an answer, at the start of a buffer.
#[derive(Debug, Clone, Copy)]
pub struct Packet<'a> {
    /// Its content.
    pub body: &'a [u8],
    /// Whether the answer ends with it.
    pub last: bool,
}

impl<'a> Packet<'a> {
    /// The packet at the start of `bytes`, or `None` until it has arrived completely.
    ///
    /// # Errors
    /// `protocol` if it is not an answer's.
    #[inline]
    pub fn first(bytes: &'a [u8]) -> Result<Option<Self>> {
        let [kind, status, high, low, _, _, _, _, rest @ ..] = bytes else { return Ok(None) };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        if *kind != ANSWER || length < HEADER {
            return Err(broken(format_args!("a packet of type {kind} and {length} bytes")));
        }
        let body = rest.get(..length - HEADER);
        Ok(body.map(|body| Self { body, last: status & LAST != 0 }))
    }

    /// Bytes of the whole packet.
    #[inline]
    pub const fn length(&self) -> usize {
        self.body.len() + HEADER
    }
}

/// Reads a body from its start; returns `None` where it is truncated.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// `count` bytes.
    #[inline]
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    /// A number of one byte.
    #[inline]
    pub fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    /// A number of two bytes.
    #[inline]
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// A number of four bytes.
    #[inline]
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number of eight bytes.
    #[inline]
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Bytes after their number, which has one byte.
    #[inline]
    pub fn short(&mut self) -> Option<&'a [u8]> {
        let length = self.u8()?;
        self.bytes(usize::from(length))
    }

    /// Bytes after their number, which has two bytes.
    #[inline]
    pub fn long(&mut self) -> Option<&'a [u8]> {
        let length = self.u16()?;
        self.bytes(usize::from(length))
    }

    /// A text in UTF-16, after its number of code units, which has one byte.
    #[inline]
    pub fn short_text(&mut self) -> Option<&'a [u8]> {
        let units = self.u8()?;
        self.bytes(usize::from(units) * 2)
    }

    /// A text in UTF-16, after its number of code units, which has two bytes.
    #[inline]
    pub fn long_text(&mut self) -> Option<&'a [u8]> {
        let units = self.u16()?;
        self.bytes(usize::from(units) * 2)
    }
}

/// The error of an answer that violates the protocol.
#[cold]
pub fn broken(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Protocol, format!("the server sent {what}, which is not valid TDS"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, prop_assert_eq, proptest};

    #[test]
    fn a_packet_is_complete_or_not_there() {
        let bytes = [4, 1, 0, 10, 0, 0, 1, 0, 7, 8, 9];
        for cut in 0..10 {
            assert!(Packet::first(&bytes[..cut]).unwrap().is_none(), "{cut}");
        }
        let packet = Packet::first(&bytes).unwrap().unwrap();
        assert_eq!((packet.body, packet.last, packet.length()), (&[7, 8][..], true, 10));
        for wrong in [[3, 1, 0, 10, 0, 0, 0, 0], [4, 1, 0, 7, 0, 0, 0, 0]] {
            assert_eq!(Packet::first(&wrong).unwrap_err().kind, ErrorKind::Protocol);
        }
    }

    proptest! {
        #[test]
        fn messages_are_split_and_joined(
            body in prop::collection::vec(any::<u8>(), 1..300), size in 9usize..100,
        ) {
            let mut out = BytesMut::new();
            put_message(&mut out, ANSWER, &body, size);
            let (mut joined, mut rest, mut ended) = (Vec::new(), &out[..], false);
            while let Some(packet) = Packet::first(rest).unwrap() {
                prop_assert_eq!(ended, false);
                assert!(packet.length() <= size);
                joined.extend_from_slice(packet.body);
                ended = packet.last;
                rest = &rest[packet.length()..];
            }
            prop_assert_eq!((joined, ended, rest.len()), (body, true, 0));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..30)) {
            let _ = Packet::first(&bytes);
        }
    }
}
