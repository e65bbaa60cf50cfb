//! Finds sequential reads among the requests of the kernel.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Requests of one sequential read are at most so far apart, in bytes: the kernel reads two windows
/// of read-ahead (`_AHEAD_KB` of `mounting.py`) at once, and sends their requests in any order.
const NEAR: u64 = 8 << 20;

/// A sequential read of a file.
#[derive(Default)]
pub struct Sequence {
    begin: AtomicU64,
    end: AtomicU64,
    bytes: AtomicU64,
}

impl Sequence {
    /// Adds a request. Returns the length of the sequential read that it belongs to, in bytes; 0 if
    /// there is none.
    pub fn follow(&self, offset: u64, size: u64) -> u64 {
        if offset.abs_diff(self.end.load(Relaxed)) <= NEAR {
            self.begin.fetch_min(offset, Relaxed);
            self.end.fetch_max(offset + size, Relaxed);
            self.bytes.fetch_add(size, Relaxed);
        } else {
            self.begin.store(offset, Relaxed);
            self.end.store(offset + size, Relaxed);
            self.bytes.store(size, Relaxed);
        }
        let length = self.end.load(Relaxed).saturating_sub(self.begin.load(Relaxed));
        // Random reads of a small file are near each other as well, but leave most of it out.
        if self.bytes.load(Relaxed) >= length / 2 { length } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: u64 = 128 << 10;

    fn longest(sequence: &Sequence, offsets: impl Iterator<Item = u64>, size: u64) -> u64 {
        offsets.map(|offset| sequence.follow(offset, size)).max().unwrap_or(0)
    }

    #[test]
    fn requests_in_any_order_within_two_windows_are_one_read() {
        let windows = (0..8_u64).flat_map(|window| {
            let of = move |at| (window * 64 + at) * REQUEST;
            (0..64).map(move |at| of(at * 37 % 64))
        });
        assert_eq!(longest(&Sequence::default(), windows, REQUEST), 512 * REQUEST);
    }

    #[test]
    fn random_reads_of_a_small_file_are_none() {
        let blocks = (10 << 20) / 8192;
        let mut at = 1_u64;
        let random = (0..100_000).map(|_| {
            at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (at >> 33) % blocks * 8192
        });
        assert!(longest(&Sequence::default(), random, 8192) < 8 << 20);
    }

    #[test]
    fn a_read_that_begins_anew_is_another() {
        let sequence = Sequence::default();
        let scan = || (0..128).map(|at| at * REQUEST);
        assert_eq!(longest(&sequence, scan(), REQUEST), 16 << 20);
        assert_eq!(sequence.follow(0, REQUEST), REQUEST);
    }
}
