//! Prices of a security: a function of the time, so that trades, daily market and last trades agree
//! without one table being generated for another.

use super::calendar::TRADING;
use super::draws::{Use, below, hash};
use crate::scramble::scramble;

/// Waves that add up to the price: their length in trading days, and their height in a thousandth of
/// the base price.
const WAVES: [(u32, i64); 3] = [(200, 240), (40, 80), (8, 30)];

/// Fractions have 16 bits.
const ONE: i64 = 1 << 16;
/// Swings of the price within a day.
const SWINGS: i64 = 32;

/// Prices of a security, in cents.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prices {
    key: u64,
    base: i64,
}

/// Prices of a trading day, in cents. Every price of the day is between `low` and `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Day {
    pub(super) open: i32,
    pub(super) close: i32,
    pub(super) high: i32,
    pub(super) low: i32,
    swing: i32,
    key: u64,
}

impl Prices {
    pub(super) const fn new(seed: u64, security: u64) -> Self {
        let key = hash(seed, Use::Price, security);
        Self { key, base: 1_800 + below(scramble(key), 7_200) as i64 }
    }

    /// The closing price of trading day `day`.
    #[inline]
    pub(super) fn close(&self, day: u32) -> i32 {
        let mut thousandths = 0;
        for (days, height) in WAVES {
            let key = self.key ^ (u64::from(days) << 40);
            let at = |node: u32| i64::from(below(scramble(key ^ u64::from(node)), ONE as u32 * 2));
            let (node, part) = (day / days, i64::from(day % days));
            let (from, to) = (at(node) - ONE, at(node + 1) - ONE);
            thousandths += (from + (to - from) * part / i64::from(days)) * height;
        }
        (self.base + self.base * thousandths / (1_000 * ONE)) as i32
    }

    /// The prices of trading day `day`, which opens at the last close.
    #[inline]
    pub(super) fn day(&self, day: u32) -> Day {
        let key = scramble(self.key ^ (u64::from(day) << 20));
        let (open, close) = (self.close(day.saturating_sub(1)), self.close(day));
        // 0.5 % to 1.5 % of the base price.
        let swing = (self.base * (5 + i64::from(below(key, 11))) / 1_000) as i32;
        Day { open, close, high: open.max(close) + swing, low: open.min(close) - swing, swing, key }
    }
}

impl Day {
    /// The price at a time since opening, in microseconds.
    #[inline]
    pub(super) fn at(&self, since: i64) -> i32 {
        let part = since * ONE / TRADING;
        let (node, rest) = (part * SWINGS / ONE, part * SWINGS % ONE);
        let swing = |node: i64| i64::from(below(scramble(self.key ^ node as u64), 2 * ONE as u32));
        let (from, to) = (swing(node) - ONE, swing(node + 1) - ONE);
        let wave = from + (to - from) * rest / ONE;
        let trend = i64::from(self.open) * ONE + i64::from(self.close - self.open) * part;
        ((trend + i64::from(self.swing) * wave) / ONE) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::super::calendar::MARKET_DAYS;
    use super::*;

    #[test]
    fn prices_stay_within_the_day_and_days_follow_each_other() {
        for security in 0..200 {
            let prices = Prices::new(5, security);
            for day in 1..MARKET_DAYS {
                let found = prices.day(day);
                assert_eq!(found.open, prices.close(day - 1));
                assert!(found.low > 0 && found.high < 20_000, "{found:?}");
                let change = f64::from(found.close) / f64::from(found.open);
                assert!((0.9..1.1).contains(&change), "{found:?}");
            }
            let day = prices.day(700);
            for step in 0..=1_000 {
                let price = day.at(TRADING * step / 1_000);
                assert!((day.low..=day.high).contains(&price), "{price} in {day:?}");
            }
        }
    }
}
