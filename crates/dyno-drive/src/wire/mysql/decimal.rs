//! Decimals as text, their form in the binary protocol.

use bytes::BytesMut;

use super::packet::put_bytes;

/// Maximum length: 19 digits, a point and a sign.
const LONGEST: usize = 21;

/// Appends `units` · 10^−`scale` with all digits of the scale.
pub fn encode(units: i64, scale: u8, out: &mut BytesMut) {
    let mut text = [0; LONGEST];
    let mut at = LONGEST;
    let mut rest = units.unsigned_abs();
    let mut digits = 0;
    // At least one digit before the point.
    while rest > 0 || digits <= scale {
        if digits == scale && scale > 0 {
            at -= 1;
            text[at] = b'.';
        }
        at -= 1;
        text[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        digits += 1;
    }
    if units < 0 {
        at -= 1;
        text[at] = b'-';
    }
    put_bytes(out, &text[at..]);
}

/// Parses a text in units of 10^−`scale`. `None` if it is not a decimal, does not fit, or has
/// digits beyond the scale.
pub fn decode(text: &[u8], scale: u8) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let point = digits.iter().position(|byte| *byte == b'.').unwrap_or(digits.len());
    let (whole, fraction) = digits.split_at(point);
    let fraction = fraction.get(1..).unwrap_or_default();
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (kept, beyond) = fraction.split_at(fraction.len().min(usize::from(scale)));
    if beyond.iter().any(|byte| *byte != b'0') {
        return None;
    }
    let missing = std::iter::repeat_n(&b'0', usize::from(scale) - kept.len());
    let mut units: i64 = 0;
    for byte in whole.iter().chain(kept).chain(missing) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        // The negative range has one more number than the positive one.
        units = units.checked_mul(10)?.checked_sub(i64::from(digit))?;
    }
    if negative { Some(units) } else { units.checked_neg() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, prop_assert_eq, proptest};

    fn encoded(units: i64, scale: u8) -> Vec<u8> {
        let mut out = BytesMut::new();
        encode(units, scale, &mut out);
        out[1..].to_vec()
    }

    #[test]
    fn known_texts() {
        let table: [(i64, u8, &str); 7] = [
            (0, 2, "0.00"),
            (123_456, 2, "1234.56"),
            (-5, 2, "-0.05"),
            (5, 0, "5"),
            (0, 0, "0"),
            (9_999, 4, "0.9999"),
            (i64::MIN, 8, "-92233720368.54775808"),
        ];
        for (units, scale, text) in table {
            assert_eq!(encoded(units, scale), text.as_bytes());
            assert_eq!(decode(text.as_bytes(), scale), Some(units));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for wrong in ["", "-", ".", "1.2.3", "1e5", "12.345", "1-", "9223372036854775808", "+1"] {
            assert_eq!(decode(wrong.as_bytes(), 2), None, "{wrong}");
        }
        assert_eq!(decode(b"12.3400", 2), Some(1_234));
        assert_eq!(decode(b"7", 2), Some(700));
        assert_eq!(decode(b".5", 2), Some(50));
    }

    proptest! {
        #[test]
        fn numbers_round_trip(units in any::<i64>(), scale in 0u8..=8) {
            prop_assert_eq!(decode(&encoded(units, scale), scale), Some(units));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..40), scale in 0u8..=8) {
            let _ = decode(&bytes, scale);
        }
    }
}
