//! Data of a brokerage house, derived from TPC-E: its published tables, ratios and rules, with
//! Dyno's own generator, names and prices (docs/decisions/0025).
//!
//! A desk is 20 customers with 100 accounts. Their trades are simulated in the order of time, from
//! the desk's own random stream, and each table that depends on trades repeats the simulation. A
//! desk has the same number of trades as any other, so the numbers of its trades are known without
//! the other desks: they are dense, and ascend with the time of completion within a desk.

mod accounts;
mod calendar;
mod counts;
mod desk;
mod draws;
mod facts;
mod fees;
mod fixed;
mod lots;
mod market;
mod news;
mod people;
mod places;
mod pools;
mod prices;
mod schema;
mod securities;
mod trades;

use dyno_record::Result;

use crate::row_count::RowCount;
use crate::sink::RowSink;
use crate::usage::usage;
use counts::Counts;
pub use people::MOST_ACCOUNTS;
use people::{CUSTOMERS_PER_BROKER, DESK, LOAD_UNIT};

pub use facts::{Account, Tier, industries, market_days, sectors};
pub(crate) use schema::TABLES;

/// Customers at scale 1, and the smallest step of the scale.
const CUSTOMERS: u64 = LOAD_UNIT;
const STEP: u64 = 100;
/// 10 million customers; more would take identifiers and symbols that no table holds.
const MOST_SCALE: f64 = 10_000.0;

/// Initial trading days: the usual number, and the published one, which is the maximum.
pub const USUAL_DAYS: u32 = 10;
/// See [`USUAL_DAYS`].
pub const MOST_DAYS: u32 = 300;

/// Companies generated at once: those of [`STEP`] customers.
const COMPANIES: u64 = 50;
const ADDRESSES: u64 = 5_000;

/// The data of a number of customers and initial trading days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Brokerage {
    customers: u64,
    days: u32,
    seed: u64,
}

impl Brokerage {
    /// The data of `scale` × 1,000 customers, in steps of 100, with the usual initial days.
    ///
    /// # Errors
    /// `usage` if the scale is not valid.
    pub fn new(scale: f64, seed: u64) -> Result<Self> {
        let steps = (scale * (CUSTOMERS / STEP) as f64).round();
        let valid = (0.1..=MOST_SCALE).contains(&scale)
            && (scale * (CUSTOMERS / STEP) as f64 - steps).abs() < 1e-6;
        if valid {
            Ok(Self { customers: steps as u64 * STEP, days: USUAL_DAYS, seed })
        } else {
            Err(usage(format!(
                "the scale is thousands of customers, from 0.1 to {MOST_SCALE} in steps of 0.1, \
                 not {scale}"
            )))
        }
    }

    /// The same customers with other initial trading days.
    ///
    /// # Errors
    /// `usage` if there are none, or more than the published 300.
    pub fn with_days(self, days: u32) -> Result<Self> {
        if (1..=MOST_DAYS).contains(&days) {
            Ok(Self { days, ..self })
        } else {
            Err(usage(format!("the initial trading days must be 1 to {MOST_DAYS}, not {days}")))
        }
    }

    const fn desks(&self) -> u64 {
        self.customers / DESK
    }

    const fn load_units(&self) -> u64 {
        self.customers.div_ceil(LOAD_UNIT)
    }

    /// The number of brokers of a load unit; the last one may be smaller than others.
    const fn brokers_of(&self, unit: u64) -> u64 {
        let customers = self.customers - unit * LOAD_UNIT;
        (if customers < LOAD_UNIT { customers } else { LOAD_UNIT }) / CUSTOMERS_PER_BROKER
    }

    pub(crate) fn units(&self, table: &str) -> u64 {
        match table {
            "status_type" | "taxrate" | "zip_code" | "sector" | "industry" | "exchange"
            | "trade_type" | "charge" | "commission_rate" | "trade_request" => 1,
            "address" => places::addresses(self).div_ceil(ADDRESSES),
            "company" | "company_competitor" | "financial" | "news_item" | "news_xref"
            | "security" | "last_trade" | "daily_market" => self.companies() / COMPANIES,
            "broker" => self.load_units(),
            _ => self.desks(),
        }
    }

    /// Row count of a table; estimated if only the simulation of all trades tells it.
    pub(crate) fn expected_rows(&self, table: &str) -> u64 {
        let share = |per_trade: f64| (self.trades() as f64 * per_trade) as u64;
        match table {
            "trade_history" => share(2.4),
            "cash_transaction" => share(0.92),
            "holding_history" => share(counts::touched(self)),
            "holding" => counts::holdings(self),
            "holding_summary" => self.accounts() * 49 / 5,
            _ => self.exact_rows(table, || unreachable!("tables come from the schema")),
        }
    }

    /// The exact row count of a table. Tables of trades need a simulation of all of them, once.
    pub(crate) fn row_count(&self, table: &str) -> RowCount {
        RowCount::exact(self.exact_rows(table, || Counts::of(self).rows(table)))
    }

