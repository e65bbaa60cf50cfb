//! Miss ratios from samples against those of whole simulations.

use dyno_cache::policy::Name;
use dyno_cache::shards::Shards;
use proptest::prelude::*;

fn misses(blocks: &[u64], capacity: usize) -> f64 {
    let mut cache = Name::Lru.cache(capacity);
    let missed = blocks.iter().filter(|&&block| !cache.access(block)).count();
    missed as f64 / blocks.len() as f64
}

fn sampled(blocks: &[u64], most: usize) -> Shards {
    let mut shards = Shards::new(most);
    for &block in blocks {
        shards.access(block);
    }
    shards
}

/// Skewed accesses: the k-th most used block about 1/k of the times of the first.
fn skewed(count: usize, blocks: f64, seed: u64) -> Vec<u64> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..count).map(|_| blocks.powf(next()) as u64).collect()
}

proptest! {
    #[test]
    fn without_sampling_a_curve_is_exact_but_for_its_buckets(
        blocks in prop::collection::vec(0_u64..50, 1..400), capacity in 1_u64..60,
    ) {
        let shards = sampled(&blocks, 1000);
        // Buckets of distances up to 50 hold one distance each, or two beyond 45.
        let found = shards.miss_ratio(capacity);
        let (more, less) = (misses(&blocks, capacity as usize), misses(&blocks, capacity as usize + 1));
        prop_assert!(less - 1e-9 <= found && found <= more + 1e-9, "{less} {found} {more}");
    }
}

/// The mean error over evenly spaced sizes, as its authors give it. Sizes that hold only a few blocks
/// of the sample are less exact: of the hundred most used blocks, the sample has three.
#[test]
fn a_sample_of_8192_blocks_is_right_to_a_hundredth() {
    let blocks = skewed(2_000_000, 400_000.0, 7);
    let shards = sampled(&blocks, 8192);
    assert!(shards.rate() < 0.05, "nothing was sampled");
    let sizes = (1..=16_u64).map(|part| (shards.footprint() as u64) * part / 16);
    let errors: Vec<f64> = sizes
        .map(|size| (shards.miss_ratio(size) - misses(&blocks, size as usize)).abs())
        .collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    assert!(mean < 0.01, "{errors:?}");
}

#[test]
fn a_loop_misses_until_it_fits() {
    let blocks: Vec<u64> = (0..20).flat_map(|_| 0..10_000).collect();
    let shards = sampled(&blocks, 2048);
    // The adjustment takes the accesses that the sample lacks for hits.
    assert!(shards.miss_ratio(9_000) > 0.95);
    assert!(shards.miss_ratio(11_000) < 0.08);
    assert!((shards.footprint() / 10_000.0 - 1.0).abs() < 0.05);
}
