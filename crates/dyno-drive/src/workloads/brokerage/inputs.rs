//! What customers and brokers ask for.

use dyno_gen::brokerage::MOST_ACCOUNTS;
use rand::Rng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::data::Data;
use super::maintenance::Maintenance;
use super::order::{Kind, Symbol};
use super::skew::Skew;
use super::statements::BROKERS;
use crate::pacer::exponential;

/// Trades of a Trade-Lookup or a Trade-Update.
pub const TRADES: usize = 20;

/// Trading time of a day, ms.
const DAY_MS: u64 = 8 * 3_600_000;
/// How long before the last of the loaded trades the times of the past end, so that enough trades
/// follow: four days for an account's, 200 minutes for a security's, 500 for a first trade.
const ACCOUNT_MS: u64 = 4 * DAY_MS;
const SECURITY_MS: u64 = 200 * 60_000;
const HOLDINGS_MS: u64 = 500 * 60_000;

/// Mean and maximum time until the price of a limit order is reached, seconds. Short, so that the
/// shares of the exchange's transactions are right soon after the start.
const WAIT_S: (f64, f64) = (5.0, 30.0);

/// Companies that a Market-Watch by industry looks at, at most.
const WATCHED_COMPANIES: i64 = 5_000;

/// Orders by somebody with a power of attorney, among those for accounts that have one: 40 % of the
/// accounts do, so that these are 10 % of all orders.
const OTHERS_PERCENT: u32 = 25;

/// Input of a Broker-Volume.
#[derive(Debug, Clone)]
pub struct BrokerVolume {
    /// Name of a sector.
    pub sector: &'static str,
    /// Numbers of brokers, some more than once.
    pub brokers: [i64; BROKERS],
}

/// Input of a Customer-Position.
#[derive(Debug, Clone, Copy)]
pub struct CustomerPosition {
    /// The customer.
    pub customer: i64,
    /// Whether to find the customer by tax number.
    pub by_tax: bool,
    /// Whether to show the history of an account, and of which: the place among the accounts.
    pub history: Option<usize>,
}

/// Securities of a Market-Watch.
#[derive(Debug, Clone, Copy)]
pub enum Watched {
    /// Those on a customer's watch list.
    List(i64),
    /// Those in an account.
    Account(i64),
    /// Those of an industry's companies, from one number to another.
    Industry(&'static str, i64, i64),
}

/// Input of a Market-Watch.
#[derive(Debug, Clone, Copy)]
pub struct MarketWatch {
    /// The securities.
    pub watched: Watched,
    /// The day to compare with, since the Unix epoch.
    pub day: i32,
}

/// Input of a Security-Detail.
#[derive(Debug, Clone, Copy)]
pub struct SecurityDetail {
    /// The security.
    pub symbol: Symbol,
    /// Whether to read the news, and not only the headlines.
    pub news: bool,
    /// First day of the prices, since the Unix epoch.
    pub day: i32,
}

/// Trades of the past.
#[derive(Debug, Clone, Copy)]
pub enum Trades {
    /// By number.
    Numbers([i64; TRADES]),
    /// Of an account, from a time on.
    Account(i64, i64),
    /// Of a security, from a time on.
    Security(Symbol, i64),
    /// The holdings that an account's first trade from a time on changed.
    Holdings(i64, i64),
}

/// Input of a Trade-Order.
#[derive(Debug, Clone, Copy)]
pub struct TradeOrder {
    /// Account that trades.
    pub account: i64,
    /// Who orders if not the owner: the place among those who may.
    pub other: Option<usize>,
    /// Kind of the trade.
    pub kind: Kind,
    /// The security.
    pub security: Symbol,
    /// Its company and issue, if the order names them instead.
    pub company: Option<(i64, &'static str)>,
    /// Shares.
    pub shares: i32,
    /// How far ahead the market's price is the bid, ns; 0 for an order at the market.
    pub wait_ns: u64,
    /// Whether the last shares bought are sold first.
    pub lifo: bool,
    /// Whether it is paid at once, and not on margin.
    pub cash: bool,
    /// Whether it is withdrawn at the end.
    pub rolls_back: bool,
}

/// Draws inputs.
#[derive(Debug)]
pub struct Inputs {
    /// Its random numbers.
    pub rng: Xoshiro256PlusPlus,
    data: Data,
}

impl Inputs {
    /// For loaded data.
    pub fn new(rng: Xoshiro256PlusPlus, data: Data) -> Self {
        Self { rng, data }
    }

