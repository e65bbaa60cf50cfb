//! The OLTP driver and the bulk loader.
//!
//! [`drive`] runs virtual users against a target for a warm-up and a measured window. A workload's
//! transactions are written once over a [`wire::Session`], a pacer decides when they start, and
//! response and service times go to 1-second histograms. [`load()`] streams generated rows into a
//! database. [`replay()`] runs the statements of a server's log at their original times.

#![allow(clippy::doc_markdown, reason = "product names such as PostgreSQL are not code")]

mod aggregator;
mod alarm;
mod cpu;
mod load;
mod outcome;
mod pacer;
mod parts;
mod plan;
mod rate;
mod recorder;
mod replay;
mod run;
mod spacing;
mod stalls;
mod thread;
mod user;
mod window;
pub mod wire;
mod workloads;

pub use load::{DonePart, Journal, LoadOutcome, LoadPlan, LoadWire, LoadedTable, SqliteFile, load};
pub use outcome::{Embedded, OpOutcome, Outcome, PageCache, Writer};
pub use parts::{Peak, Worst};
pub use plan::{DrivePlan, Pacing, WirePlan};
pub use rate::Rate;
pub use replay::{ReplayPlan, Scan, ScanPlan, Shapes, replay, scan, shapes};
pub use run::drive;
pub use workloads::WorkloadPlan;
pub use workloads::mode::Mode;
pub use workloads::point_select::{Column, Holds, PointSelect};
pub use workloads::script::{
    Draw, Input, Literal, Operation, Preview, Rows, Script, Step, Words, preview,
};
pub use workloads::tpcc::{HomePolicy, Params as TpccParams};

/// Protocols of [`drive`], by their names in plans.
pub const WIRES: [&str; 5] = ["postgres", "mysql", "mssql", "sqlite", "null"];

/// Version of the compiled-in SQLite, which loads and is driven. Other statements may run in
/// another version.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}
