//! Data derived from TPC-H, byte for byte the same as the TPC's generator.
//!
//! Comments come from the [`pool`], because that of the `tpchgen` crate takes 300 MB of memory.
//! `tpchgen` supplies everything else.

mod comments;
mod grammar;
mod lehmer;
mod pool;
mod refresh;
mod rows;
mod schema;
mod words;

use dyno_record::Result;

use crate::row_count::RowCount;
use crate::sink::RowSink;
use crate::usage::usage;

pub(crate) use refresh::Refresh;
pub use refresh::{RefreshKeys, RefreshOrders};
pub(crate) use schema::TABLES;

/// Above this scale, counting the lines of all orders takes too long.
const COUNTED_SCALE: f64 = 100.0;

/// An order has one to seven lines.
const MEAN_LINES: u64 = 4;

/// The data at a scale factor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tpch {
    scale: f64,
}

/// Builds the text that comments are cut from, which takes one thread a moment. Otherwise the first
/// caller that needs it builds it.
pub(crate) fn prepare() {
    pool::Pool::get();
}

impl Tpch {
    pub(crate) fn new(scale: f64) -> Result<Self> {
        // At smaller scales some parts have no supplier; at larger ones keys exceed 32 bits.
        if (0.001..=10_000.0).contains(&scale) {
            Ok(Self { scale })
        } else {
            Err(usage(format!("the scale factor must be from 0.001 to 10,000, not {scale}")))
        }
    }

    /// Orders of update set `set` (from 0) of the refresh functions.
    pub(crate) fn refresh(self, set: u64, which: RefreshOrders) -> Refresh {
        Refresh::new(self.scale, self.scaled_steps("orders"), set, which)
    }

    /// Steps of a table's generator at scale 1, and steps per unit (about 1 MB of text).
    fn steps(table: &str) -> (u64, u64) {
        match table {
            "part" => (200_000, 8_000),
            "supplier" => (10_000, 5_000),
            "partsupp" => (200_000, 2_000),
            "customer" => (150_000, 6_000),
            "orders" => (1_500_000, 8_000),
            "lineitem" => (1_500_000, 2_000),
            _ => (0, 1),
        }
    }

    fn scaled_steps(self, table: &str) -> u64 {
        (Self::steps(table).0 as f64 * self.scale) as u64
    }

    pub(crate) fn units(self, table: &str) -> u64 {
        (self.scaled_steps(table) / Self::steps(table).1).max(1)
    }

    pub(crate) fn expected_rows(self, table: &str) -> u64 {
        match table {
            "nation" => 25,
            "region" => 5,
            "partsupp" => self.scaled_steps(table) * 4,
            "lineitem" => self.scaled_steps(table) * MEAN_LINES,
            _ => self.scaled_steps(table),
        }
    }

    pub(crate) fn row_count(self, table: &str) -> RowCount {
        match table {
            "lineitem" if self.scale > COUNTED_SCALE => {
                RowCount::expected(self.expected_rows(table))
            }
            "lineitem" => RowCount::exact(rows::count_lines(self.scaled_steps(table))),
            _ => RowCount::exact(self.expected_rows(table)),
        }
    }

    /// Writes the rows of a unit to `sink`; returns their number.
    pub(crate) fn write(self, table: &str, unit: u64, sink: &mut impl RowSink) -> Result<u64> {
        let unit = rows::Unit {
            scale: self.scale,
            index: unit as i32,
            of: self.units(table) as i32,
            steps: self.scaled_steps(table) as i64,
        };
        match table {
            "part" => rows::part(&unit, sink),
            "supplier" => rows::supplier(&unit, sink),
            "partsupp" => rows::partsupp(&unit, sink),
            "customer" => rows::customer(&unit, sink),
            "orders" => rows::orders(&unit, sink),
            "lineitem" => rows::lineitem(&unit, sink),
            "nation" => rows::nation(sink),
            "region" => rows::region(sink),
            _ => unreachable!("tables come from the schema"),
        }
    }
}

/// Bytes of an average row as `tbl` text, measured at scale 1.
pub(crate) fn row_bytes(table: &str) -> f64 {
    match table {
        "part" => 120.7,
        "supplier" => 140.9,
        "partsupp" => 148.7,
        "customer" => 162.3,
        "orders" => 114.6,
        "lineitem" => 126.6,
        "nation" => 89.0,
        _ => 77.8,
    }
}
