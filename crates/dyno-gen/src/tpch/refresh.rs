//! The rows of the refresh functions: those that the first inserts and the second deletes.
//!
//! Loaded orders use 8 of every 32 keys. Each update set takes one thousandth of the loaded orders,
//! in key order. Its second function deletes these. Its first function inserts the same number of
//! new orders, with keys in the same blocks of 32 and in one of the three free quarters. New orders
//! have the values of the deleted ones: the same distributions, existing foreign keys, totals that
//! match the lines.
//! that exist, totals that agree with the lines.

use dyno_record::Result;

use super::rows::{self, Unit};
use crate::row_count::RowCount;
use crate::sink::RowSink;

/// A set has the orders of one of these equal chunks: 1,500 per scale factor.
const CHUNKS: i32 = 1_000;

/// The last chunk also has the remainder of the division, so it is not used.
const USED_CHUNKS: u64 = CHUNKS as u64 - 1;

/// Quarters of every 32 keys that loaded orders leave free.
const QUARTERS: u64 = 3;

/// Consecutive keys of a quarter.
const QUARTER_KEYS: i64 = 8;

/// Which orders of an update set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshOrders {
    /// New orders, which the first function inserts.
    New,
    /// Loaded orders, which the second function deletes.
    Loaded,
}

/// The orders that one refresh function inserts or deletes, with their lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refresh {
    scale: f64,
    orders: u64,
    chunk: i32,
    quarter: u64,
}

/// The keys of these orders: those in `first..=last` with a remainder modulo 32 in
/// `slot..slot + 8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefreshKeys {
    /// Lowest order key.
    pub first: i64,
    /// Highest order key.
    pub last: i64,
    /// Lowest remainder modulo 32.
    pub slot: i64,
}

impl Refresh {
    /// Orders of update set `set` (from 0) in data with `total` orders. After the last chunk, sets
    /// continue with the first chunk and the next quarter for new keys.
    pub(super) const fn new(scale: f64, total: u64, set: u64, which: RefreshOrders) -> Self {
        Self {
            scale,
            orders: total / CHUNKS as u64,
            chunk: (set % USED_CHUNKS) as i32,
            quarter: match which {
                RefreshOrders::New => 1 + set / USED_CHUNKS % QUARTERS,
                RefreshOrders::Loaded => 0,
            },
        }
    }

    pub(crate) fn keys(&self) -> RefreshKeys {
        let shift = self.quarter as i64 * QUARTER_KEYS;
        let before = self.orders as i64 * i64::from(self.chunk);
        RefreshKeys {
            first: loaded_key(before + 1) + shift,
            last: loaded_key(before + self.orders as i64) + shift,
            slot: shift,
        }
    }

    pub(crate) fn row_count(&self, table: &str) -> RowCount {
        RowCount::exact(match table {
            "orders" => self.orders,
            "lineitem" => {
                rows::lines_between(self.orders * u64::from(self.chunk as u32), self.orders)
            }
            _ => 0,
        })
    }

    pub(crate) fn write(&self, table: &str, sink: &mut impl RowSink) -> Result<u64> {
        let unit = Unit {
            scale: self.scale,
            index: self.chunk,
            of: CHUNKS,
            steps: (self.orders * CHUNKS as u64) as i64,
        };
        let sink = &mut Moved { sink, by: self.quarter as i64 * QUARTER_KEYS };
        match table {
            "orders" => rows::orders(&unit, sink),
            "lineitem" => rows::lineitem(&unit, sink),
            _ => Ok(0),
        }
    }
}

/// The key of the `index`th loaded order (from 1): eight keys, then a gap of 24.
fn loaded_key(index: i64) -> i64 {
    (index >> 3 << 5) + (index & 7)
}

/// Passes on rows with their order key shifted: the only 64-bit column of both tables.
struct Moved<'s, S> {
    sink: &'s mut S,
    by: i64,
}

impl<S: RowSink> RowSink for Moved<'_, S> {
    fn begin_row(&mut self) {
        self.sink.begin_row();
    }

    fn int32(&mut self, value: i32) {
        self.sink.int32(value);
    }

    fn int64(&mut self, value: i64) {
        self.sink.int64(value + self.by);
    }

    fn decimal(&mut self, unscaled: i64, scale: u8) {
        self.sink.decimal(unscaled, scale);
    }

    fn date(&mut self, days: i32) {
        self.sink.date(days);
    }

    fn timestamp(&mut self, micros: i64) {
        self.sink.timestamp(micros);
    }

    fn text(&mut self, value: &str) {
        self.sink.text(value);
    }

    fn null(&mut self) {
        self.sink.null();
    }

    fn end_row(&mut self) -> Result<()> {
        self.sink.end_row()
    }

    fn bytes(&self) -> u64 {
        self.sink.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tpchgen::generators::OrderGenerator;

    proptest! {
        #[test]
        fn loaded_keys_are_the_generators(index in 1i64..15_000_000_000) {
            prop_assert_eq!(loaded_key(index), OrderGenerator::make_order_key(index));
        }

        #[test]
        fn sets_never_share_a_key(one in 0u64..2_997, other in 0u64..2_997) {
            prop_assume!(one != other);
            let new = |set| Refresh::new(0.01, 15_000, set, RefreshOrders::New).keys();
            let (one, other) = (new(one), new(other));
            prop_assert!(one.slot >= 8 && one.slot <= 24, "loaded keys have remainders below 8");
            prop_assert!(one.slot != other.slot || one.last < other.first || other.last < one.first);
        }

        #[test]
        fn loaded_orders_are_deleted_in_the_order_of_their_keys(set in 0u64..998) {
            let loaded = |set| Refresh::new(0.01, 15_000, set, RefreshOrders::Loaded).keys();
            let new = Refresh::new(0.01, 15_000, set, RefreshOrders::New).keys();
            let (keys, next) = (loaded(set), loaded(set + 1));
            prop_assert_eq!(keys.slot, 0);
            prop_assert!(keys.last < next.first);
            prop_assert_eq!(keys.first + QUARTER_KEYS, new.first);
            prop_assert_eq!(loaded(set + 999), keys);
        }
    }
}
