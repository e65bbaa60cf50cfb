//! Parameters of statements in the binary protocol.

use bytes::{BufMut as _, BytesMut};
use dyno_gen::sink::civil;

use super::decimal;
use super::packet::put_bytes;
use super::row::{DATE, DATETIME, LONG, LONGLONG, NEWDECIMAL, NULL, VAR_STRING};
use crate::wire::{Type, Value};

/// The type number of a parameter.
pub const fn parameter_type(kind: Type) -> u8 {
    match kind {
        Type::Int => LONG,
        Type::BigInt => LONGLONG,
        Type::Decimal(_) => NEWDECIMAL,
        Type::Text => VAR_STRING,
        Type::Date => DATE,
        Type::Timestamp => DATETIME,
        // Of results only.
        Type::Rest => NULL,
    }
}

/// Appends a parameter's value; nothing for null.
#[inline]
pub fn encode(value: Value<'_>, out: &mut BytesMut) {
    match value {
        Value::Null => {}
        Value::Int(value) => out.put_i32_le(value),
        Value::BigInt(value) => out.put_i64_le(value),
        Value::Decimal { units, scale } => decimal::encode(units, scale, out),
        Value::Text(text) => put_bytes(out, text.as_bytes()),
        Value::Date(days) => {
            let (year, month, day) = civil(days);
            out.put_u8(4);
            out.put_u16_le(year as u16);
            out.put_u8(month as u8);
            out.put_u8(day as u8);
        }
        Value::Timestamp(unix_us) => encode_timestamp(unix_us, out),
    }
}

/// Appends length, year, month, day, hour, minute, second and microsecond.
fn encode_timestamp(unix_us: i64, out: &mut BytesMut) {
    const DAY_US: i64 = 86_400_000_000;
    let (year, month, day) = civil(unix_us.div_euclid(DAY_US) as i32);
    let within = unix_us.rem_euclid(DAY_US);
    let seconds = (within / 1_000_000) as u32;
    out.put_u8(11);
    out.put_u16_le(year as u16);
    for part in [month, day, seconds / 3600, seconds / 60 % 60, seconds % 60] {
        out.put_u8(part as u8);
    }
    out.put_u32_le((within % 1_000_000) as u32);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(value: Value<'_>) -> Vec<u8> {
        let mut out = BytesMut::new();
        encode(value, &mut out);
        out.to_vec()
    }

    #[test]
    fn values_as_the_protocol_describes_them() {
        assert_eq!(encoded(Value::Null), b"");
        assert_eq!(encoded(Value::Int(-2)), [0xFE, 0xFF, 0xFF, 0xFF]);
        assert_eq!(encoded(Value::BigInt(1)), [1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(encoded(Value::cents(-123)), b"\x05-1.23");
        assert_eq!(encoded(Value::Text("\u{e9}")), b"\x02\xC3\xA9");
        assert_eq!(encoded(Value::Date(14_899)), [4, 0xDA, 0x07, 10, 17]);
        // 2010-10-17 19:27:30.000001
        assert_eq!(
            encoded(Value::Timestamp(1_287_343_650_000_001)),
            [11, 0xDA, 0x07, 10, 17, 19, 27, 30, 1, 0, 0, 0]
        );
    }
}
