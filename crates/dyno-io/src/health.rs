//! Whether so many I/Os of a step fail that it should end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::plan::OnError;

/// Failed I/Os that end a step.
const MOST_ERRORS: u64 = 100;
/// Failed I/Os that end a step in which nothing has succeeded.
const MOST_FIRST_ERRORS: u64 = 10;

/// The errors of a step. Its workers share them, so the verdict does not depend on their number.
pub(crate) struct Health {
    on_error: OnError,
    /// Failures that end the step before the first success: all I/Os in flight may fail at first.
    first: u64,
    failed: AtomicU64,
    succeeded: AtomicBool,
    hopeless: AtomicBool,
}

impl Health {
    /// For a step with `depth` I/Os in flight.
    pub(crate) fn new(on_error: OnError, depth: u32) -> Self {
        Self {
            on_error,
            first: MOST_FIRST_ERRORS.max(u64::from(depth)),
            failed: AtomicU64::new(0),
            succeeded: AtomicBool::new(false),
            hopeless: AtomicBool::new(false),
        }
    }

    /// Records a failed I/O.
    #[cold]
    pub(crate) fn fail(&self) {
        self.failed.fetch_add(1, Relaxed);
    }

    /// Records a successful I/O; each worker calls it once.
    pub(crate) fn succeed(&self) {
        self.succeeded.store(true, Relaxed);
    }

    /// Failed I/Os so far.
    pub(crate) fn failed(&self) -> u64 {
        self.failed.load(Relaxed)
    }

    /// Whether to end the step now. Once true, it stays true, whatever succeeds later.
    pub(crate) fn is_hopeless(&self) -> bool {
        let failed = self.failed();
        let now = failed > MOST_ERRORS || failed >= self.first && !self.succeeded.load(Relaxed);
        if now && self.on_error == OnError::Stop {
            self.hopeless.store(true, Relaxed);
        }
        self.hopeless.load(Relaxed)
    }

    /// Whether a step that has ended counts as failed: it was hopeless, or had nothing but
    /// failures.
    pub(crate) fn has_failed(&self) -> bool {
        let only = self.failed() > 0 && !self.succeeded.load(Relaxed);
        self.is_hopeless() || only && self.on_error == OnError::Stop
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(on_error: OnError, failed: u64) -> Health {
        let health = Health::new(on_error, 32);
        (0..failed).for_each(|_| health.fail());
        health
    }

    #[test]
    fn what_is_in_flight_at_first_may_fail() {
        assert!(!with(OnError::Stop, 31).is_hopeless());
        assert!(with(OnError::Stop, 31).has_failed());
        assert!(with(OnError::Stop, 32).is_hopeless());
        let mended = with(OnError::Stop, 31);
        mended.succeed();
        assert!(!mended.has_failed());
    }

    #[test]
    fn a_step_that_was_given_up_stays_so() {
        let health = with(OnError::Stop, 32);
        assert!(health.is_hopeless());
        health.succeed();
        assert!(health.has_failed());
    }

    #[test]
    fn many_failures_end_it_unless_it_is_to_go_on() {
        for (on_error, failed, ends) in [
            (OnError::Stop, 100, false),
            (OnError::Stop, 101, true),
            (OnError::Continue, 500, false),
        ] {
            let health = with(on_error, failed);
            health.succeed();
            assert_eq!((health.is_hopeless(), health.has_failed()), (ends, ends));
        }
        assert!(!with(OnError::Continue, 500).has_failed());
    }
}
