//! The market exchange: what happens to an order between the broker and the result of its trade.
//!
//! A market order executes after a delay. A limit order waits until the price of its security
//! reaches its bid: then a Market-Feed submits it, and it executes after a delay too. Each
//! execution is one Trade-Result; after [`RESULTS_PER_FEED`] of them the exchange sends a
//! Market-Feed. Users do the exchange's work when it is due, before their own, so the shares of
//! both follow from the share of Trade-Order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::order::{Order, Symbol};
use super::prices::Prices;

/// Trade-Results for one Market-Feed.
pub const RESULTS_PER_FEED: usize = 10;
/// Securities of a Market-Feed, at most.
pub const MOST_TICKS: usize = 20;
/// Mean and maximum delay of an execution, seconds.
const DELAY_S: (f64, f64) = (1.0, 5.0);

/// An executed order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Executed {
    /// The order.
    pub order: Order,
    /// Price of a share, hundredths.
    pub cents: i64,
}

/// A change of a security's price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tick {
    /// The security.
    pub symbol: Symbol,
    /// New price of a share, hundredths.
    pub cents: i64,
    /// Shares traded at it.
    pub shares: i32,
}

/// What the exchange wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Task {
    /// Record the result of a trade.
    Result(Executed),
    /// Record prices, and submit the limit orders that they trigger. In the order of the symbols.
    Feed(Vec<Tick>),
}

/// An exchange, shared by all users.
#[derive(Debug)]
pub struct Exchange {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    rng: Xoshiro256PlusPlus,
    /// Orders with the time of their execution, monotonic ns.
    due: BinaryHeap<Reverse<(u64, Order)>>,
    /// Limit orders that no price has triggered.
    waiting: Vec<Order>,
    prices: Prices,
    /// Executions since the last feed.
    traded: Vec<Tick>,
    /// Largest delay between the time of an execution and a user that recorded it, ns.
    late_ns: u64,
}

impl Exchange {
    /// An exchange without orders.
    pub fn new(seed: u64) -> Self {
        let state = State {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            due: BinaryHeap::new(),
            waiting: Vec::new(),
            prices: Prices::default(),
            traded: Vec::new(),
            late_ns: 0,
        };
        Self { state: Mutex::new(state) }
    }

    /// Price of a share, hundredths; `last_cents` is the last one in the database.
    pub fn price(&self, symbol: Symbol, last_cents: i64, now_ns: u64) -> i64 {
        self.state().prices.cents(symbol, last_cents, now_ns)
    }

    /// Takes an order that the database has committed.
    pub fn take(&self, order: Order, now_ns: u64) {
        let mut state = self.state();
        if order.kind.at_market() {
            state.submit(order, now_ns);
        } else {
            state.waiting.push(order);
        }
    }

    /// Takes a limit order that a Market-Feed has submitted. Unknown ones, of an earlier run, are
    /// left to the next clean-up.
    pub fn triggered(&self, trade: i64, now_ns: u64) {
        let mut state = self.state();
        if let Some(place) = state.waiting.iter().position(|order| order.trade == trade) {
            let order = state.waiting.swap_remove(place);
            state.submit(order, now_ns);
        }
    }

    /// The next task that is due, if any.
    pub fn due(&self, now_ns: u64) -> Option<Task> {
        let mut state = self.state();
        if state.traded.len() >= RESULTS_PER_FEED {
            return Some(Task::Feed(state.feed(now_ns)));
        }
        let Reverse((due_ns, _)) = *state.due.peek()?;
        if due_ns > now_ns {
            return None;
        }
        let Reverse((_, order)) = state.due.pop()?;
        state.late_ns = state.late_ns.max(now_ns - due_ns);
        let cents = state.prices.known(order.symbol, now_ns);
        state.traded.push(Tick { symbol: order.symbol, cents, shares: order.shares });
        Some(Task::Result(Executed { order, cents }))
    }

