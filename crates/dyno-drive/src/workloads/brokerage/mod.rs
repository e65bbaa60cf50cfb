//! The TPC-E-derived workload: a brokerage house with its customers and the market exchange. Ten
//! transactions and Data-Maintenance, as statements over a [`Session`]; in procedure mode, as calls.
//! Derived from TPC-E; not comparable with published TPC results.

mod cleanup;
mod data;
mod dialects;
mod estimate;
mod exchange;
mod fees;
mod holdings;
mod inputs;
mod kind;
mod maintenance;
mod market_feed;
mod order;
mod past;
mod prices;
mod procedures;
mod reads;
mod skew;
mod statements;
mod time;
mod trade_order;
mod trade_result;
mod trade_update;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

use dyno_record::{Error, ErrorKind, Result, derive_seed};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use crate::wire::{Dialect, Session, Statement};
use crate::workloads::contract::{self, Terminal, TxnOutcome, Workload};
use crate::workloads::mode::Mode;
use data::Data;
use exchange::{Exchange, Executed, Task, Tick};
use inputs::Inputs;
use kind::Kind;
use time::Time;

/// Period of Data-Maintenance, ns.
const MAINTENANCE_NS: u64 = 60_000_000_000;

/// The workload's parameters: what was loaded.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Thousands of customers.
    pub scale: f64,
    /// Days of initial trades.
    pub days: u32,
    /// The seed of the load.
    pub seed: u64,
    /// Where the transactions run.
    #[serde(default)]
    pub mode: Mode,
    /// Milliseconds that pass for the exchange with each transaction that a user draws, so that a
    /// seed determines what one user does; by default time passes by the clock.
    #[serde(default)]
    pub step_ms: Option<u32>,
}

impl contract::Params for Params {
    type Workload = Arc<Brokerage>;

    fn workload(&self, seed: u64) -> Result<Arc<Brokerage>> {
        let data = Data::new(self.scale, self.days, self.seed)?;
        let time = Time::new(self.step_ms);
        Ok(Arc::new(Brokerage {
            seed,
            data,
            mode: self.mode,
            exchange: Exchange::new(derive_seed(seed, Brokerage::NAME, 0, "exchange")),
            next_trade: AtomicI64::new(0),
            maintained: AtomicU64::new(time.now_ns() / MAINTENANCE_NS),
            time,
        }))
    }
}

/// The workload for a database of a given size.
#[derive(Debug)]
pub struct Brokerage {
    seed: u64,
    data: Data,
    mode: Mode,
    time: Time,
    exchange: Exchange,
    /// The number of the next trade; 0 until the database is clean.
    next_trade: AtomicI64,
    /// The minute of the last Data-Maintenance.
    maintained: AtomicU64,
}

impl Brokerage {
    const NAME: &str = "brokerage";

    /// The random number stream of a user for a purpose.
    fn stream(&self, user: u32, purpose: &str) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(derive_seed(self.seed, Self::NAME, user.into(), purpose))
    }

    /// The number of a Data-Maintenance, once a minute, for one user. Minutes are those of the clock,
    /// so that a level goes on with the table after that of the level before.
    fn maintenance(&self, now_ns: u64) -> Option<u64> {
        let (last, minute) = (self.maintained.load(Relaxed), now_ns / MAINTENANCE_NS);
        let due = minute > last
            && self.maintained.compare_exchange(last, minute, Relaxed, Relaxed).is_ok();
        due.then_some(minute)
    }
}

impl Workload for Arc<Brokerage> {
    type Terminal = BrokerageTerminal;

