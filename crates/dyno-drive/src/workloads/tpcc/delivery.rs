//! Delivery: three round trips for all ten districts (TPC-C specification, clause 2.7.4), in one
//! transaction. Districts are processed in order, so that concurrent deliveries queue rather than
//! deadlock.

use dyno_record::{Error, ErrorKind, Result};

use super::inputs::{DISTRICTS, Delivery};
use super::statements::{CHARGE_CUSTOMER, DELIVER_LINES, DELIVER_ORDER, TAKE_OLDEST};
use crate::wire::{Access, Session, Slot, Value};
use crate::workloads::contract::TxnOutcome;

const COUNT: usize = DISTRICTS as usize;

/// An order to deliver.
#[derive(Clone, Copy)]
struct Parcel {
    district: i32,
    order: i32,
    order_row: Slot,
    lines: Slot,
    customer: i32,
    cents: i64,
}

/// Runs it once.
pub async fn run<S: Session>(
    session: &mut S,
    input: &Delivery,
    unix_us: i64,
) -> Result<TxnOutcome> {
    let warehouse = Value::Int(input.warehouse);
    session.queue_begin(Access::Write);
    let mut oldest = [Slot(0); COUNT];
    for (district, slot) in (1..).zip(&mut oldest) {
        *slot = session.queue(TAKE_OLDEST, &[warehouse, Value::Int(district)]);
    }
    session.flush().await?;

    let none =
        Parcel { district: 0, order: 0, order_row: Slot(0), lines: Slot(0), customer: 0, cents: 0 };
    let mut parcels = [none; COUNT];
    let mut count = 0;
    for (district, slot) in (1..).zip(oldest) {
        // Skip a district in which everything is delivered (clause 2.7.4.2).
        if session.rows(slot) > 0 {
            let order = session.int(slot, 0, 0)? as i32;
            parcels[count] = Parcel { district, order, ..none };
            count += 1;
        } else if session.affected(slot)? > 0 {
            return Err(overtaken(input.warehouse, district));
        }
    }
    let parcels = &mut parcels[..count];

    for parcel in parcels.iter_mut() {
        let (district, order) = (Value::Int(parcel.district), Value::Int(parcel.order));
        parcel.order_row =
            session.queue(DELIVER_ORDER, &[Value::Int(input.carrier), warehouse, district, order]);
        parcel.lines =
            session.queue(DELIVER_LINES, &[Value::Timestamp(unix_us), warehouse, district, order]);
    }
    if count > 0 {
        session.flush().await?;
    }

    for parcel in parcels.iter_mut() {
        if session.rows(parcel.order_row) == 0 {
            return Err(incomplete(input.warehouse, parcel));
        }
        parcel.customer = session.int(parcel.order_row, 0, 0)? as i32;
        for row in 0..session.rows(parcel.lines) {
            parcel.cents += session.decimal(parcel.lines, row, 0)?;
        }
    }
    for parcel in parcels.iter() {
        session.queue(
            CHARGE_CUSTOMER,
            &[
                Value::cents(parcel.cents),
                warehouse,
                Value::Int(parcel.district),
                Value::Int(parcel.customer),
            ],
        );
    }
    session.queue_commit();
    session.flush().await?;
    Ok(TxnOutcome::Committed)
}

/// Of a query and a DELETE (MariaDB, MySQL), the DELETE alone found an order: without gap locks, at
/// READ COMMITTED, it came in between. Nothing of it is kept, and a retry finds it.
#[cold]
fn overtaken(warehouse: i32, district: i32) -> Error {
    let message = format!(
        "an order came into district {district} of warehouse {warehouse} between the query for the \
         oldest one and its removal"
    );
    Error::new(ErrorKind::Serialization, message)
}

#[cold]
fn incomplete(warehouse: i32, parcel: &Parcel) -> Error {
    let Parcel { district, order, .. } = parcel;
    let message = format!(
        "order {order} of district {district}, warehouse {warehouse} awaits delivery but has no \
         row in orders: the data is incomplete"
    );
    Error::new(ErrorKind::Database, message)
}
