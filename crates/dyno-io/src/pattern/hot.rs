//! Non-uniform random access.

use rand_distr::{Distribution as _, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::RngCore as _;

use super::{below, divisor};

/// Positions drawn by Zipf's law; popular positions are scattered.
#[derive(Debug, Clone)]
pub(super) struct Scatter {
    zipf: Zipf<f64>,
    count: u64,
    /// Coprime to `count`, so that ranks map to positions one to one.
    factor: u64,
}

impl Scatter {
    pub(super) fn new(count: u64, theta: f64) -> Self {
        let zipf = Zipf::new(count as f64, theta).expect("a plan's theta and size are valid");
        // The golden ratio spreads consecutive ranks as evenly as possible (Knuth, The Art of
        // Computer Programming, volume 3, section 6.4).
        let golden = (count as f64 * 0.618_033_988_749_894_9) as u64;
        let mut factor = golden.max(1);
        while divisor(factor, count) != 1 {
            factor += 1;
        }
        Self { zipf, count, factor }
    }

    #[inline]
    pub(super) fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        let rank = (self.zipf.sample(rng) as u64).clamp(1, self.count) - 1;
        ((u128::from(rank) * u128::from(self.factor)) % u128::from(self.count)) as u64
    }
}

/// A share of the accesses to a share of the positions.
#[derive(Debug, Clone)]
pub(super) struct HotSpot {
    /// Draws below this go to the hot positions.
    below: u64,
    hot: u64,
    cold: u64,
}

impl HotSpot {
    pub(super) fn new(count: u64, access_percent: f64, space_percent: f64) -> Self {
        let hot = ((count as f64 * space_percent / 100.0).round() as u64).clamp(1, count);
        let below = (access_percent / 100.0 * u64::MAX as f64) as u64;
        Self { below, hot, cold: count - hot }
    }

    #[inline]
    pub(super) fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        if self.cold == 0 || rng.next_u64() < self.below {
            below(rng, self.hot)
        } else {
            self.hot + below(rng, self.cold)
        }
    }
}
