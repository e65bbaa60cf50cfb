//! The page caches of all sessions of a file: each session has its own.

use std::sync::{Mutex, MutexGuard, PoisonError};

use dyno_io::PageCounts;
use rusqlite::Connection;

use crate::outcome::PageCache;

/// What all caches did, shared by the sessions.
#[derive(Debug, Default)]
pub struct Pages(Mutex<Tally>);

#[derive(Debug, Default)]
struct Tally {
    /// Since the last call of [`Pages::take`].
    since: PageCache,
    /// Memory of all caches now.
    bytes: u64,
}

/// The cache of one session. Dropping it frees its memory.
#[derive(Debug)]
pub struct Share<'p> {
    pages: &'p Pages,
    /// Its memory, as last reported.
    bytes: u64,
}

impl Pages {
    /// Adds the cache of another session.
    pub fn share(&self) -> Share<'_> {
        Share { pages: self, bytes: 0 }
    }

    /// Returns what was counted since the last call.
    pub fn take(&self) -> PageCache {
        let mut tally = self.lock();
        let next = PageCache { bytes_max: tally.bytes, ..PageCache::default() };
        std::mem::replace(&mut tally.since, next)
    }

    fn lock(&self) -> MutexGuard<'_, Tally> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share<'_> {
    /// Reports what the session's connection has counted since the last report.
    pub fn report(&mut self, connection: &Connection) {
        if let Some(counts) = PageCounts::take(connection) {
            self.add(counts);
        }
    }

    fn add(&mut self, counts: PageCounts) {
        let mut tally = self.pages.lock();
        tally.bytes = (tally.bytes + counts.bytes).saturating_sub(self.bytes);
        self.bytes = counts.bytes;
        let bytes = tally.bytes;
        let since = &mut tally.since;
        since.hits += counts.hits;
        since.misses += counts.misses;
        since.writes += counts.writes;
        since.spills += counts.spills;
        since.bytes_max = since.bytes_max.max(bytes);
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        let mut tally = self.pages.lock();
        tally.bytes = tally.bytes.saturating_sub(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_and_memory_is_the_most_at_one_time() {
        let pages = Pages::default();
        let counted = |bytes| PageCounts { hits: 9, misses: 3, writes: 2, spills: 1, bytes };
        let (mut one, mut two) = (pages.share(), pages.share());
        one.add(counted(100));
        two.add(counted(50));
        two.add(counted(40));
        drop(one);
        let sum = PageCache { hits: 27, misses: 9, writes: 6, spills: 3, bytes_max: 150 };
        assert_eq!(pages.take(), sum);
        assert_eq!(pages.take(), PageCache { bytes_max: 40, ..PageCache::default() });
        drop(two);
        pages.take();
        assert_eq!(pages.take(), PageCache::default());
    }
}
