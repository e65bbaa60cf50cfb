//! Which load a search tries next: a pure decision from what was tried.
//!
//! Loads are doubled until one is outside the ceiling, or more load gives nothing any more. Then the
//! edge of the ceiling is narrowed down, and the top of the curve where it may lie between two loads
//! that were tried. Last, the best load is confirmed by further windows.
//!
//! Of the loads outside the least is tried again before that: a pause of the machine would set the
//! edge too low, and nothing would tell. Two windows outside decide. It is tried after the narrowing,
//! not at once, for what slows a machine down can last longer than a window.

mod peak;
mod points;

#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::outcome::Purpose;
use points::{Point, least_of_the_best, points};

/// Windows that may be spent between the loads of the doublings.
const MOST_NARROW: usize = 16;
/// Loads for which there are confirming windows at most, and those of them that may hold.
const MOST_TO_CONFIRM: usize = 6;
const MOST_CONFIRMED: usize = 3;
/// What makes another load than the one that is being confirmed the better one.
const CLEARLY: f64 = 1.02;
/// Doublings in a row that must not bring this much more before the growth ends.
const FLAT: (usize, f64) = (3, 1.02);

/// What a search goes by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rules {
    /// The first load.
    pub(crate) start: f64,
    /// The largest.
    pub(crate) most: f64,
    /// Loads are whole numbers.
    pub(crate) whole: bool,
    /// Loads closer to each other than this share count as equal.
    pub(crate) resolution: f64,
    /// Windows that must find the best load inside once more.
    pub(crate) confirm: u32,
}

/// A window that was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tried {
    pub(crate) load: f64,
    pub(crate) purpose: Purpose,
    pub(crate) iops: f64,
    /// Inside the ceiling, and nothing failed.
    pub(crate) inside: bool,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Next {
    /// Measure this load.
    Try(f64, Purpose),
    /// Nothing: this was found.
    End(Found),
}

/// What a search has found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found {
    pub(crate) best: Option<f64>,
    /// The smallest load that was outside.
    pub(crate) outside: Option<f64>,
    pub(crate) confirmed: bool,
    pub(crate) stopped: Stopped,
}

/// Why a search tried no larger load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Stopped {
    /// It is outside the ceiling.
    #[serde(rename = "resolution")]
    Resolution,
    /// It is more than the plan allows.
    #[serde(rename = "most")]
    Most,
    /// Load was doubled three times and gave not 2 % more.
    #[serde(rename = "saturated")]
    Saturated,
    /// The first load was outside already.
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

/// The load to confirm, or that was confirmed. One that is being confirmed stays until it was
/// outside twice, or another is clearly better.
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
        // A pause must not leave nothing found.
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

/// A load that was inside once and outside once.
fn wavers(points: &[Point]) -> Option<f64> {
    points.iter().find(|point| point.is_open() && point.was_inside()).map(|point| point.load)
}

/// The least load that is not decided yet.
fn open(points: &[Point]) -> Option<f64> {
    points.iter().find(|point| point.is_open()).map(|point| point.load)
}

/// The middle between the smallest load outside and the one below it.
fn edge(rules: &Rules, points: &[Point]) -> Option<f64> {
    let outside = points.iter().position(Point::seems_outside)?;
    let inside = outside.checked_sub(1)?;
    rules.middle(points[inside].load, points[outside].load)
}

/// The middle between the best load and the next larger one, if a larger one was inside at one time
/// and outside at another: the edge of the ceiling is lower than it was taken for.
fn below_what_wavers(rules: &Rules, points: &[Point], best: &Point) -> Option<f64> {
    let mut larger = points.iter().filter(|point| point.load > best.load);
    let next = larger.clone().next()?;
    let wavers = larger.any(|point| point.is_outside() && point.was_inside());
    if wavers { rules.middle(best.load, next.load) } else { None }
}

impl Rules {
    /// Whether a load was confirmed often enough.
    fn holds(&self, point: &Point) -> bool {
        self.confirm > 0 && point.confirmed >= self.confirm
    }

    /// The geometric middle of two loads, unless they are close.
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

    /// The most windows that a search can take.
    pub(crate) fn most_windows(&self) -> usize {
        let doublings = (self.most / self.start).log2().ceil().max(0.0) as usize;
        // Each load may be outside once, and then inside, and then outside again.
        let grow = 3 * (doublings + 1);
        grow + MOST_NARROW + MOST_TO_CONFIRM * self.confirm as usize
    }
}
