//! Seeds of the random numbers in a profile: patterns, arrivals, contents of blocks.

use dyno_record::derive_seed;

/// The seed of number `index` (a lane, a thread, a device …) for a purpose, from a run's or a
/// step's own.
pub(crate) fn derived(seed: u64, index: usize, purpose: &str) -> u64 {
    derive_seed(seed, "io", index as u64, purpose)
}
