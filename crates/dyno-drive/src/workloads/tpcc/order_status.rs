//! Order-Status: three round trips, two if the customer is selected by number (TPC-C specification,
//! clause 2.6.2).

use dyno_record::Result;

use super::customers;
use super::inputs::{Customer, Selector};
use super::statements::{ASKER_BY_NUMBER, ASKERS_BY_NAME, LAST_ORDER, LINES};
use crate::wire::{Access, Session, Slot, Value};
use crate::workloads::contract::TxnOutcome;

/// Runs it once. `text` is scratch space.
pub async fn run<S: Session>(
    session: &mut S,
    input: &Customer,
    text: &mut String,
) -> Result<TxnOutcome> {
    let (warehouse, district) = (Value::Int(input.warehouse), Value::Int(input.district));
    session.queue_begin(Access::Read);
    let askers = customers::queue(session, ASKER_BY_NUMBER, ASKERS_BY_NAME, input, text);
    let order = match input.selector {
        Selector::Number(number) => {
            let order = queue_order(session, input, number);
            session.flush().await?;
            customers::pick(session, askers)?;
            order
        }
        Selector::LastName(_) => {
            session.flush().await?;
            let row = customers::pick(session, askers)?;
            let number = session.int(askers, row, 0)? as i32;
            let order = queue_order(session, input, number);
            session.flush().await?;
            order
        }
    };
    // In freshly loaded data each customer has an order; otherwise none is a valid result.
    if session.rows(order) > 0 {
        let number = Value::Int(session.int(order, 0, 0)? as i32);
        session.queue(LINES, &[warehouse, district, number]);
    }
    session.queue_commit();
    session.flush().await?;
    Ok(TxnOutcome::Committed)
}

fn queue_order<S: Session>(session: &mut S, input: &Customer, number: i32) -> Slot {
    session.queue(
        LAST_ORDER,
        &[Value::Int(input.warehouse), Value::Int(input.district), Value::Int(number)],
    )
}
