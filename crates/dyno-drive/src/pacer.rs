//! When operations should start. Pure: time is passed in, nothing here reads a clock.

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::rate::Curve;

const NS: f64 = 1e9;

/// An open loop's schedule: starts that do not depend on how fast the answers come.
#[derive(Debug, Clone)]
pub struct Schedule {
    curve: Curve,
    /// The piece of the curve that the next start lies in, or one before it.
    piece: usize,
    arrivals: Arrivals,
    last_ns: u64,
}

/// How much of the curve lies before each start.
#[derive(Debug, Clone)]
enum Arrivals {
    /// So many whole starts: counted, not summed up, so that nothing can drift.
    Fixed { next: u64, step: u64, offset: f64 },
    /// A Poisson process of rate 1 in the time that the curve keeps.
    Poisson { reached: f64, mean: f64, rng: Xoshiro256PlusPlus },
}

impl Schedule {
    /// A start whenever `curve` has grown by one, the first one once it has grown by `offset`.
    /// `share` of `shares` takes every `shares`-th of them, so that all shares together make one
    /// even schedule.
    pub fn fixed(curve: Curve, share: u32, shares: u32, offset: f64) -> Self {
        let (next, step) = (u64::from(share), u64::from(shares));
        Self::new(curve, Arrivals::Fixed { next, step, offset })
    }

    /// A Poisson process of the curve's rate, or one of `shares` independent ones, which add up to
    /// it.
    pub fn poisson(curve: Curve, shares: u32, rng: Xoshiro256PlusPlus) -> Self {
        Self::new(curve, Arrivals::Poisson { reached: 0.0, mean: f64::from(shares), rng })
    }

    fn new(curve: Curve, arrivals: Arrivals) -> Self {
        Self { curve, piece: 0, arrivals, last_ns: 0 }
    }

    /// The next intended start, ns since the run began; `u64::MAX` if there is none. Never
    /// decreases.
    #[inline]
    pub fn next_ns(&mut self) -> u64 {
        let due = match &mut self.arrivals {
            Arrivals::Fixed { next, step, offset } => {
                let due = *next as f64 + *offset;
                *next += *step;
                due
            }
            Arrivals::Poisson { reached, mean, rng } => {
                *reached += exponential(*mean, rng.random());
                *reached
            }
        };
        // Roots are rounded: two starts a fraction of 1 ns apart could change places.
        self.last_ns = self.last_ns.max(self.curve.at_ns(due, &mut self.piece));
        self.last_ns
    }
}

/// An exponential variate of mean `mean` from a uniform `u` in [0, 1): −ln(1−u)·mean.
pub fn exponential(mean: f64, u: f64) -> f64 {
    -(1.0 - u).ln() * mean
}

/// TPC-C's think time in ns: exponential with `mean_s`, cut at ten times the mean.
pub fn think_ns(mean_s: f64, u: f64) -> u64 {
    (exponential(mean_s, u).min(10.0 * mean_s) * NS) as u64
}

/// A closed loop's next intended start: when the user has received the answer and paused.
pub fn closed_next_ns(previous_end_ns: u64, pause_ns: u64) -> u64 {
    previous_end_ns.saturating_add(pause_ns)
}

#[cfg(test)]
#[path = "pacer_tests.rs"]
mod tests;
