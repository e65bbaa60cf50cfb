//! Payment: two round trips (TPC-C specification, clause 2.5.2).
//!
//! The first reads what never changes. The second updates and commits, so that the warehouse row,
//! which every payment must lock, is held no longer than the server needs.

use std::fmt::Write as _;

use dyno_record::{Error, ErrorKind, Result};

use super::customers;
use super::inputs::Payment;
use super::statements::{
    DISTRICT_ADDRESS, INSERT_HISTORY, PAY_BAD_CREDIT, PAY_CUSTOMER, PAY_DISTRICT, PAY_WAREHOUSE,
    PAYER_BY_NUMBER, PAYERS_BY_NAME, WAREHOUSE_ADDRESS,
};
use crate::wire::{Access, Session, Slot, Value};
use crate::workloads::contract::TxnOutcome;

/// Credit of customers whose payments are recorded in their data.
const BAD_CREDIT: &str = "BC";

/// Runs it once. `text` is scratch space.
pub async fn run<S: Session>(
    session: &mut S,
    input: &Payment,
    unix_us: i64,
    text: &mut String,
) -> Result<TxnOutcome> {
    let (warehouse, district) = (Value::Int(input.warehouse), Value::Int(input.district));
    let (home, home_district) =
        (Value::Int(input.customer.warehouse), Value::Int(input.customer.district));
    let amount = Value::cents(input.cents);

    session.queue_begin(Access::Write);
    let warehouse_row = session.queue(WAREHOUSE_ADDRESS, &[warehouse]);
    let district_row = session.queue(DISTRICT_ADDRESS, &[warehouse, district]);
    let payers = customers::queue(session, PAYER_BY_NUMBER, PAYERS_BY_NAME, &input.customer, text);
    session.flush().await?;

    let row = customers::pick(session, payers)?;
    let number = session.int(payers, row, 0)? as i32;
    let bad_credit = session.text(payers, row, 1)? == BAD_CREDIT;
    text.clear();
    text.push_str(session.text(warehouse_row, 0, 0)?);
    text.push_str("    ");
    text.push_str(session.text(district_row, 0, 0)?);
    let trace = text.len();
    if bad_credit {
        push_trace(text, number, input);
    }
    let (place, trace) = text.split_at(trace);

    let customer = Value::Int(number);
    let paid = [
        session.queue(PAY_WAREHOUSE, &[amount, warehouse]),
        session.queue(PAY_DISTRICT, &[amount, warehouse, district]),
        if bad_credit {
            let trace = Value::Text(trace);
            session.queue(PAY_BAD_CREDIT, &[amount, home, home_district, customer, trace])
        } else {
            session.queue(PAY_CUSTOMER, &[amount, home, home_district, customer])
        },
    ];
    session.queue(
        INSERT_HISTORY,
        &[
            customer,
            home_district,
            home,
            district,
            warehouse,
            Value::Timestamp(unix_us),
            amount,
            Value::Text(place),
        ],
    );
    session.queue_commit();
    session.flush().await?;
    prove_paid(session, &paid)?;
    Ok(TxnOutcome::Committed)
}

/// Appends the record of a payment to the data of a bad-credit customer (clause 2.5.2.2).
fn push_trace(text: &mut String, number: i32, input: &Payment) {
    let Payment { warehouse, district, customer, cents } = input;
    let (home, home_district) = (customer.warehouse, customer.district);
    let (whole, rest) = (cents / 100, cents % 100);
    let written =
        write!(text, "{number} {home_district} {home} {district} {warehouse} {whole}.{rest:02} | ");
    debug_assert!(written.is_ok(), "a String takes all that is written");
}

/// Fails unless each update changed one row: a lost payment must not go unnoticed.
fn prove_paid<S: Session>(session: &S, paid: &[Slot]) -> Result<()> {
    for slot in paid {
        if session.affected(*slot)? != 1 {
            let message = "a payment updated no row: check that the data is complete";
            return Err(Error::new(ErrorKind::Database, message));
        }
    }
    Ok(())
}
