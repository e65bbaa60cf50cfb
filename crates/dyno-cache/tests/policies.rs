//! What every policy guarantees, and the oracles of two of them.

use dyno_cache::policy::{Name, belady_hits};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

/// Accesses to few blocks, some much more often than others, with scans in between.
fn accesses() -> impl Strategy<Value = Vec<u64>> {
    let hot = prop::collection::vec(0_u64..20, 1..40);
    let wide = prop::collection::vec(0_u64..300, 1..40);
    let scan = (0_u64..200, 1_u64..60).prop_map(|(from, count)| (from..from + count).collect());
    prop::collection::vec(prop_oneof![hot, wide, scan], 1..20).prop_map(|parts| parts.concat())
}

fn hits(name: Name, blocks: &[u64], capacity: usize) -> u64 {
    let mut cache = name.cache(capacity);
    blocks.iter().filter(|&&block| cache.access(block)).count() as u64
}

fn lru_by_definition(blocks: &[u64], capacity: usize) -> u64 {
    let mut last: HashMap<u64, usize> = HashMap::new();
    let mut hits = 0;
    for (place, &block) in blocks.iter().enumerate() {
        if let Some(previous) = last.insert(block, place) {
            let between: HashSet<_> = blocks[previous + 1..place].iter().collect();
            hits += u64::from(between.len() < capacity);
        }
    }
    hits
}

fn min_by_definition(blocks: &[u64], capacity: usize) -> u64 {
    let mut kept: Vec<u64> = Vec::new();
    let mut hits = 0;
    for (place, &block) in blocks.iter().enumerate() {
        if kept.contains(&block) {
            hits += 1;
            continue;
        }
        if kept.len() == capacity {
            let next = |kept: &u64| blocks[place..].iter().position(|other| other == kept);
            let furthest = (0..kept.len())
                .max_by_key(|&number| next(&kept[number]).unwrap_or(usize::MAX))
                .unwrap();
            kept.swap_remove(furthest);
        }
        kept.push(block);
    }
    hits
}

proptest! {
    #[test]
    fn a_policy_keeps_what_it_says(blocks in accesses(), capacity in 1_usize..120) {
        for name in Name::ALL {
            let mut cache = name.cache(capacity);
            let mut seen = HashSet::new();
            for &block in &blocks {
                let before = cache.contains(block);
                prop_assert!(!before || seen.contains(&block));
                prop_assert_eq!(cache.access(block), before, "{:?}", name);
                prop_assert!(cache.len() <= capacity, "{:?} keeps {}", name, cache.len());
                seen.insert(block);
            }
            let kept = seen.iter().filter(|&&block| cache.contains(block)).count();
            prop_assert_eq!(kept, cache.len(), "{:?}", name);
        }
    }

    #[test]
    fn everything_fits_a_cache_that_is_large_enough(blocks in accesses()) {
        let distinct = blocks.iter().collect::<HashSet<_>>().len();
        for name in Name::ALL {
            // A queue for new blocks may be smaller than a cache, so some need a larger one.
            let found = hits(name, &blocks, 10 * distinct);
            prop_assert_eq!(found, (blocks.len() - distinct) as u64, "{:?}", name);
        }
    }

    #[test]
    fn lru_is_what_its_definition_says(blocks in accesses(), capacity in 1_usize..120) {
        prop_assert_eq!(hits(Name::Lru, &blocks, capacity), lru_by_definition(&blocks, capacity));
    }

    #[test]
    fn nothing_beats_the_optimum(blocks in accesses(), capacity in 1_usize..120) {
        let best = belady_hits(&blocks, &vec![true; blocks.len()], capacity, || false);
        prop_assert_eq!(best, min_by_definition(&blocks, capacity));
        for name in Name::ALL {
            prop_assert!(hits(name, &blocks, capacity) <= best, "{:?}", name);
        }
    }
}
