//! The mix of transactions: each user draws from a deck of 23 cards, which is shuffled again when
//! it is empty (TPC-C specification, clause 5.2.4.2). The mix is exact after each deck.

use rand::seq::SliceRandom as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The five transactions, in the order of [`NAMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A customer orders 5 to 15 items.
    NewOrder,
    /// A customer pays.
    Payment,
    /// A customer asks for the last order.
    OrderStatus,
    /// The oldest order of each district is delivered.
    Delivery,
    /// Counts recently ordered items with low stock.
    StockLevel,
}

/// Names of the transactions in bundles.
pub const NAMES: [&str; 5] = ["new_order", "payment", "order_status", "delivery", "stock_level"];

/// Keying time and mean think time in seconds (clause 5.2.5.7), in the order of [`NAMES`].
pub const PAUSES_S: [(f64, f64); 5] =
    [(18.0, 12.0), (3.0, 12.0), (2.0, 10.0), (2.0, 5.0), (2.0, 5.0)];

const CARDS: [Kind; 23] = {
    let mut cards = [Kind::NewOrder; 23];
    let mut next = 10;
    while next < 20 {
        cards[next] = Kind::Payment;
        next += 1;
    }
    cards[20] = Kind::OrderStatus;
    cards[21] = Kind::Delivery;
    cards[22] = Kind::StockLevel;
    cards
};

/// A user's deck.
#[derive(Debug, Clone)]
pub struct Deck {
    cards: [Kind; 23],
    dealt: usize,
}

impl Deck {
    /// A deck that is shuffled before the first card.
    pub const fn new() -> Self {
        Self { cards: CARDS, dealt: CARDS.len() }
    }

    /// The next transaction.
    pub fn deal(&mut self, rng: &mut Xoshiro256PlusPlus) -> Kind {
        if self.dealt == self.cards.len() {
            self.cards.shuffle(rng);
            self.dealt = 0;
        }
        self.dealt += 1;
        self.cards[self.dealt - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn every_deck_has_the_exact_mix_in_another_order() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut deck = Deck::new();
        let mut orders = Vec::new();
        for _ in 0..50 {
            let dealt: Vec<Kind> = (0..23).map(|_| deck.deal(&mut rng)).collect();
            let mut counts = [0; 5];
            for kind in &dealt {
                counts[*kind as usize] += 1;
            }
            assert_eq!(counts, [10, 10, 1, 1, 1]);
            orders.push(dealt);
        }
        assert!(orders.windows(2).any(|pair| pair[0] != pair[1]));
    }
}
