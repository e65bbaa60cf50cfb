//! The intervals of a worker.

use dyno_record::{Control, Result};

use crate::lane::Lane;
use crate::tally::Counts;
use crate::window::Window;

/// Passes on an interval's job totals: `index`, end (ns), totals by job.
pub(crate) struct Intervals<'a> {
    pub(crate) length_ns: u64,
    pub(crate) fresh: &'a dyn Fn() -> Vec<Counts>,
    pub(crate) send: &'a dyn Fn(u64, u64, Vec<Counts>),
}

/// The current interval.
pub(super) struct Current<'a> {
    intervals: &'a Intervals<'a>,
    index: u64,
    start_ns: u64,
    pub(super) jobs: Vec<Counts>,
    /// Intervals that have ended and are not passed on yet.
    ended: Vec<(Window, Vec<Counts>)>,
}

impl<'a> Current<'a> {
    pub(super) fn new(intervals: &'a Intervals<'a>, window: Window) -> Self {
        let jobs = (intervals.fresh)();
        Self { intervals, index: 0, start_ns: window.start_ns, jobs, ended: Vec::new() }
    }

    /// Ends all intervals that are over at `now_ns`. An I/O that ends exactly with an interval
    /// belongs to it.
    #[inline]
    pub(super) fn roll(&mut self, now_ns: u64) {
        while now_ns > self.start_ns + self.intervals.length_ns {
            self.end(self.start_ns + self.intervals.length_ns);
        }
    }

    /// Ends the last interval.
    pub(super) fn end_at(&mut self, end_ns: u64) {
        self.roll(end_ns);
        if end_ns > self.start_ns {
            self.end(end_ns);
        }
    }

    /// Passes on the intervals that have ended, with the I/Os of `lanes` that were due in them and
    /// still wait.
    ///
    /// # Errors
    /// `cancelled`.
    #[inline]
    pub(super) fn hand_on(&mut self, lanes: &mut [Lane], control: &Control) -> Result<()> {
        for (window, mut jobs) in self.ended.drain(..) {
            for lane in lanes.iter_mut().filter(|lane| lane.pace.is_some()) {
                jobs[lane.job].unissued += lane.waiting(window, control)?;
            }
            (self.intervals.send)(self.index, window.end_ns, jobs);
            self.index += 1;
        }
        Ok(())
    }

    fn end(&mut self, end_ns: u64) {
        let jobs = std::mem::replace(&mut self.jobs, (self.intervals.fresh)());
        self.ended.push((Window { start_ns: self.start_ns, end_ns }, jobs));
        self.start_ns = end_ns;
    }
}