    fn percent(&mut self, share: u32) -> bool {
        self.rng.random_range(0..100) < share
    }

    /// A customer, as often as its accounts: the tiers get 10, 60 and 30 % as in TPC-E.
    fn customer(&mut self) -> i64 {
        self.owned().0
    }

    /// An account, each equally likely.
    fn account(&mut self) -> i64 {
        self.owned().1
    }

    /// A customer and one of its accounts.
    fn owned(&mut self) -> (i64, i64) {
        loop {
            let customer = self.rng.random_range(self.data.customers());
            let accounts = self.data.accounts(customer);
            let place = self.rng.random_range(0..MOST_ACCOUNTS as i64);
            if place < accounts.end - accounts.start {
                return (customer, accounts.start + place);
            }
        }
    }

    fn symbol(&mut self) -> Symbol {
        let security = self.rng.random_range(0..self.data.securities());
        self.data.symbol(security)
    }

    fn day(&mut self) -> i32 {
        self.data.day(self.rng.random())
    }

    /// A time of trading, at least `before_ms` before its end; of short trading, in its first half.
    fn time_us(&mut self, before_ms: u64) -> i64 {
        let all_ms = u64::from(self.data.days()) * DAY_MS;
        let skew = Skew::of_times(all_ms - before_ms.min(all_ms / 2));
        self.data.traded_us(skew.draw(&mut self.rng))
    }

    /// Numbers of loaded trades, none twice.
    fn trades(&mut self) -> [i64; TRADES] {
        let skew = Skew::of_trades(*self.data.trades().end() as u64);
        let mut numbers = [0; TRADES];
        for place in 0..TRADES {
            numbers[place] = loop {
                let number = skew.draw(&mut self.rng) as i64 + 1;
                if !numbers[..place].contains(&number) {
                    break number;
                }
            };
        }
        numbers
    }

    /// 20 to 40 names in the specification; here always 30, and all brokers if there are fewer.
    pub fn broker_volume(&mut self) -> BrokerVolume {
        let sector = self.data.sector(self.rng.random());
        let brokers = std::array::from_fn(|_| self.rng.random_range(self.data.brokers()));
        BrokerVolume { sector, brokers }
    }

    /// Half by tax number, half with history.
    pub fn customer_position(&mut self) -> CustomerPosition {
        let customer = self.customer();
        let history = self.percent(50).then(|| self.rng.random_range(0..10));
        CustomerPosition { customer, by_tax: self.percent(50), history }
    }

    /// 60 % watch lists, 35 % accounts, 5 % industries.
    pub fn market_watch(&mut self) -> MarketWatch {
        let watched = match self.rng.random_range(0..100) {
            0..60 => Watched::List(self.customer()),
            60..95 => Watched::Account(self.account()),
            _ => {
                let (first, last) = self.window();
                Watched::Industry(self.data.industry(self.rng.random()), first, last)
            }
        };
        MarketWatch { watched, day: self.day() }
    }

    /// 1 % with the text of the news.
    pub fn security_detail(&mut self) -> SecurityDetail {
        SecurityDetail { symbol: self.symbol(), news: self.percent(1), day: self.day() }
    }

    /// 30 % by number, 30 % of an account, 30 % of a security, 10 % holdings.
    pub fn trade_lookup(&mut self) -> Trades {
        match self.rng.random_range(0..100) {
            0..30 => Trades::Numbers(self.trades()),
            30..60 => Trades::Account(self.account(), self.time_us(ACCOUNT_MS)),
            60..90 => Trades::Security(self.symbol(), self.time_us(SECURITY_MS)),
            _ => Trades::Holdings(self.account(), self.time_us(HOLDINGS_MS)),
        }
    }