    fn name(&self) -> &'static str {
        Brokerage::NAME
    }

    fn operations(&self) -> &'static [&'static str] {
        &kind::NAMES
    }

    fn statements(&self, dialect: Dialect) -> Vec<Statement> {
        match self.mode {
            Mode::Client => dialects::put(dialect, statements::all()),
            Mode::Procedure => procedures::all(dialect),
        }
    }

    fn take_behind_ns(&self) -> Option<u64> {
        Some(self.exchange.take_late_ns(self.time.now_ns()))
    }

    fn take_lost(&self) -> Option<u64> {
        Some(self.exchange.take_lost())
    }

    /// Trade-Cleanup. It touches every unfinished order, so in a window it would delay the first
    /// transaction of all users by its own time.
    async fn prepare<S: Session>(&self, session: &mut S, unix_us: i64) -> Result<()> {
        let last_loaded = *self.data.trades().end();
        let next = match self.mode {
            Mode::Client => cleanup::run(session, last_loaded, unix_us).await?,
            Mode::Procedure => procedures::clean_up(session, last_loaded, unix_us).await?,
        };
        self.next_trade.store(next, Relaxed);
        Ok(())
    }

    fn terminal(&self, user: u32) -> BrokerageTerminal {
        BrokerageTerminal {
            house: Self::clone(self),
            inputs: Inputs::new(self.stream(user, "inputs"), self.data.clone()),
            drawn: None,
            due_ns: None,
            ordered: None,
        }
    }
}

/// One user: a customer, a broker or the exchange, as needed.
#[derive(Debug)]
pub struct BrokerageTerminal {
    house: Arc<Brokerage>,
    inputs: Inputs,
    drawn: Option<Drawn>,
    /// When the exchange's task that was drawn was due, in the time of the exchange.
    due_ns: Option<u64>,
    /// The number of the last attempt's order, unless it is withdrawn.
    ordered: Option<i64>,
}

/// A transaction with its inputs.
#[derive(Debug, Clone)]
enum Drawn {
    BrokerVolume(inputs::BrokerVolume),
    CustomerPosition(inputs::CustomerPosition),
    DataMaintenance(maintenance::Maintenance),
    /// Those that are not committed yet, the next one last.
    MarketFeed(Vec<Tick>),
    MarketWatch(inputs::MarketWatch),
    SecurityDetail(inputs::SecurityDetail),
    TradeLookup(inputs::Trades),
    TradeOrder(inputs::TradeOrder),
    TradeResult(Executed),
    TradeStatus(i64),
    TradeUpdate(inputs::Trades),
}

impl Drawn {
    const fn kind(&self) -> Kind {
        match self {
            Self::BrokerVolume(_) => Kind::BrokerVolume,
            Self::CustomerPosition(_) => Kind::CustomerPosition,
            Self::DataMaintenance(_) => Kind::DataMaintenance,
            Self::MarketFeed(_) => Kind::MarketFeed,
            Self::MarketWatch(_) => Kind::MarketWatch,
            Self::SecurityDetail(_) => Kind::SecurityDetail,
            Self::TradeLookup(_) => Kind::TradeLookup,
            Self::TradeOrder(_) => Kind::TradeOrder,
            Self::TradeResult(_) => Kind::TradeResult,
            Self::TradeStatus(_) => Kind::TradeStatus,
            Self::TradeUpdate(_) => Kind::TradeUpdate,
        }
    }

    /// What a customer or a broker does next.
    fn of_customer(inputs: &mut Inputs) -> Self {
        match kind::draw(&mut inputs.rng) {
            Kind::BrokerVolume => Self::BrokerVolume(inputs.broker_volume()),
            Kind::CustomerPosition => Self::CustomerPosition(inputs.customer_position()),
            Kind::MarketWatch => Self::MarketWatch(inputs.market_watch()),
            Kind::SecurityDetail => Self::SecurityDetail(inputs.security_detail()),
            Kind::TradeLookup => Self::TradeLookup(inputs.trade_lookup()),
            Kind::TradeOrder => Self::TradeOrder(inputs.trade_order()),
            Kind::TradeUpdate => Self::TradeUpdate(inputs.trade_update()),
            // The others are not customers'.
            Kind::TradeStatus | Kind::TradeResult | Kind::MarketFeed | Kind::DataMaintenance => {
                Self::TradeStatus(inputs.trade_status())
            }
        }
    }
}

