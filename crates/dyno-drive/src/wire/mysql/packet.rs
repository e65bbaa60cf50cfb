//! The protocol's framing in both directions: a 24-bit length, a sequence number, a body. Numbers
//! are little-endian; lengths in a body have one to nine bytes.

use bytes::{BufMut as _, BytesMut};
use dyno_record::{Error, ErrorKind, Result};

/// A body of this length would continue in the next packet; no supported command or answer is that
/// long.
const LONGEST: usize = 0xFF_FFFF;

/// A complete packet at the start of a buffer.
#[derive(Debug, Clone, Copy)]
pub struct Packet<'a> {
    /// Sequence number of the packet in a command and its answer.
    pub sequence: u8,
    /// Its content.
    pub body: &'a [u8],
}

impl<'a> Packet<'a> {
    /// The packet at the start of `bytes`, or `None` until it has arrived completely.
    ///
    /// # Errors
    /// `protocol` if it would continue in a second packet.
    #[inline]
    pub fn first(bytes: &'a [u8]) -> Result<Option<Self>> {
        Self::first_below(bytes, LONGEST)
    }

    /// Like [`first`](Self::first), for packets of less than `limit` bytes.
    ///
    /// # Errors
    /// `protocol` if it is longer, even before it has arrived.
    #[inline]
    pub fn first_below(bytes: &'a [u8], limit: usize) -> Result<Option<Self>> {
        let [a, b, c, sequence, rest @ ..] = bytes else { return Ok(None) };
        let length = u32::from_le_bytes([*a, *b, *c, 0]) as usize;
        if length >= limit {
            return Err(broken(format_args!("a packet of {length} bytes")));
        }
        Ok(rest.get(..length).map(|body| Self { sequence: *sequence, body }))
    }

    /// Bytes of the whole packet.
    #[inline]
    pub const fn length(&self) -> usize {
        self.body.len() + 4
    }
}

/// Appends a packet with the body that `body` writes.
#[inline]
pub fn frame(out: &mut BytesMut, sequence: u8, body: impl FnOnce(&mut BytesMut)) {
    let start = out.len();
    out.put_u32_le(0);
    body(out);
    let length = out.len() - start - 4;
    debug_assert!(length < LONGEST, "statements and their values stay far below 16 MiB");
    let [a, b, c, _] = (length as u32).to_le_bytes();
    out[start..start + 4].copy_from_slice(&[a, b, c, sequence]);
}

/// Appends a length of one to nine bytes.
#[inline]
pub fn put_length(out: &mut BytesMut, length: usize) {
    match length {
        0..=250 => out.put_u8(length as u8),
        251..=0xFFFF => {
            out.put_u8(0xFC);
            out.put_u16_le(length as u16);
        }
        0x1_0000..=0xFF_FFFF => {
            out.put_u8(0xFD);
            out.put_uint_le(length as u64, 3);
        }
        _ => {
            out.put_u8(0xFE);
            out.put_u64_le(length as u64);
        }
    }
}

/// Appends bytes with a length prefix.
#[inline]
pub fn put_bytes(out: &mut BytesMut, bytes: &[u8]) {
    put_length(out, bytes.len());
    out.put_slice(bytes);
}

/// Appends a zero-terminated text.
pub fn put_text(out: &mut BytesMut, text: &[u8]) {
    out.put_slice(text);
    out.put_u8(0);
}

/// Reads a body from its start; returns `None` if it is truncated.
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

    /// A number of `N` bytes.
    #[inline]
    fn number<const N: usize>(&mut self) -> Option<u64> {
        let mut wide = [0; 8];
        wide[..N].copy_from_slice(self.bytes(N)?);
        Some(u64::from_le_bytes(wide))
    }

    /// A number of one byte.
    #[inline]
    pub fn u8(&mut self) -> Option<u8> {
        self.number::<1>().map(|number| number as u8)
    }

    /// A number of two bytes.
    #[inline]
    pub fn u16(&mut self) -> Option<u16> {
        self.number::<2>().map(|number| number as u16)
    }

    /// A number of four bytes.
    #[inline]
    pub fn u32(&mut self) -> Option<u32> {
        self.number::<4>().map(|number| number as u32)
    }

    /// A number of one to nine bytes.
    #[inline]
    pub fn length(&mut self) -> Option<u64> {
        match self.u8()? {
            first @ 0..=250 => Some(u64::from(first)),
            0xFC => self.number::<2>(),
            0xFD => self.number::<3>(),
            0xFE => self.number::<8>(),
            // Null in a text row, and an error: neither is a number.
            0xFB | 0xFF => None,
        }
    }

    /// Bytes with a length prefix.
    #[inline]
    pub fn lengthy(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.bytes(usize::try_from(length).ok()?)
    }

    /// Bytes up to a zero, which is skipped; everything if there is none.
    pub fn text(&mut self) -> &'a [u8] {
        let length = self.0.iter().position(|byte| *byte == 0);
        let text = &self.0[..length.unwrap_or(self.0.len())];
        self.0 = length.map_or(&[], |length| &self.0[length + 1..]);
        text
    }
}

