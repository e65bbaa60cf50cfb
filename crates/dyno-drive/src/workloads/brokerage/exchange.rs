//! The market exchange: what happens to an order between the broker and the result of its trade.
//!
//! A market order executes after a delay. A limit order waits until the price of its security
//! reaches its bid: then a Market-Feed submits it, and it executes after a delay too. Each
//! execution is one Trade-Result; after [`RESULTS_PER_FEED`] of them the exchange sends a
//! Market-Feed. Users do the exchange's work when it is due, before their own, so the shares of
//! both follow from the share of Trade-Order.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::order::{Order, Symbol};
use super::prices::Prices;
use crate::pacer::exponential;

/// Trade-Results for one Market-Feed.
pub const RESULTS_PER_FEED: usize = 10;
/// Securities of a Market-Feed, at most.
pub const MOST_TICKS: usize = 20;
/// Mean and maximum delay of an execution, seconds.
const DELAY_S: (f64, f64) = (1.0, 5.0);
/// When a limit order is in a feed again that the last one has not submitted.
const AGAIN_NS: u64 = 1_000_000_000;

/// An executed order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Executed {
    /// The order.
    pub order: Order,
    /// Price of a share, hundredths.
    pub cents: i64,
}

/// A change of a security's price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// Record prices, one for each security, and submit the limit orders that they trigger.
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
    /// Limit orders that no feed has submitted, by number.
    waiting: HashMap<i64, Order>,
    /// When the next feed has to submit them; some no longer wait.
    reached: BinaryHeap<Reverse<(u64, i64)>>,
    /// Orders that a feed has submitted before their user could report them.
    early: HashSet<i64>,
    prices: Prices,
    /// Executions since the last feed.
    traded: Vec<Tick>,
    /// Time of the last of them, monotonic ns.
    traded_ns: u64,
    /// Limit orders of feeds that may have submitted them.
    doubtful: HashMap<i64, Order>,
    /// Orders whose results will not be recorded, by number, and whether they were reported.
    lost: HashMap<i64, bool>,
    /// Tasks that have failed.
    again: Vec<Failed>,
    /// The longest that a task waited for a user, ns.
    late_ns: u64,
}

/// A task that has failed.
#[derive(Debug)]
struct Failed {
    /// From when it was due, for its response time.
    due_ns: u64,
    /// Since when it waits for a user again.
    since_ns: u64,
    task: Task,
}

impl Exchange {
    /// An exchange without orders.
    pub fn new(seed: u64) -> Self {
        let state = State {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            due: BinaryHeap::new(),
            waiting: HashMap::new(),
            reached: BinaryHeap::new(),
            early: HashSet::new(),
            prices: Prices::default(),
            traded: Vec::new(),
            traded_ns: 0,
            doubtful: HashMap::new(),
            lost: HashMap::new(),
            again: Vec::new(),
            late_ns: 0,
        };
        Self { state: Mutex::new(state) }
    }

    /// Price of a share at a time, which may be in the future, hundredths; `open_cents` is the
    /// opening price in the database.
    pub fn price(&self, symbol: Symbol, open_cents: i64, at_ns: u64) -> i64 {
        self.state().prices.cents(symbol, open_cents, at_ns)
    }

    /// Takes an order that the database has committed.
    pub fn take(&self, order: Order, now_ns: u64) {
        let mut state = self.state();
        if order.kind.at_market() || state.early.remove(&order.trade) {
            return state.submit(order, now_ns);
        }
        let cents = state.prices.known(order.symbol, now_ns);
        let reached = order.kind.triggered(order.bid_cents, cents);
        let reached_ns = if reached { now_ns } else { order.reached_ns };
        state.reached.push(Reverse((reached_ns, order.trade)));
        state.waiting.insert(order.trade, order);
    }

    /// Takes a limit order that a Market-Feed has submitted. The feed may have found it right after
    /// its commit, before [`Exchange::take`].
    pub fn triggered(&self, trade: i64, now_ns: u64) {
        let mut state = self.state();
        let doubtful = state.doubtful.remove(&trade);
        if doubtful.is_some() {
            // The feed that may have submitted it has not.
            state.lost.remove(&trade);
        }
        match state.waiting.remove(&trade).or(doubtful) {
            Some(order) => state.submit(order, now_ns),
            // An order that is lost is never taken.
            None if state.lost.contains_key(&trade) => {}
            None => _ = state.early.insert(trade),
        }
    }

