//! What all Dyno engines share for recording: one clock, latency histograms, interval records in
//! JSON lines, error classes, and the handle that watches and cancels a run.
//!
//! This crate knows nothing of databases or block devices.

mod clock;
mod control;
mod encoded;
mod error;
mod interval;
mod latency;
mod panic;
mod percentiles;
mod seeds;
mod slots;
mod spool;
mod timeline;

pub use clock::{Clock, monotonic_ns};
pub use control::{Control, Progress};
pub use encoded::Decoder;
pub use error::{Error, ErrorKind, Result};
pub use interval::{OpInterval, OpTotals};
pub use latency::Latency;
pub use panic::StopOnPanic;
pub use percentiles::Percentiles;
pub use seeds::derive_seed;
pub use slots::{SLOTS, Slot};
pub use spool::Spool;
pub use timeline::{Histograms, Shape, Sums, Timeline, Values};
