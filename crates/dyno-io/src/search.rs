//! Which load a search tries next: a pure decision from the previous results.
//!
//! Doubles the load until one exceeds the ceiling or more load yields no more throughput. Then
//! narrows down the edge of the ceiling, and the peak of the curve if it may lie between two loads.
//! Last, further windows confirm the best load.
//!
//! Before that, the search repeats the smallest load above the ceiling: a pause of the machine
//! would otherwise set the edge too low unnoticed. Two windows above the ceiling decide. It repeats
//! that load after the narrowing, not at once, because a slow phase of a machine can outlast a
//! window.

mod peak;
mod points;

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::outcome::Purpose;
use points::{Point, least_of_the_best, points};

/// Maximum windows between the loads of the doublings.
const MOST_NARROW: usize = 16;
/// Maximum loads with confirming windows, and how many of them may be confirmed.
const MOST_TO_CONFIRM: usize = 6;
const MOST_CONFIRMED: usize = 3;
/// Factor by which another load must be better than the one being confirmed.
const CLEARLY: f64 = 1.02;
/// Growth ends after this many doublings in a row below this factor.
const FLAT: (usize, f64) = (3, 1.02);

/// The rules of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rules {
    /// The first load.
    pub(crate) start: f64,
    /// The maximum load.
    pub(crate) most: f64,
    /// Whether loads are integers.
    pub(crate) whole: bool,
    /// Loads count as equal if they differ by less than this share.
    pub(crate) resolution: f64,
    /// Windows that must confirm the best load.
    pub(crate) confirm: u32,
}

/// A measured window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tried {
    pub(crate) load: f64,
    pub(crate) purpose: Purpose,
    pub(crate) iops: f64,
    /// Within the ceiling, and nothing failed.
    pub(crate) inside: bool,
}

/// The next action.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Next {
    /// Measure this load.
    Try(f64, Purpose),
    /// Stop with this result.
    End(Found),
}

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found {
    pub(crate) best: Option<f64>,
    /// The smallest load above the ceiling.
    pub(crate) outside: Option<f64>,
    pub(crate) confirmed: bool,
    pub(crate) stopped: Stopped,
}

/// Why a search tried no larger load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Stopped {
    /// It exceeds the ceiling.
    #[serde(rename = "resolution")]
    Resolution,
    /// It exceeds the plan's maximum.
    #[serde(rename = "most")]
    Most,
    /// Three doublings yielded less than 2 % more.
    #[serde(rename = "saturated")]
    Saturated,
    /// The first load exceeds the ceiling.
    #[serde(rename = "none inside")]
    NoneInside,
}

/// The next window after `tried`.
pub(crate) fn next(rules: &Rules, tried: &[Tried]) -> Next {
    let points = points(tried);
    let stopped = match grow(rules, &points) {
        Ok(load) => return Next::Try(load, Purpose::Grow),
        Err(stopped) => stopped,
    };
    let spent = |purpose| tried.iter().filter(|window| window.purpose == purpose).count();
    let narrow = spent(Purpose::Narrow) < MOST_NARROW;
    if spent(Purpose::Confirm) == 0
        && narrow
        && let Some(load) = wavers(&points)
            .or_else(|| edge(rules, &points))
            .or_else(|| open(&points))
            .or_else(|| peak::between(rules, &points))
    {
        return Next::Try(load, Purpose::Narrow);
    }
    let best = best(rules, &points, tried);
    if let Some(best) = best
        && best.confirmed < rules.confirm
    {
        if narrow
            && let Some(load) = open(&points)
                .filter(|load| load.total_cmp(&best.load).is_ne())
                .or_else(|| below_what_wavers(rules, &points, best))
        {
            return Next::Try(load, Purpose::Narrow);
        }
        if spent(Purpose::Confirm) < MOST_TO_CONFIRM * rules.confirm as usize {
            return Next::Try(best.load, Purpose::Confirm);
        }
    }
    Next::End(Found {
        best: best.map(|point| point.load),
        outside: points.iter().find(|point| point.is_outside()).map(|point| point.load),
        confirmed: best.is_some_and(|best| rules.holds(best)),
        stopped,
    })
}

