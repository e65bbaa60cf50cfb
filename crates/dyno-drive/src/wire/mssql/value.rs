//! Parameters of calls: their types and values.

use bytes::{BufMut as _, BytesMut};

use super::column::{BIGVARCHAR, DATEN, DATETIME2N, DECIMALN, INTN, NVARCHAR};
use super::text::{Collation, Encoding, is_western, put_utf16};
use crate::wire::{Type, Value};

/// Days from 0001-01-01 to the Unix epoch.
const EPOCH_DAYS: i32 = 719_162;
const DAY_US: i64 = 86_400_000_000;
/// Maximum bytes of a text that is not in chunks.
const LONGEST_TEXT: usize = 8000;
const TOO_LONG: &str = "a text parameter of more than 8000 bytes";
const OTHER_CHARACTERS: &str = "a text parameter has characters that the database's code page, \
                                1252, lacks: use a database with a UTF-8 collation";
/// Digits of a decimal with eight bytes, and its bytes with the sign.
const PRECISION: u8 = 19;
const DECIMAL_BYTES: u8 = 9;
/// The same of any decimal.
const WIDEST_PRECISION: u8 = 38;
const WIDEST_BYTES: u8 = 17;
/// Digits after the point of a decimal that the server returns. With those that are declared, it
/// would round what has more, without a word.
const WIDEST_SCALE: u8 = 18;
/// The length of a text in chunks, and that of its null.
const UNLIMITED: u16 = u16::MAX;
const NULL_CHUNKS: u64 = u64::MAX;
// The status of a parameter.
const INPUT: u8 = 0;
const OUTPUT: u8 = 1;
/// Digits after the point of a time stamp.
const MICROSECONDS: u8 = 6;

/// How a parameter is declared. Texts are not national: a national parameter keeps the server from
/// seeking in an index over a column that is not.
pub fn declaration(kind: Type) -> String {
    match kind {
        Type::Int => "int".to_owned(),
        Type::BigInt => "bigint".to_owned(),
        Type::Decimal(scale) => format!("decimal({PRECISION},{scale})"),
        Type::Text => format!("varchar({LONGEST_TEXT})"),
        Type::Date => "date".to_owned(),
        Type::Timestamp => format!("datetime2({MICROSECONDS})"),
        // Of results only.
        Type::Rest => "sql_variant".to_owned(),
    }
}

