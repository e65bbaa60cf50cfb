//! Whether the top of a curve lies between two loads that were tried.

use super::Rules;
use super::points::Point;

/// A stretch is worth a window if the curve may rise in it by this much above the best load known.
const WORTH: f64 = 1.02;

/// How far apart two loads must be for a slope, as a factor.
const APART: f64 = 1.4;

/// The middle of the stretch between two loads inside in which the curve may be highest, if it may
/// be much higher there than anything that was tried.
///
/// On logarithmic scales throughput over load bends one way only: it grows in proportion at first,
/// then ever less, then falls. Between two loads it is below the straight lines through their
/// neighbours on either side.
pub(super) fn between(rules: &Rules, points: &[Point]) -> Option<f64> {
    let inside = |point: &Point| !point.seems_outside();
    let best = points.iter().filter(|point| inside(point)).map(height).reduce(f64::max)?;
    let mut top = best + WORTH.ln();
    let mut found = None;
    for (at, pair) in points.windows(2).enumerate() {
        let bound = bound(points, at);
        if inside(&pair[0])
            && inside(&pair[1])
            && bound > top
            && let Some(middle) = rules.middle(pair[0].load, pair[1].load)
        {
            (top, found) = (bound, Some(middle));
        }
    }
    found
}

/// The highest that the curve can be between the points `at` and `at + 1`.
fn bound(points: &[Point], at: usize) -> f64 {
    let (left, right) = (&points[at], &points[at + 1]);
    let width = (right.load / left.load).ln();
    // Loads close to each other differ by noise more than by load.
    let before = points[..at].iter().rfind(|point| left.load >= point.load * APART);
    let before = before.or(points[..at].first());
    // Nothing is known below the first load: throughput grows no faster than in proportion.
    let rise = before.map_or(1.0, |before| slope(before, left)).min(1.0);
    let beyond = &points[at + 2..];
    let after = beyond.iter().find(|point| point.load >= right.load * APART).or(beyond.last());
    let Some(after) = after else { return height(left) + rise.max(0.0) * width };
    let fall = slope(right, after);
    if rise <= fall {
        return height(left).max(height(right));
    }
    // Where the lines cross: height(left) + rise × x = height(right) − fall × (width − x).
    let x = (height(right) - fall * width - height(left)) / (rise - fall);
    height(left) + rise * x.clamp(0.0, width)
}

fn slope(left: &Point, right: &Point) -> f64 {
    (height(right) - height(left)) / (right.load / left.load).ln()
}

/// On a logarithmic scale; a window in which nothing ended is as good as one I/O.
fn height(point: &Point) -> f64 {
    point.iops.max(1.0).ln()
}