/// The final packet of a successful command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// Rows inserted, deleted, or found by an update.
    pub affected: u64,
    /// Another result of the same command follows.
    pub more: bool,
    /// Number of warnings.
    pub warnings: u16,
}

impl Done {
    /// Status bit that announces another result.
    const MORE: u16 = 0x0008;

    /// Parses an OK packet, whose first byte is 0x00, or 0xFE after rows.
    #[inline]
    pub fn parse(body: &[u8]) -> Option<Self> {
        let mut reader = Reader(body.get(1..)?);
        let affected = reader.length()?;
        reader.length()?;
        let status = reader.u16()?;
        let warnings = reader.u16()?;
        Some(Self { affected, more: status & Self::MORE != 0, warnings })
    }

    /// Parses the answer to a statement without rows; `refusal` converts an error packet.
    ///
    /// # Errors
    /// The server's, converted by `refusal`; `protocol`.
    pub fn answer(body: &[u8], refusal: impl FnOnce(&[u8]) -> Error) -> Result<Self> {
        match body.first() {
            Some(0x00) => Self::parse(body).ok_or_else(|| broken("a truncated end packet")),
            Some(0xFF) => Err(refusal(body)),
            _ => Err(broken("rows for a statement that has none")),
        }
    }
}

/// The error of a protocol violation.
pub fn broken(what: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::Protocol,
        format!("the server sent {what}: it does not speak MySQL's protocol as expected"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, prop_assert_eq, proptest};

    #[test]
    fn whole_partial_and_endless_packets() {
        let packet = Packet::first(b"\x02\0\0\x07abrest").unwrap().unwrap();
        assert_eq!((packet.sequence, packet.body, packet.length()), (7, &b"ab"[..], 6));
        assert!(Packet::first(b"\x02\0\0\x07a").unwrap().is_none());
        assert!(Packet::first(b"\x02\0").unwrap().is_none());
        let endless = Packet::first(b"\xFF\xFF\xFF\0").unwrap_err();
        assert_eq!(endless.kind, ErrorKind::Protocol);
    }

    #[test]
    fn a_packet_is_framed_after_what_is_there() {
        let mut out = BytesMut::from(&b"x"[..]);
        frame(&mut out, 3, |out| out.put_slice(b"abc"));
        assert_eq!(&out[..], b"x\x03\0\0\x03abc");
    }

    #[test]
    fn the_end_of_a_command_tells_rows_and_whether_more_comes() {
        let done = Done::parse(b"\0\x05\0\x0A\0\0\0").unwrap();
        assert_eq!(done, Done { affected: 5, more: true, warnings: 0 });
        let last = Done::parse(b"\xFE\0\0\x02\0\x03\0").unwrap();
        assert_eq!(last, Done { affected: 0, more: false, warnings: 3 });
        assert_eq!(Done::parse(b"\0\x05\0"), None);
    }

    #[test]
    fn an_answer_is_an_end_a_refusal_or_nonsense() {
        let refusal = |_: &[u8]| Error::new(ErrorKind::Denied, "not you");
        let found = |body| Done::answer(body, refusal);
        assert_eq!(found(b"\0\x05\0\0\0\0\0").unwrap().affected, 5);
        assert_eq!(found(b"\xFF\x15\x04").unwrap_err().kind, ErrorKind::Denied);
        for wrong in [&b"\0\x05\0"[..], b"\x02", b""] {
            assert_eq!(found(wrong).unwrap_err().kind, ErrorKind::Protocol);
        }
    }

    #[test]
    fn texts_end_with_a_zero_or_the_body() {
        let mut reader = Reader(b"ab\0c");
        assert_eq!(
            (reader.text(), reader.text(), reader.text()),
            (&b"ab"[..], &b"c"[..], &b""[..])
        );
    }

    proptest! {
        #[test]
        fn lengths_round_trip(length in prop::sample::select(vec![0usize, 250, 251, 0xFFFF, 0x1_0000, 0xFF_FFFF, 0x100_0000]), less in 0usize..250) {
            let length = length.saturating_sub(less);
            let mut out = BytesMut::new();
            put_length(&mut out, length);
            let mut reader = Reader(&out);
            prop_assert_eq!(reader.length(), Some(length as u64));
            prop_assert_eq!(reader.0, b"");
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = Packet::first(&bytes);
            let _ = Done::parse(&bytes);
            let _ = Reader(&bytes).lengthy();
        }
    }
}
