//! Prices on the exchange: each rises and falls evenly around the opening price of its security.
//!
//! They depend on the time alone, so a level goes on where the one before ended, and the price at a
//! later time is known: the bid of a limit order is one.

use std::collections::HashMap;

use super::order::Symbol;

/// Largest distance from the opening price.
const SWING: f64 = 0.1;
/// Time from the opening price up, down, and back to it, ns.
const PERIOD_NS: u64 = 900_000_000_000;

/// The prices of securities that were asked for.
#[derive(Debug, Default)]
pub struct Prices {
    /// Opening prices, hundredths.
    open_cents: HashMap<Symbol, i64>,
}

impl Prices {
    /// Price of a share at a time, hundredths. `open_cents` is the opening price in the database,
    /// for the first question about a security.
    pub fn cents(&mut self, symbol: Symbol, open_cents: i64, at_ns: u64) -> i64 {
        let open_cents = *self.open_cents.entry(symbol).or_insert(open_cents.max(1));
        // Each security is elsewhere in its period, so half of the prices rise.
        let place_ns = (at_ns % PERIOD_NS + symbol.digest() % PERIOD_NS) % PERIOD_NS;
        let phase = place_ns as f64 / PERIOD_NS as f64;
        // 0, 1, 0, −1, 0 at the quarters of a period.
        let height = 1.0 - (4.0 * ((phase + 0.75) % 1.0 - 0.5)).abs();
        ((open_cents as f64) * (1.0 + SWING * height)).round() as i64
    }

    /// The price of a security that was asked for before; 1 for any other.
    pub fn known(&mut self, symbol: Symbol, at_ns: u64) -> i64 {
        self.cents(symbol, 1, at_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn prices_swing_around_the_opening_price() {
        let mut prices = Prices::default();
        for symbol in ["A", "BB", "CCC", "ABCDEFGH"].map(Symbol::new) {
            let course: Vec<i64> =
                (0..=900).map(|number| prices.cents(symbol, 2_000, number * S)).collect();
            assert_eq!(course[0], course[900]);
            assert!((course[0] + course[450] - 4_000).abs() <= 1);
            assert_eq!(course.iter().max().copied(), Some(2_200));
            assert_eq!(course.iter().min().copied(), Some(1_800));
            assert!(course.windows(2).all(|pair| (pair[1] - pair[0]).abs() <= 1));
            assert_eq!(prices.known(symbol, 450 * S), course[450]);
        }
    }

    #[test]
    fn a_level_goes_on_where_the_one_before_ended() {
        let (mut one, mut other) = (Prices::default(), Prices::default());
        let symbol = Symbol::new("ABCD");
        one.cents(symbol, 2_000, 0);
        let ended = one.known(symbol, 300 * S);
        assert_ne!(ended, 2_000);
        assert_eq!(other.cents(symbol, 2_000, 300 * S), ended);
    }

    #[test]
    fn half_of_the_prices_rise() {
        let mut prices = Prices::default();
        let rising = (0..1_000).filter(|number| {
            let symbol = Symbol::new(&format!("S{number}"));
            prices.cents(symbol, 5_000, 0) < prices.known(symbol, S)
        });
        let rising = rising.count();
        assert!((400..600).contains(&rising), "{rising}");
    }
}
