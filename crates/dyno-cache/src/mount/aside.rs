//! Whether the cache steps aside, because the origin serves reads faster than flash.
//!
//! Reads of a few blocks and long ones are looked at apart. Each period compares the mean time of
//! reads that flash served alone with that of reads that the origin served alone; too few of one
//! leave its last mean. While the cache is aside, one read in [`TRIED`] still asks it. While it is
//! not, and has all that is read, the origin is tried after some hits, for 1 % of the time at most.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most blocks of a short read.
const SHORT: usize = 4;
/// Reads in a period that make a mean.
const FEWEST: u64 = 32;
const TRIED: u64 = 32;
/// Reads that flash must serve before the origin is tried.
const HITS: u64 = 256;
/// The origin is not tried again for so many times as long as it took.
const REST: u32 = 100;
/// Flash must be slower by this much to be left out, and faster to be asked again.
const MARGIN: f64 = 1.1;

/// Number and duration of reads since the last look.
#[derive(Default)]
struct Times {
    count: AtomicU64,
    ns: AtomicU64,
}

impl Times {
    fn add(&self, took: Duration, blocks: usize) {
        self.count.fetch_add(1, Relaxed);
        self.ns.fetch_add(took.as_nanos() as u64 / blocks.max(1) as u64, Relaxed);
    }

    /// The mean of the reads since the last look, in ns a block; none if they are too few.
    fn take(&self) -> Option<f64> {
        if self.count.load(Relaxed) < FEWEST {
            return None;
        }
        let count = self.count.swap(0, Relaxed);
        Some(self.ns.swap(0, Relaxed) as f64 / count.max(1) as f64)
    }
}

/// Reads of one length.
struct Length {
    flash: Times,
    origin: Times,
    means: Mutex<(Option<f64>, Option<f64>)>,
    aside: AtomicBool,
    turn: AtomicU64,
    /// Reads that flash served since the origin last did.
    hits: AtomicU64,
    begun: Instant,
    /// When the origin may be tried, in ns after `begun`.
    next: AtomicU64,
}

impl Length {
    fn new() -> Self {
        Self {
            flash: Times::default(),
            origin: Times::default(),
            means: Mutex::default(),
            aside: AtomicBool::default(),
            turn: AtomicU64::default(),
            hits: AtomicU64::default(),
            begun: Instant::now(),
            next: AtomicU64::default(),
        }
    }

    /// Whether it is time to try the origin: for one read only.
    fn tries(&self, now: Instant) -> bool {
        let next = self.next.load(Relaxed);
        let rested = (now - self.begun).as_nanos() as u64 >= next;
        self.hits.load(Relaxed) >= HITS
            && rested
            && self.next.compare_exchange(next, u64::MAX, Relaxed, Relaxed).is_ok()
    }

    fn rests(&self, took: Duration) {
        let next = self.begun.elapsed() + REST * took;
        self.next.store(next.as_nanos() as u64, Relaxed);
        self.hits.store(0, Relaxed);
    }

    fn judge(&self) {
        let mut means = self.means.lock().unwrap_or_else(PoisonError::into_inner);
        means.0 = self.flash.take().or(means.0);
        means.1 = self.origin.take().or(means.1);
        if let (Some(flash), Some(origin)) = *means {
            let least = if self.aside.load(Relaxed) { origin / MARGIN } else { origin * MARGIN };
            self.aside.store(flash > least, Relaxed);
        }
    }
}

/// Whether the cache steps aside.
pub struct Aside([Length; 2]);

impl Default for Aside {
    fn default() -> Self {
        Self([Length::new(), Length::new()])
    }
}

impl Aside {
    /// Whether a read of so many blocks should not ask the cache. Its time must be told then.
    pub fn skips(&self, blocks: usize, now: Instant) -> bool {
        let length = self.of(blocks);
        if length.aside.load(Relaxed) {
            return !length.turn.fetch_add(1, Relaxed).is_multiple_of(TRIED);
        }
        length.tries(now)
    }

    /// Flash served a read alone.
    pub fn flash(&self, took: Duration, blocks: usize) {
        let length = self.of(blocks);
        length.flash.add(took, blocks);
        length.hits.fetch_add(1, Relaxed);
    }

    /// The origin served a read alone.
    pub fn origin(&self, took: Duration, blocks: usize) {
        let length = self.of(blocks);
        length.origin.add(took, blocks);
        length.rests(took);
    }

    /// The origin could not serve a read: its time says nothing.
    pub fn failed(&self, took: Duration, blocks: usize) {
        self.of(blocks).rests(took);
    }

    /// Decides for the next period; returns whether the cache is aside for short or long reads.
    pub fn judge(&self) -> bool {
        self.0.iter().for_each(Length::judge);
        self.0.iter().any(|length| length.aside.load(Relaxed))
    }

    fn of(&self, blocks: usize) -> &Length {
        &self.0[usize::from(blocks > SHORT)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(aside: &Aside, flash_us: u64, origin_us: u64, count: u64) -> bool {
        for _ in 0..count {
            aside.flash(Duration::from_micros(flash_us), 1);
            aside.origin(Duration::from_micros(origin_us), 1);
        }
        aside.judge()
    }

    #[test]
    fn a_faster_flash_stays() {
        let aside = Aside::default();
        assert!(!after(&aside, 100, 5000, 100));
        let now = Instant::now();
        assert!((0..100).all(|_| !aside.skips(1, now)));
    }

    #[test]
    fn an_origin_that_nobody_reads_is_tried_now_and_then() {
        let aside = Aside::default();
        let hits = || (0..HITS).for_each(|_| aside.flash(Duration::from_micros(50), 1));
        let now = Instant::now();
        assert!(!aside.skips(1, now));
        hits();
        assert!(aside.skips(1, now));
        assert!(!aside.skips(1, now), "one read at a time");
        aside.origin(Duration::from_millis(5), 1);
        let after = |ms| Instant::now() + Duration::from_millis(ms);
        assert!(!aside.skips(1, after(600)), "nobody read since");
        hits();
        assert!(!aside.skips(1, after(400)));
        assert!(aside.skips(1, after(600)));
    }

    #[test]
    fn a_slower_flash_steps_aside_and_is_still_tried() {
        let aside = Aside::default();
        assert!(after(&aside, 200, 100, 100));
        let now = Instant::now();
        assert_eq!((0..320).filter(|_| !aside.skips(1, now)).count(), 10);
        assert!((0..320).all(|_| !aside.skips(128, now)), "long reads are looked at apart");
    }

    #[test]
    fn it_comes_back_when_it_is_clearly_faster() {
        let aside = Aside::default();
        assert!(after(&aside, 200, 100, 100));
        assert!(after(&aside, 98, 100, 100));
        assert!(!after(&aside, 50, 100, 100));
    }

    #[test]
    fn few_reads_decide_nothing() {
        let aside = Aside::default();
        assert!(!after(&aside, 200, 100, FEWEST - 1));
        assert!(after(&aside, 200, 100, 1), "they count with the next ones");
    }
}