    /// The next task, with the time from which it is due, if that has come.
    pub fn due(&self, now_ns: u64) -> Option<(u64, Task)> {
        let mut state = self.state();
        let oldest = (0..state.again.len()).min_by_key(|place| state.again[*place].due_ns);
        let (due_ns, since_ns, task) = if let Some(place) = oldest {
            let Failed { due_ns, since_ns, task } = state.again.swap_remove(place);
            (due_ns, since_ns, task)
        } else {
            let (due_ns, task) = state.next(now_ns)?;
            (due_ns, due_ns, task)
        };
        state.late_ns = state.late_ns.max(now_ns.saturating_sub(since_ns));
        Some((due_ns, task))
    }

    /// Takes back a task that the database has not committed, with the time from which it is due.
    pub fn failed(&self, due_ns: u64, now_ns: u64, task: Task) {
        self.state().again.push(Failed { due_ns, since_ns: now_ns, task });
    }

    /// Counts an order whose result will not be recorded.
    pub fn lost(&self, trade: i64) {
        self.state().lost.entry(trade).or_insert(false);
    }

    /// Gives up a price of a feed that the database may have committed. The limit orders that it
    /// triggers no longer wait: if they were submitted, no feed finds them any more.
    pub fn doubt(&self, tick: &Tick) {
        let state = &mut *self.state();
        let triggered = |_: &i64, order: &mut Order| {
            tick.symbol == order.symbol && order.kind.triggered(order.bid_cents, tick.cents)
        };
        for (trade, order) in state.waiting.extract_if(triggered) {
            state.lost.entry(trade).or_insert(false);
            state.doubtful.insert(trade, order);
        }
    }

    /// Orders that were lost since the last call.
    pub fn take_lost(&self) -> u64 {
        let mut state = self.state();
        let new = state.lost.values_mut().filter(|reported| !**reported);
        new.fold(0, |count, reported| {
            *reported = true;
            count + 1
        })
    }

    /// The longest that a task waited for a user since the last call, including those that wait
    /// now, ns. Attempts that failed are no wait.
    pub fn take_late_ns(&self, now_ns: u64) -> u64 {
        let mut state = self.state();
        let fed = (state.traded.len() >= RESULTS_PER_FEED).then_some(state.traded_ns);
        let executed = state.due.peek().map(|Reverse((due_ns, _))| *due_ns);
        let failed = state.again.iter().map(|failed| failed.since_ns).min();
        let oldest_ns = [fed, executed, failed].into_iter().flatten().min();
        let waiting_ns = oldest_ns.map_or(0, |since_ns| now_ns.saturating_sub(since_ns));
        std::mem::take(&mut state.late_ns).max(waiting_ns)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn submit(&mut self, order: Order, now_ns: u64) {
        let (mean_s, most_s) = DELAY_S;
        let delay_s = exponential(mean_s, self.rng.random()).min(most_s);
        self.due.push(Reverse((now_ns + (delay_s * 1e9) as u64, order)));
    }

    fn next(&mut self, now_ns: u64) -> Option<(u64, Task)> {
        if self.traded.len() >= RESULTS_PER_FEED {
            return Some((self.traded_ns, Task::Feed(self.feed(now_ns))));
        }
        let Reverse((due_ns, order)) = *self.due.peek()?;
        if due_ns > now_ns {
            return None;
        }
        self.due.pop();
        let cents = self.prices.known(order.symbol, now_ns);
        self.traded.push(Tick { symbol: order.symbol, cents, shares: order.shares });
        self.traded_ns = due_ns;
        Some((due_ns, Task::Result(Executed { order, cents })))
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
        let mut looked_at = Vec::new();
        while ticks.len() < MOST_TICKS {
            let Some(Reverse((reached_ns, trade))) = self.reached.pop() else { break };
            let Some(Order { symbol, kind, bid_cents, .. }) = self.waiting.get(&trade) else {
                continue;
            };
            if reached_ns > now_ns {
                looked_at.push(Reverse((reached_ns, trade)));
                break;
            }
            // Another price of its security may be in this feed, and this feed may fail.
            looked_at.push(Reverse((now_ns + AGAIN_NS, trade)));
            if ticks.iter().all(|tick| tick.symbol != *symbol) {
                // The price may have reached the bid since the last feed, and turned.
                let cents = self.prices.known(*symbol, now_ns);
                let cents = if kind.triggered(*bid_cents, cents) { cents } else { *bid_cents };
                ticks.push(Tick { symbol: *symbol, cents, shares: 0 });
            }
        }
        self.reached.extend(looked_at);
        ticks
    }
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
mod tests;
