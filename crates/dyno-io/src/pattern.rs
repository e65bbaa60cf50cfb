//! Where the next I/O goes, and whether it reads or writes.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore as _, SeedableRng as _};
use serde::{Deserialize, Serialize};

/// Order of the blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Uniformly random blocks.
    Random,
    /// One block after another, from the start again at the end of the file.
    Sequential,
}

impl Order {
    /// The name used in plans and bundles.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Sequential => "sequential",
        }
    }
}

/// One access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Offset in the file, a multiple of the block size.
    pub offset: u64,
    /// Write rather than read.
    pub write: bool,
}

/// An endless series of accesses to the whole blocks of a file; equal seeds give equal series.
#[derive(Debug, Clone)]
pub struct Pattern {
    rng: Xoshiro256PlusPlus,
    order: Order,
    block_bytes: u64,
    blocks: u64,
    read_percent: u64,
    next: u64,
}

impl Pattern {
    /// A pattern over the first `file_bytes / block_bytes` blocks, `read_percent` of it reads.
    ///
    /// # Panics
    /// If the file holds no whole block.
    pub fn new(
        order: Order,
        block_bytes: u64,
        file_bytes: u64,
        read_percent: u8,
        seed: u64,
    ) -> Self {
        let blocks = file_bytes / block_bytes;
        assert!(blocks > 0, "the file holds no whole block");
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { rng, order, block_bytes, blocks, read_percent: u64::from(read_percent), next: 0 }
    }

    /// The next access.
    #[inline]
    pub fn access(&mut self) -> Access {
        let block = match self.order {
            Order::Random => self.below(self.blocks),
            Order::Sequential => {
                let block = self.next;
                self.next = if block + 1 == self.blocks { 0 } else { block + 1 };
                block
            }
        };
        let write = match self.read_percent {
            0 => true,
            100.. => false,
            share => self.below(100) >= share,
        };
        Access { offset: block * self.block_bytes, write }
    }

    /// A number below `limit` by multiplication (Lemire 2019, without the rejection step: its bias
    /// is below `limit` / 2^64).
    #[inline]
    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.rng.next_u64()) * u128::from(limit)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn order() -> impl Strategy<Value = Order> {
        prop_oneof![Just(Order::Random), Just(Order::Sequential)]
    }

    proptest! {
        #[test]
        fn accesses_are_aligned_and_inside_the_file(
            order in order(), sectors in 1u64..200, blocks in 1u64..5000, rest in 0u64..512,
            percent in 0u8..=100, seed: u64,
        ) {
            let block = sectors * 512;
            let file = blocks * block + rest;
            let mut pattern = Pattern::new(order, block, file, percent, seed);
            for _ in 0..200 {
                let access = pattern.access();
                prop_assert_eq!(access.offset % block, 0);
                prop_assert!(access.offset + block <= file);
            }
        }

        #[test]
        fn every_block_is_reached(order in order(), blocks in 1u64..40, seed: u64) {
            let mut pattern = Pattern::new(order, 8192, blocks * 8192, 50, seed);
            // A block stays out of 40 × n random draws with probability e^-40.
            let seen: HashSet<u64> = (0..40 * blocks).map(|_| pattern.access().offset).collect();
            prop_assert_eq!(seen.len() as u64, blocks);
        }

        #[test]
        fn the_share_of_reads_converges(order in order(), percent in 0u8..=100, seed: u64) {
            let mut pattern = Pattern::new(order, 4096, 1 << 30, percent, seed);
            let count = 20_000;
            let reads = (0..count).filter(|_| !pattern.access().write).count();
            let share = 100.0 * reads as f64 / f64::from(count);
            // 2.5 points are seven standard deviations at the widest.
            prop_assert!((share - f64::from(percent)).abs() < 2.5, "{share} instead of {percent}");
        }

        #[test]
        fn equal_seeds_give_equal_series(order in order(), percent in 0u8..=100, seed: u64) {
            let mut one = Pattern::new(order, 8192, 1 << 28, percent, seed);
            let mut two = one.clone();
            for _ in 0..100 {
                prop_assert_eq!(one.access(), two.access());
            }
        }
    }

    #[test]
    fn sequential_wraps_at_the_last_whole_block() {
        let mut pattern = Pattern::new(Order::Sequential, 4096, 3 * 4096 + 100, 100, 0);
        let offsets: Vec<u64> = (0..5).map(|_| pattern.access().offset).collect();
        assert_eq!(offsets, [0, 4096, 8192, 0, 4096]);
    }
}
