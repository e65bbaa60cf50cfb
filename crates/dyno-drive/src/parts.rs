//! A window in parts, and the worst of them. Pure.
//!
//! Where a rate rises, an average over the window hides that it was too much only at its end.

use dyno_record::Latency;
use serde::Serialize;

use crate::window::Window;

/// Most parts of a window, and the fewest intervals of one: in shorter ones a moment decides.
const MOST: i64 = 20;
const FEWEST_INTERVALS: i64 = 5;
/// Fewer late starts in a part may be chance.
const FEWEST_LATE: u64 = 10;

/// How a window is cut: into whole intervals, as equally as they go. One that ends early keeps its
/// cuts and has fewer parts.
#[derive(Debug, Clone, Copy)]
pub struct Parts {
    intervals: i64,
    count: i64,
}

impl Parts {
    /// The parts of `window`.
    pub fn of(window: &Window) -> Self {
        let intervals = window.last() + 1;
        Self { intervals, count: (intervals / FEWEST_INTERVALS).clamp(1, MOST) }
    }

    /// The part that an interval lies in; None of the warm-up.
    pub fn part_of(&self, index: i64) -> Option<usize> {
        let index = index.min(self.intervals - 1);
        (index >= 0).then(|| (index * self.count / self.intervals) as usize)
    }

    /// So many parts in which nothing has happened yet.
    pub fn fresh(&self) -> Vec<Part> {
        // Not clones of one, which would write all the memory of its histogram.
        std::iter::repeat_with(Part::default).take(self.count as usize).collect()
    }
}

/// What the driver did in a part, or one of its threads.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// Its length.
    pub seconds: f64,
    /// CPU time of the thread; of all threads their sum.
    pub cpu_ns: u64,
    /// CPU time of the busiest thread.
    pub busiest_ns: u64,
    /// Lateness of the driver itself. See [`Outcome::lag_p99_ms`](crate::Outcome::lag_p99_ms).
    pub lag: Latency,
    /// Transactions that were due in it.
    pub scheduled: u64,
    /// Those of them that found no free session, or were never sent.
    pub late: u64,
}

impl Part {
    /// Adds what another thread did in it.
    pub fn merge(&mut self, other: &Self) {
        self.seconds = self.seconds.max(other.seconds);
        self.cpu_ns += other.cpu_ns;
        self.busiest_ns = self.busiest_ns.max(other.cpu_ns);
        self.lag.merge(&other.lag);
        self.scheduled += other.scheduled;
        self.late += other.late;
    }
}

/// The largest value that a figure has in any part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Peak {
    /// The value.
    pub value: f64,
    /// When the part begins, seconds from the start of the measurement.
    pub at_s: f64,
    /// How long it is.
    pub seconds: f64,
}

/// Figures of the driver, each in the part of the window in which it is worst.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Worst {
    /// Share of the driver threads' time that they were on a processor.
    pub client_cpu: Option<Peak>,
    /// The same of the busiest thread.
    pub thread_utilisation: Option<Peak>,
    /// See [`Outcome::lag_p99_ms`](crate::Outcome::lag_p99_ms).
    pub lag_p99_ms: Option<Peak>,
    /// Share of what was due that found no free session or was never sent, where that is more than
    /// a few; None in a closed loop.
    pub late: Option<Peak>,
}

impl Worst {
    /// Of the parts of a window that `threads` threads worked in.
    pub fn of(parts: &[Part], threads: u32) -> Self {
        let threads = f64::from(threads);
        let share = |ns: u64, part: &Part| ns as f64 / 1e9 / part.seconds;
        Self {
            client_cpu: peak(parts, |part| Some(share(part.cpu_ns, part) / threads)),
            thread_utilisation: peak(parts, |part| Some(share(part.busiest_ns, part))),
            lag_p99_ms: peak(parts, |part| Some(part.lag.quantile_ns(0.99) as f64 / 1e6)),
            late: peak(parts, |part| {
                (part.late >= FEWEST_LATE).then(|| part.late as f64 / part.scheduled as f64)
            }),
        }
    }
}

/// The part with the largest value; parts that the window did not get to have none.
fn peak(parts: &[Part], value: impl Fn(&Part) -> Option<f64>) -> Option<Peak> {
    let mut at_s = 0.0;
    let mut found: Option<Peak> = None;
    for part in parts.iter().filter(|part| part.seconds > 0.0) {
        let seconds = part.seconds;
        if let Some(value) = value(part).filter(|it| found.is_none_or(|peak| *it > peak.value)) {
            found = Some(Peak { value, at_s, seconds });
        }
        at_s += seconds;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    fn parts(intervals: f64) -> Parts {
        Parts::of(&Window::new(0, 2.0, intervals, 1.0))
    }

    #[test]
    fn a_window_has_parts_of_some_intervals_each() {
        let of = |intervals, index| parts(intervals).part_of(index);
        assert_eq!([-1, 0, 2, 9].map(|index| of(3.0, index)), [None, Some(0), Some(0), Some(0)]);
        assert_eq!([0, 29, 30, 59].map(|index| of(60.0, index)), [0, 5, 6, 11].map(Some));
        assert_eq!(parts(7200.0).fresh().len(), 20);
        assert_eq!(of(7200.0, 7199), Some(19));
    }

    #[test]
    fn the_worst_part_of_each_figure_is_named() {
        let part = |cpu_ns: u64, late: u64| Part { seconds: 5.0, cpu_ns, late, ..Part::default() };
        let thread = [part(1_000_000_000, 9), part(4_000_000_000, 10), Part::default()];
        let mut all = vec![Part::default(); 3];
        for (into, from) in all.iter_mut().zip(&thread) {
            into.scheduled = 100;
            into.merge(from);
            into.merge(&Part { cpu_ns: 500_000_000, ..Part::default() });
        }
        all[1].lag.record(3_000_000);
        let worst = Worst::of(&all, 2);
        let at_5_s = |value| Some(Peak { value, at_s: 5.0, seconds: 5.0 });
        assert_eq!(worst.client_cpu, at_5_s(0.45));
        assert_eq!(worst.thread_utilisation, at_5_s(0.8));
        assert_eq!(worst.late, at_5_s(0.1));
        let lag = worst.lag_p99_ms.unwrap();
        assert!((lag.value - 3.0).abs() < 0.01, "{lag:?}");
        assert_eq!(Some(Peak { value: 0.45, ..lag }), at_5_s(0.45));
        assert_eq!(Worst::of(&[Part::default()], 1).client_cpu, None);
    }

    proptest! {
        #[test]
        fn parts_are_in_order_and_about_equal(intervals in 1.0f64..3000.0) {
            let parts = parts(intervals.floor());
            let mut lengths = vec![0; parts.fresh().len()];
            let mut last = 0;
            for index in 0..intervals.floor() as i64 {
                let part = parts.part_of(index).unwrap();
                prop_assert!(part == last || part == last + 1);
                last = part;
                lengths[part] += 1;
            }
            prop_assert_eq!(last + 1, lengths.len());
            let (least, most) = (lengths.iter().min().unwrap(), lengths.iter().max().unwrap());
            prop_assert!(most - least <= 1 && (*least >= 5 || lengths.len() == 1));
        }
    }
}
