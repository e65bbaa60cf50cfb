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

/// Bytes 0x80 to 0x9F of code page 1252. Five are control characters, as Windows has them.
const HIGH: [char; 32] = [
    '\u{20AC}', '\u{81}', '\u{201A}', '\u{192}', '\u{201E}', '\u{2026}', '\u{2020}', '\u{2021}',
    '\u{2C6}', '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8D}', '\u{17D}', '\u{8F}',
    '\u{90}', '\u{2018}', '\u{2019}', '\u{201C}', '\u{201D}', '\u{2022}', '\u{2013}', '\u{2014}',
    '\u{2DC}', '\u{2122}', '\u{161}', '\u{203A}', '\u{153}', '\u{9D}', '\u{17E}', '\u{178}',
];

/// A collation as the protocol has it: locale, flags and version, then the number of a sort order,
/// which only the old collations SQL_… have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Collation(pub [u8; 5]);

impl Collation {
    /// Removes a collation from the front.
    pub fn take(reader: &mut Reader<'_>) -> Option<Self> {
        Some(Self(reader.bytes(5)?.try_into().ok()?))
    }

    /// The encoding of texts that are not national.
    pub fn encoding(self) -> Encoding {
        let [a, b, c, d, order] = self.0;
        let bits = u32::from_le_bytes([a, b, c, d]);
        let western = match order {
            0 => WESTERN.contains(&(bits & 0x3FF)),
            // The page is that of the sort order: the locale of SQL_Latin1_General_CP850_CI_AS is
            // English.
            _ => matches!(order, 50..=54 | 71..=75 | 183..=186 | 210..=217),
        };
        if bits & UTF8 != 0 {
            Encoding::Utf8
        } else if western {
            Encoding::Page1252
        } else {
            Encoding::OtherPage
        }
    }
}

/// Whether code page 1252 has a character.
pub fn is_western(character: char) -> bool {
    matches!(character, '\0'..='\u{7F}' | '\u{A0}'..='\u{FF}') || HIGH.contains(&character)
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
                    0x80..=0x9F => HIGH[usize::from(byte - 0x80)],
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
    fn old_collations_have_the_encoding_of_their_sort_order() {
        // SQL_Latin1_General_CP437_CI_AS, …_CP850_CI_AS, SQL_1xCompat_CP850_CI_AS, …_CP1250_CI_AS,
        // …_CP1251_CI_AS; all of them in English.
        for order in [32, 42, 49, 55, 61, 82, 106] {
            let collation = Collation([0x09, 0x04, 0xD0, 0, order]);
            assert_eq!(collation.encoding(), Encoding::OtherPage, "{order}");
        }
        // SQL_Latin1_General_CP1_…, SQL_SwedishStd_Pref_CP1_CI_AS, SQL_EBCDIC037_CP1_CS_AS.
        for order in [51, 54, 185, 210] {
            let collation = Collation([0x09, 0x04, 0xD0, 0, order]);
            assert_eq!(collation.encoding(), Encoding::Page1252, "{order}");
        }
    }

    #[test]
    fn western_texts() {
        assert_eq!(decoded(b"\xE9\x80", Encoding::Page1252).unwrap(), "\u{e9}\u{20ac}");
        assert_eq!(decoded(b"\x81\x9D", Encoding::Page1252).unwrap(), "\u{81}\u{9D}");
        assert_eq!(decoded(b"\xE9", Encoding::OtherPage), None);
        assert_eq!(decoded(b"\x3D\xD8\x00\xDE", Encoding::Utf16).unwrap(), "\u{1F600}");
        assert_eq!(decoded(b"\x3D\xD8", Encoding::Utf16), None);
        assert_eq!(decoded(b"a", Encoding::Utf16), None);
    }

    #[test]
    fn western_characters_are_those_of_the_page() {
        let bytes: Vec<u8> = (0..=u8::MAX).collect();
        assert!(decoded(&bytes, Encoding::Page1252).unwrap().chars().all(is_western));
        for other in ['\u{80}', '\u{100}', '\u{141}', '\u{3042}', '\u{1F600}'] {
            assert!(!is_western(other), "{other:?}");
        }
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
