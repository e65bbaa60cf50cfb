//! The generator of TPC-H's random streams: `x ← 16807·x mod (2^31 − 1)`.
//!
//! The modulus is a Mersenne prime, so the remainder takes a shift and an addition.

const MULTIPLIER: u64 = 16_807;
const MODULUS: u64 = (1 << 31) - 1;

/// A random stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lehmer(u64);

impl Lehmer {
    /// A stream after `seed`, which is in `1..MODULUS`.
    pub(super) const fn new(seed: u32) -> Self {
        Self(seed as u64)
    }

    /// The next value, in `1..MODULUS`.
    #[inline]
    pub(super) fn draw(&mut self) -> u64 {
        self.0 = reduce(self.0 * MULTIPLIER);
        self.0
    }

    /// The next value scaled to `low..=high`, with the rounding of the TPC's generator.
    #[inline]
    pub(super) fn between(&mut self, low: i32, high: i32) -> i32 {
        let range = f64::from(high - low + 1);
        low + (self.draw() as f64 / MODULUS as f64 * range) as i32
    }

    /// The next value scaled to `low..=high`, for ranges of at most 10,000. Equals
    /// [`between`](Self::between): the product is never close enough to a multiple of the modulus
    /// for rounding to matter.
    #[inline]
    pub(super) fn choose(&mut self, low: u32, high: u32) -> u32 {
        let product = self.draw() * u64::from(high - low + 1);
        // The quotient by 2^31 − 1, computed from that by 2^31: exact for products below 2^62.
        low + ((product + (product >> 31) + 1) >> 31) as u32
    }

    /// Skips `count` values, fewer than 16.
    #[inline]
    pub(super) fn skip_few(&mut self, count: u32) {
        self.0 = reduce(self.0 * POWERS[count as usize]);
    }

    /// Skips `count` values.
    pub(super) fn skip(&mut self, mut count: u64) {
        let mut power = MULTIPLIER;
        while count > 0 {
            if count & 1 == 1 {
                self.0 = reduce(self.0 * power);
            }
            power = reduce(power * power);
            count >>= 1;
        }
    }
}

/// Powers of the multiplier.
const POWERS: [u64; 16] = {
    let mut powers = [1; 16];
    let mut i = 1;
    while i < powers.len() {
        powers[i] = reduce(powers[i - 1] * MULTIPLIER);
        i += 1;
    }
    powers
};

/// `value mod (2^31 − 1)` of a product of two residues.
#[inline]
const fn reduce(value: u64) -> u64 {
    let folded = (value & MODULUS) + (value >> 31);
    if folded >= MODULUS { folded - MODULUS } else { folded }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tpchgen::random::RowRandomInt;

    proptest! {
        #[test]
        fn draws_and_skips_equal_the_reference(seed in 1..MODULUS as u32, rows in 0i64..1 << 40, high in 0i32..400_000_000) {
            let (mut ours, mut reference) = (Lehmer::new(seed), RowRandomInt::new(i64::from(seed), 1));
            ours.skip(rows as u64);
            reference.advance_rows(rows);
            for few in 0..16 {
                prop_assert_eq!(ours.between(0, high), reference.next_int(0, high));
                let small = high % 10_000;
                prop_assert_eq!(ours.choose(0, small as u32), reference.next_int(0, small) as u32);
                ours.skip_few(few);
                for _ in 0..few {
                    reference.next_rand();
                }
            }
        }
    }
}
