//! Stock-Level: two round trips (TPC-C specification, clause 2.8.2).

use dyno_record::Result;

use super::inputs::StockLevel;
use super::statements::{LOW_STOCK, NEXT_ORDER};
use crate::wire::{Access, Session, Value};
use crate::workloads::contract::TxnOutcome;

/// Number of last orders to examine.
const LAST_ORDERS: i32 = 20;

/// Runs it once.
pub async fn run<S: Session>(session: &mut S, input: &StockLevel) -> Result<TxnOutcome> {
    let (warehouse, district) = (Value::Int(input.warehouse), Value::Int(input.district));
    session.queue_begin(Access::Read);
    let next = session.queue(NEXT_ORDER, &[warehouse, district]);
    session.flush().await?;

    let next = session.int(next, 0, 0)? as i32;
    session.queue(
        LOW_STOCK,
        &[
            warehouse,
            district,
            Value::Int(next - LAST_ORDERS),
            Value::Int(next),
            Value::Int(input.threshold),
        ],
    );
    session.queue_commit();
    session.flush().await?;
    Ok(TxnOutcome::Committed)
}