    /// A third each by number, of an account and of a security.
    pub fn trade_update(&mut self) -> Trades {
        match self.rng.random_range(0..100) {
            0..33 => Trades::Numbers(self.trades()),
            33..66 => Trades::Account(self.account(), self.time_us(ACCOUNT_MS)),
            _ => Trades::Security(self.symbol(), self.time_us(SECURITY_MS)),
        }
    }

    /// The maintenance with a number.
    pub fn maintenance(&mut self, number: u64) -> Maintenance {
        let company = self.rng.random_range(self.data.companies());
        Maintenance {
            number,
            customer: self.customer(),
            account: self.account(),
            company,
            symbol: self.symbol(),
            day: self.day(),
        }
    }

    /// An account, for Trade-Status.
    pub fn trade_status(&mut self) -> i64 {
        self.account()
    }

    /// Half of the bids are on the side of the market's price that triggers them at once.
    fn wait_ns(&mut self) -> u64 {
        let (mean_s, most_s) = WAIT_S;
        (exponential(mean_s, self.rng.random()).min(most_s) * 1e9) as u64
    }

    /// The companies of an industry that a Market-Watch looks at, from one number to another.
    fn window(&mut self) -> (i64, i64) {
        let last = *self.data.companies().end();
        let first = self.rng.random_range(1..=(last - WATCHED_COMPANIES + 1).max(1));
        (first, (first + WATCHED_COMPANIES - 1).min(last))
    }

