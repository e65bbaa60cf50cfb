//! Whether the peak of a curve lies between two loads that were tried.

use super::Rules;
use super::points::Point;

/// A stretch is worth a window if the curve may exceed the best known load by this factor.
const WORTH: f64 = 1.02;

/// Minimum factor between two loads for a slope.
const APART: f64 = 1.4;

/// The middle of the stretch with the highest possible peak, between two loads within the ceiling,
/// if that peak may clearly exceed all results so far.
///
/// On logarithmic scales, throughput over load is concave: at first it grows in proportion, then
/// ever less, then it falls. Between two loads it is below the straight lines through their
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

/// The maximum of the curve between the points `at` and `at + 1`.
fn bound(points: &[Point], at: usize) -> f64 {
    let (left, right) = (&points[at], &points[at + 1]);
    let width = (right.load / left.load).ln();
    // Close loads differ more by noise than by load.
    let before = points[..at].iter().rfind(|point| left.load >= point.load * APART);
    let before = before.or(points[..at].first());
    // Nothing is known below the first load: throughput grows at most in proportion.
    let rise = before.map_or(1.0, |before| slope(before, left)).min(1.0);
    let beyond = &points[at + 2..];
    let after = beyond.iter().find(|point| point.load >= right.load * APART).or(beyond.last());
    let Some(after) = after else { return height(left) + rise.max(0.0) * width };
    let fall = slope(right, after);
    if rise <= fall {
        return height(left).max(height(right));
    }
    // Where the lines intersect: height(left) + rise × x = height(right) − fall × (width − x).
    let x = (height(right) - fall * width - height(left)) / (rise - fall);
    height(left) + rise * x.clamp(0.0, width)
}

fn slope(left: &Point, right: &Point) -> f64 {
    (height(right) - height(left)) / (right.load / left.load).ln()
}

/// On a logarithmic scale; a window without completions counts as one I/O.
fn height(point: &Point) -> f64 {
    point.iops.max(1.0).ln()
}
