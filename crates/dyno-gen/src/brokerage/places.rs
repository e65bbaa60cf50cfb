//! Zip codes, addresses and tax rates.

use std::fmt::Write as _;

use dyno_record::Result;

use super::draws::{Draws, Use, below, hash};
use super::pools::places::{STATES, STREET_KINDS, STREETS, TOWN_ENDS, TOWNS};
use super::{Brokerage, market};
use crate::sink::RowSink;

pub(super) const ZIP_CODES: u64 = 14_741;
/// Codes are about this far apart, the first one is 501.
const ZIP_STEP: u64 = 6;
/// National rates, and rates of each state.
const NATIONAL: u64 = 20;
const PER_STATE: u64 = 6;
pub(super) const TAX_RATES: u64 = NATIONAL + STATES.len() as u64 * PER_STATE;

/// The code of zip code `zip` (from 0), five digits.
fn zip_code(seed: u64, zip: u64, text: &mut String) {
    let code = 501 + zip * ZIP_STEP + u64::from(below(hash(seed, Use::Zip, zip), ZIP_STEP as u32));
    text.clear();
    write!(text, "{code:05}").expect("text takes all");
}

/// The index of the state of a zip code.
const fn state_of(zip: u64) -> u64 {
    zip * STATES.len() as u64 / ZIP_CODES
}

pub(super) fn zip_codes(seed: u64, sink: &mut impl RowSink) -> Result<u64> {
    let mut text = String::new();
    for zip in 0..ZIP_CODES {
        let mut draws = Draws::new(seed, Use::Zip, zip);
        zip_code(seed, zip, &mut text);
        sink.begin_row();
        sink.text(&text);
        text.clear();
        text.push_str(draws.of(&TOWNS));
        text.push_str(draws.of(&TOWN_ENDS));
        sink.text(&text);
        sink.text(STATES[state_of(zip) as usize].1);
        sink.end_row()?;
    }
    Ok(ZIP_CODES)
}

/// The address of a customer, from 1: those of exchanges and companies come first.
pub(super) const fn customer_address(size: &Brokerage, customer: u64) -> i64 {
    (market::EXCHANGES.len() as u64 + size.companies() + customer) as i64
}

/// The address of company `company` (from 0).
pub(super) const fn company_address(company: u64) -> i64 {
    (market::EXCHANGES.len() as u64 + company) as i64 + 1
}

pub(super) const fn addresses(size: &Brokerage) -> u64 {
    market::EXCHANGES.len() as u64 + size.companies() + size.customers()
}

/// The zip code of an address.
fn zip_of(seed: u64, address: u64) -> u64 {
    hash(seed, Use::Address, address) % ZIP_CODES
}

/// Writes addresses `first` to `last`, from 1.
pub(super) fn write_addresses(
    seed: u64,
    rows: std::ops::Range<u64>,
    sink: &mut impl RowSink,
) -> Result<u64> {
    let mut text = String::new();
    for address in rows.clone() {
        let mut draws = Draws::new(seed, Use::Address, address);
        sink.begin_row();
        sink.int64(address as i64);
        let number = draws.between(1, 9_999);
        text.clear();
        write!(text, "{number} {} {}", draws.of(&STREETS), draws.of(&STREET_KINDS))
            .expect("text takes all");
        sink.text(&text);
        if draws.percent(30) {
            text.clear();
            write!(text, "Apt. {}", draws.between(1, 400)).expect("text takes all");
            sink.text(&text);
        } else {
            sink.null();
        }
        zip_code(seed, zip_of(seed, address), &mut text);
        sink.text(&text);
        sink.text("USA");
        sink.end_row()?;
    }
    Ok(rows.end - rows.start)
}

/// A tax rate: its index in `taxrate`, in the order of its rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct TaxRate(u64);

impl TaxRate {
    /// The two rates of a customer: the national one, and that of the state of residence.
    pub(super) fn of(size: &Brokerage, customer: u64) -> [Self; 2] {
        let key = hash(size.seed, Use::StateTax, customer);
        let address = customer_address(size, customer) as u64;
        let state = state_of(zip_of(size.seed, address));
        let bracket = key % PER_STATE;
        [Self(key / PER_STATE % NATIONAL), Self(NATIONAL + state * PER_STATE + bracket)]
    }

    /// The rate, in units of 1/100,000: national ones are 10 % to 34 %, others 0.5 % to 9 %.
    pub(super) fn rate(self, seed: u64) -> i64 {
        match self.0.checked_sub(NATIONAL) {
            None => 10_000 + self.0 as i64 * 1_250,
            Some(rest) => {
                let state = hash(seed, Use::StateTax, !(rest / PER_STATE));
                500 + i64::from(below(state, 4_000)) + (rest % PER_STATE) as i64 * 900
            }
        }
    }

    pub(super) fn id(self, text: &mut String) {
        text.clear();
        match self.0.checked_sub(NATIONAL) {
            None => write!(text, "US{:02}", self.0 + 1),
            Some(rest) => {
                let state = STATES[(rest / PER_STATE) as usize].0;
                write!(text, "{state}{:02}", rest % PER_STATE + 1)
            }
        }
        .expect("text takes all");
    }

    fn name(self, text: &mut String) {
        text.clear();
        match self.0.checked_sub(NATIONAL) {
            None => write!(text, "National income tax, bracket {}", self.0 + 1),
            Some(rest) => {
                let state = STATES[(rest / PER_STATE) as usize].1;
                write!(text, "{state} income tax, bracket {}", rest % PER_STATE + 1)
            }
        }
        .expect("text takes all");
    }
}

pub(super) fn tax_rates(seed: u64, sink: &mut impl RowSink) -> Result<u64> {
    let mut text = String::new();
    for rate in (0..TAX_RATES).map(TaxRate) {
        sink.begin_row();
        rate.id(&mut text);
        sink.text(&text);
        rate.name(&mut text);
        sink.text(&text);
        sink.decimal(rate.rate(seed), 5);
        sink.end_row()?;
    }
    Ok(TAX_RATES)
}
