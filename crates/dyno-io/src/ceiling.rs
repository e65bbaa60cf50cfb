//! Which step of a curve counts: pure decisions.

/// What a decision needs to know of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// I/Os per second.
    pub iops: f64,
    /// p95 of the read latency in milliseconds; `None` if no read ended.
    pub read_p95_ms: Option<f64>,
    /// p95 of the write latency in milliseconds; `None` if no write ended.
    pub write_p95_ms: Option<f64>,
}

impl Point {
    /// Whether the reads and the writes, each on their own, have a p95 of at most `ceiling_ms`.
    /// A step in which nothing ended is outside: its latency is longer than the step.
    pub fn inside(&self, ceiling_ms: f64) -> bool {
        let p95s = [self.read_p95_ms, self.write_p95_ms];
        p95s.iter().any(Option::is_some) && p95s.iter().flatten().all(|p95| *p95 <= ceiling_ms)
    }
}

/// Index of the step with the most I/Os per second inside the ceiling, the earliest (least depth)
/// of equals; `None` if no step is inside.
pub fn best(points: impl IntoIterator<Item = Point>, ceiling_ms: f64) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (index, point) in points.into_iter().enumerate() {
        if point.inside(ceiling_ms) && best.is_none_or(|(_, iops)| point.iops > iops) {
            best = Some((index, point.iops));
        }
    }
    best.map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(iops: f64, read: impl Into<Option<f64>>, write: impl Into<Option<f64>>) -> Point {
        Point { iops, read_p95_ms: read.into(), write_p95_ms: write.into() }
    }

    #[test]
    fn reads_and_writes_count_each_on_their_own() {
        assert!(point(1.0, 20.0, 20.0).inside(20.0));
        assert!(!point(1.0, 20.1, 1.0).inside(20.0));
        assert!(!point(1.0, 1.0, 20.1).inside(20.0));
        assert!(point(1.0, 1.0, None).inside(20.0));
        assert!(point(1.0, None, 1.0).inside(20.0));
    }

    #[test]
    fn a_step_in_which_nothing_ended_is_outside() {
        assert!(!point(0.0, None, None).inside(20.0));
    }

    #[test]
    fn the_best_is_the_fastest_inside() {
        let curve = [
            point(100.0, 1.0, None),
            point(300.0, 5.0, None),
            point(300.0, 9.0, None),
            point(290.0, 15.0, None),
            point(400.0, 25.0, None),
        ];
        assert_eq!(best(curve, 20.0), Some(1));
        assert_eq!(best(curve, 30.0), Some(4));
        assert_eq!(best(curve, 0.5), None);
        assert_eq!(best([], 20.0), None);
    }
}
