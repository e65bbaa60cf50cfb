//! The time of the exchange.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dyno_record::monotonic_ns;

/// How time passes for the exchange, the prices and Data-Maintenance.
#[derive(Debug)]
pub enum Time {
    /// By the monotonic clock.
    Clock,
    /// By a step with each transaction that is drawn.
    Steps {
        /// Length of a step, ns.
        step_ns: u64,
        /// Steps so far.
        steps: AtomicU64,
    },
}

impl Time {
    /// By steps of `step_ms`, or by the clock.
    pub fn new(step_ms: Option<u32>) -> Self {
        step_ms.map_or(Self::Clock, |step_ms| Self::Steps {
            step_ns: u64::from(step_ms) * 1_000_000,
            steps: AtomicU64::new(0),
        })
    }

    /// The time, ns from a fixed start.
    pub fn now_ns(&self) -> u64 {
        match self {
            Self::Clock => monotonic_ns(),
            Self::Steps { step_ns, steps } => steps.load(Relaxed) * step_ns,
        }
    }

    /// A time as monotonic ns; None if steps are counted.
    pub const fn monotonic_ns(&self, at_ns: u64) -> Option<u64> {
        match self {
            Self::Clock => Some(at_ns),
            Self::Steps { .. } => None,
        }
    }

    /// The time of the next transaction.
    pub fn next_ns(&self) -> u64 {
        if let Self::Steps { steps, .. } = self {
            steps.fetch_add(1, Relaxed);
        }
        self.now_ns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_do_not_depend_on_the_clock() {
        let time = Time::new(Some(250));
        assert_eq!(time.now_ns(), 0);
        assert_eq!(
            [time.next_ns(), time.next_ns(), time.now_ns()],
            [250_000_000, 500_000_000, 500_000_000]
        );
    }

    #[test]
    fn the_clock_goes_on() {
        let time = Time::new(None);
        assert!(time.next_ns() <= time.now_ns());
    }
}
