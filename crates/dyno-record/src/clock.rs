//! One clock for every file of a bundle.

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// Maps the monotonic clock to wall time through one anchor taken when the run starts, so that
/// records of all engines and probes line up and never jump when the wall clock is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// Wall time at the anchor, nanoseconds since the Unix epoch (UTC).
    pub unix_ns: i64,
    /// `CLOCK_MONOTONIC` at the anchor, nanoseconds (as from Python's `time.monotonic_ns()`).
    pub monotonic_ns: u64,
}

impl Clock {
    /// Wall time of a monotonic reading, nanoseconds since the Unix epoch.
    pub fn unix_ns_at(&self, monotonic_ns: u64) -> i64 {
        self.unix_ns + (monotonic_ns as i64 - self.monotonic_ns as i64)
    }
}

/// `CLOCK_MONOTONIC` in nanoseconds: the same base as Python's `time.monotonic_ns()`.
#[inline]
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_never_go_back() {
        let first = monotonic_ns();
        assert!(first > 0);
        assert!(first <= monotonic_ns());
    }

    #[test]
    fn the_anchor_maps_both_ways_in_time() {
        let clock = Clock { unix_ns: 1_000, monotonic_ns: 500 };
        assert_eq!(clock.unix_ns_at(500), 1_000);
        assert_eq!(clock.unix_ns_at(400), 900);
        assert_eq!(clock.unix_ns_at(750), 1_250);
    }
}
