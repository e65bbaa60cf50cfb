//! New orders and their lines, for the refresh functions.
//!
//! Loaded orders use 8 of each 32 keys. A pair of refresh functions takes one thousandth of the
//! orders' keys and moves them into one of the three free quarters, so that its keys are new to the
//! loaded data and to every other pair. The values are those of the loaded orders whose keys are
//! moved: the same distributions, foreign keys that exist, totals that agree with the lines.

use dyno_record::Result;

use super::rows::{self, Unit};
use crate::row_count::RowCount;
use crate::sink::RowSink;
use crate::usage::usage;

/// A pair has the orders of one of this many equal chunks: 1,500 a scale factor.
const CHUNKS: i32 = 1_000;

/// The last chunk also has what the division left over, so it is not used.
const USED_CHUNKS: u64 = CHUNKS as u64 - 1;

/// Quarters of each 32 keys that loaded orders leave free.
const QUARTERS: u64 = 3;

/// Neighbouring keys of a quarter.
const QUARTER_KEYS: i64 = 8;

/// What one pair of refresh functions inserts, and deletes again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refresh {
    scale: f64,
    orders: u64,
    chunk: i32,
    quarter: u64,
}

/// The keys of a pair: `first..=last`, of which only those are its own whose remainder by 32 is in
/// `slot..slot + 8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefreshKeys {
    /// Its lowest order key.
    pub first: i64,
    /// Its highest order key.
    pub last: i64,
    /// The lowest remainder by 32.
    pub slot: i64,
}

impl Refresh {
    /// Pair `pair` (from 0) over data of `total` orders. `seed` decides where the first pair lies.
    pub(super) fn new(scale: f64, total: u64, seed: u64, pair: u64) -> Result<Self> {
        if pair >= USED_CHUNKS * QUARTERS {
            let most = USED_CHUNKS * QUARTERS;
            return Err(usage(format!("there are {most} pairs of refresh functions, not {pair}")));
        }
        Ok(Self {
            scale,
            orders: total / CHUNKS as u64,
            chunk: ((pair + mixed(seed) % USED_CHUNKS) % USED_CHUNKS) as i32,
            quarter: 1 + pair / USED_CHUNKS,
        })
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

/// Spreads neighbouring seeds (the finaliser of `SplitMix64`).
fn mixed(seed: u64) -> u64 {
    let mut value = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Passes rows on with their order key moved: the only 64-bit column of both tables.
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
        fn pairs_never_share_a_key(seed in any::<u64>(), one in 0u64..2_997, other in 0u64..2_997) {
            prop_assume!(one != other);
            let keys = |pair| Refresh::new(0.01, 15_000, seed, pair).unwrap().keys();
            let (one, other) = (keys(one), keys(other));
            prop_assert!(one.slot >= 8 && one.slot <= 24, "loaded keys have remainders below 8");
            prop_assert!(one.slot != other.slot || one.last < other.first || other.last < one.first);
        }
    }

    #[test]
    fn there_is_an_end_of_pairs() {
        assert!(Refresh::new(1.0, 1_500_000, 1, 2_996).is_ok());
        assert!(Refresh::new(1.0, 1_500_000, 1, 2_997).is_err());
    }
}
