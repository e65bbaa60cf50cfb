//! What a driver has to know about loaded data to draw its inputs without asking the database.

use super::people::{Customer, DESK, DESK_ACCOUNTS, broker_of, helpers, securities_of, tax_id};
use super::pools::companies::{INDUSTRIES, SECTORS};
use super::securities::{Symbol, company_name, company_of, issue, securities};
use super::{Brokerage, accounts, calendar};

/// The tier of a customer: 1 to 3, the best.
pub type Tier = i32;

/// An account, as facts that do not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// `ca_id`.
    pub id: u64,
    /// `ca_c_id`.
    pub customer: u64,
    /// `ca_b_id`.
    pub broker: u64,
    /// Tier of the customer.
    pub tier: Tier,
    /// Securities that its initial trades are in, from 0.
    pub securities: Vec<u64>,
    /// Customers other than the owner who may trade with it.
    pub helpers: usize,
}

impl Brokerage {
    /// Customers. `c_id` is 1 to this number, and so is `wl_id`.
    pub const fn customers(&self) -> u64 {
        self.customers
    }

    /// Initial trading days.
    pub const fn days(&self) -> u32 {
        self.days
    }

    /// Accounts of all customers: five times as many.
    pub const fn accounts(&self) -> u64 {
        self.customers / DESK * DESK_ACCOUNTS
    }

    /// Brokers: `b_id` is 1 to this number.
    pub const fn brokers(&self) -> u64 {
        self.customers / super::CUSTOMERS_PER_BROKER
    }

    /// Companies: `co_id` is 1 to this number.
    pub const fn companies(&self) -> u64 {
        self.customers / 2
    }

    /// Securities of the companies.
    pub const fn securities(&self) -> u64 {
        securities(self.companies())
    }

    /// Initial trades: `t_id` is 1 to this number. 57.6 per customer and day.
    pub const fn trades(&self) -> u64 {
        self.desks() * self.trades_of_desk()
    }

    /// The times, in microseconds since 1970-01-01, between which the initial trades completed.
    pub const fn traded(&self) -> (i64, i64) {
        let last = calendar::opening(calendar::MARKET_DAYS - 1);
        (calendar::opening(self.first_day()), last + calendar::TRADING)
    }

    /// The time, in microseconds since 1970-01-01, after `ms` milliseconds of trading since the first
    /// opening of the initial trades; nights and weekends do not count.
    pub const fn traded_at(&self, ms: u64) -> i64 {
        const DAY_MS: u64 = calendar::TRADING as u64 / 1_000;
        let day = self.first_day() + (ms / DAY_MS) as u32;
        calendar::opening(day) + (ms % DAY_MS) as i64 * 1_000
    }

    /// The numbers of a customer's accounts: (`c_id` − 1) × 10 + 1, and the following ones.
    pub fn accounts_of(&self, customer: u64) -> std::ops::Range<u64> {
        Customer::new(self.seed, customer).account_ids()
    }

    /// An existing account.
    pub fn account(&self, id: u64) -> Account {
        let customer = Customer::new(self.seed, (id - 1) / super::people::MOST_ACCOUNTS + 1);
        let mut securities = Vec::new();
        securities_of(self, id, &mut securities);
        let broker = broker_of(self, id);
        let helpers = helpers(self, id).count();
        Account { id, customer: customer.id, broker, tier: customer.tier, securities, helpers }
    }

    /// `s_co_id` and `s_issue` of a security, from 0.
    pub fn issue_of(&self, security: u64) -> (u64, &'static str) {
        let (company, preferred) = company_of(security);
        (company + 1, issue(preferred))
    }

    /// `s_symb` of a security, from 0.
    pub fn symbol(&self, security: u64) -> String {
        Symbol::new(security).as_str().to_owned()
    }

    /// `co_name` of a company, from `co_id` 1.
    pub fn company(&self, id: u64) -> String {
        let mut text = String::new();
        company_name(self.seed, id - 1, &mut text);
        text
    }

    /// `b_name` of a broker.
    pub fn broker(&self, id: u64) -> String {
        let mut text = String::new();
        accounts::broker_name(self.seed, id, &mut text);
        text
    }

    /// `c_tax_id` of a customer.
    pub fn tax_id(&self, customer: u64) -> String {
        let mut text = String::new();
        tax_id(self.seed, customer, &mut text);
        text
    }
}

/// Names of the sectors.
pub fn sectors() -> impl ExactSizeIterator<Item = &'static str> {
    SECTORS.iter().map(|(_, name)| *name)
}

/// Names of the industries.
pub fn industries() -> impl ExactSizeIterator<Item = &'static str> {
    INDUSTRIES.iter().map(|(_, name, _)| *name)
}

/// Days with prices of each security, in days since 1970-01-01.
pub fn market_days() -> impl ExactSizeIterator<Item = i32> {
    (0..calendar::MARKET_DAYS).map(calendar::date)
}
