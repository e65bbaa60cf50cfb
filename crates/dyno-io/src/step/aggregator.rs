//! Adds up the intervals of several workers.

use std::collections::BTreeMap;

use dyno_record::Result;

use super::Interval;
use crate::tally::Counts;
use crate::window::Window;

/// Adds up the intervals of all workers and passes each on, in order, once all have ended it.
pub(super) struct Aggregator<F> {
    workers: usize,
    /// End of the last interval passed on.
    start_ns: u64,
    next: u64,
    /// By index: how many workers have ended it, its end, and totals by job.
    open: BTreeMap<u64, (usize, u64, Vec<Counts>)>,
    hand_on: F,
}

impl<F: FnMut(Interval) -> Result<()>> Aggregator<F> {
    pub(super) fn new(workers: usize, window: Window, hand_on: F) -> Self {
        Self { workers, start_ns: window.start_ns, next: 0, open: BTreeMap::new(), hand_on }
    }

    pub(super) fn add(&mut self, index: u64, end_ns: u64, jobs: Vec<Counts>) -> Result<()> {
        match self.open.get_mut(&index) {
            None => {
                self.open.insert(index, (1, end_ns, jobs));
            }
            Some((workers, end, sums)) => {
                *workers += 1;
                *end = (*end).max(end_ns);
                for (sum, job) in sums.iter_mut().zip(&jobs) {
                    sum.merge(job);
                }
            }
        }
        while self.open.get(&self.next).is_some_and(|(workers, ..)| *workers == self.workers) {
            self.hand_on_next()?;
        }
        Ok(())
    }

    /// Passes on the remaining intervals of workers that ended early.
    pub(super) fn finish(mut self) -> Result<()> {
        while self.open.contains_key(&self.next) {
            self.hand_on_next()?;
        }
        Ok(())
    }

    fn hand_on_next(&mut self) -> Result<()> {
        let Some((_, end_ns, jobs)) = self.open.remove(&self.next) else { return Ok(()) };
        let window = Window { start_ns: self.start_ns, end_ns };
        self.next += 1;
        self.start_ns = end_ns;
        (self.hand_on)(Interval { window, jobs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_go_on_in_order_once_all_workers_have_ended_them() {
        let mut seen = Vec::new();
        let window = Window { start_ns: 10, end_ns: 40 };
        let mut aggregator = Aggregator::new(2, window, |interval| {
            seen.push((interval.window.start_ns, interval.window.end_ns, interval.jobs[0].reads));
            Ok(())
        });
        let reads = |reads| vec![Counts { reads, ..Counts::default() }];
        aggregator.add(0, 20, reads(1)).unwrap();
        aggregator.add(1, 30, reads(2)).unwrap();
        aggregator.add(0, 20, reads(4)).unwrap();
        aggregator.add(2, 40, reads(8)).unwrap();
        aggregator.finish().unwrap();
        assert_eq!(seen, [(10, 20, 5), (20, 30, 2), (30, 40, 8)]);
    }
}
