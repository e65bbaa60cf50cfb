//! Types of trades, and their fees.

use super::market::EXCHANGES;

/// Identifier, name, whether it sells, whether it is a market order, and its share of 100 trades.
#[derive(Debug)]
pub(super) struct TradeType {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) sells: bool,
    pub(super) market: bool,
    pub(super) share: u32,
}

const fn kind(
    id: &'static str,
    name: &'static str,
    sells: bool,
    market: bool,
    share: u32,
) -> TradeType {
    TradeType { id, name, sells, market, share }
}

/// Types of trades. 60 % of the orders are market orders, half of the trades buy.
pub(super) const TYPES: [TradeType; 5] = [
    kind("TMB", "Market-Buy", false, true, 30),
    kind("TMS", "Market-Sell", true, true, 30),
    kind("TLB", "Limit-Buy", false, false, 20),
    kind("TLS", "Limit-Sell", true, false, 10),
    kind("TSL", "Stop-Loss", true, false, 10),
];

/// Indexes of limit orders.
pub(super) const LIMIT_BUY: usize = 2;
/// See [`LIMIT_BUY`].
pub(super) const LIMIT_SELL: usize = 3;
/// See [`LIMIT_BUY`].
pub(super) const STOP_LOSS: usize = 4;

/// Tiers of customers, the best one last.
pub(super) const TIERS: i32 = 3;

/// Ranges of quantities of commission rates.
pub(super) const RANGES: [(i32, i32); 4] = [(1, 100), (101, 200), (201, 400), (401, 10_000)];

/// The charge for a trade, in cents.
#[inline]
pub(super) const fn charge(kind: usize, tier: i32) -> i64 {
    100 + 150 * (TIERS - tier) as i64 + 25 * kind as i64
}

/// The commission, in hundredths of a per cent of the value.
#[inline]
pub(super) const fn rate(tier: i32, kind: usize, exchange: u64, range: usize) -> i64 {
    8 + 6 * (TIERS - tier) as i64
        + kind as i64
        + exchange as i64
        + 4 * (RANGES.len() - 1 - range) as i64
}

/// The range of a quantity.
#[inline]
pub(super) fn range(quantity: i32) -> usize {
    RANGES.iter().position(|(_, most)| quantity <= *most).expect("the last range has all others")
}

/// The commission of a trade of `value` cents, rounded to cents.
#[inline]
pub(super) const fn commission(value: i64, rate: i64) -> i64 {
    (value * rate + 5_000) / 10_000
}

/// Number of rows of `commission_rate`.
pub(super) const RATES: u64 =
    TIERS as u64 * TYPES.len() as u64 * EXCHANGES.len() as u64 * RANGES.len() as u64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_numbers_are_the_published_ones() {
        let share = |of: fn(&TradeType) -> bool| -> u32 {
            TYPES.iter().filter(|kind| of(kind)).map(|kind| kind.share).sum()
        };
        assert_eq!(share(|_| true), 100);
        assert_eq!(share(|kind| kind.market), 60);
        assert_eq!(share(|kind| kind.sells), 50);
        assert_eq!(RATES, 240);
        assert_eq!(commission(1_000_000, 25), 2_500);
        assert_eq!([1, 100, 101, 400, 800].map(range), [0, 0, 1, 2, 3]);
    }
}
