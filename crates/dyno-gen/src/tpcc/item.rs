//! Items and the stock of each warehouse.

use dyno_record::Result;

use super::draws::Use;
use super::{Block, ITEMS_A_BLOCK};
use crate::sink::RowSink;

/// Prices in hundredths: 1.00 to 100.00.
const LEAST_PRICE: i32 = 100;
const MOST_PRICE: i32 = 10_000;
/// Length of the text about a district.
const DISTRICT_INFO: usize = 24;

/// The item numbers of a block, from 1.
fn ids(block: &Block) -> std::ops::RangeInclusive<i32> {
    let first = block.index * ITEMS_A_BLOCK;
    first + 1..=first + ITEMS_A_BLOCK
}

pub(super) fn items(block: &Block, sink: &mut impl RowSink) -> Result<u64> {
    let mut draws = block.draws(Use::Item);
    for id in ids(block) {
        sink.begin_row();
        sink.int32(id);
        sink.int32(draws.between(1, 10_000));
        sink.text(draws.alphanumeric(14, 24));
        sink.decimal(i64::from(draws.between(LEAST_PRICE, MOST_PRICE)), 2);
        sink.text(draws.data());
        sink.end_row()?;
    }
    Ok(ITEMS_A_BLOCK as u64)
}

pub(super) fn stock(block: &Block, sink: &mut impl RowSink) -> Result<u64> {
    let mut draws = block.draws(Use::Stock);
    for item in ids(block) {
        sink.begin_row();
        sink.int32(item);
        sink.int32(block.warehouse);
        sink.int32(draws.between(10, 100));
        let infos = draws.letters(10 * DISTRICT_INFO);
        for district in 0..10 {
            sink.text(&infos[district * DISTRICT_INFO..(district + 1) * DISTRICT_INFO]);
        }
        sink.int32(0);
        sink.int32(0);
        sink.int32(0);
        sink.text(draws.data());
        sink.end_row()?;
    }
    Ok(ITEMS_A_BLOCK as u64)
}
