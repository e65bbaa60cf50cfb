//! Random values. Each use and entity has its own stream or hash, so tables that are generated
//! separately agree.

use rand::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::scramble::scramble;

/// The use of a random value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Zip,
    Address,
    StateTax,
    Company,
    Competitor,
    Financial,
    Security,
    Price,
    Volume,
    News,
    Customer,
    TaxId,
    Phone,
    Account,
    Permission,
    Watch,
    Trade,
}

/// A hash of `seed`, a use and the number of an entity.
#[inline]
pub(super) const fn hash(seed: u64, purpose: Use, entity: u64) -> u64 {
    scramble(scramble(seed ^ ((purpose as u64) << 56)) ^ entity)
}

/// A number below `count`, from the upper 32 bits of a hash.
#[inline]
pub(super) const fn below(hash: u64, count: u32) -> u32 {
    (((hash >> 32) * count as u64) >> 32) as u32
}

/// A number below `count` of which small ones are more likely: half are below a quarter of it.
#[inline]
pub(super) const fn skewed(hash: u64, count: u32) -> u32 {
    let uniform = hash >> 32;
    ((((uniform * uniform) >> 32) * count as u64) >> 32) as u32
}

/// A random stream.
#[derive(Debug)]
pub(super) struct Draws(Xoshiro256PlusPlus);

impl Draws {
    pub(super) fn new(seed: u64, purpose: Use, entity: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(hash(seed, purpose, entity)))
    }

    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `count`.
    #[inline]
    pub(super) fn below(&mut self, count: u32) -> u32 {
        below(self.next(), count)
    }

    /// A number from `low` to `high`, inclusive.
    #[inline]
    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + ((u128::from(self.next()) * (high - low + 1) as u128) >> 64) as i64
    }

    /// True for `percent` of 100.
    #[inline]
    pub(super) fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// One of `choices`.
    #[inline]
    pub(super) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u32) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_in_range_and_reach_its_ends() {
        let mut draws = Draws::new(1, Use::Trade, 0);
        let mut seen = [0_u32; 8];
        for _ in 0..8_000 {
            seen[draws.below(8) as usize] += 1;
        }
        assert!(seen.iter().all(|count| (800..1_200).contains(count)), "{seen:?}");
        let found: Vec<_> = (0..1_000).map(|_| draws.between(-3, 3)).collect();
        assert_eq!((found.iter().min(), found.iter().max()), (Some(&-3), Some(&3)));
    }

    #[test]
    fn skewed_values_prefer_small_ones() {
        let small = (0..10_000).filter(|i| skewed(hash(1, Use::Zip, *i), 100) < 25).count();
        assert!((4_800..5_200).contains(&small), "{small} of 10,000");
    }
}
