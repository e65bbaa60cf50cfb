//! PostgreSQL's binary `numeric`: four 16-bit words (number of digits, weight of the first, sign,
//! number of displayed digits after the point), then base-10,000 digits.

use bytes::{BufMut, BytesMut};

const BASE: u64 = 10_000;
const NEGATIVE: u16 = 0x4000;
/// Decimal digits per base-10,000 digit.
const WIDTH: u8 = 4;

/// Appends `units` · 10^−`scale`.
pub fn encode(units: i64, scale: u8, out: &mut BytesMut) {
    let fraction_digits = scale.div_ceil(WIDTH);
    let shift = u32::from(fraction_digits * WIDTH - scale);
    let mut rest = u128::from(units.unsigned_abs()) * u128::from(10u64.pow(shift));
    // Enough for 2^63 · 10^3.
    let mut digits = [0u16; 6];
    let mut count = 0;
    while rest > 0 {
        digits[count] = (rest % u128::from(BASE)) as u16;
        rest /= u128::from(BASE);
        count += 1;
    }
    let trailing = digits[..count].iter().take_while(|digit| **digit == 0).count();
    let weight = if count == 0 { 0 } else { count as i16 - 1 - i16::from(fraction_digits) };
    out.put_i16((count - trailing) as i16);
    out.put_i16(weight);
    out.put_u16(if units < 0 { NEGATIVE } else { 0 });
    out.put_u16(u16::from(scale));
    for digit in digits[trailing..count].iter().rev() {
        out.put_u16(*digit);
    }
}

/// Parses a number in units of 10^−`scale`. `None` if it is not finite, is malformed, does not fit,
/// or has digits beyond the scale.
pub fn decode(bytes: &[u8], scale: u8) -> Option<i64> {
    let (words, []) = bytes.as_chunks::<2>() else { return None };
    let [count, weight, sign, _shown, digits @ ..] = words else { return None };
    let (count, weight) = (u16::from_be_bytes(*count), i16::from_be_bytes(*weight));
    let sign = u16::from_be_bytes(*sign);
    if usize::from(count) != digits.len() || !matches!(sign, 0 | NEGATIVE) {
        return None;
    }
    let mut units: i128 = 0;
    for (position, digit) in (0i32..).zip(digits) {
        let digit = i128::from(u16::from_be_bytes(*digit));
        // The power of ten of this digit's last decimal, relative to the wanted scale.
        let power = (i32::from(weight) - position) * i32::from(WIDTH) + i32::from(scale);
        units += match u32::try_from(power) {
            Ok(up @ ..=18) => digit * 10i128.pow(up),
            Ok(_) if digit == 0 => 0,
            Ok(_) => return None,
            Err(_) => {
                let down = 10i128.checked_pow(power.unsigned_abs());
                match down {
                    Some(down) if digit % down == 0 => digit / down,
                    _ if digit == 0 => 0,
                    _ => return None,
                }
            }
        };
    }
    i64::try_from(if sign == NEGATIVE { -units } else { units }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, prop_assert_eq, proptest};

    fn encoded(units: i64, scale: u8) -> Vec<u8> {
        let mut out = BytesMut::new();
        encode(units, scale, &mut out);
        out.to_vec()
    }

    /// Bytes from PostgreSQL's `numeric_send`.
    #[test]
    fn known_encodings() {
        let table: [(i64, u8, &[u16]); 7] = [
            (0, 2, &[0, 0, 0, 2]),
            (123_456, 2, &[2, 0, 0, 2, 1234, 5600]),
            (-5, 2, &[1, 0xFFFF, 0x4000, 2, 500]),
            (1_000_000, 2, &[1, 1, 0, 2, 1]),
            (5_000, 4, &[1, 0xFFFF, 0, 4, 5_000]),
            (10_000, 0, &[1, 1, 0, 0, 1]),
            (3_000_000_000, 2, &[1, 1, 0, 2, 3_000]),
        ];
        for (units, scale, words) in table {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            assert_eq!(encoded(units, scale), bytes, "{units}e-{scale}");
            assert_eq!(decode(&bytes, scale), Some(units));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(decode(&encoded(12_345, 3), 2), None);
        assert_eq!(decode(&encoded(12_340, 3), 2), Some(1_234));
        assert_eq!(decode(&[0, 0, 0, 0, 0xC0, 0, 0, 0], 2), None);
        assert_eq!(decode(&[0, 1, 0, 0, 0, 0, 0, 0], 2), None);
        assert_eq!(decode(&[0, 0, 0], 2), None);
        assert_eq!(decode(&encoded(i64::MAX, 0), 1), None);
    }

    proptest! {
        #[test]
        fn numbers_round_trip(units in any::<i64>(), scale in 0u8..=8) {
            prop_assert_eq!(decode(&encoded(units, scale), scale), Some(units));
        }

        #[test]
        fn a_wider_scale_reads_the_same_number(units in -1_000_000_000i64..1_000_000_000, scale in 0u8..=4, wider in 0u8..=4) {
            let expected = units * 10i64.pow(u32::from(wider));
            prop_assert_eq!(decode(&encoded(units, scale), scale + wider), Some(expected));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..40), scale in 0u8..=8) {
            let _ = decode(&bytes, scale);
        }
    }
}
