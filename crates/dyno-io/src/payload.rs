//! What is written: data that storage can neither compress nor deduplicate.

use dyno_record::Result;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore as _, SeedableRng as _};

use crate::arena::{Arena, Pages, stamp};
use crate::seeds::derived;

/// Random bytes to copy from, more than storage compresses together.
const POOL: u32 = 4 << 20;
/// Blocks of this size keep their random bytes: storage compresses less than that together, and
/// copying would take a noticeable share of a core.
const LARGE: usize = 256 << 10;
/// Places in the pool are multiples of this.
const CACHE_LINE: usize = 64;

/// The source of written data.
pub(crate) struct Payload {
    rng: Xoshiro256PlusPlus,
    pool: Arena,
    /// Where the next block begins in the pool.
    next: usize,
}

impl Payload {
    /// The source with a seed.
    ///
    /// # Errors
    /// `out_of_memory`.
    pub(crate) fn new(seed: u64) -> Result<Self> {
        let pool = Arena::new(&[POOL], derived(seed, 0, "pool"), Pages::Auto)?;
        Ok(Self { rng: Xoshiro256PlusPlus::seed_from_u64(seed), pool, next: 0 })
    }

    /// Puts new data into a block, of which the first `foreign` bytes of the buffer may hold data
    /// that is not Dyno's and must not be written elsewhere.
    #[inline]
    pub(crate) fn renew(&mut self, block: &mut [u8], foreign: &mut u32) {
        if block.len() < LARGE {
            if self.next + block.len() > POOL as usize {
                // Another place in each round, so that blocks do not repeat at one distance.
                self.next = self.rng.next_u64() as usize % LARGE / CACHE_LINE * CACHE_LINE;
            }
            let end = self.next + block.len();
            block.copy_from_slice(&self.pool.slot_mut(0)[self.next..end]);
            self.next = end.next_multiple_of(CACHE_LINE);
        } else if *foreign > 0 {
            self.rng.fill_bytes(block);
            *foreign = if block.len() < *foreign as usize { *foreign } else { 0 };
        }
        stamp(block, &mut self.rng);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lz4_flex::block::compress;

    /// Compressed size of blocks written one after another from one buffer, as a share.
    fn compressed(payload: &mut Payload, block: usize, total: usize) -> f64 {
        let mut buffer = vec![0; block];
        payload.rng.fill_bytes(&mut buffer);
        let mut written = Vec::with_capacity(total);
        while written.len() < total {
            payload.renew(&mut buffer, &mut 0);
            written.extend_from_slice(&buffer);
        }
        compress(&written).len() as f64 / written.len() as f64
    }

    #[test]
    fn neighbouring_blocks_do_not_compress_together() {
        let mut payload = Payload::new(1).unwrap();
        for block in [512, 4096, 8192, 12_288, 64 << 10, LARGE] {
            // Across the end of the pool, too.
            for _ in 0..6 {
                let share = compressed(&mut payload, block, 1 << 20);
                assert!(share > 0.99, "{block} {share}");
            }
        }
        // The measure itself sees repetition.
        let mut same = vec![0; 8192];
        payload.renew(&mut same, &mut 0);
        assert!(compress(&same.repeat(16)).len() < 8192 * 2);
    }

    #[test]
    fn data_of_others_is_never_written() {
        let mut payload = Payload::new(1).unwrap();
        for blocks in [[512, LARGE], [8192, 8192], [LARGE, 2 * LARGE], [2 * LARGE, 512]] {
            let mut buffer = vec![b'x'; 2 * LARGE];
            let mut foreign = buffer.len() as u32;
            for bytes in blocks {
                let block = &mut buffer[..bytes];
                payload.renew(block, &mut foreign);
                assert!(!block.windows(16).any(|part| part == [b'x'; 16]), "{blocks:?}");
            }
        }
    }
}
