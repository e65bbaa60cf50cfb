//! A window split into parts, and the worst of them. Pure.
//!
//! If a rate rises, an average over the window hides that only its end was too much.

use dyno_record::Latency;
use serde::Serialize;

use crate::window::Window;

/// Maximum parts of a window, and minimum intervals of a part: in shorter parts single moments
/// dominate.
const MOST: i64 = 20;
const FEWEST_INTERVALS: i64 = 5;
/// Fewer late starts in a part may be chance.
const FEWEST_LATE: u64 = 10;

/// How to split a window: into parts of whole intervals, as equal as possible. A window that ends
/// early keeps this split and has fewer parts.
#[derive(Debug, Clone, Copy)]
pub struct Parts {
    intervals: i64,
    count: i64,
}

impl Parts {
    /// Splits `window` into parts.
    pub fn of(window: &Window) -> Self {
        let intervals = window.last() + 1;
        Self { intervals, count: (intervals / FEWEST_INTERVALS).clamp(1, MOST) }
    }

    /// The part of an interval; None in the warm-up.
    pub fn part_of(&self, index: i64) -> Option<usize> {
        let index = index.min(self.intervals - 1);
        (index >= 0).then(|| (index * self.count / self.intervals) as usize)
    }

    /// All parts, empty.
    pub fn fresh(&self) -> Vec<Part> {
        // Not clones of one part, which would touch all the memory of its histogram.
        std::iter::repeat_with(Part::default).take(self.count as usize).collect()
    }
}

/// The driver's values in a part, for all threads or one.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// Its length, seconds.
    pub seconds: f64,
    /// CPU time of the thread; for all threads, the sum.
    pub cpu_ns: u64,
    /// CPU time of the busiest thread.
    pub busiest_ns: u64,
    /// Lateness of the driver. See [`Outcome::lag_p99_ms`](crate::Outcome::lag_p99_ms).
    pub lag: Latency,
    /// Transactions due in the part.
    pub scheduled: u64,
    /// Those without a free session when due, or never sent.
    pub late: u64,
}

impl Part {
    /// Adds another thread's values for the part.
    pub fn merge(&mut self, other: &Self) {
        self.seconds = self.seconds.max(other.seconds);
        self.cpu_ns += other.cpu_ns;
        self.busiest_ns = self.busiest_ns.max(other.cpu_ns);
        self.lag.merge(&other.lag);
        self.scheduled += other.scheduled;
        self.late += other.late;
    }
}

/// The maximum of a value over the parts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Peak {
    /// The value.
    pub value: f64,
    /// Start of the part, seconds from the start of the measurement.
    pub at_s: f64,
    /// Length of the part, seconds.
    pub seconds: f64,
}

/// The driver's metrics, each in its worst part of the window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Worst {
    /// CPU utilisation of the driver threads, 0 to 1.
    pub client_cpu: Option<Peak>,
    /// CPU utilisation of the busiest thread, 0 to 1.
    pub thread_utilisation: Option<Peak>,
    /// See [`Outcome::lag_p99_ms`](crate::Outcome::lag_p99_ms).
    pub lag_p99_ms: Option<Peak>,
    /// Share of due transactions that had no free session or were never sent, if more than a few;
    /// None in a closed loop.
    pub late: Option<Peak>,
}

impl Worst {
    /// Finds the worst parts of a window with `threads` threads.
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

/// The part with the largest value. Parts that the window did not reach have none.
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
