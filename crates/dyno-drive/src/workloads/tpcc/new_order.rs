//! New-Order: two round trips (TPC-C specification, clause 2.4.2).
//!
//! The first reads, then takes locks: stock rows in the order of (warehouse, item), so that two
//! orders cannot deadlock, and the contended district row last. The second inserts and commits, or
//! rolls back.

use std::hint::black_box;

use dyno_record::{Error, ErrorKind, Result};

use super::inputs::{Line, MOST_LINES, NewOrder};
use super::statements::{
    CUSTOMER_TERMS, INSERT_LINE, INSERT_NEW_ORDER, INSERT_ORDER, ITEM, TAKE_ORDER_NUMBER,
    WAREHOUSE_TAX, take_stock,
};
use crate::wire::{Access, Session, Slot, Value};
use crate::workloads::contract::TxnOutcome;

/// 1 in units of the rates' scale.
const WHOLE: i64 = 10_000;

/// Runs it once.
pub async fn run<S: Session>(
    session: &mut S,
    input: &NewOrder,
    unix_us: i64,
) -> Result<TxnOutcome> {
    let (warehouse, district) = (Value::Int(input.warehouse), Value::Int(input.district));
    let customer = Value::Int(input.customer);
    let lines = input.lines();

    session.queue_begin(Access::Write);
    let tax = session.queue(WAREHOUSE_TAX, &[warehouse]);
    let terms = session.queue(CUSTOMER_TERMS, &[warehouse, district, customer]);
    let mut items = [Slot(0); MOST_LINES];
    for (slot, line) in items.iter_mut().zip(lines) {
        *slot = session.queue(ITEM, &[Value::Int(line.item)]);
    }
    let stock = queue_stock(session, input);
    let number = session.queue(TAKE_ORDER_NUMBER, &[warehouse, district]);
    session.flush().await?;

    if input.rolls_back {
        session.queue_rollback();
        session.flush().await?;
        return Ok(TxnOutcome::RolledBack);
    }

    if let Some((line, _)) = lines.iter().zip(&items).find(|(_, slot)| session.rows(**slot) == 0) {
        let message = format!("item {} is missing: the data is incomplete", line.item);
        return Err(Error::new(ErrorKind::Database, message));
    }
    let order = Order {
        number: session.int(number, 0, 0)? as i32,
        factors: Factors {
            discount: session.decimal(terms, 0, 0)?,
            warehouse_tax: session.decimal(tax, 0, 0)?,
            district_tax: session.decimal(number, 0, 1)?,
        },
    };
    insert(session, input, unix_us, &order, &items, &stock).await?;
    Ok(TxnOutcome::Committed)
}

/// The results of the first round trip.
struct Order {
    number: i32,
    factors: Factors,
}

/// Discount and taxes, in ten-thousandths.
struct Factors {
    discount: i64,
    warehouse_tax: i64,
    district_tax: i64,
}

impl Factors {
    /// The total for goods worth `cents`, in units of 10^-10.
    fn total(&self, cents: i64) -> i128 {
        let tax = WHOLE + self.warehouse_tax + self.district_tax;
        i128::from(cents) * i128::from(WHOLE - self.discount) * i128::from(tax)
    }
}

/// Indexes of the lines in locking order; only the first `lines.len()` are used.
pub fn lock_order(lines: &[Line]) -> [u8; MOST_LINES] {
    let mut order: [u8; MOST_LINES] = std::array::from_fn(|position| position as u8);
    order[..lines.len()].sort_unstable_by_key(|position| {
        let line = &lines[usize::from(*position)];
        (line.supply_warehouse, line.item)
    });
    order
}

