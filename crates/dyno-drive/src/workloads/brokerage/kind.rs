//! The transactions and how often each runs.

use rand::Rng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The transactions, in the order of [`NAMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Value of brokers' open orders in a sector.
    BrokerVolume,
    /// A customer's accounts and their value.
    CustomerPosition,
    /// Maintenance of rarely changed data.
    DataMaintenance,
    /// Prices from the exchange.
    MarketFeed,
    /// Change of the value of some securities.
    MarketWatch,
    /// All about a security.
    SecurityDetail,
    /// Trades of the past.
    TradeLookup,
    /// A customer orders a trade.
    TradeOrder,
    /// The exchange reports the result of a trade.
    TradeResult,
    /// An account's last trades.
    TradeStatus,
    /// Corrections of trades of the past.
    TradeUpdate,
}

/// Names of the transactions in bundles.
pub const NAMES: [&str; 11] = [
    "broker_volume",
    "customer_position",
    "data_maintenance",
    "market_feed",
    "market_watch",
    "security_detail",
    "trade_lookup",
    "trade_order",
    "trade_result",
    "trade_status",
    "trade_update",
];

/// Shares of what customers and brokers do, in thousandths of all. The exchange's two, 100 and 10,
/// follow from the orders.
const SHARES: [(Kind, u32); 8] = [
    (Kind::TradeStatus, 190),
    (Kind::MarketWatch, 180),
    (Kind::SecurityDetail, 140),
    (Kind::CustomerPosition, 130),
    (Kind::TradeOrder, 101),
    (Kind::TradeLookup, 80),
    (Kind::BrokerVolume, 49),
    (Kind::TradeUpdate, 20),
];

/// Draws what a customer or a broker does next.
pub fn draw(rng: &mut Xoshiro256PlusPlus) -> Kind {
    let whole: u32 = SHARES.iter().map(|(_, share)| share).sum();
    let mut drawn = rng.random_range(0..whole);
    for (kind, share) in SHARES {
        if drawn < share {
            return kind;
        }
        drawn -= share;
    }
    Kind::TradeStatus
}
