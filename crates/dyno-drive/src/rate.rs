//! A rate over time, and when a given number of starts is due. Pure.

use dyno_record::{Error, ErrorKind, Result};
use serde::Deserialize;

/// Maximum warm-up or measurement in seconds: one year.
pub(crate) const LONGEST_S: f64 = 366.0 * 86_400.0;

const NS: f64 = 1e9;
/// Minimum constant rate and maximum rate, starts per second.
const RATES: (f64, f64) = (1e-3, 1e8);
const MOST_POINTS: usize = 100_000;

/// Starts per second of all users together, over the time of the measurement.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Rate {
    /// A constant rate.
    Constant(f64),
    /// Seconds from the start of the measurement, and the rate there. Straight lines between
    /// points; two points at the same second are a jump. The first rate also applies before it,
    /// including the warm-up, the last one after it.
    Points(Vec<(f64, f64)>),
}

impl Rate {
    /// Checks the values.
    ///
    /// # Errors
    /// `usage`.
    pub fn validate(&self) -> Result<()> {
        let wrong =
            |what: String| Err(Error::new(ErrorKind::Usage, format!("loop.rate_per_s {what}")));
        let (least, most) = RATES;
        let points = match self {
            Self::Constant(rate) if (least..=most).contains(rate) => return Ok(()),
            Self::Constant(rate) => {
                return wrong(format!("is {rate}; it must be between {least} and {most}"));
            }
            Self::Points(points) => points,
        };
        if points.is_empty() || points.len() > MOST_POINTS {
            return wrong(format!("has {} points; the maximum is {MOST_POINTS}", points.len()));
        }
        for (at_s, rate) in points {
            if !(0.0..=LONGEST_S).contains(at_s) || !(0.0..=most).contains(rate) {
                return wrong(format!("has a point ({at_s} s, {rate}/s) that is out of range"));
            }
        }
        if points.windows(2).any(|pair| pair[1].0 < pair[0].0) {
            return wrong("has points in the wrong order".to_owned());
        }
        if points.iter().all(|(_, rate)| *rate < least) {
            return wrong(format!("is never {least} or more: no transaction would start"));
        }
        Ok(())
    }
}

/// The integral of a rate over a run, from the start of the warm-up.
#[derive(Debug, Clone)]
pub struct Curve {
    pieces: Vec<Piece>,
}

/// A piece with a linear rate; the last one has no end.
#[derive(Debug, Clone, Copy)]
struct Piece {
    start_ns: f64,
    /// Rate at its start, per second.
    rate: f64,
    /// Change of the rate per second.
    slope: f64,
    /// Starts due before it.
    due: f64,
}

impl Curve {
    /// The integral of `rate`, which begins `warmup_s` after the start of the run.
    pub fn new(rate: &Rate, warmup_s: f64) -> Self {
        let (first, points) = match rate {
            Rate::Constant(rate) => (*rate, &[][..]),
            Rate::Points(points) => (points.first().map_or(0.0, |(_, rate)| *rate), &points[..]),
        };
        let mut pieces = vec![Piece { start_ns: 0.0, rate: first, slope: 0.0, due: 0.0 }];
        let (mut start_s, mut due) = (0.0, 0.0);
        for (position, (at_s, rate)) in points.iter().enumerate() {
            let at_s = warmup_s + at_s;
            let (length_s, before) = (at_s - start_s, pieces[position]);
            // The integral of a straight line.
            due += length_s * (before.rate + before.slope * length_s / 2.0);
            let slope = match points.get(position + 1) {
                Some((next_s, next)) if warmup_s + next_s > at_s => {
                    (next - rate) / (warmup_s + next_s - at_s)
                }
                _ => 0.0,
            };
            pieces.push(Piece { start_ns: at_s * NS, rate: *rate, slope, due });
            start_s = at_s;
        }
        Self { pieces }
    }

