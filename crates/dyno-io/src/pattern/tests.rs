use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

/// Any pattern, for tests of other modules.
pub(crate) fn any() -> Pattern {
    pattern(Order::Random, 4096, 1 << 20, 100, 0)
}

fn shape(order: Order, bytes: u32, read_percent: u8) -> Shape {
    Shape { order, blocks: vec![Block { bytes, percent: 100.0 }], align: None, read_percent }
}

fn pattern(order: Order, bytes: u32, space: u64, read_percent: u8, seed: u64) -> Pattern {
    Pattern::new(&shape(order, bytes, read_percent), Space { from: 0, to: space }, seed)
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![
        Just(Order::Random),
        Just(Order::Sequential),
        (0.1f64..3.0).prop_map(|theta| Order::Zipf { theta }),
        (1.0f64..99.0, 1.0f64..99.0).prop_map(|(access_percent, space_percent)| {
            Order::HotSpot { access_percent, space_percent }
        }),
        (1u32..8).prop_map(|count| Order::Streams { count }),
    ]
}

fn mix() -> impl Strategy<Value = Vec<Block>> {
    let sectors = prop::sample::select(vec![1u32, 8, 16, 24, 128]);
    prop::collection::vec(sectors, 1..4).prop_map(|sizes| {
        let percent = 100.0 / sizes.len() as f64;
        sizes.into_iter().map(|sectors| Block { bytes: sectors * 512, percent }).collect()
    })
}

/// The share of accesses for which `hit` is true, percent.
fn share(pattern: &mut Pattern, count: u32, hit: impl Fn(Access) -> bool) -> f64 {
    let hits = (0..count).filter(|_| hit(pattern.access())).count();
    100.0 * hits as f64 / f64::from(count)
}

proptest! {
    #[test]
    fn accesses_are_aligned_and_inside_the_space(
        order in order(), blocks in mix(), align in prop::option::of(1u64..64),
        from in 0u64..1000, bytes in 2_000_000u64..5_000_000, percent in 0u8..=100, seed: u64,
    ) {
        let align = align.map(|sectors| sectors * 512);
        let space = Space { from: from * 4096, to: from * 4096 + bytes };
        let shape = Shape { order, blocks: blocks.clone(), align, read_percent: percent };
        prop_assume!(shape.fits(space));
        let common = cursor::unit(&blocks, None);
        let mut pattern = Pattern::new(&shape, space, seed);
        for _ in 0..300 {
            let access = pattern.access();
            prop_assert!(access.offset >= space.from, "{access:?}");
            prop_assert!(access.offset + u64::from(access.bytes) <= space.to, "{access:?}");
            prop_assert!(blocks.iter().any(|block| block.bytes == access.bytes));
            let unit = match order {
                Order::Sequential | Order::Streams { .. } => align.unwrap_or(common),
                _ => align.unwrap_or(u64::from(access.bytes)),
            };
            prop_assert_eq!((access.offset - space.from) % unit, 0, "{:?}", access);
        }
    }

    #[test]
    fn every_block_is_reached(streams in 0u32..5, blocks in 1u64..40, seed: u64) {
        let order = match streams {
            0 => Order::Random,
            1 => Order::Sequential,
            2 => Order::Zipf { theta: 0.1 },
            _ => Order::Streams { count: streams },
        };
        let blocks = blocks * u64::from(streams.max(1));
        let mut pattern = pattern(order, 8192, blocks * 8192, 100, seed);
        // A block is missing in 60 × n uniform draws with probability e^-60.
        let seen: HashSet<u64> = (0..60 * blocks).map(|_| pattern.access().offset).collect();
        prop_assert_eq!(seen.len() as u64, blocks);
    }

    #[test]
    fn the_share_of_reads_converges(order in order(), percent in 0u8..=100, seed: u64) {
        let mut pattern = pattern(order, 4096, 1 << 30, percent, seed);
        let reads = share(&mut pattern, 20_000, |access| !access.write);
        // 2.5 points are seven standard deviations in the worst case.
        prop_assert!((reads - f64::from(percent)).abs() < 2.5, "{reads} instead of {percent}");
    }

    #[test]
    fn sizes_have_their_shares(small in 1u32..100, seed: u64, order in order()) {
        let blocks = vec![
            Block { bytes: 8192, percent: f64::from(small) },
            Block { bytes: 65536, percent: f64::from(100 - small) },
        ];
        let shape = Shape { order, blocks, align: None, read_percent: 100 };
        let mut pattern = Pattern::new(&shape, Space { from: 0, to: 1 << 30 }, seed);
        let seen = share(&mut pattern, 20_000, |access| access.bytes == 8192);
        prop_assert!((seen - f64::from(small)).abs() < 2.5, "{seen} instead of {small}");
    }

    #[test]
    fn the_hot_spot_has_its_share(access in 1.0f64..99.0, space in 1.0f64..99.0, seed: u64) {
        let order = Order::HotSpot { access_percent: access, space_percent: space };
        let mut pattern = pattern(order, 4096, 1 << 30, 100, seed);
        let limit = (space / 100.0 * f64::from(1 << 30)) as u64;
        let seen = share(&mut pattern, 20_000, |access| access.offset < limit);
        prop_assert!((seen - access).abs() < 2.5, "{seen} instead of {access}");
    }

    #[test]
    fn equal_seeds_give_equal_series(order in order(), percent in 0u8..=100, seed: u64) {
        let mut one = pattern(order, 8192, 1 << 28, percent, seed);
        let mut two = one.clone();
        for _ in 0..100 {
            prop_assert_eq!(one.access(), two.access());
        }
    }
}

