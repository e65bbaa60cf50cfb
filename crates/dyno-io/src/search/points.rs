//! Combines the windows of each load.

use super::Tried;
use crate::outcome::Purpose;

/// The results for a load.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    pub(super) load: f64,
    pub(super) windows: u32,
    inside: u32,
    /// Confirming windows that passed.
    pub(super) confirmed: u32,
    /// Mean of all windows.
    pub(super) iops: f64,
    /// The load's throughput during the doublings; that decision stays unchanged.
    pub(super) grown: Option<f64>,
}

impl Point {
    /// Above the ceiling. One window above it may be a pause of the machine, two are due to the
    /// load.
    pub(super) fn is_outside(&self) -> bool {
        self.outside() >= 2
    }

    /// Undecided: it failed once and has not passed more often.
    pub(super) fn is_open(&self) -> bool {
        self.outside() == 1 && self.inside <= 1
    }

    /// Above the ceiling by current knowledge.
    pub(super) fn seems_outside(&self) -> bool {
        self.is_outside() || (self.is_open() && !self.was_inside())
    }

    pub(super) fn was_inside(&self) -> bool {
        self.inside > 0
    }

    pub(super) fn outside(&self) -> u32 {
        self.windows - self.inside
    }
}

/// All loads that were tried, in ascending order.
pub(super) fn points(tried: &[Tried]) -> Vec<Point> {
    let mut sorted: Vec<&Tried> = tried.iter().collect();
    sorted.sort_by(|a, b| a.load.total_cmp(&b.load));
    let same = |a: &&Tried, b: &&Tried| a.load.total_cmp(&b.load).is_eq();
    sorted.chunk_by(same).map(of_one_load).collect()
}

fn of_one_load(windows: &[&Tried]) -> Point {
    let count = |wanted: fn(&Tried) -> bool| windows.iter().filter(|w| wanted(w)).count() as u32;
    let grown = windows.iter().filter(|window| window.purpose == Purpose::Grow);
    Point {
        load: windows[0].load,
        windows: windows.len() as u32,
        inside: count(|window| window.inside),
        confirmed: count(|window| window.purpose == Purpose::Confirm && window.inside),
        iops: windows.iter().map(|window| window.iops).sum::<f64>() / windows.len() as f64,
        grown: grown.map(|window| window.iops).reduce(f64::max),
    }
}

/// The smallest load with at least 99 % of the best throughput: more load for less than 1 % is not
/// worth its latency.
pub(super) fn least_of_the_best<'a>(points: &[&'a Point]) -> Option<&'a Point> {
    let most = points.iter().map(|point| point.iops).reduce(f64::max)?;
    points.iter().find(|point| point.iops * 1.01 >= most).copied()
}