impl Terminal for BrokerageTerminal {
    fn draw(&mut self) -> usize {
        let Self { house, inputs, drawn, due_ns, ordered } = self;
        *ordered = None;
        let now_ns = house.time.next_ns();
        let due = house.exchange.due(now_ns);
        *due_ns = due.as_ref().map(|(due_ns, _)| *due_ns);
        let next = match due.map(|(_, task)| task) {
            Some(Task::Result(executed)) => Drawn::TradeResult(executed),
            Some(Task::Feed(ticks)) => Drawn::MarketFeed(ticks),
            None => match house.maintenance(now_ns) {
                Some(number) => Drawn::DataMaintenance(inputs.maintenance(number)),
                None => Drawn::of_customer(inputs),
            },
        };
        let kind = next.kind();
        *drawn = Some(next);
        kind as usize
    }

    fn pause_ns(&mut self) -> u64 {
        0
    }

    fn due_ns(&self) -> Option<u64> {
        self.due_ns.and_then(|due_ns| self.house.time.monotonic_ns(due_ns))
    }

    async fn attempt<S: Session>(&mut self, session: &mut S, unix_us: i64) -> Result<TxnOutcome> {
        self.run(session, unix_us).await
    }

    /// What certainly left nothing behind, and may succeed, goes back to the exchange. Orders are
    /// lost if their results will not be recorded, or if nobody knows whether they will.
    fn gave_up(&mut self, error: &Error) {
        let Self { house, drawn, due_ns, ordered, .. } = self;
        let exchange = &house.exchange;
        let in_doubt = hides_commit(error.kind);
        match (drawn.take(), *due_ns) {
            (Some(Drawn::TradeResult(executed)), Some(due_ns)) if error.kind.is_retryable() => {
                exchange.failed(due_ns, house.time.now_ns(), Task::Result(executed));
            }
            (Some(Drawn::TradeResult(executed)), _) => exchange.lost(executed.order.trade),
            (Some(Drawn::MarketFeed(ticks)), Some(due_ns)) if error.kind.is_retryable() => {
                exchange.failed(due_ns, house.time.now_ns(), Task::Feed(ticks));
            }
            (Some(Drawn::MarketFeed(ticks)), _) if in_doubt => {
                if let Some(tick) = ticks.last() {
                    exchange.doubt(tick);
                }
            }
            (Some(Drawn::TradeOrder(_)), _) if in_doubt => {
                if let Some(trade) = *ordered {
                    exchange.lost(trade);
                }
            }
            // The database has undone it. The orders of a feed still wait for the next one.
            _ => {}
        }
    }
}

/// Whether a transaction with this error may have committed all the same.
const fn hides_commit(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ConnectionLost | ErrorKind::Protocol | ErrorKind::Io)
}

