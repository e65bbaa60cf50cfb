//! Due times of an open loop's I/Os. Pure: time is passed in.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore as _, SeedableRng as _};

use dyno_record::{Control, Result};

use crate::plan::Arrivals;
use crate::window::Window;

const NS: f64 = 1e9;
/// I/Os between two checks of the control handle.
const STRIDE: usize = 1 << 16;

/// A schedule that is independent of I/O latency.
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
    /// Counted rather than summed up, to avoid drift.
    Fixed { next: u64, step: u64 },
    /// At an even pace, `reached` I/Os would be due by now.
    Poisson { reached: f64, mean: f64, rng: Xoshiro256PlusPlus },
}

impl Pace {
    /// Schedule number `share` of `shares`. Together they have `per_second` I/Os due per second
    /// from `begin_ns` on: every `shares`-th of an even schedule, or independent Poisson processes.
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

    /// Moves the whole schedule to a new start. Nothing may have been taken yet.
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

    /// Takes all I/Os that are due before the end of `window`; returns how many are due in it.
    ///
    /// # Errors
    /// `cancelled`: a long backlog of a Poisson process takes time.
    pub(crate) fn give_up(&mut self, window: Window, control: &Control) -> Result<u64> {
        if let Spread::Fixed { .. } = self.spread {
            self.skip_to(window.start_ns);
            return Ok(self.skip_to(window.end_ns));
        }
        let mut count = 0;
        while self.due_ns < window.end_ns {
            control.check()?;
            for _ in 0..STRIDE {
                if self.due_ns >= window.end_ns {
                    break;
                }
                count += u64::from(self.take() >= window.start_ns);
            }
        }
        Ok(count)
    }

    /// Takes all I/Os of an even schedule that are due before `to_ns`; returns how many.
    fn skip_to(&mut self, to_ns: u64) -> u64 {
        let Spread::Fixed { next, step } = &mut self.spread else { return 0 };
        if self.due_ns >= to_ns {
            return 0;
        }
        // How many fit in between, less one for rounding; the last are taken singly.
        let between = (to_ns - self.due_ns) as f64 * self.per_second / NS / *step as f64;
        let mut count = (between as u64).saturating_sub(1);
        *next = *next + count * *step - *step;
        self.advance();
        while self.due_ns < to_ns {
            self.advance();
            count += 1;
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
        let window = Window { start_ns: 1_000_000, end_ns: 10_000_000 };
        assert_eq!(given_up.give_up(window, &Control::new()).unwrap(), 9);
        assert_eq!(given_up.due_ns(), 10_000_005);
    }

    #[test]
    fn a_long_backlog_is_given_up_at_once_or_can_be_cancelled() {
        let window = Window { start_ns: 0, end_ns: 86_400_000_000_000 };
        let (control, rate) = (Control::new(), 10_000_000.0);
        let mut fixed = Pace::new((rate, Arrivals::Fixed), (0, 1), 0, 0);
        assert_eq!(fixed.give_up(window, &control).unwrap(), 864_000_000_000);
        control.cancel();
        let mut poisson = Pace::new((rate, Arrivals::Poisson), (0, 1), 0, 0);
        assert!(poisson.give_up(window, &control).is_err());
    }

    proptest! {
        #[test]
        fn an_even_backlog_is_what_would_have_been_taken(
            rate in 0.5f64..2e6, share in 0usize..3, taken in 0usize..50, begin_ns in 0u64..1 << 40,
            start in 0u64..5000, length in 0u64..5000,
        ) {
            let mut pace = Pace::new((rate, Arrivals::Fixed), (share, 3), begin_ns, 0);
            for _ in 0..taken {
                pace.take();
            }
            let at = |count: u64| begin_ns + (count as f64 / rate * NS) as u64;
            let window = Window { start_ns: at(start), end_ns: at(start + length) };
            let mut one_by_one = pace.clone();
            let mut expected = 0;
            while one_by_one.due_ns() < window.end_ns {
                expected += u64::from(one_by_one.take() >= window.start_ns);
            }
            prop_assert_eq!(pace.give_up(window, &Control::new()).unwrap(), expected);
            prop_assert_eq!(pace.due_ns(), one_by_one.due_ns());
            prop_assert_eq!(pace.take(), one_by_one.take());
            prop_assert_eq!(pace.due_ns(), one_by_one.due_ns());
        }

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
