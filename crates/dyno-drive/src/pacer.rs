//! When operations should start. Pure: time is passed in, nothing here reads a clock.

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

const NS: f64 = 1e9;

/// An open loop's schedule: starts that do not depend on how fast the answers come.
#[derive(Debug, Clone)]
pub struct Schedule {
    /// Mean time between starts.
    period_ns: f64,
    arrivals: Arrivals,
}

#[derive(Debug, Clone)]
enum Arrivals {
    /// Start number n lies at (n + offset) · period: computed, not summed, so it cannot drift.
    Fixed { offset: f64, next: u64 },
    /// Exponential gaps.
    Poisson { elapsed_ns: f64, rng: Xoshiro256PlusPlus },
}

impl Schedule {
    /// Starts every 1/`rate_per_s` seconds. `share` of `shares` takes every `shares`-th of them,
    /// so that all shares together make one even schedule.
    pub fn fixed(rate_per_s: f64, share: u32, shares: u32) -> Self {
        let shares = f64::from(shares);
        let period_ns = shares * NS / rate_per_s;
        let arrivals = Arrivals::Fixed { offset: f64::from(share) / shares, next: 0 };
        Self { period_ns, arrivals }
    }

    /// A Poisson process of `rate_per_s`. Independent processes add up to one of the summed rate.
    pub fn poisson(rate_per_s: f64, rng: Xoshiro256PlusPlus) -> Self {
        let arrivals = Arrivals::Poisson { elapsed_ns: 0.0, rng };
        Self { period_ns: NS / rate_per_s, arrivals }
    }

    /// The next intended start, ns since the loop began. Never decreases.
    pub fn next_ns(&mut self) -> u64 {
        match &mut self.arrivals {
            Arrivals::Fixed { offset, next } => {
                let at = (*next as f64 + *offset) * self.period_ns;
                *next += 1;
                at as u64
            }
            Arrivals::Poisson { elapsed_ns, rng } => {
                *elapsed_ns += exponential(self.period_ns, rng.random());
                *elapsed_ns as u64
            }
        }
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
mod tests {
    use super::*;
    use proptest::prelude::{any, prop_assert, proptest};
    use rand::SeedableRng;

    fn take(mut schedule: Schedule, count: usize) -> Vec<u64> {
        std::iter::repeat_with(|| schedule.next_ns()).take(count).collect()
    }

    #[test]
    fn fixed_schedules() {
        let table: [(f64, u32, u32, &[u64]); 4] = [
            (1.0, 0, 1, &[0, 1_000_000_000, 2_000_000_000]),
            (1000.0, 0, 1, &[0, 1_000_000, 2_000_000]),
            (1000.0, 0, 2, &[0, 2_000_000, 4_000_000]),
            (1000.0, 1, 2, &[1_000_000, 3_000_000, 5_000_000]),
        ];
        for (rate, share, shares, expected) in table {
            assert_eq!(take(Schedule::fixed(rate, share, shares), expected.len()), expected);
        }
    }

    #[test]
    fn closed_starts() {
        assert_eq!(closed_next_ns(5, 0), 5);
        assert_eq!(closed_next_ns(5, 10), 15);
        assert_eq!(closed_next_ns(u64::MAX, 10), u64::MAX);
    }

    #[test]
    fn think_times_have_their_mean_and_their_cap() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let draws = 200_000;
        let sum: u64 = (0..draws).map(|_| think_ns(12.0, rng.random())).sum();
        let mean_s = sum as f64 / f64::from(draws) / NS;
        // The cap at 10 means takes e^-10 of the mean away: too little to see.
        assert!((mean_s - 12.0).abs() < 0.15, "{mean_s}");
        assert_eq!(think_ns(12.0, 1.0 - f64::EPSILON / 2.0), 120_000_000_000);
        assert_eq!(think_ns(12.0, 0.0), 0);
    }

    proptest! {
        #[test]
        fn a_fixed_schedule_keeps_its_rate_however_long(rate in 0.1f64..100_000.0, skip in 0u64..1_000_000_000) {
            let mut schedule = Schedule::fixed(rate, 0, 1);
            if let Arrivals::Fixed { next, .. } = &mut schedule.arrivals { *next = skip; }
            let expected = skip as f64 * NS / rate;
            let seen = schedule.next_ns() as f64;
            prop_assert!((seen - expected).abs() <= 1.0 + expected * 1e-15);
        }

        #[test]
        fn shares_make_up_the_whole(rate in 1.0f64..10_000.0, shares in 1u32..8) {
            let whole = take(Schedule::fixed(rate, 0, 1), 40 * shares as usize);
            let mut parts: Vec<u64> = (0..shares)
                .flat_map(|share| take(Schedule::fixed(rate, share, shares), 40))
                .collect();
            parts.sort_unstable();
            for (whole, part) in whole.iter().zip(&parts) {
                prop_assert!(whole.abs_diff(*part) <= 1);
            }
        }

        #[test]
        fn poisson_gaps_have_their_mean_and_deviation(rate in 10.0f64..10_000.0, seed in any::<u64>()) {
            let starts = take(Schedule::poisson(rate, Xoshiro256PlusPlus::seed_from_u64(seed)), 20_000);
            let gaps: Vec<f64> = starts.windows(2).map(|pair| (pair[1] - pair[0]) as f64 * rate / NS).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
            prop_assert!((mean - 1.0).abs() < 0.06, "mean {mean}");
            prop_assert!((variance.sqrt() - 1.0).abs() < 0.1, "deviation {}", variance.sqrt());
        }
    }
}