impl BrokerageTerminal {
    async fn run<S: Session>(&mut self, session: &mut S, unix_us: i64) -> Result<TxnOutcome> {
        let Self { house, drawn, ordered, .. } = self;
        let Brokerage { data, exchange, time, mode, next_trade, .. } = &**house;
        let Some(drawn) = drawn else {
            return Err(Error::new(ErrorKind::Internal, "no transaction was drawn"));
        };
        match drawn {
            Drawn::MarketFeed(ticks) => {
                // Each security is committed on its own: another attempt continues after them.
                while let Some(tick) = ticks.last() {
                    let mut trades = match mode {
                        Mode::Client => market_feed::run(session, tick, unix_us).await?,
                        Mode::Procedure => procedures::market_feed(session, tick, unix_us).await?,
                    };
                    ticks.pop();
                    // Their delays are drawn in this order, whatever the order of the rows.
                    trades.sort_unstable();
                    for trade in trades {
                        exchange.triggered(trade, time.now_ns());
                    }
                }
                Ok(TxnOutcome::Committed)
            }
            Drawn::TradeOrder(input) => {
                let trade = next_trade.fetch_add(1, Relaxed);
                debug_assert!(trade > 0, "levels are prepared");
                *ordered = (!input.rolls_back).then_some(trade);
                let now = (unix_us, time.now_ns());
                let market = (data, exchange);
                let ordered = match mode {
                    Mode::Client => trade_order::run(session, input, market, trade, now).await?,
                    Mode::Procedure => {
                        procedures::trade_order(session, input, market, trade, now).await?
                    }
                };
                Ok(ordered.map_or(TxnOutcome::RolledBack, |order| {
                    exchange.take(order, time.now_ns());
                    TxnOutcome::Committed
                }))
            }
            drawn if *mode == Mode::Procedure => {
                procedures::call(session, drawn, data, unix_us).await
            }
            Drawn::BrokerVolume(input) => reads::broker_volume(session, input, data).await,
            Drawn::CustomerPosition(input) => reads::customer_position(session, input, data).await,
            Drawn::DataMaintenance(input) => maintenance::run(session, input, unix_us).await,
            Drawn::MarketWatch(input) => reads::market_watch(session, input).await,
            Drawn::SecurityDetail(input) => reads::security_detail(session, input).await,
            Drawn::TradeLookup(input) => reads::trade_lookup(session, input).await,
            Drawn::TradeResult(executed) => trade_result::run(session, executed, unix_us).await,
            Drawn::TradeStatus(account) => reads::trade_status(session, *account).await,
            Drawn::TradeUpdate(input) => trade_update::run(session, input).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::contract::Params as _;
    use dyno_record::monotonic_ns;

    const PARAMS: Params =
        Params { scale: 0.1, days: 10, seed: 1, mode: Mode::Client, step_ms: None };

    fn drawn(seed: u64, user: u32) -> Vec<String> {
        let mut terminal = PARAMS.workload(seed).unwrap().terminal(user);
        let draws = std::iter::repeat_with(|| {
            terminal.draw();
            format!("{:?}", terminal.drawn)
        });
        draws.take(100).collect()
    }

    #[test]
    fn a_seed_and_a_user_determine_what_customers_do() {
        assert_eq!(drawn(1, 0), drawn(1, 0));
        assert_ne!(drawn(1, 0), drawn(1, 1));
        assert_ne!(drawn(1, 0), drawn(2, 0));
    }

    #[test]
    fn customers_keep_their_shares() {
        let mut terminal = PARAMS.workload(1).unwrap().terminal(0);
        let mut counts = [0u32; kind::NAMES.len()];
        for _ in 0..89_000 {
            counts[terminal.draw()] += 1;
        }
        for (kind, share) in [(Kind::TradeOrder, 10_100), (Kind::TradeUpdate, 2_000)] {
            let count = f64::from(counts[kind as usize]);
            assert!((count / f64::from(share) - 1.0).abs() < 0.1, "{kind:?} {count}");
        }
        assert_eq!(counts[Kind::TradeResult as usize], 0, "nothing was ordered yet");
    }

    #[test]
    fn maintenance_is_due_once_a_minute_for_one_user() {
        let house = PARAMS.workload(1).unwrap();
        let begun_ns = monotonic_ns();
        // Within the first minute, and with the next table in the next level.
        let first = house.maintenance(begun_ns + MAINTENANCE_NS).unwrap();
        assert_eq!(house.maintenance(begun_ns + MAINTENANCE_NS), None);
        assert_eq!(house.maintenance(begun_ns + 2 * MAINTENANCE_NS), Some(first + 1));
        assert_eq!(house.maintenance(begun_ns + 2 * MAINTENANCE_NS), None);
        let next = PARAMS.workload(1).unwrap();
        next.maintained.store(first + 1, Relaxed);
        assert_eq!(next.maintenance(begun_ns + 3 * MAINTENANCE_NS), Some(first + 2));
    }

    /// A user whose next transaction is the result of a trade.
    fn of_exchange(house: &Arc<Brokerage>) -> BrokerageTerminal {
        let order = order::Order { trade: 1, ..order::Order::default() };
        house.exchange.take(order, 0);
        let mut terminal = house.terminal(0);
        assert_eq!(terminal.draw(), Kind::TradeResult as usize);
        terminal
    }

    #[test]
    fn a_result_counts_from_its_execution() {
        let house = PARAMS.workload(1).unwrap();
        let mut terminal = of_exchange(&house);
        // It was ordered at the start of the clock.
        assert!(terminal.due_ns().is_some_and(|due_ns| due_ns <= 5_000_000_000));
        terminal.draw();
        assert_eq!(terminal.due_ns(), None);
        // Steps are no times.
        let steps = Params { step_ms: Some(10_000), ..PARAMS }.workload(1).unwrap();
        assert_eq!(of_exchange(&steps).due_ns(), None);
    }

    #[test]
    fn a_result_comes_again_since_it_was_due_or_is_lost() {
        for (kind, again) in [
            (ErrorKind::Deadlock, true),
            (ErrorKind::ConnectionLost, false),
            (ErrorKind::DiskFull, false),
        ] {
            let house = PARAMS.workload(1).unwrap();
            let mut terminal = of_exchange(&house);
            let due_ns = terminal.due_ns();
            terminal.gave_up(&Error::new(kind, "it failed"));
            assert_eq!(house.take_lost(), Some(u64::from(!again)), "{kind}");
            // Another user runs it, also if this one has lost its connection.
            let mut other = house.terminal(1);
            assert_eq!(other.draw() == Kind::TradeResult as usize, again, "{kind}");
            assert_eq!(other.due_ns() == due_ns, again, "{kind}");
            assert_ne!(terminal.draw(), Kind::TradeResult as usize, "{kind}");
        }
    }

    #[test]
    fn an_order_is_lost_if_it_may_have_been_committed() {
        let lost = |kind, ordered| {
            let house = PARAMS.workload(1).unwrap();
            let mut terminal = house.terminal(0);
            terminal.drawn = Some(Drawn::TradeOrder(terminal.inputs.trade_order()));
            terminal.ordered = ordered;
            terminal.gave_up(&Error::new(kind, "it failed"));
            house.take_lost()
        };
        assert_eq!(lost(ErrorKind::ConnectionLost, Some(7)), Some(1));
        assert_eq!(lost(ErrorKind::ConnectionLost, None), Some(0), "it was withdrawn");
        assert_eq!(lost(ErrorKind::Deadlock, Some(7)), Some(0));
        assert_eq!(lost(ErrorKind::Timeout, Some(7)), Some(0));
    }

    #[test]
    fn a_feed_in_doubt_loses_its_orders_and_any_other_comes_again() {
        let symbol = order::Symbol::new("ABCD");
        for (kind, lost) in [(ErrorKind::ConnectionLost, 1), (ErrorKind::LockTimeout, 0)] {
            let house = PARAMS.workload(1).unwrap();
            let limit = order::Kind::LimitBuy;
            let waiting =
                order::Order { trade: 1, kind: limit, symbol, bid_cents: 9, ..Default::default() };
            house.exchange.take(waiting, 0);
            let mut terminal = house.terminal(0);
            let tick = Tick { symbol, cents: 9, shares: 0 };
            terminal.drawn = Some(Drawn::MarketFeed(vec![tick]));
            terminal.due_ns = Some(1);
            terminal.gave_up(&Error::new(kind, "it failed"));
            assert_eq!(house.take_lost(), Some(lost), "{kind}");
            assert_eq!(terminal.draw() == Kind::MarketFeed as usize, lost == 0, "{kind}");
        }
    }

    #[test]
    fn wrong_sizes_are_refused() {
        for (scale, days) in [(0.0, 10), (0.15, 10), (1.0, 0), (1.0, 301), (f64::NAN, 10)] {
            let error = Params { scale, days, ..PARAMS }.workload(1).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Usage);
        }
    }
}