    /// Largest delay so far between an execution and a user that recorded it, ns.
    pub fn late_ns(&self) -> u64 {
        self.state().late_ns
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn submit(&mut self, order: Order, now_ns: u64) {
        let (mean_s, most_s) = DELAY_S;
        let drawn: f64 = self.rng.random();
        let delay_s = (-mean_s * (1.0 - drawn).ln()).min(most_s);
        self.due.push(Reverse((now_ns + (delay_s * 1e9) as u64, order)));
    }

    /// The prices of the last executions, and of securities whose limit orders they trigger; one for
    /// each security.
    fn feed(&mut self, now_ns: u64) -> Vec<Tick> {
        let mut ticks: Vec<Tick> = Vec::with_capacity(MOST_TICKS);
        for tick in self.traded.drain(..) {
            match ticks.iter_mut().find(|known| known.symbol == tick.symbol) {
                Some(known) => {
                    known.cents = tick.cents;
                    known.shares += tick.shares;
                }
                None => ticks.push(tick),
            }
        }
        for order in &self.waiting {
            if ticks.len() == MOST_TICKS {
                break;
            }
            let cents = self.prices.known(order.symbol, now_ns);
            let listed = ticks.iter().any(|tick| tick.symbol == order.symbol);
            if !listed && order.kind.triggered(order.bid_cents, cents) {
                ticks.push(Tick { symbol: order.symbol, cents, shares: 0 });
            }
        }
        // Locks of two feeds are taken in the same order.
        ticks.sort_unstable();
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::brokerage::order::Kind;

    const S: u64 = 1_000_000_000;

    fn order(trade: i64, kind: Kind, bid_cents: i64) -> Order {
        Order { trade, kind, bid_cents, symbol: Symbol::new("ABCD"), ..Order::default() }
    }

    #[test]
    fn market_orders_execute_within_five_seconds_and_ten_make_a_feed() {
        let exchange = Exchange::new(1);
        for trade in 0..10 {
            exchange.take(order(trade, Kind::MarketBuy, 0), 0);
        }
        let mut results = 0;
        while let Some(Task::Result(_)) = exchange.due(5 * S) {
            results += 1;
        }
        assert_eq!(results, RESULTS_PER_FEED);
        assert_eq!(exchange.due(5 * S), None);
    }

    #[test]
    fn delays_have_their_mean_and_no_task_is_early() {
        let exchange = Exchange::new(2);
        let orders = 20_000;
        for trade in 0..orders {
            exchange.take(order(trade, Kind::MarketSell, 0), 0);
        }
        let delays: Vec<u64> =
            exchange.state().due.iter().map(|Reverse((due_ns, _))| *due_ns).collect();
        let mean_s = delays.iter().sum::<u64>() as f64 / delays.len() as f64 / 1e9;
        // An exponential delay of 1 s, cut at 5 s: 1 − e⁻⁵.
        assert!((mean_s - 0.9933).abs() < 0.03, "{mean_s}");
        let first_ns = delays.iter().min().copied().unwrap();
        assert_eq!(exchange.due(first_ns - 1), None);
        assert!(exchange.due(first_ns).is_some());
    }

    #[test]
    fn a_limit_order_waits_for_its_feed() {
        let exchange = Exchange::new(3);
        exchange.take(order(7, Kind::LimitBuy, i64::MAX), 0);
        assert_eq!(exchange.due(9 * S), None);
        for trade in 100..110 {
            let mut other = order(trade, Kind::MarketBuy, 0);
            other.symbol = Symbol::new("OTHER");
            exchange.take(other, 0);
        }
        for _ in 0..RESULTS_PER_FEED {
            assert!(matches!(exchange.due(9 * S), Some(Task::Result(_))));
        }
        let Some(Task::Feed(ticks)) = exchange.due(9 * S) else { panic!("no feed") };
        // Ten executions of one security are one price.
        assert_eq!(ticks.len(), 2);
        assert!(ticks.iter().any(|tick| tick.symbol == Symbol::new("ABCD") && tick.shares == 0));
        assert!(ticks.is_sorted());
        exchange.triggered(7, 9 * S);
        let Some(Task::Result(found)) = exchange.due(15 * S) else { panic!("no result") };
        assert_eq!(found.order.trade, 7);
        assert!(exchange.late_ns() >= S);
    }
}
