//! What every Dyno engine records, and how: one clock, latency histograms, interval records in
//! JSON lines, classed errors, and the handle through which a run is watched and cancelled.
//!
//! This crate knows nothing of databases or block devices.

mod clock;
mod control;
mod error;
mod interval;
mod latency;
mod panic;
mod percentiles;
mod seeds;
mod spool;

pub use clock::{Clock, monotonic_ns};
pub use control::{Control, Progress};
pub use error::{Error, ErrorKind, Result};
pub use interval::{OpInterval, OpTotals};
pub use latency::Latency;
pub use panic::StopOnPanic;
pub use percentiles::Percentiles;
pub use seeds::derive_seed;
pub use spool::Spool;
