//! When the I/Os of an open loop are due. Pure: time is passed in.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore as _, SeedableRng as _};

use crate::plan::Arrivals;

const NS: f64 = 1e9;

/// A schedule that does not depend on how long I/Os take.
#[derive(Debug, Clone)]
pub(crate) struct Pace {
    begin_ns: u64,
    /// When the next I/O is due.
    due_ns: u64,
    per_second: f64,
    spread: Spread,
}

#[derive(Debug, Clone)]
enum Spread {
    /// Counted, not summed up, so that nothing drifts.
    Fixed { next: u64, step: u64 },
    /// `reached` I/Os would be due by now at an even pace.
    Poisson { reached: f64, mean: f64, rng: Xoshiro256PlusPlus },
}

impl Pace {
    /// The `share`-th of `shares` schedules that together have `per_second` I/Os due a second from
    /// `begin_ns` on: every so many-th of even ones, or independent Poisson processes.
    pub(crate) fn new(
        (per_second, arrivals): (f64, Arrivals),
        (share, shares): (usize, usize),
        begin_ns: u64,
        seed: u64,
    ) -> Self {
        let spread = match arrivals {
            Arrivals::Fixed => Spread::Fixed { next: share as u64, step: shares as u64 },
            Arrivals::Poisson => Spread::Poisson {
                reached: 0.0,
                mean: shares as f64,
                rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            },
        };
        let mut pace = Self { begin_ns, due_ns: 0, per_second, spread };
        pace.advance();
        pace
    }

    /// Moves the whole schedule, of which nothing has been taken yet, to a start.
    pub(crate) fn begin_at(&mut self, begin_ns: u64) {
        self.due_ns = self.due_ns - self.begin_ns + begin_ns;
        self.begin_ns = begin_ns;
    }

    /// When the next I/O is due.
    #[inline]
    pub(crate) fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Takes the next I/O; returns when it was due.
    #[inline]
    pub(crate) fn take(&mut self) -> u64 {
        let due_ns = self.due_ns;
        self.advance();
        due_ns
    }

    /// Takes everything that is due before `end_ns`; returns how many from `start_ns` on.
    pub(crate) fn give_up(&mut self, start_ns: u64, end_ns: u64) -> u64 {
        let mut count = 0;
        while self.due_ns < end_ns {
            count += u64::from(self.take() >= start_ns);
        }
        count
    }

    fn advance(&mut self) {
        let due = match &mut self.spread {
            Spread::Fixed { next, step } => {
                let due = *next as f64;
                *next += *step;
                due
            }
            Spread::Poisson { reached, mean, rng } => {
                // Uniform in [0, 1) with 53 bits, then an exponential variate: -ln(1 - u) × mean.
                let u = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
                *reached -= (1.0 - u).ln() * *mean;
                *reached
            }
        };
        self.due_ns = self.begin_ns + (due * NS / self.per_second) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn until(mut pace: Pace, end_ns: u64) -> Vec<u64> {
        std::iter::repeat_with(|| pace.take()).take_while(|due| *due < end_ns).collect()
    }

    #[test]
    fn even_shares_make_up_the_whole() {
        let pace = |share, shares| Pace::new((1000.0, Arrivals::Fixed), (share, shares), 5, 0);
        assert_eq!(until(pace(0, 1), 3_000_000), [5, 1_000_005, 2_000_005]);
        assert_eq!(until(pace(1, 2), 4_000_000), [1_000_005, 3_000_005]);
        let mut given_up = pace(0, 1);
        assert_eq!(given_up.give_up(1_000_000, 10_000_000), 9);
        assert_eq!(given_up.due_ns(), 10_000_005);
    }

    proptest! {
        #[test]
        fn poisson_arrivals_have_their_rate_and_spread(
            rate in 10.0f64..100_000.0, share in 1usize..4, seed: u64,
        ) {
            let pace = Pace::new((rate * share as f64, Arrivals::Poisson), (0, share), 0, seed);
            let due = until(pace, (20_000.0 / rate * NS) as u64);
            prop_assert!(due.is_sorted());
            // 1,000 are seven standard deviations of 20,000 arrivals.
            prop_assert!((due.len() as f64 - 20_000.0).abs() < 1000.0, "{}", due.len());
            let gaps: Vec<f64> = due.windows(2).map(|p| (p[1] - p[0]) as f64 * rate / NS).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
            prop_assert!((variance - 1.0).abs() < 0.15, "variance {variance}");
        }
    }
}
