//! Rows of Dyno's workloads: deterministic, split into independent parts, and written directly in
//! the format that a target loads fastest.
//!
//! A [`Dataset`] is a workload at a scale. Its tables are split into [`Part`]s, which any number of
//! threads or machines can generate independently; the parts of a table, in order, are the table.
//! Rows go to a [`sink::RowSink`] value by value, without an intermediate row.
//!
//! The data of `tpch`, `tpcc` and `brokerage` is derived from TPC-H, TPC-C and TPC-E; results are not comparable with
//! published TPC results.

mod arrow_stream;
pub mod brokerage;
mod ch;
mod dataset;
mod declared;
mod files;
mod row_count;
pub mod schema;
mod scramble;
pub mod sink;
mod sums;
pub mod tpcc;
mod tpch;
mod usage;

pub use arrow_stream::{ArrowReader, reader as arrow_reader, reader_of as arrow_part_reader};
pub use dataset::{Dataset, Part, Workload};
pub use declared::{Declared, declare};
pub use files::{FileFormat, GeneratePlan, Outcome, TableOutcome, generate};
pub use row_count::RowCount;
pub use sums::sums;
pub use tpch::{RefreshKeys, RefreshOrders};
