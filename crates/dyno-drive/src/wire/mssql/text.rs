//! Texts in the server's encodings.

use bytes::{BufMut as _, BytesMut};

use super::packet::Reader;

/// How a column's texts are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// As here. Read in place.
    Utf8,
    /// National character types.
    Utf16,
    /// The code page of Western European languages.
    Page1252,
    /// Another code page, of which only ASCII is read.
    OtherPage,
}

/// Flag of a collation whose texts are in UTF-8.
const UTF8: u32 = 1 << 26;

/// Primary languages of Windows' code page 1252, the low ten bits of a locale.
const WESTERN: [u32; 20] = [
    0x03, 0x06, 0x07, 0x09, 0x0A, 0x0B, 0x0C, 0x0F, 0x10, 0x13, 0x14, 0x16, 0x1D, 0x21, 0x2D, 0x36,
    0x38, 0x3C, 0x3E, 0x56,
];

/// Bytes 0x80 to 0x9F of code page 1252; 0 where there is no character.
const HIGH: [u16; 32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
    0x0152, 0, 0x017D, 0, 0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC,
    0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E, 0x0178,
];

/// A collation as the protocol has it: locale, flags and version, then an old sort order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collation(pub [u8; 5]);

impl Collation {
    /// Removes a collation from the front.
    pub fn take(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self(reader.bytes(5)?.try_into().ok()?))
    }

    /// The encoding of texts that are not national.
    pub fn encoding(self) -> Encoding {
        let [a, b, c, d, _] = self.0;
        let bits = u32::from_le_bytes([a, b, c, d]);
        if bits & UTF8 != 0 {
            Encoding::Utf8
        } else if WESTERN.contains(&(bits & 0x3FF)) {
            Encoding::Page1252
        } else {
            Encoding::OtherPage
        }
    }
}

/// Appends a text as UTF-16.
pub fn put_utf16(out: &mut BytesMut, text: &str) {
    text.encode_utf16().for_each(|unit| out.put_u16_le(unit));
}

/// Decodes UTF-16 for messages; wrong units are replaced.
pub fn utf16_lossy(bytes: &[u8]) -> String {
    let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Appends a text in `encoding` to `out`. `None` if it is not valid in it.
pub fn decode(bytes: &[u8], encoding: Encoding, out: &mut String) -> Option<()> {
    match encoding {
        Encoding::Utf8 => out.push_str(std::str::from_utf8(bytes).ok()?),
        Encoding::Utf16 => {
            let units = bytes.chunks_exact(2);
            units.remainder().is_empty().then_some(())?;
            let units = units.map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
            for unit in char::decode_utf16(units) {
                out.push(unit.ok()?);
            }
        }
        Encoding::Page1252 => {
            for byte in bytes {
                out.push(match byte {
                    0x80..=0x9F => {
                        let found = HIGH[usize::from(byte - 0x80)];
                        (found != 0).then(|| char::from_u32(found.into()))??
                    }
                    _ => char::from(*byte),
                });
            }
        }
        Encoding::OtherPage => {
            bytes.is_ascii().then_some(())?;
            out.push_str(std::str::from_utf8(bytes).ok()?);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, prop_assert_eq, proptest};

    fn decoded(bytes: &[u8], encoding: Encoding) -> Option<String> {
        let mut out = String::new();
        decode(bytes, encoding, &mut out).map(|()| out)
    }

    #[test]
    fn collations_have_encodings() {
        // SQL_Latin1_General_CP1_CI_AS; Latin1_General_100_CI_AS_SC_UTF8; Japanese_CI_AS.
        assert_eq!(Collation([0x09, 0x04, 0xD0, 0, 0x34]).encoding(), Encoding::Page1252);
        assert_eq!(Collation([0x09, 0x04, 0x10, 0x24, 0]).encoding(), Encoding::Utf8);
        assert_eq!(Collation([0x11, 0x04, 0xD0, 0, 0]).encoding(), Encoding::OtherPage);
    }

    #[test]
    fn western_texts() {
        assert_eq!(decoded(b"\xE9\x80", Encoding::Page1252).unwrap(), "\u{e9}\u{20ac}");
        assert_eq!(decoded(b"\x81", Encoding::Page1252), None);
        assert_eq!(decoded(b"\xE9", Encoding::OtherPage), None);
        assert_eq!(decoded(b"\x3D\xD8\x00\xDE", Encoding::Utf16).unwrap(), "\u{1F600}");
        assert_eq!(decoded(b"\x3D\xD8", Encoding::Utf16), None);
        assert_eq!(decoded(b"a", Encoding::Utf16), None);
    }

    proptest! {
        #[test]
        fn utf16_is_decoded(text in any::<String>()) {
            let mut out = BytesMut::new();
            put_utf16(&mut out, &text);
            let found = decoded(&out, Encoding::Utf16);
            prop_assert_eq!(found.as_deref(), Some(text.as_str()));
            prop_assert_eq!(utf16_lossy(&out), text);
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Page1252] {
                let _ = decoded(&bytes, encoding);
            }
            let _ = utf16_lossy(&bytes);
        }
    }
}
