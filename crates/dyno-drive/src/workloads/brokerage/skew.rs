//! Non-uniform draws of trades and times of the past.
//!
//! NURand of TPC-C (clause 2.1.6) with its first number shifted: `((random(0, A) << s) | random(0,
//! n − 1)) mod n`. The lowest `s` bits stay uniform, so blocks of neighbours are drawn more often
//! than others, and not single values. Trades have a `s` of 7 and 16 bits of `A`; times in
//! milliseconds have 16 and 12: the values that the drivers of TPC-E use at its smallest size, with
//! 300 days. Smaller data has fewer bits: with the same `A` most results would exceed `n`, and
//! the remainder would undo the skew.

use rand::Rng;

/// A distribution over the numbers below a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skew {
    values: u64,
    /// `A`.
    most: u64,
    /// `s`.
    shift: u32,
}

impl Skew {
    /// Of trades, from 0.
    pub const fn of_trades(trades: u64) -> Self {
        Self::new(trades, 7, 16, 10)
    }

    /// Of times, milliseconds.
    pub const fn of_times(ms: u64) -> Self {
        Self::new(ms, 16, 12, 30)
    }

    /// `A` has at most `bits`, and is shifted at most a `part`-th of the values.
    const fn new(values: u64, shift: u32, mut bits: u32, part: u64) -> Self {
        while ((1 << bits) - 1) << shift > values / part {
            bits -= 1;
        }
        Self { values, most: (1 << bits) - 1, shift }
    }

    /// Draws a value.
    pub fn draw(&self, rng: &mut impl Rng) -> u64 {
        let block = rng.random_range(0..=self.most) << self.shift;
        (block | rng.random_range(0..self.values)) % self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// The smallest size of TPC-E: 5,000 customers, 300 days.
    const TRADES: u64 = 5_000 * 17_280;
    const DAY_MS: u64 = 8 * 3_600_000;

    #[test]
    fn the_published_size_has_the_published_parameters() {
        let trades = Skew::of_trades(TRADES);
        assert_eq!((trades.most, trades.shift), (65_535, 7));
        let times = Skew::of_times(296 * DAY_MS);
        assert_eq!((times.most, times.shift), (4_095, 16));
        // More customers do not change them.
        assert_eq!(Skew::of_trades(1_000 * TRADES).most, 65_535);
    }

    #[test]
    fn smaller_data_has_a_smaller_skew_within_its_values() {
        for (values, most) in [(576_000, 255), (57_600, 31), (5_760, 3)] {
            assert_eq!(Skew::of_trades(values).most, most);
        }
        assert_eq!(Skew::of_trades(1).most, 0);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        assert!((0..10_000).all(|_| Skew::of_trades(5_760).draw(&mut rng) < 5_760));
    }

    #[test]
    fn half_of_the_draws_fall_on_a_tenth_of_the_trades() {
        const DRAWS: u64 = 400_000;
        let values = 576_000;
        let skew = Skew::of_trades(values);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut blocks = vec![0u64; (values >> 7) as usize];
        for _ in 0..DRAWS {
            blocks[(skew.draw(&mut rng) >> 7) as usize] += 1;
        }
        blocks.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
        let hottest =
            |part: usize| blocks[..blocks.len() / part].iter().sum::<u64>() as f64 / DRAWS as f64;
        // Of 8 bits, each is 1 with probability 3/4: 6 or more in 37 of 256 blocks, which get 68 %.
        assert!((hottest(10) - 0.54).abs() < 0.05, "{}", hottest(10));
        assert!(hottest(2) < 0.99, "{}", hottest(2));
        let drawn = blocks.iter().filter(|count| **count > 0).count();
        assert!(drawn > blocks.len() * 9 / 10, "rare ones are drawn, too: {drawn}");
    }
}
