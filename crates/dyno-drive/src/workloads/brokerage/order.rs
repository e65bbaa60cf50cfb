//! Orders of customers, and their kinds.

use std::fmt;

/// Longest symbol of a security, characters.
const LONGEST_SYMBOL: usize = 15;

/// The symbol of a security.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol {
    bytes: [u8; LONGEST_SYMBOL],
    length: u8,
}

impl Symbol {
    /// Of a text; what exceeds 15 bytes is cut.
    pub fn new(text: &str) -> Self {
        let mut length = text.len().min(LONGEST_SYMBOL);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        let mut bytes = [0; LONGEST_SYMBOL];
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        Self { bytes, length: length as u8 }
    }

    /// Its text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or_default()
    }

    /// A hash that never changes (FNV-1a).
    pub fn digest(&self) -> u64 {
        self.text().bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text().fmt(out)
    }
}

/// The kind of a trade.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Buy at any price.
    #[default]
    MarketBuy,
    /// Sell at any price.
    MarketSell,
    /// Buy at the bid price or below.
    LimitBuy,
    /// Sell at the bid price or above.
    LimitSell,
    /// Sell once the price falls to the bid.
    StopLoss,
}

impl Kind {
    /// Its key in the table of trade types.
    pub const fn id(self) -> &'static str {
        match self {
            Self::MarketBuy => "TMB",
            Self::MarketSell => "TMS",
            Self::LimitBuy => "TLB",
            Self::LimitSell => "TLS",
            Self::StopLoss => "TSL",
        }
    }

    /// Its name in the description of cash transactions.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MarketBuy => "Market-Buy",
            Self::MarketSell => "Market-Sell",
            Self::LimitBuy => "Limit-Buy",
            Self::LimitSell => "Limit-Sell",
            Self::StopLoss => "Stop-Loss",
        }
    }

    /// Whether it executes at any price.
    pub const fn at_market(self) -> bool {
        matches!(self, Self::MarketBuy | Self::MarketSell)
    }

    /// Whether shares are sold.
    pub const fn sells(self) -> bool {
        matches!(self, Self::MarketSell | Self::LimitSell | Self::StopLoss)
    }

    /// Whether a price triggers a limit order.
    pub const fn triggered(self, bid_cents: i64, cents: i64) -> bool {
        match self {
            Self::MarketBuy | Self::MarketSell => true,
            Self::LimitBuy | Self::StopLoss => cents <= bid_cents,
            Self::LimitSell => cents >= bid_cents,
        }
    }
}

/// A committed order, with what its result needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Order {
    /// Number of the trade.
    pub trade: i64,
    /// Account that trades.
    pub account: i64,
    /// Owner of the account.
    pub customer: i64,
    /// Broker of the account.
    pub broker: i64,
    /// Tier of the customer, 1 to 3.
    pub tier: i32,
    /// Kind of the trade.
    pub kind: Kind,
    /// The security.
    pub symbol: Symbol,
    /// Shares.
    pub shares: i32,
    /// Price that was asked for, hundredths.
    pub bid_cents: i64,
    /// When it is the market's price, monotonic ns.
    pub reached_ns: u64,
    /// Whether the last shares bought are sold first.
    pub lifo: bool,
    /// Whether it is paid at once, and not on margin.
    pub cash: bool,
    /// Whether the tax on a gain is withheld: 1 is; 2 is computed only; 0 is not taxed.
    pub tax_status: i32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_keep_their_text_and_order() {
        for text in ["", "A", "ABCDEFGHIJKLMNO"] {
            assert_eq!(Symbol::new(text).text(), text);
        }
        assert_eq!(Symbol::new("ABCDEFGHIJKLMNé").text(), "ABCDEFGHIJKLMN");
        assert!(Symbol::new("AB") < Symbol::new("B"));
    }

    #[test]
    fn a_bid_triggers_from_its_side() {
        for (kind, below, above) in [
            (Kind::LimitBuy, true, false),
            (Kind::StopLoss, true, false),
            (Kind::LimitSell, false, true),
        ] {
            assert_eq!((kind.triggered(100, 99), kind.triggered(100, 101)), (below, above));
            assert!(kind.triggered(100, 100));
        }
    }
}
