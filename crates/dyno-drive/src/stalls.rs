//! When a driver thread was stalled while work was due. Pure: time is passed in.
//!
//! While a thread is stalled, starts become due that none of its sessions can take. Starts that
//! then find no session free look as if the target had kept all sessions busy, but it did not.

use std::collections::VecDeque;

/// Shorter delays are not stalls: a timer is occasionally this late.
const SHORTEST_NS: u64 = 1_000_000;
/// Maximum stalls to keep. A schedule further behind than these has other reasons.
const MOST: usize = 1024;

/// The latest stalls of a thread.
#[derive(Debug, Default)]
pub struct Stalls(VecDeque<Stall>);

#[derive(Debug, Clone, Copy)]
struct Stall {
    from_ns: u64,
    to_ns: u64,
}

impl Stalls {
    /// The thread resumed at `now_ns`; the first work due in the meantime was due at `due_ns`. May
    /// be called repeatedly until that work has started.
    #[inline]
    pub fn returned(&mut self, due_ns: u64, now_ns: u64) {
        if now_ns.saturating_sub(due_ns) < SHORTEST_NS {
            return;
        }
        if let Some(last) = self.0.back_mut().filter(|last| last.from_ns == due_ns) {
            last.to_ns = now_ns;
            return;
        }
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(Stall { from_ns: due_ns, to_ns: now_ns });
    }

    /// When the thread resumed after a stall at `at_ns`; None without a stall. Later calls must not
    /// pass earlier times.
    #[inline]
    pub fn end_of(&mut self, at_ns: u64) -> Option<u64> {
        while self.0.front().is_some_and(|first| first.to_ns <= at_ns) {
            self.0.pop_front();
        }
        self.0.front().filter(|first| first.from_ns <= at_ns).map(|first| first.to_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_stall_lasts_until_the_thread_is_back() {
        let mut stalls = Stalls::default();
        stalls.returned(10 * MS, 30 * MS);
        stalls.returned(50 * MS, 51 * MS);
        let asked = [9, 10, 29, 30, 49, 50, 51].map(|at| stalls.end_of(at * MS).map(|ns| ns / MS));
        assert_eq!(asked, [None, Some(30), Some(30), None, None, Some(51), None]);
    }

    #[test]
    fn a_stall_that_is_told_again_goes_on() {
        let mut stalls = Stalls::default();
        stalls.returned(10 * MS, 30 * MS);
        stalls.returned(10 * MS, 31 * MS);
        assert_eq!(stalls.0.len(), 1);
        assert_eq!(stalls.end_of(12 * MS), Some(31 * MS));
    }

    #[test]
    fn what_is_short_is_no_stall() {
        let mut stalls = Stalls::default();
        stalls.returned(10 * MS, 11 * MS - 1);
        assert_eq!(stalls.end_of(10 * MS), None);
    }

    #[test]
    fn the_latest_are_kept() {
        let mut stalls = Stalls::default();
        for at in 0..5_000 {
            stalls.returned(10 * at * MS, (10 * at + 2) * MS);
        }
        assert_eq!(stalls.0.len(), MOST);
        assert_eq!(stalls.end_of(0), None);
        assert_eq!(stalls.end_of(49_991 * MS), Some(49_992 * MS));
    }
}
