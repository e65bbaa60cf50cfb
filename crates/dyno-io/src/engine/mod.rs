//! Engines perform I/Os. All implement one trait and pass one test suite.

use std::fs::File;
use std::time::Duration;

use dyno_record::Result;
use serde::{Deserialize, Serialize};

use crate::{Notes, Pages, Topic};

pub mod null;
pub mod psync;
#[cfg(target_os = "linux")]
pub mod uring;

/// The operation of an I/O.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Op {
    /// Reads into the slot's buffer.
    #[default]
    Read,
    /// Writes from the slot's buffer.
    Write,
    /// Syncs earlier writes to the file, with all metadata; moves no bytes.
    Fsync,
    /// Like `Fsync`, but only with the metadata needed to read the data.
    Fdatasync,
}

/// An I/O to start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Request {
    /// Slot with the buffer to write from or read into.
    pub slot: u32,
    /// Index among the files that the engine was opened with.
    pub file: u32,
    /// The operation.
    pub op: Op,
    /// Offset in the file.
    pub offset: u64,
    /// Length, at most the size of the slot's buffer; 0 for a sync.
    pub bytes: u32,
}

/// A completed I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Slot of the request.
    pub slot: u32,
    /// Bytes moved, or a negative `errno`.
    pub result: i32,
    /// Time before the I/O was submitted, on the engine's clock.
    pub started_ns: u64,
    /// Time after its completion was seen, on the engine's clock.
    pub ended_ns: u64,
}

/// Keeps I/Os in flight, at most one per slot.
pub trait Engine {
    /// The engine's name.
    fn name(&self) -> Name;

    /// The engine's clock in nanoseconds: `CLOCK_MONOTONIC` or simulated time.
    fn now_ns(&self) -> u64;

    /// Share of the buffers' memory in huge pages, 0 to 1; `None` if unknown.
    fn huge_share(&self) -> Option<f64> {
        None
    }

    /// A slot's buffer.
    ///
    /// # Panics
    /// If the slot has an I/O in flight or does not exist.
    fn buffer_mut(&mut self, slot: u32) -> &mut [u8];

    /// Starts all requests of `batch`, waits until at least one I/O has ended or `timeout` has
    /// passed, and appends all completions to `done`. Returns at once if nothing is in flight.
    /// Returns the engine's clock at the end. Failed I/Os are completions, not errors. `done` is
    /// not reallocated if it has space for every slot.
    ///
    /// The caller guarantees that the slots of `batch` are idle and distinct.
    ///
    /// # Errors
    /// `io` or `internal` if the engine itself fails.
    ///
    /// # Panics
    /// If a request names an unknown slot or file, is longer than its buffer, or its slot is busy.
    fn submit_and_wait(
        &mut self,
        batch: &[Request],
        timeout: Duration,
        done: &mut Vec<Completion>,
    ) -> Result<u64>;

    /// Waits with nothing in flight; returns the engine's clock at the end.
    fn pause(&mut self, time: Duration) -> u64;
}

/// The engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Name {
    /// Linux `io_uring`.
    IoUring,
    /// `pread`/`pwrite`, one thread per slot.
    Psync,
    /// No I/O: modelled latencies on a simulated clock.
    Null,
}

/// The engine that a plan asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// `io_uring` if it works, else `psync`.
    #[default]
    Auto,
    /// See [`Name::IoUring`].
    IoUring,
    /// See [`Name::Psync`].
    Psync,
    /// See [`Name::Null`].
    Null,
}

/// Parameters of an engine.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    /// The files; requests refer to them by index.
    pub files: &'a [&'a File],
    /// Buffer size of each slot. There can be as many I/Os in flight as slots.
    pub slots: &'a [u32],
    /// Page size for buffers.
    pub pages: Pages,
    /// Seed of the buffers' initial content.
    pub seed: u64,
    /// Behaviour of the null engine.
    pub null: &'a null::Model,
    /// Start of a simulated clock; real engines ignore it.
    pub start_ns: u64,
}

/// Opens the chosen engine. Adds a note if `auto` falls back to another engine or a slower mode.
///
/// # Errors
/// `io` if an explicitly requested engine is not available, `out_of_memory` without buffers.
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