    /// 60 % at market, 8 % on margin, 1 % withdrawn, as often bought as sold. All sales and half of
    /// the purchases are of one of the account's securities; 40 % name the company; 10 % come from
    /// somebody with a power of attorney.
    pub fn trade_order(&mut self) -> TradeOrder {
        let kind = match self.rng.random_range(0..100) {
            0..30 => Kind::MarketBuy,
            30..60 => Kind::MarketSell,
            60..80 => Kind::LimitBuy,
            80..90 => Kind::LimitSell,
            _ => Kind::StopLoss,
        };
        let account = self.account();
        let facts = self.data.account(account);
        let other = facts.helpers > 0 && self.percent(OTHERS_PERCENT);
        let security = if self.percent(if kind.sells() { 100 } else { 50 }) {
            facts.securities[self.rng.random_range(0..facts.securities.len())]
        } else {
            self.rng.random_range(0..self.data.securities())
        };
        TradeOrder {
            account,
            other: other.then(|| self.rng.random_range(0..10)),
            kind,
            security: self.data.symbol(security),
            company: self.percent(40).then(|| self.data.issue_of(security)),
            shares: [100, 200, 400, 800][self.rng.random_range(0..4)],
            wait_ns: if kind.at_market() { 0 } else { self.wait_ns() },
            lifo: self.percent(35),
            cash: !self.percent(8),
            rolls_back: self.percent(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use std::collections::{HashMap, HashSet};

    fn inputs(days: u32) -> Inputs {
        let data = Data::new(0.1, days, 1).unwrap();
        Inputs::new(Xoshiro256PlusPlus::seed_from_u64(1), data)
    }

    #[test]
    fn trades_of_the_past_are_loaded_and_drawn_once_each() {
        let mut inputs = inputs(1);
        let last = *inputs.data.trades().end();
        let mut seen = HashSet::new();
        for _ in 0..20_000 {
            let numbers = inputs.trades();
            assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), TRADES);
            assert!(numbers.iter().all(|number| (1..=last).contains(number)));
            seen.extend(numbers);
        }
        assert!(seen.contains(&1) && seen.contains(&last));
    }

    #[test]
    fn customers_are_as_active_as_their_accounts() {
        const DRAWS: i32 = 40_000;
        let mut inputs = inputs(1);
        let mut tiers = [0; 3];
        let mut counts = HashMap::new();
        for _ in 0..DRAWS {
            let account = inputs.account();
            tiers[inputs.data.account(account).tier as usize - 1] += 1;
            *counts.entry(inputs.customer()).or_insert(0) += 1;
        }
        for (count, share) in tiers.into_iter().zip([10, 60, 30]) {
            assert!((100 * count / DRAWS - share).abs() <= 1, "{tiers:?}");
        }
        // A customer has 1 to 10 accounts, 5 on average.
        let mean = f64::from(DRAWS) / *inputs.data.customers().end() as f64;
        let most = counts.into_values().max().map_or(0.0, f64::from);
        assert!(most < 2.6 * mean, "{most} of {mean}");
    }

    #[test]
    fn orders_have_the_prescribed_shares() {
        const ORDERS: u32 = 20_000;
        let mut inputs = inputs(1);
        let mut counts = [0u32; 4];
        for _ in 0..ORDERS {
            let order = inputs.trade_order();
            let own = inputs.data.account(order.account).securities;
            let own = own.iter().any(|security| inputs.data.symbol(*security) == order.security);
            assert!(own || !order.kind.sells());
            if let Some((company, issue)) = order.company {
                let preferred = order.security.text().contains('.');
                assert_eq!(issue, if preferred { "PREF_A" } else { "COMMON" });
                assert!(inputs.data.companies().contains(&company));
                counts[0] += 1;
                counts[1] += u32::from(preferred);
            }
            counts[2] += u32::from(order.other.is_some());
            counts[3] += u32::from(own);
        }
        let [company, preferred, other, own] =
            counts.map(|count| f64::from(count) / f64::from(ORDERS));
        assert!((0.38..0.42).contains(&company), "{company}");
        assert!((0.09..0.13).contains(&preferred), "27 % of them: {preferred}");
        assert!((0.08..0.12).contains(&other), "{other}");
        // By chance, half of the purchases also find an own one.
        assert!((0.74..0.80).contains(&own), "{own}");
    }

    #[test]
    fn a_security_has_one_company_and_issue() {
        let data = inputs(1).data;
        let issues: HashSet<_> = (0..data.securities()).map(|one| data.issue_of(one)).collect();
        assert_eq!(issues.len() as u64, data.securities());
    }

    #[test]
    fn an_industry_is_watched_in_a_window_of_companies() {
        for (scale, most) in [(0.1, 50), (10.0, 5_000), (20.0, 5_000)] {
            let data = Data::new(scale, 1, 1).unwrap();
            let last = *data.companies().end();
            let mut inputs = Inputs::new(Xoshiro256PlusPlus::seed_from_u64(1), data);
            let mut firsts = HashSet::new();
            for _ in 0..200 {
                let (first, to) = inputs.window();
                assert!((1..=last).contains(&first) && to <= last && to - first + 1 == most);
                firsts.insert(first);
            }
            assert_eq!(firsts.len() > 1, last > most);
        }
    }

    #[test]
    fn times_of_the_past_are_in_trading_hours_and_early_enough() {
        const HOUR_US: i64 = 3_600_000_000;
        for (days, before_ms, last_day) in
            [(10, ACCOUNT_MS, 5), (10, SECURITY_MS, 9), (1, ACCOUNT_MS, 0)]
        {
            let mut inputs = inputs(days);
            let trading: Vec<i64> = dyno_gen::brokerage::market_days().map(i64::from).collect();
            let first = trading.len() - days as usize;
            let mut seen = HashSet::new();
            for _ in 0..5_000 {
                let hours = inputs.time_us(before_ms).div_euclid(HOUR_US);
                let (day, hour) = (hours.div_euclid(24), hours.rem_euclid(24));
                let day = trading[first..].iter().position(|known| *known == day).unwrap();
                assert!((9..17).contains(&hour) && day <= last_day, "day {day}, {hour}:00");
                seen.insert(day);
            }
            assert_eq!(seen.len(), last_day + 1);
        }
    }
}
