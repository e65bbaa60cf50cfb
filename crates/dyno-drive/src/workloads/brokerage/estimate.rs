//! What a trade will cost, and what it will bring: shown to the customer before the order.

use std::hint::black_box;

use dyno_record::{Error, ErrorKind, Result};

use super::fees::commission_cents;
use super::holdings::{Effect, Holding};
use super::order::Order;
use super::statements::{CHARGE, COMMISSION, HOLDINGS, SECURITY, TAX_RATE};
use crate::wire::{Session, Slot, Value};

/// Charge and commission, hundredths.
#[derive(Debug, Clone, Copy)]
pub struct Fees {
    /// The charge.
    pub charge_cents: i64,
    /// The commission at the bid.
    pub commission_cents: i64,
}

/// Answers of the database about an order.
#[derive(Debug)]
pub struct Asked {
    /// The opening price of the security, hundredths.
    pub open_cents: i64,
    charge_cents: i64,
    /// Rate of the commission, hundredths of a percent.
    commission_rate: i64,
    /// Rate of the tax, in units of 10⁻⁵.
    tax_rate: i64,
    holdings: Vec<Holding>,
}

/// Asks for prices, rates and holdings, in one round trip.
pub async fn ask<S: Session>(session: &mut S, order: &Order) -> Result<Asked> {
    let (kind, symbol) = (Value::Text(order.kind.id()), Value::Text(order.symbol.text()));
    let tier = Value::Int(order.tier);
    let security = session.queue(SECURITY, &[symbol]);
    let charge = session.queue(CHARGE, &[kind, tier]);
    let rate = session.queue(COMMISSION, &[symbol, tier, kind, Value::Int(order.shares)]);
    let tax = session.queue(TAX_RATE, &[Value::BigInt(order.customer)]);
    let held = session.queue(HOLDINGS, &[Value::BigInt(order.account), symbol]);
    session.flush().await?;
    if session.rows(security) == 0 {
        return Err(missing("security", order.symbol.text()));
    }
    if session.rows(charge) == 0 || session.rows(rate) == 0 {
        return Err(missing("charge or commission of a trade", order.kind.id()));
    }
    Ok(Asked {
        open_cents: session.decimal(security, 0, 4)?,
        charge_cents: session.decimal(charge, 0, 0)?,
        commission_rate: session.decimal(rate, 0, 0)?,
        tax_rate: session.decimal(tax, 0, 0)?,
        holdings: holdings(session, held)?,
    })
}

impl Asked {
    /// Charge and commission of the order at its bid. Gain, tax and assets are displayed only.
    pub fn fees(&self, order: &Order, assets_cents: i64) -> Fees {
        let Order { kind, lifo, shares, bid_cents, .. } = *order;
        let effect = Effect::of(kind.sells(), lifo, shares, bid_cents, &self.holdings);
        black_box((effect.tax_cents(self.tax_rate), assets_cents));
        Fees {
            charge_cents: self.charge_cents,
            commission_cents: commission_cents(shares, bid_cents, self.commission_rate),
        }
    }
}

/// The rows of [`HOLDINGS`].
pub fn holdings<S: Session>(session: &S, slot: Slot) -> Result<Vec<Holding>> {
    let holding = |row| {
        Ok(Holding {
            trade: session.int(slot, row, 0)?,
            shares: session.int(slot, row, 1)? as i32,
            cents: session.decimal(slot, row, 2)?,
        })
    };
    (0..session.rows(slot)).map(holding).collect()
}

/// The error of a row that must be there.
#[cold]
pub fn missing(what: &str, which: &str) -> Error {
    let message = format!("{what} {which} is missing: check that the data is complete");
    Error::new(ErrorKind::Database, message)
}
