//! The framing of the server's messages: a tag byte, a 32-bit length that includes itself, a body.

use dyno_record::{Error, ErrorKind, Result};

/// Maximum length of a message: PostgreSQL's own limit is 1 GiB.
const LONGEST: usize = 1 << 30;

/// A complete message at the start of a buffer.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// The kind of message.
    pub tag: u8,
    /// Its content.
    pub body: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The message at the start of `bytes`, or `None` until it has arrived completely.
    ///
    /// # Errors
    /// `protocol` if the length is invalid.
    #[inline]
    pub fn first(bytes: &'a [u8]) -> Result<Option<Self>> {
        Self::first_below(bytes, LONGEST)
    }

    /// Like [`first`](Self::first), for messages of at most `limit` bytes.
    ///
    /// # Errors
    /// `protocol` if the length is invalid, even before the message has arrived.
    #[inline]
    pub fn first_below(bytes: &'a [u8], limit: usize) -> Result<Option<Self>> {
        let [tag, a, b, c, d, rest @ ..] = bytes else { return Ok(None) };
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        if !(4..=limit).contains(&length) {
            return Err(broken(format!("a message of length {length}")));
        }
        Ok(rest.get(..length - 4).map(|body| Self { tag: *tag, body }))
    }

    /// Bytes of the whole message.
    #[inline]
    pub const fn length(&self) -> usize {
        self.body.len() + 5
    }
}

/// The error of a protocol violation.
pub fn broken(what: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::Protocol,
        format!("the server sent {what}: it does not speak PostgreSQL's protocol 3.0 as expected"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_partial_and_wrong_frames() {
        let frame = Frame::first(b"Z\0\0\0\x05Iextra").unwrap().unwrap();
        assert_eq!((frame.tag, frame.body, frame.length()), (b'Z', &b"I"[..], 6));
        assert!(Frame::first(b"Z\0\0\0\x05").unwrap().is_none());
        assert!(Frame::first(b"Z\0").unwrap().is_none());
        assert_eq!(Frame::first(b"HTTP/1.1 400").unwrap_err().kind, ErrorKind::Protocol);
        assert_eq!(Frame::first(b"Z\0\0\0\x03").unwrap_err().kind, ErrorKind::Protocol);
        let long = b"R\0\x01\0\x01";
        assert!(Frame::first(long).unwrap().is_none());
        assert_eq!(Frame::first_below(long, 1 << 16).unwrap_err().kind, ErrorKind::Protocol);
    }
}
