//! The content of targets that Dyno did not fill: storage may answer reads of zeroes and of
//! repeated data without its media.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

use dyno_record::{Control, Result};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore as _, SeedableRng as _};
use serde::Serialize;

use crate::arena::{Arena, Pages};
use crate::{Notes, Topic};

/// Maximum blocks to sample, of one target and of all, and their size.
const MOST: u64 = 256;
const MOST_OF_ALL: u64 = 4096;
const BLOCK: u32 = 8192;
/// Shares that cause a note.
const MANY_PERCENT: f64 = 5.0;
const SMALL_PERCENT: f64 = 80.0;

/// A sample of a target's blocks, spread evenly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Content {
    /// Number of 8 KiB blocks read.
    pub sampled: usize,
    /// Share of blocks with nothing but zeroes.
    pub zero_percent: f64,
    /// Share of other blocks that occur at least twice in the sample.
    pub duplicate_percent: f64,
    /// Mean size after fast compression (LZ4, each block on its own), percent of the block.
    pub compressed_percent: f64,
}

/// Blocks to sample per target.
pub(super) fn share(targets: usize) -> u64 {
    (MOST_OF_ALL / targets.max(1) as u64).clamp(1, MOST)
}

/// Samples the first `bytes` of `file`: one block from each of `most` equal parts, at a position
/// derived from `seed`. Skips blocks that cannot be read: the steps will report them. Returns
/// `None` if no block was read.
///
/// # Errors
/// `cancelled`, `out_of_memory`.
pub(super) fn sample(
    file: &File,
    (bytes, most): (u64, u64),
    seed: u64,
    control: &Control,
) -> Result<Option<Content>> {
    let blocks = bytes / u64::from(BLOCK);
    let parts = blocks.min(most);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut buffer = Arena::new(&[BLOCK], seed, Pages::Ordinary)?;
    let mut sample: Vec<Vec<u8>> = Vec::with_capacity(parts as usize);
    for part in 0..parts {
        control.check()?;
        let (from, to) = (blocks * part / parts, blocks * (part + 1) / parts);
        let block = from + rng.next_u64() % (to - from);
        let data = buffer.slot_mut(0);
        if file.read_exact_at(data, block * u64::from(BLOCK)).is_ok() {
            sample.push(data.to_vec());
        }
    }
    Ok(judge(&sample))
}

fn judge(blocks: &[Vec<u8>]) -> Option<Content> {
    if blocks.is_empty() {
        return None;
    }
    let percent = |part: f64| 100.0 * part / blocks.len() as f64;
    let zero = |block: &&Vec<u8>| block.iter().all(|byte| *byte == 0);
    let mut times: HashMap<&[u8], usize> = HashMap::new();
    for block in blocks.iter().filter(|block| !zero(block)) {
        *times.entry(block).or_default() += 1;
    }
    let compressed = |block: &Vec<u8>| {
        let bytes = lz4_flex::block::compress(block).len();
        bytes.min(block.len()) as f64 / block.len() as f64
    };
    Some(Content {
        sampled: blocks.len(),
        zero_percent: percent(blocks.iter().filter(zero).count() as f64),
        duplicate_percent: percent(times.values().filter(|times| **times > 1).sum::<usize>() as f64),
        compressed_percent: percent(blocks.iter().map(compressed).sum()),
    })
}

impl Content {
    /// Adds a note if storage could exploit the content.
    pub(super) fn note(&self, name: &str, notes: &mut Notes) {
        let Self { sampled, zero_percent, duplicate_percent, compressed_percent } = self;
        if *zero_percent >= MANY_PERCENT {
            notes.add(Topic::Content, format!(
                "{name}: {zero_percent:.0} % of {sampled} sampled blocks are zero: an array may \
                 answer them without its media"
            ));
        }
        if *duplicate_percent >= MANY_PERCENT {
            notes.add(
                Topic::Content,
                format!(
                    "{name}: {duplicate_percent:.0} % of {sampled} sampled blocks are duplicates: \
                 an array with deduplication may answer them from its cache"
                ),
            );
        }
        if *compressed_percent <= SMALL_PERCENT {
            notes.add(
                Topic::Content,
                format!(
                    "{name}: {sampled} sampled blocks compress to {compressed_percent:.0} %: an \
                 array with compression reads less than Dyno reports"
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: u64) -> Vec<u8> {
        let mut block = vec![0; BLOCK as usize];
        Xoshiro256PlusPlus::seed_from_u64(seed).fill_bytes(&mut block);
        block
    }

    #[test]
    fn zeroes_repeats_and_what_compresses_are_told_apart() {
        let text = b"the same again, ".repeat(BLOCK as usize / 16);
        let mut blocks: Vec<_> = (0..14).map(random).collect();
        blocks.extend([vec![0; BLOCK as usize], vec![0; BLOCK as usize]]);
        blocks.extend([random(0), random(0), text.clone(), text]);
        let content = judge(&blocks).unwrap();
        assert_eq!(content.sampled, 20);
        let told = (content.zero_percent, content.duplicate_percent);
        assert_eq!(told, (10.0, 25.0), "three of one, two of another, and zeroes apart");
        assert!((80.0..81.0).contains(&content.compressed_percent), "{content:?}");
        let mut notes = Notes::default();
        content.note("data", &mut notes);
        assert_eq!(notes.as_slice().len(), 2, "{notes:?}");
        assert!(notes.as_slice()[0].text.starts_with("data: 10 % of 20 sampled blocks are zero"));
    }

    #[test]
    fn random_data_is_nothing_to_tell_of() {
        let content = judge(&(0..50).map(random).collect::<Vec<_>>()).unwrap();
        assert_eq!(
            content,
            Content {
                sampled: 50,
                zero_percent: 0.0,
                duplicate_percent: 0.0,
                compressed_percent: 100.0,
            }
        );
        let mut notes = Notes::default();
        content.note("data", &mut notes);
        assert!(notes.as_slice().is_empty());
        assert_eq!(judge(&[]), None);
    }

    #[test]
    fn the_whole_target_is_sampled_and_nothing_beyond() {
        let file = tempfile::tempfile().unwrap();
        for (blocks, sampled) in [(0, None), (1, Some(1)), (255, Some(255)), (1000, Some(256))] {
            file.set_len(0).unwrap();
            file.set_len(blocks * u64::from(BLOCK) + 512).unwrap();
            let bytes = blocks * u64::from(BLOCK) + 512;
            let content = sample(&file, (bytes, share(1)), 1, &Control::new()).unwrap();
            assert_eq!(content.map(|content| content.sampled), sampled);
            let zeroes = content.map(|content| content.zero_percent);
            assert_eq!(zeroes, sampled.map(|_| 100.0));
        }
    }

    #[test]
    fn many_targets_share_what_is_looked_at() {
        assert_eq!([1, 16, 128, 1 << 20].map(share), [256, 256, 32, 1]);
    }
}
