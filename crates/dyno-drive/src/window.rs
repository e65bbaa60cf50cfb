//! The time line of a run: warm-up, measured window, and their intervals. Pure.

/// Monotonic times in ns. Intervals are numbered from the start of the measurement, so those of the
/// warm-up are negative; the first of them may be shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "a unit is part of a name")]
pub struct Window {
    /// When users start.
    pub start_ns: u64,
    /// Start of the measurement.
    pub measure_ns: u64,
    /// End of the measurement.
    pub end_ns: u64,
    /// Length of an interval.
    pub interval_ns: u64,
}

impl Window {
    /// A window that starts at `start_ns`.
    pub fn new(start_ns: u64, warmup_s: f64, duration_s: f64, interval_s: f64) -> Self {
        let ns = |seconds: f64| (seconds * 1e9) as u64;
        let measure_ns = start_ns + ns(warmup_s);
        Self {
            start_ns,
            measure_ns,
            end_ns: measure_ns + ns(duration_s),
            interval_ns: ns(interval_s),
        }
    }

    /// The interval that contains `now_ns`.
    pub fn index_at(&self, now_ns: u64) -> i64 {
        (now_ns as i64 - self.measure_ns as i64).div_euclid(self.interval_ns as i64)
    }

    /// Start and end of an interval.
    pub fn bounds(&self, index: i64) -> (u64, u64) {
        let at = |index: i64| (self.measure_ns as i64 + index * self.interval_ns as i64) as u64;
        (at(index).max(self.start_ns), at(index + 1).min(self.end_ns))
    }

    /// The last interval of the measurement.
    pub fn last(&self) -> i64 {
        self.index_at(self.end_ns - 1)
    }

    /// The same time line, shortened to end with the interval that contains `now_ns`, or with the
    /// first of the measurement; never later than before.
    pub fn cut(self, now_ns: u64) -> Self {
        let (_, end_ns) = self.bounds(self.index_at(now_ns.min(self.end_ns - 1)).max(0));
        Self { end_ns, ..self }
    }

    /// Whether a time is in the measured window.
    pub const fn is_measured(&self, now_ns: u64) -> bool {
        self.measure_ns <= now_ns && now_ns < self.end_ns
    }
}

/// The phase of an interval, as recorded.
pub const fn phase(index: i64) -> &'static str {
    if index < 0 { "warmup" } else { "measure" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    const S: u64 = 1_000_000_000;

    #[test]
    fn intervals_are_aligned_to_the_start_of_the_measurement() {
        let window = Window::new(10 * S, 2.5, 3.2, 1.0);
        assert_eq!(window.bounds(-3), (10 * S, 10 * S + S / 2));
        assert_eq!(window.bounds(-1), (11 * S + S / 2, 12 * S + S / 2));
        assert_eq!(window.bounds(0), (12 * S + S / 2, 13 * S + S / 2));
        assert_eq!(window.bounds(3), (15 * S + S / 2, 15 * S + S / 2 + S / 5));
        assert_eq!((window.index_at(10 * S), window.last()), (-3, 3));
        assert_eq!((phase(-1), phase(0)), ("warmup", "measure"));
    }

    #[test]
    fn a_cut_ends_with_an_interval_of_the_measurement() {
        let window = Window::new(10 * S, 2.5, 3.2, 1.0);
        assert_eq!(window.cut(10 * S).end_ns, 13 * S + S / 2);
        assert_eq!(window.cut(14 * S).end_ns, 14 * S + S / 2);
        assert_eq!(window.cut(14 * S + S / 2).end_ns, 15 * S + S / 2);
        assert_eq!(window.cut(90 * S), window);
    }

    proptest! {
        #[test]
        fn every_time_lies_in_its_interval(warmup in 0.0f64..5.0, duration in 0.001f64..10.0, interval in 0.01f64..3.0, at in 0.0f64..1.0) {
            let window = Window::new(7 * S, warmup, duration, interval);
            let now = window.start_ns + ((window.end_ns - 1 - window.start_ns) as f64 * at) as u64;
            let (start, end) = window.bounds(window.index_at(now));
            prop_assert!(start <= now && now < end);
            prop_assert_eq!(window.is_measured(now), window.index_at(now) >= 0);
            prop_assert!(window.index_at(now) <= window.last());
        }
    }
}
