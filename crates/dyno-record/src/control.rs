//! The handle that lets a caller watch, end early or cancel a long call.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use serde::Serialize;

use crate::{Error, ErrorKind, Result};

/// A cheap, clonable handle: the engine counts work on it, the caller reads snapshots or cancels.
#[derive(Debug, Clone, Default)]
pub struct Control(Arc<State>);

#[derive(Debug, Default)]
struct State {
    cancelled: AtomicBool,
    finishing: AtomicBool,
    held: AtomicBool,
    ready: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
    bytes: AtomicU64,
    step: Mutex<String>,
}

/// What a run has done so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Units of work done: rows, milliseconds or operations, as the engine documents.
    pub done: u64,
    /// Total units of work, 0 while unknown.
    pub total: u64,
    /// Bytes moved so far.
    pub bytes: u64,
    /// The current step in a few words.
    pub step: String,
}

impl Control {
    /// Creates a handle.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the engine to stop at its next check (within about 100 ms).
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Relaxed);
    }

    /// Whether [`cancel`](Self::cancel) was called.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Relaxed)
    }

    /// Asks an engine that runs for a set time to end early; it still returns its outcome. Engines
    /// that process a set amount ignore this.
    pub fn finish(&self) {
        self.0.finishing.store(true, Relaxed);
    }

    /// Whether [`finish`](Self::finish) was called.
    pub fn is_finishing(&self) -> bool {
        self.0.finishing.load(Relaxed)
    }

    /// Holds back an engine that can be ready before it begins, until [`release`](Self::release).
    /// Call it before the engine starts. Other engines ignore this.
    pub fn hold(&self) {
        self.0.held.store(true, Relaxed);
    }

    /// Lets the engine begin.
    pub fn release(&self) {
        self.0.held.store(false, Relaxed);
    }

    /// Whether the engine is held back.
    pub fn is_held(&self) -> bool {
        self.0.held.load(Relaxed)
    }

    /// Notes that the engine is ready to begin.
    pub fn set_ready(&self) {
        self.0.ready.store(true, Relaxed);
    }

    /// Whether the engine is ready to begin, or has begun.
    pub fn is_ready(&self) -> bool {
        self.0.ready.load(Relaxed)
    }

    /// Fails once the handle is cancelled.
    ///
    /// # Errors
    /// `cancelled`.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            Err(Error::new(ErrorKind::Cancelled, "interrupted"))
        } else {
            Ok(())
        }
    }

    /// Sets the total amount of work.
    pub fn set_total(&self, total: u64) {
        self.0.total.store(total, Relaxed);
    }

    /// Counts work done.
    #[inline]
    pub fn add(&self, done: u64, bytes: u64) {
        self.0.done.fetch_add(done, Relaxed);
        self.0.bytes.fetch_add(bytes, Relaxed);
    }

    /// Sets work done, for engines that measure it rather than count it.
    pub fn set_done(&self, done: u64) {
        self.0.done.store(done, Relaxed);
    }

    /// Names the current step.
    pub fn set_step(&self, step: impl Into<String>) {
        *self.0.step.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = step.into();
    }

    /// Work done so far.
    pub fn progress(&self) -> Progress {
        Progress {
            done: self.0.done.load(Relaxed),
            total: self.0.total.load(Relaxed),
            bytes: self.0.bytes.load(Relaxed),
            step: self.0.step.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone(),
        }
    }
}
