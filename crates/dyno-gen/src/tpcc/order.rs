//! Orders, new orders and order lines.

use dyno_record::Result;

use super::draws::Use;
use super::{Block, CUSTOMERS, DELIVERED, ITEMS, POPULATED_AT};
use crate::sink::RowSink;

const FEWEST_LINES: i32 = 5;
const MOST_LINES: i32 = 15;
/// The maximum amount of an undelivered line, in hundredths.
const MOST_AMOUNT: i32 = 999_999;

/// Entry time of an order: the orders of a district are one second apart.
fn entered_at(order: i32) -> i64 {
    POPULATED_AT + i64::from(order) * 1_000_000
}

/// The line counts of a district's orders, first to last.
fn line_counts(block: &Block) -> impl Iterator<Item = i32> {
    let mut draws = block.draws(Use::LineCount);
    (0..CUSTOMERS).map(move |_| draws.between(FEWEST_LINES, MOST_LINES))
}

/// The number of lines in a district.
pub(super) fn count_lines(block: &Block) -> u64 {
    line_counts(block).map(|count| count as u64).sum()
}

pub(super) fn orders(block: &Block, sink: &mut impl RowSink) -> Result<u64> {
    let mut draws = block.draws(Use::Order);
    // Each customer has one order (Fisher–Yates shuffle).
    let mut customers: Vec<i32> = (1..=CUSTOMERS).collect();
    for last in (1..customers.len()).rev() {
        customers.swap(last, draws.between(0, last as i32) as usize);
    }
    for ((id, customer), lines) in (1..).zip(customers).zip(line_counts(block)) {
        sink.begin_row();
        sink.int32(id);
        sink.int32(block.district());
        sink.int32(block.warehouse);
        sink.int32(customer);
        sink.timestamp(entered_at(id));
        if id <= DELIVERED {
            sink.int32(draws.between(1, 10));
        } else {
            sink.null();
        }
        sink.int32(lines);
        sink.int32(1);
        sink.end_row()?;
    }
    Ok(CUSTOMERS as u64)
}

pub(super) fn new_orders(block: &Block, sink: &mut impl RowSink) -> Result<u64> {
    for order in DELIVERED + 1..=CUSTOMERS {
        sink.begin_row();
        sink.int32(order);
        sink.int32(block.district());
        sink.int32(block.warehouse);
        sink.end_row()?;
    }
    Ok((CUSTOMERS - DELIVERED) as u64)
}

pub(super) fn order_lines(block: &Block, sink: &mut impl RowSink) -> Result<u64> {
    let mut draws = block.draws(Use::OrderLine);
    let mut rows = 0;
    for (order, lines) in (1..).zip(line_counts(block)) {
        for number in 1..=lines {
            sink.begin_row();
            sink.int32(order);
            sink.int32(block.district());
            sink.int32(block.warehouse);
            sink.int32(number);
            sink.int32(draws.between(1, ITEMS));
            sink.int32(block.warehouse);
            let amount = if order <= DELIVERED {
                sink.timestamp(entered_at(order));
                0
            } else {
                sink.null();
                draws.between(1, MOST_AMOUNT)
            };
            sink.int32(5);
            sink.decimal(i64::from(amount), 2);
            sink.text(draws.letters(24));
            sink.end_row()?;
        }
        rows += lines as u64;
    }
    Ok(rows)
}