    /// The first time at which more than `due` starts are due, ns since the start of the run;
    /// `u64::MAX` if never. The search starts at `piece` and updates it, so `due` must not decrease
    /// between calls.
    #[inline]
    pub fn at_ns(&self, due: f64, piece: &mut usize) -> u64 {
        while self.pieces.get(*piece + 1).is_some_and(|next| next.due <= due) {
            *piece += 1;
        }
        let Piece { start_ns, rate, slope, due: before } = self.pieces[*piece];
        let missing = due - before;
        let at_ns = if slope == 0.0 {
            if rate == 0.0 {
                return u64::MAX;
            }
            start_ns + missing * NS / rate
        } else {
            // The root of rate·t + slope·t²/2 = missing, in the form without cancellation.
            let divisor = rate + (rate * rate + 2.0 * slope * missing).max(0.0).sqrt();
            if divisor == 0.0 { start_ns } else { start_ns + 2.0 * missing / divisor * NS }
        };
        let end_ns = self.pieces.get(*piece + 1).map_or(f64::INFINITY, |next| next.start_ns);
        at_ns.min(end_ns) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(rate: &Rate, warmup_s: f64, due: &[f64]) -> Vec<f64> {
        let (curve, mut piece) = (Curve::new(rate, warmup_s), 0);
        due.iter().map(|due| curve.at_ns(*due, &mut piece) as f64 / NS).collect()
    }

    #[test]
    fn a_ramp_from_nothing_is_a_root() {
        // 2t per second: t² starts until t.
        let ramp = Rate::Points(vec![(0.0, 0.0), (10.0, 20.0)]);
        assert_eq!(moments(&ramp, 0.0, &[0.0, 1.0, 4.0, 81.0, 100.0]), [0.0, 1.0, 2.0, 9.0, 10.0]);
        // The last rate continues.
        assert_eq!(moments(&ramp, 0.0, &[140.0]), [12.0]);
    }

    #[test]
    fn the_warm_up_goes_on_at_the_first_rate() {
        let ramp = Rate::Points(vec![(0.0, 10.0), (2.0, 30.0)]);
        assert_eq!(moments(&ramp, 3.0, &[10.0, 30.0, 70.0]), [1.0, 3.0, 5.0]);
        let late = Rate::Points(vec![(4.0, 10.0), (4.0, 20.0)]);
        assert_eq!(moments(&late, 1.0, &[20.0, 50.0, 70.0]), [2.0, 5.0, 6.0]);
    }

    #[test]
    fn nothing_starts_while_the_rate_is_zero() {
        let steps = vec![(0.0, 10.0), (1.0, 10.0), (1.0, 0.0), (5.0, 0.0), (5.0, 10.0)];
        assert_eq!(moments(&Rate::Points(steps), 0.0, &[9.0, 10.0, 11.0]), [0.9, 5.0, 5.1]);
        let ends = Rate::Points(vec![(0.0, 10.0), (1.0, 0.0)]);
        let curve = Curve::new(&ends, 0.0);
        assert_eq!(curve.at_ns(4.9, &mut 0), 858_578_643);
        assert_eq!(curve.at_ns(5.0, &mut 0), u64::MAX);
    }

    #[test]
    fn senseless_rates_are_refused() {
        let refused = [
            Rate::Constant(0.0),
            Rate::Constant(f64::NAN),
            Rate::Constant(1e9),
            Rate::Points(vec![]),
            Rate::Points(vec![(0.0, 0.0), (9.0, 0.0)]),
            Rate::Points(vec![(0.0, 5.0), (9.0, -1.0)]),
            Rate::Points(vec![(-1.0, 5.0)]),
            Rate::Points(vec![(0.0, f64::INFINITY)]),
            Rate::Points(vec![(2.0, 5.0), (1.0, 5.0)]),
            Rate::Points(vec![(0.0, 5.0); 100_001]),
        ];
        for rate in refused {
            let error = rate.validate().unwrap_err();
            assert_eq!(error.kind, ErrorKind::Usage);
            assert!(error.message.contains("rate_per_s"), "{error}");
        }
        assert!(Rate::Points(vec![(0.0, 0.0), (9.0, 5.0)]).validate().is_ok());
    }
}
