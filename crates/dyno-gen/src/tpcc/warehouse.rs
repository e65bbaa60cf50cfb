//! Warehouses and districts.

use dyno_record::Result;

use super::draws::{Draws, Use};
use super::{Block, CUSTOMERS};
use crate::sink::RowSink;

/// 300,000.00: the sum of all customers' payments in the warehouse.
const WAREHOUSE_YTD: i64 = 30_000_000;
/// 30,000.00.
const DISTRICT_YTD: i64 = 3_000_000;

pub(super) fn warehouse(block: &Block, sink: &mut impl RowSink) -> Result<u64> {
    let mut draws = block.draws(Use::Warehouse);
    sink.begin_row();
    sink.int32(block.warehouse);
    sink.text(draws.alphanumeric(6, 10));
    address(&mut draws, sink);
    sink.decimal(i64::from(draws.between(0, 2_000)), 4);
    sink.decimal(WAREHOUSE_YTD, 2);
    sink.end_row()?;
    Ok(1)
}

pub(super) fn district(block: &Block, sink: &mut impl RowSink) -> Result<u64> {
    let mut draws = block.draws(Use::District);
    sink.begin_row();
    sink.int32(block.district());
    sink.int32(block.warehouse);
    sink.text(draws.alphanumeric(6, 10));
    address(&mut draws, sink);
    sink.decimal(i64::from(draws.between(0, 2_000)), 4);
    sink.decimal(DISTRICT_YTD, 2);
    sink.int32(CUSTOMERS + 1);
    sink.end_row()?;
    Ok(1)
}

/// Two streets, city, state and zip code.
pub(super) fn address(draws: &mut Draws, sink: &mut impl RowSink) {
    for _ in 0..3 {
        sink.text(draws.alphanumeric(10, 20));
    }
    sink.text(draws.capitals(2));
    sink.text(draws.digits(4, "11111"));
}
