//! A registered ring, for which the kernel needs no lookup of a file descriptor.

use std::io;
use std::ptr::NonNull;
use std::time::Duration;

use dyno_record::monotonic_ns;
use io_uring::squeue::{Entry, PushError};
use io_uring::{Builder, CompletionQueue, IoUring, Submitter};

/// Longest wait for the locked memory of rings in teardown.
const MEMORY_PATIENCE: Duration = Duration::from_millis(500);

/// A ring and its submitter, which remembers the ring's registration. Both belong to the thread
/// that created them.
pub(super) struct Ring {
    /// Points into `inner`, which lives until `drop` has run.
    submitter: Submitter<'static>,
    /// From `Box::leak`, and only borrowed shared. A raw pointer also keeps the ring on its thread.
    inner: NonNull<IoUring>,
}

impl Ring {
    /// Creates a ring for `slots` I/Os.
    ///
    /// # Errors
    /// Of the kernel.
    pub(super) fn new(slots: u32) -> io::Result<Self> {
        let inner = NonNull::from(Box::leak(Box::new(make(slots)?)));
        // SAFETY: the ring is valid until `drop` frees it, after the submitter's last use; it never
        // moves, and is only borrowed shared from here on.
        let submitter = unsafe { inner.as_ref() }.submitter();
        Ok(Self { submitter, inner })
    }

    /// Whether the kernel can wait for I/Os with a timeout (5.11).
    pub(super) fn waits_with_limit(&self) -> bool {
        // SAFETY: valid until `drop`.
        unsafe { self.inner.as_ref() }.params().is_feature_ext_arg()
    }

    /// Spares the kernel the lookup of the ring's descriptor in each call (5.18). Failure only
    /// costs that time.
    pub(super) fn register_itself(&mut self) {
        let _ = self.submitter.register_ring_fd();
    }

    /// The ring's submitter.
    pub(super) fn submitter(&self) -> &Submitter<'static> {
        &self.submitter
    }

    /// Queues all `entries`, or none.
    ///
    /// # Safety
    /// Whatever the entries point to must stay valid and unused until their I/Os have ended.
    pub(super) unsafe fn push(&mut self, entries: &[Entry]) -> Result<(), PushError> {
        // SAFETY: `&mut self` makes this the only borrow of the submission queue.
        let mut queue = unsafe { self.inner.as_ref().submission_shared() };
        // SAFETY: the caller's obligation.
        unsafe { queue.push_multiple(entries) }
    }

    /// The completion queue.
    pub(super) fn completions(&mut self) -> CompletionQueue<'_> {
        // SAFETY: `&mut self` makes this the only borrow of the completion queue.
        unsafe { self.inner.as_ref().completion_shared() }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // A registered ring would live as long as its thread. This call fails if it is not
        // registered.
        let _ = self.submitter.unregister_ring_fd();
        // SAFETY: from `Box::leak` in `new`, and freed only here. The submitter has no `drop` of
        // its own and is not used again.
        drop(unsafe { Box::from_raw(self.inner.as_ptr()) });
    }
}

/// Creates a ring in the cheapest completion mode of the kernel.
fn make(slots: u32) -> io::Result<IoUring> {
    // Completion work runs when this thread asks for it (6.1), or without interrupting it (5.19),
    // or in the default mode. Older kernels return EINVAL for an unknown flag.
    let modes: [fn(&mut Builder) -> &mut Builder; 3] = [
        |builder| builder.setup_coop_taskrun().setup_single_issuer().setup_defer_taskrun(),
        Builder::setup_coop_taskrun,
        |builder| builder,
    ];
    let give_up_ns = monotonic_ns() + MEMORY_PATIENCE.as_nanos() as u64;
    let mut mode = 0;
    loop {
        let mut builder = IoUring::builder();
        match modes[mode](&mut builder).build(slots.next_power_of_two()) {
            Err(error) if is(&error, libc::EINVAL) && mode + 1 < modes.len() => mode += 1,
            // A ring closed a moment ago, for example by the previous step, still holds its memory.
            Err(error) if is(&error, libc::ENOMEM) && monotonic_ns() < give_up_ns => {
                std::thread::sleep(Duration::from_millis(5));
            }
            built => return built,
        }
    }
}

/// Whether `error` is `errno`.
pub(super) fn is(error: &io::Error, errno: i32) -> bool {
    error.raw_os_error() == Some(errno)
}
