//! Engines carry out I/Os. All share one trait and one test suite.

use std::fs::File;
use std::time::Duration;

use dyno_record::Result;
use serde::{Deserialize, Serialize};

use crate::{Notes, Pages, Topic};

pub mod null;
pub mod psync;
#[cfg(target_os = "linux")]
pub mod uring;

/// What an I/O does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Op {
    /// Fills the slot's buffer.
    #[default]
    Read,
    /// Writes from the slot's buffer.
    Write,
    /// Makes earlier writes to the file durable, with all metadata; moves no bytes.
    Fsync,
    /// The same, with the metadata only that reading the data needs.
    Fdatasync,
}

/// One I/O to start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Request {
    /// Slot whose buffer is written from or read into.
    pub slot: u32,
    /// Index of the file among those that the engine was opened with.
    pub file: u32,
    /// What to do.
    pub op: Op,
    /// Offset in the file.
    pub offset: u64,
    /// Length, at most that of the slot's buffer; 0 for a sync.
    pub bytes: u32,
}

/// One I/O that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Slot of the request.
    pub slot: u32,
    /// Bytes moved, or a negative `errno`.
    pub result: i32,
    /// Taken before the I/O was submitted, on the engine's clock.
    pub started_ns: u64,
    /// Taken after its completion was seen, on the engine's clock.
    pub ended_ns: u64,
}

/// Keeps I/Os in flight, at most one in each slot.
pub trait Engine {
    /// Which engine this is.
    fn name(&self) -> Name;

    /// The engine's clock, nanoseconds: `CLOCK_MONOTONIC`, or simulated time.
    fn now_ns(&self) -> u64;

    /// Share of the buffers' memory that is in huge pages, 0 to 1; `None` if that is not known.
    fn huge_share(&self) -> Option<f64> {
        None
    }

    /// The buffer of a slot.
    ///
    /// # Panics
    /// If the slot has an I/O in flight or does not exist.
    fn buffer_mut(&mut self, slot: u32) -> &mut [u8];

    /// Starts every request of `batch`, then waits until at least one I/O has ended or `timeout`
    /// has passed, and appends all I/Os that have ended to `done`. Returns at once if none is in
    /// flight. Failed I/Os are completions, not errors, and `done` is not reallocated if it has
    /// room for every slot. The result is the engine's clock after all of that.
    ///
    /// The caller guarantees that the slots of `batch` are idle and differ.
    ///
    /// # Errors
    /// `io` or `internal` if the engine itself can not go on.
    ///
    /// # Panics
    /// If a request names an unknown slot or file, is longer than its buffer, or its slot is busy.
    fn submit_and_wait(
        &mut self,
        batch: &[Request],
        timeout: Duration,
        done: &mut Vec<Completion>,
    ) -> Result<u64>;

    /// Waits with nothing in flight; returns the engine's clock after that.
    fn pause(&mut self, time: Duration) -> u64;
}

/// The engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Name {
    /// Linux `io_uring`.
    IoUring,
    /// `pread`/`pwrite`, one thread a slot.
    Psync,
    /// No I/O: modelled latencies on a simulated clock.
    Null,
}

/// Which engine a plan asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// `io_uring` where it works, `psync` elsewhere.
    #[default]
    Auto,
    /// See [`Name::IoUring`].
    IoUring,
    /// See [`Name::Psync`].
    Psync,
    /// See [`Name::Null`].
    Null,
}

/// What an engine is opened with.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    /// The files that requests name by index.
    pub files: &'a [&'a File],
    /// Bytes of the buffer of each slot; as many I/Os can be in flight.
    pub slots: &'a [u32],
    /// Which pages the buffers are in.
    pub pages: Pages,
    /// Seed of the buffers' first content.
    pub seed: u64,
    /// Behaviour of the null engine.
    pub null: &'a null::Model,
    /// Where a simulated clock starts; real engines ignore it.
    pub start_ns: u64,
}

/// Opens the chosen engine. What `auto` could not have, and any lesser mode of work, goes to
/// `notes`.
///
/// # Errors
/// `io` if an engine asked for by name is not available, `out_of_memory` without buffers.
pub fn open(choice: Choice, setup: &Setup<'_>, notes: &mut Notes) -> Result<Box<dyn Engine>> {
    match choice {
        Choice::Null => Ok(Box::new(null::Null::open(setup))),
        Choice::Psync => Ok(Box::new(psync::Psync::open(setup)?)),
        Choice::IoUring => open_uring(setup, notes),
        Choice::Auto => match open_uring(setup, notes) {
            Ok(engine) => Ok(engine),
            Err(error) => {
                notes.add(
                    Topic::Fallback,
                    format!("{error}: psync is used, with one thread for each I/O"),
                );
                Ok(Box::new(psync::Psync::open(setup)?))
            }
        },
    }
}

#[cfg(target_os = "linux")]
fn open_uring(setup: &Setup<'_>, notes: &mut Notes) -> Result<Box<dyn Engine>> {
    Ok(Box::new(uring::Uring::open(setup, uring::Buffers::Registered, notes)?))
}

#[cfg(not(target_os = "linux"))]
fn open_uring(_: &Setup<'_>, _: &mut Notes) -> Result<Box<dyn Engine>> {
    use dyno_record::{Error, ErrorKind};
    Err(Error::new(ErrorKind::Io, "io_uring exists on Linux only"))
}
