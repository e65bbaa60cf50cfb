//! Exchanges, companies, and securities with their daily prices.

use std::ops::Range;

use dyno_record::Result;

use super::Brokerage;
use super::calendar::{CLOSE_HOUR, MARKET_DAYS, OPEN_HOUR, YEAR, date};
use super::draws::{Draws, Use, below, hash, skewed};
use super::fixed::{ACTIVE, industry_id, shown};
use super::people::Customer;
use super::places::company_address;
use super::pools::companies::{INDUSTRIES, RATINGS};
use super::pools::news::{OBJECTS, VERBS};
use super::prices::Prices;
use super::securities::{Symbol, company_name, company_of, industry, issue, security_name};
use crate::sink::RowSink;

/// An exchange.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) id: &'static str,
    name: &'static str,
    about: &'static str,
}

pub(super) const EXCHANGES: [Exchange; 4] = [
    Exchange { id: "NORTH", name: "Northern Stock Exchange", about: "Shares of large companies" },
    Exchange { id: "HARBOR", name: "Harbor Exchange", about: "Shares of industrial companies" },
    Exchange { id: "LINK", name: "Linked Dealer Market", about: "Electronic trading of shares" },
    Exchange { id: "COAST", name: "Coast Exchange", about: "Shares of companies of the west" },
];

pub(super) const COMPETITORS: u64 = 3;
/// Quarters of five years.
pub(super) const QUARTERS: u64 = 20;
const FIRST_YEAR: i32 = 2_020;
/// 2020-01-01 in days since 1970-01-01.
const FIRST_QUARTER: i32 = 18_262;

/// The index of the exchange of a security.
#[inline]
pub(super) const fn exchange_of(security: u64) -> u64 {
    security % EXCHANGES.len() as u64
}

pub(super) fn exchanges(size: &Brokerage, sink: &mut impl RowSink) -> Result<u64> {
    let count = EXCHANGES.len() as u64;
    for (number, exchange) in (0..).zip(&EXCHANGES) {
        sink.begin_row();
        sink.text(exchange.id);
        sink.text(exchange.name);
        sink.int32(((size.securities() + count - 1 - number) / count) as i32);
        sink.int32(OPEN_HOUR * 100);
        sink.int32(CLOSE_HOUR * 100);
        sink.text(exchange.about);
        sink.int64(number as i64 + 1);
        sink.end_row()?;
    }
    Ok(count)
}

pub(super) fn companies(
    size: &Brokerage,
    rows: Range<u64>,
    sink: &mut impl RowSink,
) -> Result<u64> {
    let mut text = String::new();
    for company in rows.clone() {
        let mut draws = Draws::new(size.seed, Use::Company, company);
        let industry = industry(company);
        sink.begin_row();
        sink.int64(company as i64 + 1);
        sink.text(ACTIVE);
        text.clear();
        company_name(size.seed, company, &mut text);
        sink.text(&text);
        sink.text(shown(&industry_id(industry)));
        sink.text(draws.of(&RATINGS));
        let (verb, object) = (draws.of(&VERBS), draws.of(&OBJECTS));
        let about = format!("{text}: {}. It {verb} {object}.", INDUSTRIES[industry].1);
        text.clear();
        Customer::new(draws.next(), 1).name(&mut text);
        sink.text(&text);
        sink.int64(company_address(company));
        sink.text(&about);
        sink.date(date(0) - draws.between(1_000, 40_000) as i32);
        sink.end_row()?;
    }
    Ok(rows.end - rows.start)
}

pub(super) fn competitors(
    size: &Brokerage,
    rows: Range<u64>,
    sink: &mut impl RowSink,
) -> Result<u64> {
    // Companies of the same industry are far enough apart if there are several in it.
    let (count, apart) = (size.companies(), INDUSTRIES.len() as u64);
    let step = if count > apart * (COMPETITORS + 1) { apart } else { 1 };
    for company in rows.clone() {
        let first = u64::from(below(hash(size.seed, Use::Competitor, company), 2));
        for number in 1..=COMPETITORS {
            sink.begin_row();
            sink.int64(company as i64 + 1);
            sink.int64(((company + step * (number + first)) % count) as i64 + 1);
            sink.text(shown(&industry_id(industry(company))));
            sink.end_row()?;
        }
    }
    Ok((rows.end - rows.start) * COMPETITORS)
}

/// Shares of a company: 4 million to 2 billion.
fn shares(seed: u64, company: u64) -> i64 {
    4_000_000 + i64::from(skewed(hash(seed, Use::Security, !company), 20_000)) * 100_000
}