/// The load to confirm, or the confirmed one. A load being confirmed stays until it fails twice or
/// another is clearly better.
fn best<'a>(rules: &Rules, points: &'a [Point], tried: &[Tried]) -> Option<&'a Point> {
    let inside: Vec<&Point> = points.iter().filter(|p| p.was_inside() && !p.is_outside()).collect();
    let held: Vec<&Point> = inside.iter().copied().filter(|point| rules.holds(point)).collect();
    if held.len() >= MOST_CONFIRMED {
        return least_of_the_best(&held);
    }
    let best = least_of_the_best(&inside)?;
    let last = tried.iter().rfind(|window| window.purpose == Purpose::Confirm);
    let current =
        last.and_then(|last| inside.iter().find(|point| point.load.total_cmp(&last.load).is_eq()));
    Some(current.filter(|current| best.iops <= current.iops * CLEARLY).unwrap_or(&best))
}

/// The next load of the doublings, or why there is none.
fn grow(rules: &Rules, points: &[Point]) -> Result<f64, Stopped> {
    let Some(top) = points.iter().rfind(|point| point.grown.is_some()) else {
        return Ok(rules.start);
    };
    if points.iter().all(|point| !point.was_inside()) {
        // A pause must not end the search without a result.
        return if top.windows < 3 { Ok(top.load) } else { Err(Stopped::NoneInside) };
    }
    if top.seems_outside() || top.is_open() {
        return Err(Stopped::Resolution);
    }
    if top.load >= rules.most {
        return Err(Stopped::Most);
    }
    let grown: Vec<f64> = points.iter().filter_map(|point| point.grown).collect();
    let (doublings, more) = FLAT;
    let most = |iops: &[f64]| iops.iter().copied().fold(0.0, f64::max);
    if let Some(before) = grown.len().checked_sub(doublings)
        && before > 0
        && most(&grown[before..]) < most(&grown[..before]) * more
    {
        return Err(Stopped::Saturated);
    }
    Ok((top.load * 2.0).min(rules.most))
}

/// A load with one window within the ceiling and one above.
fn wavers(points: &[Point]) -> Option<f64> {
    points.iter().find(|point| point.is_open() && point.was_inside()).map(|point| point.load)
}

/// The smallest load that is undecided.
fn open(points: &[Point]) -> Option<f64> {
    points.iter().find(|point| point.is_open()).map(|point| point.load)
}

/// The middle between the smallest load above the ceiling and the next lower one.
fn edge(rules: &Rules, points: &[Point]) -> Option<f64> {
    let outside = points.iter().position(Point::seems_outside)?;
    let inside = outside.checked_sub(1)?;
    rules.middle(points[inside].load, points[outside].load)
}

/// The middle between the best load and the next larger one, if a larger load was once within and
/// once above the ceiling: the edge of the ceiling is lower than assumed.
fn below_what_wavers(rules: &Rules, points: &[Point], best: &Point) -> Option<f64> {
    let mut larger = points.iter().filter(|point| point.load > best.load);
    let next = larger.clone().next()?;
    let wavers = larger.any(|point| point.is_outside() && point.was_inside());
    if wavers { rules.middle(best.load, next.load) } else { None }
}

impl Rules {
    /// Whether a load has enough confirmations.
    fn holds(&self, point: &Point) -> bool {
        self.confirm > 0 && point.confirmed >= self.confirm
    }

    /// The geometric mean of two loads, unless they are close.
    fn middle(&self, low: f64, high: f64) -> Option<f64> {
        if high <= low * (1.0 + self.resolution) {
            return None;
        }
        let middle = (low * high).sqrt();
        // Four digits of a rate are enough, and readable.
        let digit = if self.whole { 1.0 } else { 10_f64.powf(middle.log10().floor() - 3.0) };
        let middle = (middle / digit).round() * digit;
        (middle > low && middle < high).then_some(middle)
    }

    /// The maximum number of windows of a search.
    pub(crate) fn most_windows(&self) -> usize {
        let doublings = (self.most / self.start).log2().ceil().max(0.0) as usize;
        // Each load may fail, then pass, then fail again.
        let grow = 3 * (doublings + 1);
        grow + MOST_NARROW + MOST_TO_CONFIRM * self.confirm as usize
    }
}
