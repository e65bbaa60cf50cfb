//! Block I/O profiles of a volume.
//!
//! A [`Plan`] lists curves: an access pattern, a block size, a share of reads and rising queue
//! depths. [`profile`] writes a test file on the volume, drives each curve until the read or the
//! write p95 passes the latency ceiling, and records every step as soon as it ends.
//!
//! ```text
//! plan ─► file (create, fill, prove) ─► step (pattern × engine) ─► ceiling ─► outcome, spool
//! ```

mod arena;
pub mod ceiling;
pub mod engine;
mod evidence;
mod file;
mod leftover;
mod notes;
mod outcome;
pub mod pattern;
mod plan;
mod profile;
mod step;

pub use notes::Notes;
pub use outcome::{Outcome, Percentiles, Step};
pub use plan::{Curve, Plan};
pub use profile::profile;

/// Engines that a plan can ask for by name, besides `auto`.
pub const ENGINES: [&str; 3] = ["io_uring", "psync", "null"];
