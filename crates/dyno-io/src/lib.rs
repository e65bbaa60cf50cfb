//! Block I/O profiles of files and devices.
//!
//! A [`Plan`] lists targets and curves: jobs that run together at rising queue depths or rates.
//! [`profile`] opens and fills the targets, drives each curve until a job exceeds its latency
//! ceiling, and records each step and interval as soon as it ends.
//!
//! ```text
//! plan ─► targets (make or open, fill, prove)
//!      ─► step: one worker per core ─► lanes (job on target: pattern, pace, flow) ─► engine
//!      ─► intervals, parts, ceiling ─► spools, outcome
//! ```

mod arena;
mod ceiling;
mod cores;
pub mod engine;
mod fault;
mod flow;
mod health;
mod lane;
mod notes;
mod outcome;
mod pace;
mod pagecache;
mod pattern;
mod payload;
mod plan;
mod profile;
mod record;
mod report;
mod search;
mod seeds;
mod settle;
mod step;
mod tally;
mod targets;
mod window;
mod worker;

pub use arena::Pages;
pub use fault::Fault;
pub use notes::{Note, Notes, Topic};
pub use outcome::{Figures, Found, Outcome, Part, Purpose, Step, Subject};
pub use pagecache::PageCounts;
pub use pattern::Order;
pub use plan::{
    Arrivals, Block, CeilingOf, Curve, Job, OnError, Plan, Rate, Search, Settle, Sync, SyncCall,
    Target,
};
pub use profile::profile;
pub use search::Stopped;
pub use targets::{Content, Kind};

/// Engines that a plan can name, besides `auto`.
pub const ENGINES: [&str; 3] = ["io_uring", "psync", "null"];
