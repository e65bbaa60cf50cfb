//! Integers as decimal text, without the formatting machinery.

const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut i = 0;
    while i < 100 {
        pairs[i] = [b'0' + (i / 10) as u8, b'0' + (i % 10) as u8];
        i += 1;
    }
    pairs
};

/// The two digits of a value below 100.
#[inline]
pub(super) fn pair(value: u32) -> [u8; 2] {
    PAIRS[value as usize]
}

/// Appends a non-negative integer.
#[inline]
pub(super) fn unsigned(buffer: &mut Vec<u8>, mut value: u64) {
    let mut text = [0; 20];
    let mut at = text.len();
    while value >= 100 {
        at -= 2;
        text[at..at + 2].copy_from_slice(&pair((value % 100) as u32));
        value /= 100;
    }
    if value >= 10 {
        at -= 2;
        text[at..at + 2].copy_from_slice(&pair(value as u32));
    } else {
        at -= 1;
        text[at] = b'0' + value as u8;
    }
    buffer.extend_from_slice(&text[at..]);
}

/// Appends an integer.
#[inline]
pub(super) fn signed(buffer: &mut Vec<u8>, value: i64) {
    if value < 0 {
        buffer.push(b'-');
    }
    unsigned(buffer, value.unsigned_abs());
}

/// Appends `unscaled / 10^scale` with exactly `scale` digits after the point.
#[inline]
pub(super) fn decimal(buffer: &mut Vec<u8>, unscaled: i64, scale: u8) {
    if scale == 0 {
        return signed(buffer, unscaled);
    }
    if unscaled < 0 {
        buffer.push(b'-');
    }
    let unit = 10u64.pow(u32::from(scale));
    let magnitude = unscaled.unsigned_abs();
    unsigned(buffer, magnitude / unit);
    buffer.push(b'.');
    let fraction = magnitude % unit;
    if scale == 2 {
        return buffer.extend_from_slice(&pair(fraction as u32));
    }
    let mut place = unit / 10;
    while place > 0 {
        buffer.push(b'0' + (fraction / place % 10) as u8);
        place /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn integers_read_as_std_writes_them(value: i64, shift in 0u32..63) {
            let mut buffer = Vec::new();
            signed(&mut buffer, value >> shift);
            prop_assert_eq!(String::from_utf8(buffer).unwrap(), (value >> shift).to_string());
        }

        #[test]
        fn decimals_keep_every_digit(value: i64, scale in 1u8..=16) {
            let mut buffer = Vec::new();
            decimal(&mut buffer, value, scale);
            let text = String::from_utf8(buffer).unwrap();
            let (_, fraction) = text.split_once('.').unwrap();
            prop_assert_eq!(fraction.len(), usize::from(scale));
            prop_assert_eq!(text.replacen('.', "", 1).parse::<i64>().unwrap(), value);
        }
    }
}
