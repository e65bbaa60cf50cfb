//! When operations should start. Pure: time is passed in, no clock is read.

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::rate::Curve;

const NS: f64 = 1e9;

/// An open loop's schedule: starts are independent of response times.
#[derive(Debug, Clone)]
pub struct Schedule {
    curve: Curve,
    /// The piece of the curve that contains the next start, or an earlier piece.
    piece: usize,
    arrivals: Arrivals,
    last_ns: u64,
}

/// The integral of the curve before each start.
#[derive(Debug, Clone)]
enum Arrivals {
    /// Whole starts, counted rather than summed up, to avoid drift.
    Fixed { next: u64, step: u64, offset: f64 },
    /// A Poisson process of rate 1 over the integral of the curve.
    Poisson { reached: f64, mean: f64, rng: Xoshiro256PlusPlus },
}

impl Schedule {
    /// A start whenever the integral of `curve` grows by one, the first once it reaches `offset`.
    /// Share `share` takes every `shares`-th start, so all shares together form one even schedule.
    pub fn fixed(curve: Curve, share: u32, shares: u32, offset: f64) -> Self {
        let (next, step) = (u64::from(share), u64::from(shares));
        Self::new(curve, Arrivals::Fixed { next, step, offset })
    }

    /// A Poisson process with the curve's rate, or one of `shares` independent processes that add
    /// up to it.
    pub fn poisson(curve: Curve, shares: u32, rng: Xoshiro256PlusPlus) -> Self {
        Self::new(curve, Arrivals::Poisson { reached: 0.0, mean: f64::from(shares), rng })
    }

    fn new(curve: Curve, arrivals: Arrivals) -> Self {
        Self { curve, piece: 0, arrivals, last_ns: 0 }
    }

    /// The next intended start, ns since the start of the run; `u64::MAX` if there is none. Never
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
        // Roots are rounded: two starts a fraction of 1 ns apart could swap.
        self.last_ns = self.last_ns.max(self.curve.at_ns(due, &mut self.piece));
        self.last_ns
    }
}

/// An exponential variate of mean `mean` from a uniform `u` in [0, 1): −ln(1−u)·mean.
pub fn exponential(mean: f64, u: f64) -> f64 {
    -(1.0 - u).ln() * mean
}

/// TPC-C think time in ns: exponential with mean `mean_s`, truncated at ten times the mean.
pub fn think_ns(mean_s: f64, u: f64) -> u64 {
    (exponential(mean_s, u).min(10.0 * mean_s) * NS) as u64
}

/// A closed loop's next intended start: the end of the previous operation plus the pause.
pub fn closed_next_ns(previous_end_ns: u64, pause_ns: u64) -> u64 {
    previous_end_ns.saturating_add(pause_ns)
}

#[cfg(test)]
#[path = "pacer_tests.rs"]
mod tests;
