//! Windows of one load put together.

use super::Tried;
use crate::outcome::Purpose;

/// What is known of a load.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    pub(super) load: f64,
    pub(super) windows: u32,
    inside: u32,
    /// Windows that were to confirm it, and did.
    pub(super) confirmed: u32,
    /// Mean of all windows.
    pub(super) iops: f64,
    /// What the load gave while loads were doubled; that decision stays as it was.
    pub(super) grown: Option<f64>,
}

impl Point {
    /// Outside the ceiling: one window outside may be a pause of the machine's, two are the load's.
    pub(super) fn is_outside(&self) -> bool {
        self.outside() >= 2
    }

    /// Outside once, and not more often inside: it is not decided yet.
    pub(super) fn is_open(&self) -> bool {
        self.outside() == 1 && self.inside <= 1
    }

    /// Outside as far as is known.
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

/// All loads that were tried, rising.
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

/// The least load that gives as much as the best, but for 1 %: more load for less than that is not
/// worth its latency.
pub(super) fn least_of_the_best<'a>(points: &[&'a Point]) -> Option<&'a Point> {
    let most = points.iter().map(|point| point.iops).reduce(f64::max)?;
    points.iter().find(|point| point.iops * 1.01 >= most).copied()
}