#[test]
fn zipf_follows_its_law_and_scatters_what_is_popular() {
    let blocks = 1000_u64;
    let theta = 0.99;
    let mut pattern = pattern(Order::Zipf { theta }, 4096, blocks * 4096, 100, 5);
    let mut counts = vec![0_u32; blocks as usize];
    let draws = 400_000_u32;
    for _ in 0..draws {
        counts[(pattern.access().offset / 4096) as usize] += 1;
    }
    let mut ranked: Vec<(u32, usize)> =
        counts.iter().copied().enumerate().map(|(block, count)| (count, block)).collect();
    ranked.sort_unstable_by(|a, b| b.cmp(a));
    let harmonic: f64 = (1..=blocks).map(|rank| (rank as f64).powf(-theta)).sum();
    for rank in [1_u32, 2, 3, 10, 100] {
        let expected = f64::from(rank).powf(-theta) / harmonic * f64::from(draws);
        let seen = f64::from(ranked[rank as usize - 1].0);
        let deviations = (seen - expected).abs() / expected.sqrt();
        assert!(deviations < 7.0, "rank {rank}: {seen} instead of {expected}");
    }
    let neighbours = ranked[..20].windows(2).filter(|two| two[0].1.abs_diff(two[1].1) == 1);
    assert_eq!(neighbours.count(), 0, "popular blocks lie side by side");
}

fn offsets(pattern: &mut Pattern, count: usize) -> Vec<u64> {
    std::iter::repeat_with(|| pattern.access().offset / 4096).take(count).collect()
}

#[test]
fn sequential_wraps_at_the_last_whole_block() {
    let mut one = pattern(Order::Sequential, 4096, 3 * 4096 + 100, 100, 0);
    assert_eq!(offsets(&mut one, 5), [0, 1, 2, 0, 1]);
}

#[test]
fn streams_take_turns_in_parts_of_their_own() {
    let mut three = pattern(Order::Streams { count: 3 }, 4096, 6 * 4096, 100, 0);
    assert_eq!(offsets(&mut three, 8), [0, 2, 4, 1, 3, 5, 0, 2]);
}

#[test]
fn mixed_reads_and_writes_are_two_series() {
    let mut mixed = pattern(Order::Sequential, 4096, 100 * 4096, 50, 3);
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for _ in 0..60 {
        let access = mixed.access();
        if access.write { &mut writes } else { &mut reads }.push(access.offset / 4096);
    }
    assert!(reads.len() > 10 && writes.len() > 10);
    assert!(reads.iter().enumerate().all(|(index, block)| *block == index as u64));
    assert!(writes.iter().enumerate().all(|(index, block)| *block == 50 + index as u64));
}

#[test]
fn a_part_of_a_target_is_inside_it_and_starts_at_a_block() {
    let space = Space::part(1_000_000, 25.0, 75.0, 8192);
    assert_eq!(space, Space { from: 253_952, to: 750_000 });
    assert_eq!(Space::part(1_000_000, 0.0, 100.0, 8192), Space { from: 0, to: 1_000_000 });
    assert_eq!(Space::part(4096, 90.0, 95.0, 8192).bytes(), 0);
}

#[test]
fn what_has_no_place_does_not_fit() {
    let space = Space { from: 0, to: 8192 };
    assert!(shape(Order::Random, 8192, 100).fits(space));
    assert!(!shape(Order::Random, 8704, 100).fits(space));
    assert!(!shape(Order::Streams { count: 2 }, 8192, 100).fits(space));
    assert!(!shape(Order::Sequential, 8192, 50).fits(space), "two series need two places");
}