/// Queues the lines' stock updates in locking order; returns their slots in the order of the lines.
fn queue_stock<S: Session>(session: &mut S, input: &NewOrder) -> [Slot; MOST_LINES] {
    let lines = input.lines();
    let mut slots = [Slot(0); MOST_LINES];
    for position in &lock_order(lines)[..lines.len()] {
        let line = &lines[usize::from(*position)];
        let remote = i32::from(line.supply_warehouse != input.warehouse);
        slots[usize::from(*position)] = session.queue(
            take_stock(input.district),
            &[
                Value::Int(line.quantity),
                Value::Int(remote),
                Value::Int(line.supply_warehouse),
                Value::Int(line.item),
            ],
        );
    }
    slots
}

async fn insert<S: Session>(
    session: &mut S,
    input: &NewOrder,
    unix_us: i64,
    order: &Order,
    items: &[Slot],
    stock: &[Slot],
) -> Result<()> {
    let lines = input.lines();
    // Results last until the next batch begins: take what its statements need.
    let mut amounts = [0; MOST_LINES];
    let mut texts = [[0; TEXT]; MOST_LINES];
    let mut goods = 0;
    for (position, line) in lines.iter().enumerate() {
        if session.rows(stock[position]) == 0 {
            return Err(no_stock(line));
        }
        amounts[position] = i64::from(line.quantity) * session.decimal(items[position], 0, 0)?;
        goods += amounts[position];
        copy(session.text(stock[position], 0, 1)?, &mut texts[position]);
        black_box(is_brand(
            session.text(items[position], 0, 2)?,
            session.text(stock[position], 0, 2)?,
        ));
    }
    // Displayed to the user, not stored.
    black_box(order.factors.total(goods));

    let all_local = lines.iter().all(|line| line.supply_warehouse == input.warehouse);
    let number = Value::Int(order.number);
    let (warehouse, district) = (Value::Int(input.warehouse), Value::Int(input.district));
    session.queue(
        INSERT_ORDER,
        &[
            number,
            district,
            warehouse,
            Value::Int(input.customer),
            Value::Timestamp(unix_us),
            Value::Int(lines.len() as i32),
            Value::Int(i32::from(all_local)),
        ],
    );
    session.queue(INSERT_NEW_ORDER, &[number, district, warehouse]);
    for (position, line) in lines.iter().enumerate() {
        session.queue(
            INSERT_LINE,
            &[
                number,
                district,
                warehouse,
                Value::Int(position as i32 + 1),
                Value::Int(line.item),
                Value::Int(line.supply_warehouse),
                Value::Int(line.quantity),
                Value::cents(amounts[position]),
                Value::Text(text(&texts[position])),
            ],
        );
    }
    session.queue_commit();
    session.flush().await
}

/// Length of a stock row's district text.
const TEXT: usize = 24;

fn copy(from: &str, to: &mut [u8; TEXT]) {
    let length = from.len().min(TEXT);
    to[..length].copy_from_slice(&from.as_bytes()[..length]);
}

fn text(bytes: &[u8; TEXT]) -> &str {
    let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(TEXT);
    std::str::from_utf8(&bytes[..length]).unwrap_or_default()
}

/// The item is an original-brand item if both texts say so (clause 2.4.2.2).
fn is_brand(item_data: &str, stock_data: &str) -> bool {
    item_data.contains("ORIGINAL") && stock_data.contains("ORIGINAL")
}

#[cold]
fn no_stock(line: &Line) -> Error {
    let Line { item, supply_warehouse, .. } = line;
    let message = format!(
        "item {item} has no stock in warehouse {supply_warehouse}: check that the data is \
         complete and the number of warehouses correct"
    );
    Error::new(ErrorKind::Database, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_exact() {
        let factors = Factors { discount: 1_000, warehouse_tax: 500, district_tax: 1_500 };
        // 100.00 · 0.9 · 1.2 = 108
        assert_eq!(factors.total(10_000), 1_080_000_000_000);
    }

    #[test]
    fn brands_need_both_texts() {
        assert!(is_brand("xORIGINALy", "ORIGINAL"));
        assert!(!is_brand("xORIGINALy", "generic"));
    }
}
