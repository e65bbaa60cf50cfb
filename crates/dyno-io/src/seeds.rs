//! Seeds of a profile's random numbers: patterns, arrivals, block contents.

use dyno_record::derive_seed;

/// The seed of number `index` (a lane, a thread, a device …) for a purpose, derived from the seed
/// of a run or step.
pub(crate) fn derived(seed: u64, index: usize, purpose: &str) -> u64 {
    derive_seed(seed, "io", index as u64, purpose)
}