/// Why a value cannot be sent. The server replaces characters that its code page lacks, without a
/// word; which these are is known here for code page 1252 only.
pub fn unfit(value: Value<'_>, collation: Collation) -> Option<&'static str> {
    let Value::Text(text) = value else { return None };
    if text.len() > LONGEST_TEXT {
        return Some(TOO_LONG);
    }
    if text.is_ascii() {
        return None;
    }
    let encoding = collation.encoding();
    if encoding == Encoding::Page1252 && !text.chars().all(is_western) {
        return Some(OTHER_CHARACTERS);
    }
    let units = || text.encode_utf16().count();
    (encoding != Encoding::Utf8 && units() > LONGEST_TEXT / 2).then_some(TOO_LONG)
}

/// Appends a parameter without a name: type and value.
#[inline]
pub fn put_parameter(kind: Type, value: Value<'_>, collation: Collation, out: &mut BytesMut) {
    match value {
        Value::Int(value) => {
            // Most parameters are integers: append them in one piece.
            let [a, b, c, d] = value.to_le_bytes();
            out.put_slice(&[0, INPUT, INTN, 4, 4, a, b, c, d]);
        }
        Value::BigInt(value) => {
            out.put_slice(&[0, INPUT, INTN, 8, 8]);
            out.put_i64_le(value);
        }
        Value::Decimal { units, scale } => {
            let sign = u8::from(units >= 0);
            let (kind, bytes) = (DECIMALN, DECIMAL_BYTES);
            out.put_slice(&[0, INPUT, kind, bytes, PRECISION, scale, bytes, sign]);
            out.put_u64_le(units.unsigned_abs());
        }
        Value::Text(text) => put_text(text, collation, out),
        Value::Date(days) => {
            out.put_slice(&[0, INPUT, DATEN, 3]);
            out.put_uint_le((days + EPOCH_DAYS) as u64, 3);
        }
        Value::Timestamp(unix_us) => {
            out.put_slice(&[0, INPUT, DATETIME2N, MICROSECONDS, 8]);
            out.put_uint_le(unix_us.rem_euclid(DAY_US) as u64, 5);
            out.put_uint_le((unix_us.div_euclid(DAY_US) + i64::from(EPOCH_DAYS)) as u64, 3);
        }
        Value::Null => {
            out.put_slice(&[0, INPUT]);
            put_null(kind, collation, out);
        }
    }
}

/// Appends an output parameter without a name. The server converts its value to this type, which
/// is as wide as possible, so that nothing is lost before it is checked.
pub fn put_output(kind: Type, collation: Collation, out: &mut BytesMut) {
    out.put_slice(&[0, OUTPUT]);
    match kind {
        Type::Decimal(scale) => {
            let scale = scale.max(WIDEST_SCALE);
            out.put_slice(&[DECIMALN, WIDEST_BYTES, WIDEST_PRECISION, scale, 0]);
        }
        Type::Text => {
            out.put_u8(BIGVARCHAR);
            out.put_u16_le(UNLIMITED);
            out.put_slice(&collation.0);
            out.put_u64_le(NULL_CHUNKS);
        }
        _ => put_null(kind, collation, out),
    }
}

/// ASCII is the same in every code page. Other texts go as UTF-16, which the server converts to
/// its code page, unless that is UTF-8.
fn put_text(text: &str, collation: Collation, out: &mut BytesMut) {
    let plain = text.is_ascii() || collation.encoding() == Encoding::Utf8;
    out.put_slice(&[0, INPUT, if plain { BIGVARCHAR } else { NVARCHAR }]);
    out.put_u16_le(LONGEST_TEXT as u16);
    out.put_slice(&collation.0);
    if plain {
        out.put_u16_le(text.len() as u16);
        out.put_slice(text.as_bytes());
    } else {
        out.put_u16_le(text.encode_utf16().count() as u16 * 2);
        put_utf16(out, text);
    }
}

fn put_null(kind: Type, collation: Collation, out: &mut BytesMut) {
    match kind {
        Type::Int | Type::Rest => out.put_slice(&[INTN, 4, 0]),
        Type::BigInt => out.put_slice(&[INTN, 8, 0]),
        Type::Decimal(scale) => out.put_slice(&[DECIMALN, DECIMAL_BYTES, PRECISION, scale, 0]),
        Type::Text => {
            out.put_u8(BIGVARCHAR);
            out.put_u16_le(LONGEST_TEXT as u16);
            out.put_slice(&collation.0);
            out.put_u16_le(u16::MAX);
        }
        Type::Date => out.put_slice(&[DATEN, 0]),
        Type::Timestamp => out.put_slice(&[DATETIME2N, MICROSECONDS, 0]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATIN: Collation = Collation([0x09, 0x04, 0xD0, 0, 0x34]);
    const UTF8: Collation = Collation([0x09, 0x04, 0x10, 0x24, 0]);
    const POLISH: Collation = Collation([0x15, 0x04, 0xD0, 0, 0]);

    fn sent(kind: Type, value: Value<'_>) -> Vec<u8> {
        let mut out = BytesMut::new();
        put_parameter(kind, value, LATIN, &mut out);
        out[2..].to_vec()
    }

    #[test]
    fn values_as_the_protocol_describes_them() {
        assert_eq!(sent(Type::Int, Value::Int(-2)), [0x26, 4, 4, 0xFE, 0xFF, 0xFF, 0xFF]);
        assert_eq!(sent(Type::BigInt, Value::Null), [0x26, 8, 0]);
        assert_eq!(
            sent(Type::Decimal(2), Value::cents(-123)),
            [0x6A, 9, 19, 2, 9, 0, 123, 0, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(
            sent(Type::Text, Value::Text("ab")),
            [0xA7, 0x40, 0x1F, 0x09, 0x04, 0xD0, 0, 0x34, 2, 0, b'a', b'b']
        );
        assert_eq!(
            sent(Type::Text, Value::Text("\u{e9}"))[..1 + 2 + 5 + 4],
            [0xE7, 0x40, 0x1F, 0x09, 0x04, 0xD0, 0, 0x34, 2, 0, 0xE9, 0]
        );
        // 0001-01-02, and 1970-01-01 00:00:00.000001.
        assert_eq!(sent(Type::Date, Value::Date(1 - EPOCH_DAYS)), [0x28, 3, 1, 0, 0]);
        assert_eq!(
            sent(Type::Timestamp, Value::Timestamp(1)),
            [0x2A, 6, 8, 1, 0, 0, 0, 0, 0x3A, 0xF9, 0x0A]
        );
        assert_eq!(sent(Type::Timestamp, Value::Null), [0x2A, 6, 0]);
    }

    #[test]
    fn utf8_goes_as_it_is_where_the_database_has_it() {
        let mut out = BytesMut::new();
        put_parameter(Type::Text, Value::Text("\u{e9}"), UTF8, &mut out);
        assert_eq!(out[2], BIGVARCHAR);
        assert_eq!(out[10..], [2, 0, 0xC3, 0xA9]);
    }

    #[test]
    fn texts_have_a_limit() {
        let of = |text: &str, collation| unfit(Value::Text(text), collation);
        assert_eq!(of(&"a".repeat(LONGEST_TEXT), LATIN), None);
        assert_eq!(of(&"a".repeat(LONGEST_TEXT + 1), LATIN), Some(TOO_LONG));
        assert_eq!(of(&"\u{e9}".repeat(LONGEST_TEXT / 2), LATIN), None);
        assert_eq!(of(&"\u{1F600}".repeat(LONGEST_TEXT / 4 + 1), UTF8), Some(TOO_LONG));
    }

    #[test]
    fn texts_beyond_the_code_page_are_refused_where_it_is_known() {
        let of = |text: &str, collation| unfit(Value::Text(text), collation);
        assert_eq!(of("na\u{ef}ve \u{20ac}", LATIN), None);
        for other in ["\u{141}\u{f3}d\u{17a}", "\u{3042}", "\u{1F600}"] {
            assert_eq!(of(other, LATIN), Some(OTHER_CHARACTERS), "{other}");
            assert_eq!(of(other, UTF8), None, "{other}");
        }
        assert_eq!(of("\u{141}\u{f3}d\u{17a}", POLISH), None);
    }
}
