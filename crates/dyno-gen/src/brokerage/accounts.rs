//! Rows of customers, their accounts and watch lists, and brokers.

use std::fmt::Write as _;

use dyno_record::Result;

use super::Brokerage;
use super::calendar::date;
use super::draws::{Draws, Use, below, hash};
use super::fixed::ACTIVE;
use super::people::{
    CUSTOMERS_PER_BROKER, Customer, DESK, DESK_ACCOUNTS, LOAD_UNIT, customer_ids, customers_of,
    helpers, tax_id,
};
use super::places::{TaxRate, customer_address};
use super::pools::names::{ACCOUNTS, FAMILIES, MAIL, MEN, WOMEN};
use super::securities::Symbol;
use crate::sink::RowSink;

/// 1930-01-01 and 2006-01-01 in days since 1970-01-01.
const BORN: (i64, i64) = (-14_610, 13_149);

pub(super) fn customers(size: &Brokerage, desk: u64, sink: &mut impl RowSink) -> Result<u64> {
    let mut text = String::new();
    for customer in customers_of(size.seed, desk) {
        let mut draws = Draws::new(size.seed, Use::Phone, customer.id);
        sink.begin_row();
        sink.int64(customer.id as i64);
        tax_id(size.seed, customer.id, &mut text);
        sink.text(&text);
        sink.text(ACTIVE);
        sink.text(customer.family);
        sink.text(customer.given);
        letter(b'A' + draws.below(26) as u8, sink);
        letter(if customer.woman { b'F' } else { b'M' }, sink);
        sink.int32(customer.tier);
        sink.date(draws.between(BORN.0, BORN.1) as i32);
        sink.int64(customer_address(size, customer.id));
        for percent in [100, 50, 20] {
            phone(&mut draws, percent, &mut text, sink);
        }
        for separator in ['.', '_'] {
            text.clear();
            let (given, family) = (customer.given, customer.family);
            write!(text, "{given}{separator}{family}{}@{}", customer.id, draws.of(&MAIL))
                .expect("text takes all");
            text.make_ascii_lowercase();
            sink.text(&text);
        }
        sink.end_row()?;
    }
    Ok(DESK)
}

fn letter(letter: u8, sink: &mut impl RowSink) {
    sink.text(std::str::from_utf8(&[letter]).expect("letters are ASCII"));
}

/// A phone number, which `percent` of 100 customers have.
fn phone(draws: &mut Draws, percent: u32, text: &mut String, sink: &mut impl RowSink) {
    if !draws.percent(percent) {
        return (0..4).for_each(|_| sink.null());
    }
    sink.text("1");
    for (least, most) in [(201, 989), (2_000_000, 9_999_999)] {
        text.clear();
        write!(text, "{}", draws.between(least, most)).expect("text takes all");
        sink.text(text);
    }
    if draws.percent(25) {
        text.clear();
        write!(text, "{}", draws.between(10, 9_999)).expect("text takes all");
        sink.text(text);
    } else {
        sink.null();
    }
}

pub(super) fn tax_rates(size: &Brokerage, desk: u64, sink: &mut impl RowSink) -> Result<u64> {
    let mut text = String::new();
    for customer in customer_ids(desk) {
        for rate in TaxRate::of(size, customer) {
            sink.begin_row();
            rate.id(&mut text);
            sink.text(&text);
            sink.int64(customer as i64);
            sink.end_row()?;
        }
    }
    Ok(DESK * 2)
}

pub(super) fn accounts(size: &Brokerage, desk: u64, sink: &mut impl RowSink) -> Result<u64> {
    let mut text = String::new();
    for account in size.simulate(desk, |_| Ok(()))? {
        sink.begin_row();
        sink.int64(account.id as i64);
        sink.int64(account.broker as i64);
        sink.int64(account.owner.id as i64);
        text.clear();
        account.owner.name(&mut text);
        text.push(' ');
        text.push_str(ACCOUNTS[(account.id + account.owner.id) as usize % ACCOUNTS.len()]);
        sink.text(&text);
        sink.int32(account.tax_status);
        sink.decimal(account.balance, 2);
        sink.end_row()?;
    }
    Ok(DESK_ACCOUNTS)
}

/// What the owner and helpers may do: the last digits are for cash and for other people's rights.
const RIGHTS: [&str; 3] = ["0000", "0001", "0011"];

