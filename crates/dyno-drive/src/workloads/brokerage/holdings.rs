//! What a trade does to an account's holdings of a security.
//!
//! A sale closes holdings of bought shares, the first or the last first; shares beyond them are
//! sold short, a holding of fewer than no shares. A purchase closes short holdings likewise.

/// Shares of one security that an account got by one trade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    /// The trade.
    pub trade: i64,
    /// Shares; less than 0 if sold short.
    pub shares: i32,
    /// Price of a share, hundredths.
    pub cents: i64,
}

/// A holding that a trade changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The holding before it.
    pub holding: Holding,
    /// Shares after it; the holding ends with none.
    pub left: i32,
}

/// The effect of a trade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// Holdings that it closes or reduces, in order.
    pub changes: Vec<Change>,
    /// Shares of the new holding; less than 0 if sold short, 0 if there is none.
    pub opened: i32,
    /// What the closed shares cost, hundredths.
    pub bought_cents: i64,
    /// What the closed shares brought, hundredths.
    pub sold_cents: i64,
}

impl Effect {
    /// Of a trade of `shares` at `cents`: `holdings` are all of the account in the security, the
    /// oldest first.
    pub fn of(sells: bool, lifo: bool, shares: i32, cents: i64, holdings: &[Holding]) -> Self {
        let mut effect = Self { changes: Vec::new(), opened: 0, bought_cents: 0, sold_cents: 0 };
        let mut left = shares;
        let mut close = |holding: &Holding| {
            // The other side: bought shares for a sale, sold ones for a purchase.
            if left == 0 || (holding.shares > 0) != sells {
                return;
            }
            let closed = left.min(holding.shares.abs());
            left -= closed;
            let after = holding.shares - if sells { closed } else { -closed };
            effect.changes.push(Change { holding: *holding, left: after });
            let (before, now) = (i64::from(closed) * holding.cents, i64::from(closed) * cents);
            let (bought, sold) = if sells { (before, now) } else { (now, before) };
            effect.bought_cents += bought;
            effect.sold_cents += sold;
        };
        if lifo {
            holdings.iter().rev().for_each(&mut close);
        } else {
            holdings.iter().for_each(&mut close);
        }
        effect.opened = if sells { -left } else { left };
        effect
    }

    /// Tax on the gain, hundredths, at a rate in units of 10⁻⁵.
    pub fn tax_cents(&self, rate: i64) -> i64 {
        (self.sold_cents - self.bought_cents).max(0) * rate / 100_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn holding(trade: i64, shares: i32, cents: i64) -> Holding {
        Holding { trade, shares, cents }
    }

    #[test]
    fn the_last_or_the_first_shares_are_sold() {
        let held = [holding(1, 100, 2_000), holding(2, 400, 2_500)];
        let first = Effect::of(true, false, 200, 3_000, &held);
        let left: Vec<_> =
            first.changes.iter().map(|change| (change.holding.trade, change.left)).collect();
        assert_eq!(left, [(1, 0), (2, 300)]);
        assert_eq!((first.bought_cents, first.sold_cents), (450_000, 600_000));
        assert_eq!(first.tax_cents(20_000), 30_000);
        let last = Effect::of(true, true, 200, 3_000, &held);
        assert_eq!(last.changes, [Change { holding: held[1], left: 200 }]);
    }

    #[test]
    fn short_sales_open_and_purchases_close_them() {
        let short = Effect::of(true, false, 100, 2_000, &[]);
        assert_eq!((short.opened, short.tax_cents(50_000)), (-100, 0));
        let closing = Effect::of(false, false, 300, 1_500, &[holding(3, -100, 2_000)]);
        assert_eq!(closing.changes, [Change { holding: holding(3, -100, 2_000), left: 0 }]);
        assert_eq!(closing.opened, 200);
        assert_eq!((closing.bought_cents, closing.sold_cents), (150_000, 200_000));
    }

    proptest! {
        #[test]
        fn shares_are_neither_lost_nor_made(
            sells: bool, lifo: bool, shares in 1..1_000i32,
            held in prop::collection::vec((-500..500i32, 2_000..3_000i64), 0..8),
        ) {
            let holdings: Vec<_> = (1i64..).zip(&held)
                .filter(|(_, (shares, _))| *shares != 0)
                .map(|(trade, (shares, cents))| holding(trade, *shares, *cents)).collect();
            let effect = Effect::of(sells, lifo, shares, 2_500, &holdings);
            let moved: i32 =
                effect.changes.iter().map(|change| change.left - change.holding.shares).sum();
            prop_assert_eq!(moved + effect.opened, if sells { -shares } else { shares });
            for change in &effect.changes {
                prop_assert!(change.left == 0 || (change.left > 0) == sells);
            }
        }
    }
}
