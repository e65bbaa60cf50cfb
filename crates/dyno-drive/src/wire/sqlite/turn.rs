//! Use of a file's single write lock: how long it was held, and how long others waited.

use std::sync::{Mutex, PoisonError};

use dyno_record::{Latency, monotonic_ns};

use crate::outcome::Writer;

/// The state of the write lock, shared by all sessions of a file.
#[derive(Debug, Default)]
pub struct Turns(Mutex<Tally>);

#[derive(Debug, Default)]
struct Tally {
    /// Start of the statistics.
    from_ns: u64,
    /// Time it was held since then, up to the last release.
    held_ns: u64,
    /// Number of holders. SQLite lets in the next one before the last one's COMMIT has returned.
    holders: u32,
    /// Start of the current holding time.
    since_ns: u64,
    waits: Latency,
}

impl Turns {
    /// A session has acquired it, after waiting from `asked_ns` to `now_ns`.
    pub fn taken(&self, asked_ns: u64, now_ns: u64) {
        let mut tally = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tally.waits.record(now_ns.saturating_sub(asked_ns));
        if tally.holders == 0 {
            tally.since_ns = now_ns;
        }
        tally.holders += 1;
    }

    /// A session gave up waiting.
    pub fn missed(&self, asked_ns: u64, now_ns: u64) {
        let mut tally = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tally.waits.record(now_ns.saturating_sub(asked_ns));
    }

    /// A holder has released it.
    pub fn given_up(&self, now_ns: u64) {
        let mut tally = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tally.holders = tally.holders.saturating_sub(1);
        if tally.holders == 0 {
            tally.held_ns += now_ns.saturating_sub(tally.since_ns.max(tally.from_ns));
        }
    }

    /// Returns the statistics since the last call.
    pub fn take(&self) -> Writer {
        self.take_at(monotonic_ns())
    }

    fn take_at(&self, now_ns: u64) -> Writer {
        let mut tally = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut held_ns = std::mem::take(&mut tally.held_ns);
        if tally.holders > 0 {
            held_ns += now_ns.saturating_sub(tally.since_ns.max(tally.from_ns));
        }
        let window_ns = now_ns.saturating_sub(tally.from_ns).max(1);
        tally.from_ns = now_ns;
        let waits = std::mem::take(&mut tally.waits);
        Writer { busy_share: held_ns as f64 / window_ns as f64, wait_ms: (&waits).into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn what_is_held_across_the_bounds_counts_on_both_sides() {
        let turns = Turns::default();
        turns.take_at(0);
        turns.taken(5 * MS, 10 * MS);
        assert!((turns.take_at(40 * MS).busy_share - 0.75).abs() < 1e-9);
        turns.given_up(50 * MS);
        turns.taken(60 * MS, 60 * MS);
        turns.given_up(70 * MS);
        assert!((turns.take_at(140 * MS).busy_share - 0.2).abs() < 1e-9);
        assert!(turns.take_at(150 * MS).busy_share < 1e-9);
    }

    #[test]
    fn two_who_seem_to_hold_it_count_once() {
        let turns = Turns::default();
        turns.take_at(0);
        turns.taken(0, 10 * MS);
        turns.taken(0, 50 * MS);
        turns.given_up(60 * MS);
        turns.given_up(100 * MS);
        assert!((turns.take_at(100 * MS).busy_share - 0.9).abs() < 1e-9);
    }

    #[test]
    fn waits_are_of_those_who_had_it_and_of_those_who_gave_up() {
        let turns = Turns::default();
        turns.taken(0, 2 * MS);
        turns.missed(0, 4 * MS);
        let wait_ms = turns.take_at(5 * MS).wait_ms;
        assert!((wait_ms.mean - 3.0).abs() < 0.01, "{wait_ms:?}");
        assert!(turns.take_at(6 * MS).wait_ms.max < 1e-9);
    }
}