pub(super) fn permissions(size: &Brokerage, desk: u64, sink: &mut impl RowSink) -> Result<u64> {
    let (mut rows, mut text) = (0, String::new());
    for owner in customers_of(size.seed, desk) {
        for account in owner.account_ids() {
            let others = helpers(size, account).map(|id| Customer::new(size.seed, id));
            for (person, rights) in std::iter::once(owner).chain(others).zip(RIGHTS) {
                sink.begin_row();
                sink.int64(account as i64);
                sink.text(rights);
                tax_id(size.seed, person.id, &mut text);
                sink.text(&text);
                sink.text(person.family);
                sink.text(person.given);
                sink.end_row()?;
                rows += 1;
            }
        }
    }
    Ok(rows)
}

pub(super) fn watch_lists(desk: u64, sink: &mut impl RowSink) -> Result<u64> {
    for customer in customer_ids(desk) {
        sink.begin_row();
        sink.int64(customer as i64);
        sink.int64(customer as i64);
        sink.end_row()?;
    }
    Ok(DESK)
}

/// The securities that a customer watches: 50 to 150, or all if there are fewer.
pub(super) fn watched(size: &Brokerage, customer: u64) -> u64 {
    let wanted = 50 + u64::from(below(hash(size.seed, Use::Watch, customer), 101));
    wanted.min(size.securities())
}

pub(super) fn watch_items(size: &Brokerage, desk: u64, sink: &mut impl RowSink) -> Result<u64> {
    let (mut rows, count) = (0, size.securities());
    for customer in customer_ids(desk) {
        let mut draws = Draws::new(size.seed, Use::Watch, customer);
        let first = draws.between(0, count as i64 - 1) as u64;
        // Without a common factor, the steps meet every security once before they repeat.
        let mut step = draws.between(1, count as i64 - 1) as u64;
        while common_factor(step, count) != 1 {
            step = step % (count - 1) + 1;
        }
        let watched = watched(size, customer);
        for number in 0..watched {
            sink.begin_row();
            sink.int64(customer as i64);
            sink.text(Symbol::new((first + number * step) % count).as_str());
            sink.end_row()?;
        }
        rows += watched;
    }
    Ok(rows)
}

fn common_factor(mut larger: u64, mut smaller: u64) -> u64 {
    while smaller != 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    larger
}

/// The name of a broker, which is unique.
pub(super) fn broker_name(seed: u64, broker: u64, text: &mut String) {
    let families = FAMILIES.len() as u64;
    let names = (MEN.len() + WOMEN.len()) as u64 * families;
    // 7,919 is prime, so that no two brokers with the same initial have the same names.
    let name = (broker * 7_919 + hash(seed, Use::Account, 0) % names) % names;
    let given = (name / families) as usize;
    let given = MEN.get(given).unwrap_or_else(|| &WOMEN[given - MEN.len()]);
    let initial = char::from(b'A' + (broker / names % 26) as u8);
    text.clear();
    write!(text, "{given} {initial}. {}", FAMILIES[(name % families) as usize])
        .expect("text takes all");
}

/// Writes the brokers of a load unit, with the totals of its accounts' trades.
pub(super) fn brokers(size: &Brokerage, unit: u64, sink: &mut impl RowSink) -> Result<u64> {
    let first = unit * (LOAD_UNIT / CUSTOMERS_PER_BROKER) + 1;
    let mut totals = vec![(0_u64, 0_i64); size.brokers_of(unit) as usize];
    let desks = unit * (LOAD_UNIT / DESK)..((unit + 1) * (LOAD_UNIT / DESK)).min(size.desks());
    for desk in desks {
        for account in size.simulate(desk, |_| Ok(()))? {
            let total = &mut totals[(account.broker - first) as usize];
            total.0 += account.trades;
            total.1 += account.commission;
        }
    }
    let mut text = String::new();
    for (broker, (trades, commission)) in (first..).zip(&totals) {
        sink.begin_row();
        sink.int64(broker as i64);
        sink.text(ACTIVE);
        broker_name(size.seed, broker, &mut text);
        sink.text(&text);
        sink.int32(*trades as i32);
        sink.decimal(*commission, 2);
        sink.end_row()?;
    }
    Ok(totals.len() as u64)
}

/// Dates of birth are before the first trading day.
const _: () = assert!(BORN.1 < date(0) as i64);
