//! The holdings of an account in a security. All of them are bought, or all are sold short.

use std::collections::VecDeque;

/// A holding: what is left of the shares of a trade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lot {
    pub(super) trade: u64,
    /// Negative if sold short.
    pub(super) quantity: i32,
    /// In cents.
    pub(super) price: i32,
    pub(super) at: i64,
}

/// What a trade did to a holding: a row of `holding_history`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Touch {
    pub(super) holding: u64,
    pub(super) before: i32,
    pub(super) after: i32,
}

/// Trades a lot: it closes holdings of the other direction, the last or the first ones, and what is
/// left of it is a new holding. Returns the gain of the closed holdings in cents.
pub(super) fn trade(
    lots: &mut VecDeque<Lot>,
    lot: Lot,
    last_first: bool,
    touched: &mut Vec<Touch>,
) -> i64 {
    let (mut rest, mut gain) = (lot.quantity, 0);
    touched.clear();
    while rest != 0 {
        let found = if last_first { lots.back_mut() } else { lots.front_mut() };
        let Some(held) = found.filter(|held| (held.quantity < 0) != (rest < 0)) else { break };
        let before = held.quantity;
        let closed = if held.quantity.abs() <= rest.abs() { -held.quantity } else { rest };
        held.quantity += closed;
        rest -= closed;
        gain -= i64::from(closed) * i64::from(lot.price - held.price);
        touched.push(Touch { holding: held.trade, before, after: held.quantity });
        if held.quantity == 0 {
            if last_first {
                lots.pop_back()
            } else {
                lots.pop_front()
            };
        }
    }
    if rest != 0 {
        touched.push(Touch { holding: lot.trade, before: 0, after: rest });
        lots.push_back(Lot { quantity: rest, ..lot });
    }
    gain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lot(trade: u64, quantity: i32, price: i32) -> Lot {
        Lot { trade, quantity, price, at: 0 }
    }

    fn touch(holding: u64, before: i32, after: i32) -> Touch {
        Touch { holding, before, after }
    }

    #[test]
    fn a_sale_closes_the_first_or_the_last_holdings() {
        for (last_first, expected, gain) in [
            (false, [touch(1, 100, 0), touch(2, 400, 200)], 100 * 20 + 200 * 10),
            (true, [touch(2, 400, 100), touch(2, 0, 0)], 300 * 10),
        ] {
            let (mut lots, mut touched) = (VecDeque::new(), Vec::new());
            for bought in [lot(1, 100, 1_000), lot(2, 400, 1_010)] {
                assert_eq!(trade(&mut lots, bought, last_first, &mut touched), 0);
                assert_eq!(touched, [touch(bought.trade, 0, bought.quantity)]);
            }
            let found = trade(&mut lots, lot(3, -300, 1_020), last_first, &mut touched);
            let closed = if last_first { 1 } else { 2 };
            assert_eq!((found, &touched[..]), (gain, &expected[..closed]));
            assert_eq!(lots.iter().map(|lot| lot.quantity).sum::<i32>(), 200);
        }
    }

    #[test]
    fn a_sale_beyond_the_holdings_goes_short_and_a_purchase_covers_it() {
        let (mut lots, mut touched) = (VecDeque::new(), Vec::new());
        trade(&mut lots, lot(1, 200, 1_000), false, &mut touched);
        trade(&mut lots, lot(2, -800, 1_100), false, &mut touched);
        assert_eq!(touched, [touch(1, 200, 0), touch(2, 0, -600)]);
        let gain = trade(&mut lots, lot(3, 600, 1_000), true, &mut touched);
        assert_eq!((gain, &touched[..], lots.len()), (600 * 100, &[touch(2, -600, 0)][..], 0));
    }
}
