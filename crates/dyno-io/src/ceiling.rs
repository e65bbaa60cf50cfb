//! Which step of a curve is best: pure decisions.

/// The input of a decision about a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// I/Os per second.
    pub(crate) iops: f64,
    /// Whether the step counts: it is within the ceiling, and nothing failed.
    pub(crate) counts: bool,
}

/// Whether each latency (of reads, of writes, of syncs) is at most `ceiling_ms`. `None`: nothing of
/// that kind ended. False if nothing ended at all, because the latency is then longer than the
/// step.
pub(crate) fn inside(latencies_ms: [Option<f64>; 3], ceiling_ms: f64) -> bool {
    let mut known = latencies_ms.into_iter().flatten().peekable();
    known.peek().is_some() && known.all(|ms| ms <= ceiling_ms)
}

/// Index of the step with the most I/Os per second among those that count, the earliest (least
/// load) if equal; `None` if none counts.
pub(crate) fn best(points: impl IntoIterator<Item = Point>) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (index, point) in points.into_iter().enumerate() {
        if point.counts && best.is_none_or(|(_, iops)| point.iops > iops) {
            best = Some((index, point.iops));
        }
    }
    best.map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_count_each_on_their_own() {
        assert!(inside([Some(20.0), Some(20.0), None], 20.0));
        assert!(!inside([Some(20.1), Some(1.0), None], 20.0));
        assert!(!inside([Some(1.0), Some(20.1), None], 20.0));
        assert!(!inside([Some(1.0), None, Some(20.1)], 20.0));
        assert!(inside([None, Some(1.0), None], 20.0));
    }

    #[test]
    fn a_step_in_which_nothing_ended_is_outside() {
        assert!(!inside([None; 3], 20.0));
    }

    #[test]
    fn the_best_is_the_fastest_that_counts() {
        let point = |iops, counts| Point { iops, counts };
        let curve = [
            point(100.0, true),
            point(300.0, true),
            point(300.0, true),
            point(290.0, true),
            point(400.0, false),
        ];
        assert_eq!(best(curve), Some(1));
        assert_eq!(best([point(1.0, false)]), None);
        assert_eq!(best([]), None);
    }
}
