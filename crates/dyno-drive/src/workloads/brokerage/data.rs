//! The loaded data that inputs are drawn from. Names and numbers follow from its size by the
//! generator's rules.

use std::ops::RangeInclusive;
use std::sync::Arc;

use dyno_gen::brokerage::{Account, Brokerage, industries, market_days, sectors};
use dyno_record::Result;

use super::order::Symbol;

/// The loaded data; copies share it.
#[derive(Debug, Clone)]
pub struct Data {
    size: Brokerage,
    lists: Arc<Lists>,
}

/// What is drawn from lists.
#[derive(Debug)]
struct Lists {
    sectors: Vec<&'static str>,
    industries: Vec<&'static str>,
    days: Vec<i32>,
}

/// Of a random number from 0 to 1.
fn pick<T: Copy>(list: &[T], drawn: f64) -> T {
    list[((drawn * list.len() as f64) as usize).min(list.len() - 1)]
}

impl Data {
    /// Of loaded data.
    ///
    /// # Errors
    /// `usage` if the scale or the number of days is not valid.
    pub fn new(scale: f64, days: u32, seed: u64) -> Result<Self> {
        let size = Brokerage::new(scale, seed)?.with_days(days)?;
        let lists = Lists {
            sectors: sectors().collect(),
            industries: industries().collect(),
            days: market_days().collect(),
        };
        Ok(Self { size, lists: Arc::new(lists) })
    }

    /// Numbers of the customers.
    pub const fn customers(&self) -> RangeInclusive<i64> {
        1..=self.size.customers() as i64
    }

    /// Numbers of a customer's accounts.
    pub fn accounts(&self, customer: i64) -> std::ops::Range<i64> {
        let ids = self.size.accounts_of(customer as u64);
        ids.start as i64..ids.end as i64
    }

    /// An account.
    pub fn account(&self, number: i64) -> Account {
        self.size.account(number as u64)
    }

    /// Numbers of the brokers.
    pub const fn brokers(&self) -> RangeInclusive<i64> {
        1..=self.size.brokers() as i64
    }

    /// Numbers of the companies.
    pub const fn companies(&self) -> RangeInclusive<i64> {
        1..=self.size.companies() as i64
    }

    /// Number of securities.
    pub const fn securities(&self) -> u64 {
        self.size.securities()
    }

    /// Numbers of the loaded trades.
    pub const fn trades(&self) -> RangeInclusive<i64> {
        1..=self.size.trades() as i64
    }

    /// Days of the loaded trades.
    pub const fn days(&self) -> u32 {
        self.size.days()
    }

    /// A time of their trading, microseconds since the Unix epoch; `ms` is counted in trading
    /// hours, from the first opening.
    pub const fn traded_us(&self, ms: u64) -> i64 {
        self.size.traded_at(ms)
    }

    /// A day with prices, since the Unix epoch, for a random number from 0 to 1.
    pub fn day(&self, drawn: f64) -> i32 {
        pick(&self.lists.days, drawn)
    }

    /// The name of a sector for a random number from 0 to 1.
    pub fn sector(&self, drawn: f64) -> &'static str {
        pick(&self.lists.sectors, drawn)
    }

    /// The name of an industry for a random number from 0 to 1.
    pub fn industry(&self, drawn: f64) -> &'static str {
        pick(&self.lists.industries, drawn)
    }

    /// The symbol of a security, from 0.
    pub fn symbol(&self, security: u64) -> Symbol {
        Symbol::new(&self.size.symbol(security))
    }

    /// The number of the company of a security, from 0, and its issue.
    pub fn issue_of(&self, security: u64) -> (i64, &'static str) {
        let (company, issue) = self.size.issue_of(security);
        (company as i64, issue)
    }

    /// The name of a broker.
    pub fn broker(&self, number: i64) -> String {
        self.size.broker(number as u64)
    }

    /// The tax number of a customer.
    pub fn tax_number(&self, customer: i64) -> String {
        self.size.tax_id(customer as u64)
    }

    /// The name of a company.
    pub fn company(&self, number: i64) -> String {
        self.size.company(number as u64)
    }
}