    fn exact_rows(&self, table: &str, simulated: impl FnOnce() -> u64) -> u64 {
        match table {
            "status_type" | "trade_type" => 5,
            "taxrate" => places::TAX_RATES,
            "zip_code" => places::ZIP_CODES,
            "sector" => fixed::SECTOR_COUNT,
            "industry" => fixed::INDUSTRY_COUNT,
            "exchange" => market::EXCHANGES.len() as u64,
            "charge" => fixed::CHARGES,
            "commission_rate" => fees::RATES,
            "trade_request" => 0,
            "address" => places::addresses(self),
            "company" => self.companies(),
            "company_competitor" => self.companies() * market::COMPETITORS,
            "financial" => self.companies() * market::QUARTERS,
            "news_item" | "news_xref" => self.companies() * news::PER_COMPANY,
            "security" | "last_trade" => self.securities(),
            "daily_market" => self.securities() * u64::from(calendar::MARKET_DAYS),
            "broker" => self.brokers(),
            "customer" | "watch_list" => self.customers,
            "customer_taxrate" => self.customers * 2,
            "customer_account" => self.accounts(),
            "trade" | "settlement" => self.trades(),
            "account_permission" => {
                (0..self.desks()).map(|desk| people::count_permissions(self, desk)).sum()
            }
            "watch_item" => (1..=self.customers).map(|id| accounts::watched(self, id)).sum(),
            _ => simulated(),
        }
    }

    /// Writes the rows of a unit to `sink`; returns their number.
    pub(crate) fn write(&self, table: &str, unit: u64, sink: &mut impl RowSink) -> Result<u64> {
        match table {
            "status_type" => fixed::status_types(sink),
            "taxrate" => places::tax_rates(self.seed, sink),
            "zip_code" => places::zip_codes(self.seed, sink),
            "sector" => fixed::sectors(sink),
            "industry" => fixed::industries(sink),
            "exchange" => market::exchanges(self, sink),
            "trade_type" => fixed::trade_types(sink),
            "charge" => fixed::charges(sink),
            "commission_rate" => fixed::commission_rates(sink),
            "trade_request" => Ok(0),
            "address" => {
                let end = ((unit + 1) * ADDRESSES).min(places::addresses(self));
                places::write_addresses(self.seed, unit * ADDRESSES + 1..end + 1, sink)
            }
            "company" | "company_competitor" | "financial" | "news_item" | "news_xref"
            | "security" | "last_trade" | "daily_market" => {
                let companies = unit * COMPANIES..(unit + 1) * COMPANIES;
                self.write_market(table, companies, sink)
            }
            "broker" => accounts::brokers(self, unit, sink),
            "customer" => accounts::customers(self, unit, sink),
            "customer_taxrate" => accounts::tax_rates(self, unit, sink),
            "customer_account" => accounts::accounts(self, unit, sink),
            "account_permission" => accounts::permissions(self, unit, sink),
            "watch_list" => accounts::watch_lists(unit, sink),
            "watch_item" => accounts::watch_items(self, unit, sink),
            "trade" => trades::trades(self, unit, sink),
            "trade_history" => trades::histories(self, unit, sink),
            "settlement" => trades::settlements(self, unit, sink),
            "cash_transaction" => trades::cash(self, unit, sink),
            "holding_history" => trades::holding_histories(self, unit, sink),
            "holding" => trades::holdings(self, unit, sink),
            "holding_summary" => trades::holding_summaries(self, unit, sink),
            _ => unreachable!("tables come from the schema"),
        }
    }

    fn write_market(
        &self,
        table: &str,
        companies: std::ops::Range<u64>,
        sink: &mut impl RowSink,
    ) -> Result<u64> {
        let own = securities::securities(companies.start)..securities::securities(companies.end);
        match table {
            "company" => market::companies(self, companies, sink),
            "company_competitor" => market::competitors(self, companies, sink),
            "financial" => market::financials(self, companies, sink),
            "news_item" => news::items(self, companies, sink),
            "news_xref" => news::references(companies, sink),
            "security" => market::securities(self, own, sink),
            "last_trade" => market::last_trades(self, own, sink),
            _ => market::daily(self, own, sink),
        }
    }
}

/// Bytes of an average row as `tbl` text, measured at scale 1 and ten days.
pub(crate) fn row_bytes(table: &str) -> f64 {
    match table {
        "status_type" => 14.8,
        "taxrate" => 45.4,
        "zip_code" => 27.3,
        "address" => 36.4,
        "sector" => 16.3,
        "industry" => 22.2,
        "exchange" => 70.5,
        "company" => 144.8,
        "company_competitor" => 11.6,
        "security" => 148.7,
        "daily_market" => 43.1,
        "financial" => 125.3,
        "last_trade" => 46.1,
        "news_item" => 6107.8,
        "news_xref" => 8.7,
        "trade_type" => 19.8,
        "charge" => 12.0,
        "commission_rate" => 26.0,
        "broker" => 41.7,
        "customer" => 158.1,
        "customer_taxrate" => 9.9,
        "customer_account" => 53.2,
        "account_permission" => 36.7,
        "watch_list" => 8.8,
        "watch_item" => 10.4,
        "trade" => 104.1,
        "trade_history" => 39.8,
        "trade_request" => 40.0,
        "settlement" => 40.4,
        "cash_transaction" => 107.7,
        "holding_history" => 21.6,
        "holding" => 55.7,
        _ => 16.5,
    }
}
