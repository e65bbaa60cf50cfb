//! Data derived from TPC-C: the initial population of clause 4.3.3.1.
//!
//! Each block of rows (a district, or a tenth of the items) has its own random streams, so tables
//! and warehouses agree although they are generated independently and in any order.

mod customer;
mod draws;
mod item;
pub mod nurand;
mod order;
mod schema;
mod warehouse;

use dyno_record::Result;

use crate::row_count::RowCount;
use crate::sink::RowSink;
use crate::usage::usage;
use draws::{Draws, Use};

pub(crate) use schema::TABLES;

/// Districts per warehouse.
const DISTRICTS: u64 = 10;
/// Customers per district, and its initial orders.
const CUSTOMERS: i32 = 3_000;
/// Orders up to this number are delivered, later ones are new.
const DELIVERED: i32 = 2_100;
/// Items. The stock of each warehouse has all of them.
const ITEMS: i32 = 100_000;
/// Items per block of rows.
const ITEMS_A_BLOCK: i32 = 10_000;
/// Mean lines per order: 5 to 15.
const MEAN_LINES: u64 = 10;

/// When the data was "populated": 2025-01-01 00:00:00, in microseconds. Fixed, so that the data
/// depends on scale and seed only.
const POPULATED_AT: i64 = 1_735_689_600_000_000;

/// More warehouses would take 100 TB.
const MOST_WAREHOUSES: f64 = 1_000_000.0;

/// Above this scale, counting all order lines takes too long.
const COUNTED_WAREHOUSES: u64 = 2_000;

/// The constant C of the non-uniform last names in data generated with `seed`, 0 to 255. That of a
/// run must differ from it by 65 to 119, except 96 and 112 (clause 2.1.6.1).
pub fn c_load(seed: u64) -> u64 {
    Draws::new(seed, Use::LoadConstant, 0, 0).between(0, nurand::A_LAST_NAME) as u64
}

/// The data of a number of warehouses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tpcc {
    warehouses: u64,
    seed: u64,
}

/// A block of a table's rows: a warehouse, one of its districts, or a tenth of its stock.
#[derive(Debug, Clone, Copy)]
struct Block {
    seed: u64,
    /// The warehouse, from 1; 0 for items, which belong to none.
    warehouse: i32,
    /// Index of the block in the warehouse, from 0.
    index: i32,
}

impl Block {
    fn draws(&self, purpose: Use) -> Draws {
        Draws::new(self.seed, purpose, self.warehouse as u64, self.index as u64)
    }

    /// The district, from 1, if the block is one.
    fn district(&self) -> i32 {
        self.index + 1
    }
}

impl Tpcc {
    pub(crate) fn new(scale: f64, seed: u64) -> Result<Self> {
        if (1.0..=MOST_WAREHOUSES).contains(&scale) && scale.fract() == 0.0 {
            Ok(Self { warehouses: scale as u64, seed })
        } else {
            Err(usage(format!(
                "warehouses must be a whole number from 1 to {MOST_WAREHOUSES}, not {scale}"
            )))
        }
    }

    pub(crate) fn units(&self, table: &str) -> u64 {
        match table {
            "item" => (ITEMS / ITEMS_A_BLOCK) as u64,
            "warehouse" => self.warehouses,
            _ => self.warehouses * DISTRICTS,
        }
    }

    pub(crate) fn expected_rows(&self, table: &str) -> u64 {
        let districts = self.warehouses * DISTRICTS;
        match table {
            "item" => ITEMS as u64,
            "warehouse" => self.warehouses,
            "district" => districts,
            "stock" => self.warehouses * ITEMS as u64,
            "new_order" => districts * (CUSTOMERS - DELIVERED) as u64,
            "order_line" => districts * CUSTOMERS as u64 * MEAN_LINES,
            _ => districts * CUSTOMERS as u64,
        }
    }

    pub(crate) fn row_count(&self, table: &str) -> RowCount {
        match table {
            "order_line" if self.warehouses > COUNTED_WAREHOUSES => {
                RowCount::expected(self.expected_rows(table))
            }
            "order_line" => {
                let units = 0..self.units(table);
                let lines = units.map(|unit| order::count_lines(&self.block(table, unit)));
                RowCount::exact(lines.sum())
            }
            _ => RowCount::exact(self.expected_rows(table)),
        }
    }

    fn block(&self, table: &str, unit: u64) -> Block {
        let (warehouse, index) = match table {
            "item" => (0, unit),
            "warehouse" => (unit + 1, 0),
            _ => (unit / DISTRICTS + 1, unit % DISTRICTS),
        };
        Block { seed: self.seed, warehouse: warehouse as i32, index: index as i32 }
    }

    /// Writes the rows of a unit to `sink`; returns their number.
    pub(crate) fn write(&self, table: &str, unit: u64, sink: &mut impl RowSink) -> Result<u64> {
        let block = self.block(table, unit);
        match table {
            "item" => item::items(&block, sink),
            "warehouse" => warehouse::warehouse(&block, sink),
            "district" => warehouse::district(&block, sink),
            "customer" => customer::customers(&block, sink),
            "history" => customer::history(&block, sink),
            "stock" => item::stock(&block, sink),
            "orders" => order::orders(&block, sink),
            "new_order" => order::new_orders(&block, sink),
            "order_line" => order::order_lines(&block, sink),
            _ => unreachable!("tables come from the schema"),
        }
    }
}

/// Bytes of an average row as `tbl` text, measured at five warehouses.
pub(crate) fn row_bytes(table: &str) -> f64 {
    match table {
        "item" => 76.6,
        "warehouse" => 91.8,
        "district" => 96.0,
        "customer" => 573.5,
        "history" => 58.8,
        "stock" => 306.9,
        "orders" => 40.7,
        "new_order" => 10.1,
        _ => 67.0,
    }
}
