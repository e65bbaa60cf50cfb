//! Data-Maintenance: changes what changes rarely, a table a minute, in turn.

use dyno_record::Result;

use super::order::Symbol;
use super::statements::{
    MAINTAIN_ACCOUNT_PERMISSION, MAINTAIN_ADDRESS, MAINTAIN_COMPANY, MAINTAIN_CUSTOMER,
    MAINTAIN_CUSTOMER_TAXRATE, MAINTAIN_DAILY_MARKET, MAINTAIN_EXCHANGE, MAINTAIN_FINANCIAL,
    MAINTAIN_NEWS_ITEM, MAINTAIN_SECURITY, MAINTAIN_TAXRATE, MAINTAIN_WATCH_ITEM, TAX_RATES_OF,
    WATCHED_SYMBOLS,
};
use crate::wire::{Access, Session, Value};
use crate::workloads::contract::TxnOutcome;

/// Tables that are maintained.
const TABLES: u64 = 12;
const DAY_US: i64 = 86_400_000_000;

/// Input of a Data-Maintenance.
#[derive(Debug, Clone, Copy)]
pub struct Maintenance {
    /// Number of the maintenance; it decides on the table.
    pub number: u64,
    /// A customer.
    pub customer: i64,
    /// An account.
    pub account: i64,
    /// A company.
    pub company: i64,
    /// A security.
    pub symbol: Symbol,
    /// A trading day, since the Unix epoch.
    pub day: i32,
}

impl Maintenance {
    /// The number of the table, from 0.
    pub const fn table(&self) -> u64 {
        self.number % TABLES
    }
}

/// Runs it once.
pub async fn run<S: Session>(
    session: &mut S,
    input: &Maintenance,
    unix_us: i64,
) -> Result<TxnOutcome> {
    let (customer, company) = (Value::BigInt(input.customer), Value::BigInt(input.company));
    let (account, symbol) = (Value::BigInt(input.account), Value::Text(input.symbol.text()));
    let (now, today) = (Value::Timestamp(unix_us), Value::Date(unix_us.div_euclid(DAY_US) as i32));
    session.queue_begin(Access::Write);
    match input.table() {
        0 => session.queue(MAINTAIN_ACCOUNT_PERMISSION, &[account]),
        1 => session.queue(MAINTAIN_ADDRESS, &[customer]),
        2 => session.queue(MAINTAIN_COMPANY, &[company]),
        3 => session.queue(MAINTAIN_CUSTOMER, &[customer]),
        4 => return swap_tax_rate(session, customer).await,
        5 => session.queue(MAINTAIN_DAILY_MARKET, &[symbol, Value::Date(input.day)]),
        6 => session.queue(MAINTAIN_EXCHANGE, &[symbol]),
        7 => session.queue(MAINTAIN_FINANCIAL, &[company, today]),
        8 => session.queue(MAINTAIN_NEWS_ITEM, &[now, company]),
        9 => session.queue(MAINTAIN_SECURITY, &[today, symbol]),
        10 => session.queue(MAINTAIN_TAXRATE, &[customer]),
        _ => return swap_watched(session, customer, &input.symbol).await,
    };
    end(session).await
}

/// Gives a customer another tax rate of the same division.
async fn swap_tax_rate<S: Session>(session: &mut S, customer: Value<'_>) -> Result<TxnOutcome> {
    let rates = session.queue(TAX_RATES_OF, &[customer]);
    session.flush().await?;
    if session.rows(rates) > 0 {
        let (old, new) = (session.text(rates, 0, 0)?.to_owned(), session.text(rates, 0, 1)?);
        let new = new.to_owned();
        let given = [Value::Text(&new), customer, Value::Text(&old)];
        session.queue(MAINTAIN_CUSTOMER_TAXRATE, &given);
    }
    end(session).await
}

/// Watches another security instead of the first on a customer's list.
async fn swap_watched<S: Session>(
    session: &mut S,
    customer: Value<'_>,
    symbol: &Symbol,
) -> Result<TxnOutcome> {
    let watched = session.queue(WATCHED_SYMBOLS, &[customer]);
    session.flush().await?;
    let mut listed = Vec::new();
    for row in 0..session.rows(watched) {
        listed.push(Symbol::new(session.text(watched, row, 1)?));
    }
    if let Some(first) = listed.first().copied().filter(|_| !listed.contains(symbol)) {
        let list = Value::BigInt(session.int(watched, 0, 0)?);
        let given = [Value::Text(symbol.text()), list, Value::Text(first.text())];
        session.queue(MAINTAIN_WATCH_ITEM, &given);
    }
    end(session).await
}

async fn end<S: Session>(session: &mut S) -> Result<TxnOutcome> {
    session.queue_commit();
    session.flush().await?;
    Ok(TxnOutcome::Committed)
}
