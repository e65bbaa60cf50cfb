//! Customers and their initial payments.

use dyno_record::Result;

use super::draws::Use;
use super::nurand::{A_LAST_NAME, LAST_NAMES, push_last_name};
use super::warehouse::address;
use super::{Block, CUSTOMERS, POPULATED_AT, c_load};
use crate::sink::RowSink;

/// The initial payment of each customer, in hundredths.
const PAID: i64 = 1_000;
/// 50,000.00.
const CREDIT_LIMIT: i64 = 5_000_000;

pub(super) fn customers(block: &Block, sink: &mut impl RowSink) -> Result<u64> {
    let mut draws = block.draws(Use::Customer);
    let c = c_load(block.seed) as i32;
    let mut last = String::with_capacity(16);
    for id in 1..=CUSTOMERS {
        last.clear();
        // Each district has every name at least once.
        let number =
            if id <= LAST_NAMES { id - 1 } else { draws.nurand(A_LAST_NAME, c, 0, LAST_NAMES - 1) };
        push_last_name(number, &mut last);

        sink.begin_row();
        sink.int32(id);
        sink.int32(block.district());
        sink.int32(block.warehouse);
        sink.text(draws.alphanumeric(8, 16));
        sink.text("OE");
        sink.text(&last);
        address(&mut draws, sink);
        sink.text(draws.digits(16, ""));
        sink.timestamp(POPULATED_AT);
        sink.text(if draws.tenth() { "BC" } else { "GC" });
        sink.decimal(CREDIT_LIMIT, 2);
        sink.decimal(i64::from(draws.between(0, 5_000)), 4);
        sink.decimal(-PAID, 2);
        sink.decimal(PAID, 2);
        sink.int32(1);
        sink.int32(0);
        sink.text(draws.alphanumeric(300, 500));
        sink.end_row()?;
    }
    Ok(CUSTOMERS as u64)
}

pub(super) fn history(block: &Block, sink: &mut impl RowSink) -> Result<u64> {
    let mut draws = block.draws(Use::History);
    for customer in 1..=CUSTOMERS {
        sink.begin_row();
        sink.int32(customer);
        sink.int32(block.district());
        sink.int32(block.warehouse);
        sink.int32(block.district());
        sink.int32(block.warehouse);
        sink.timestamp(POPULATED_AT);
        sink.decimal(PAID, 2);
        sink.text(draws.alphanumeric(12, 24));
        sink.end_row()?;
    }
    Ok(CUSTOMERS as u64)
}
