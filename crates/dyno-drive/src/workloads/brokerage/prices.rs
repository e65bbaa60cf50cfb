//! Prices on the exchange: each rises and falls evenly around the price at which the exchange first
//! saw its security.

use std::collections::HashMap;

use super::order::Symbol;

/// Largest distance from the first price.
const SWING: f64 = 0.1;
/// Time from the first price up, down, and back to it, ns.
const PERIOD_NS: u64 = 900_000_000_000;

/// The prices of securities that were asked for.
#[derive(Debug, Default)]
pub struct Prices {
    first: HashMap<Symbol, First>,
}

#[derive(Debug, Clone, Copy)]
struct First {
    cents: i64,
    at_ns: u64,
}

impl Prices {
    /// Price of a share at a monotonic time, hundredths. `last_cents` is the last price in the
    /// database, for the first question about a security.
    pub fn cents(&mut self, symbol: Symbol, last_cents: i64, now_ns: u64) -> i64 {
        let first = self.first.entry(symbol);
        let First { cents, at_ns } =
            *first.or_insert(First { cents: last_cents.max(1), at_ns: now_ns });
        let phase = (now_ns.saturating_sub(at_ns) % PERIOD_NS) as f64 / PERIOD_NS as f64;
        // 0, 1, 0, −1, 0 at the quarters of a period.
        let height = 1.0 - (4.0 * ((phase + 0.75) % 1.0 - 0.5)).abs();
        // Half of the prices fall first.
        let direction = if symbol.digest().is_multiple_of(2) { SWING } else { -SWING };
        ((cents as f64) * (1.0 + direction * height)).round() as i64
    }

    /// The price of a security that was asked for before; 1 for any other.
    pub fn known(&mut self, symbol: Symbol, now_ns: u64) -> i64 {
        self.cents(symbol, 1, now_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_start_at_the_last_and_swing_around_it() {
        let mut prices = Prices::default();
        for symbol in ["A", "BB", "CCC", "ABCDEFGH"].map(Symbol::new) {
            let second = 1_000_000_000;
            let course: Vec<i64> =
                (0..=900).map(|number| prices.cents(symbol, 2_000, number * second)).collect();
            assert_eq!((course[0], course[450], course[900]), (2_000, 2_000, 2_000));
            assert_eq!(course.iter().max().copied(), Some(2_200));
            assert_eq!(course.iter().min().copied(), Some(1_800));
            assert!(course.windows(2).all(|pair| (pair[1] - pair[0]).abs() <= 1));
            assert_eq!(prices.known(symbol, 450 * second), 2_000);
        }
    }
}