pub(super) fn financials(
    size: &Brokerage,
    rows: Range<u64>,
    sink: &mut impl RowSink,
) -> Result<u64> {
    for company in rows.clone() {
        let mut draws = Draws::new(size.seed, Use::Financial, company);
        let shares = shares(size.seed, company);
        // In cents: 1 to 11 dollars per share.
        let usual = shares * draws.between(100, 1_100);
        for quarter in 0..QUARTERS as i32 {
            let revenue = usual * draws.between(850, 1_150) / 1_000;
            let margin = draws.between(-4, 25);
            let net = revenue * margin / 100;
            let diluted = shares + shares * draws.between(0, 80) / 1_000;
            let assets = revenue * draws.between(110, 400) / 100;
            sink.begin_row();
            sink.int64(company as i64 + 1);
            sink.int32(FIRST_YEAR + quarter / 4);
            sink.int32(quarter % 4 + 1);
            sink.date(quarter_start(quarter));
            sink.decimal(revenue, 2);
            sink.decimal(net, 2);
            sink.decimal(net / shares, 2);
            sink.decimal(net / diluted, 2);
            sink.decimal(margin, 2);
            sink.decimal(revenue * draws.between(5, 30) / 100, 2);
            sink.decimal(assets, 2);
            sink.decimal(assets * draws.between(20, 90) / 100, 2);
            sink.int64(shares);
            sink.int64(diluted);
            sink.end_row()?;
        }
    }
    Ok((rows.end - rows.start) * QUARTERS)
}

/// The first day of a quarter, from 0: that of 2020-01-01.
fn quarter_start(quarter: i32) -> i32 {
    let (years, quarter) = (quarter / 4, quarter % 4);
    // 2020 and 2024 are leap years.
    let leaps = (years + 3) / 4;
    let leap = i32::from(years % 4 == 0 && quarter > 0);
    FIRST_QUARTER + 365 * years + leaps + [0, 90, 181, 273][quarter as usize] + leap
}

pub(super) fn securities(
    size: &Brokerage,
    rows: Range<u64>,
    sink: &mut impl RowSink,
) -> Result<u64> {
    let mut text = String::new();
    for security in rows.clone() {
        let mut draws = Draws::new(size.seed, Use::Security, !security << 1);
        let (company, preferred) = company_of(security);
        let prices = Prices::new(size.seed, security);
        let days = (MARKET_DAYS - YEAR..MARKET_DAYS).map(|day| (prices.day(day), day));
        let days: Vec<_> = days.collect();
        let (high, high_day) =
            days.iter().map(|(it, day)| (it.high, *day)).max().expect("a year has days");
        let (low, low_day) =
            days.iter().map(|(it, day)| (it.low, *day)).min().expect("a year has days");
        let close = i64::from(prices.close(MARKET_DAYS - 1));
        let listed = date(0) - draws.between(100, 12_000) as i32;
        let dividend = if draws.percent(60) { close * draws.between(5, 60) / 1_000 } else { 0 };
        sink.begin_row();
        sink.text(Symbol::new(security).as_str());
        sink.text(issue(preferred));
        sink.text(ACTIVE);
        text.clear();
        security_name(size.seed, security, &mut text);
        sink.text(&text);
        sink.text(EXCHANGES[exchange_of(security) as usize].id);
        sink.int64(company as i64 + 1);
        sink.int64(if preferred {
            shares(size.seed, company) / 10
        } else {
            shares(size.seed, company)
        });
        sink.date(listed);
        sink.date(listed + draws.between(0, 90) as i32);
        sink.decimal(draws.between(600, 6_000), 2);
        sink.decimal(i64::from(high), 2);
        sink.date(date(high_day));
        sink.decimal(i64::from(low), 2);
        sink.date(date(low_day));
        sink.decimal(dividend, 2);
        sink.decimal(dividend * 10_000 / close, 2);
        sink.end_row()?;
    }
    Ok(rows.end - rows.start)
}

/// The volume of a security on a trading day.
fn volume(seed: u64, security: u64, day: u32) -> i64 {
    let key = hash(seed, Use::Volume, security << 12 | u64::from(day));
    100 * (10 + i64::from(skewed(key, 100_000)))
}

pub(super) fn daily(size: &Brokerage, rows: Range<u64>, sink: &mut impl RowSink) -> Result<u64> {
    for security in rows.clone() {
        let (symbol, prices) = (Symbol::new(security), Prices::new(size.seed, security));
        for day in 0..MARKET_DAYS {
            let found = prices.day(day);
            sink.begin_row();
            sink.date(date(day));
            sink.text(symbol.as_str());
            sink.decimal(i64::from(found.close), 2);
            sink.decimal(i64::from(found.high), 2);
            sink.decimal(i64::from(found.low), 2);
            sink.int64(volume(size.seed, security, day));
            sink.end_row()?;
        }
    }
    Ok((rows.end - rows.start) * u64::from(MARKET_DAYS))
}

pub(super) fn last_trades(
    size: &Brokerage,
    rows: Range<u64>,
    sink: &mut impl RowSink,
) -> Result<u64> {
    for security in rows.clone() {
        let last = Prices::new(size.seed, security).day(MARKET_DAYS - 1);
        sink.begin_row();
        sink.text(Symbol::new(security).as_str());
        sink.timestamp(size.traded().1);
        sink.decimal(i64::from(last.close), 2);
        sink.decimal(i64::from(last.open), 2);
        sink.int64(volume(size.seed, security, MARKET_DAYS - 1));
        sink.end_row()?;
    }
    Ok(rows.end - rows.start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::civil;

    #[test]
    fn quarters_start_on_the_first_of_their_month() {
        for quarter in 0..QUARTERS as i32 {
            let expected = (2_020 + quarter as u32 / 4, quarter as u32 % 4 * 3 + 1, 1);
            assert_eq!(civil(quarter_start(quarter)), expected);
        }
    }
}
