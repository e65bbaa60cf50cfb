//! Where what lies on a flash device.
//!
//! ```text
//! superblock 0 | superblock 1 | intents 0 | intents 1 | checkpoint 0 | checkpoint 1 | segments …
//! segment: index (keys and checksums of its blocks) | blocks
//! ```
//!
//! Of checkpoints and intents, one is valid and the other is written next. The superblock with the
//! highest generation and a right checksum names the valid one; both are the same but for a moment.
//! Everything has a checksum.

use super::device::PAGE;
use serde::{Deserialize, Serialize};

/// Bytes of a block.
pub const BLOCK: usize = 8192;

const SUPERBLOCKS: u64 = 2 * PAGE as u64;
const ENTRY: usize = 12;
const HEAD: usize = 24;

/// Sizes on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Geometry {
    /// Segments.
    pub segments: u32,
    /// Blocks of a segment.
    pub blocks: u32,
    /// Pages of a bitmap of intents; each has some 32,000 regions.
    pub intent_pages: u32,
}

impl Geometry {
    /// The geometry with the most segments that fit a device of `size` bytes; none if it is too
    /// small for four segments.
    pub fn fitting(size: u64, blocks: u32, intent_pages: u32) -> Option<Self> {
        let one = Self { segments: 1, blocks, intent_pages };
        let per_segment = one.segment_bytes() + u64::from(blocks).div_ceil(4) + 16;
        let mut segments =
            (size.checked_sub(one.segment(0))? / per_segment).min(u64::from(u32::MAX)) as u32;
        while segments >= 4 {
            let found = Self { segments, ..one };
            if found.segment(segments) <= size && found.slots() < u64::from(u32::MAX) {
                return Some(found);
            }
            segments -= 1 + segments / 256;
        }
        None
    }

    /// Blocks of all segments.
    pub fn slots(&self) -> u64 {
        u64::from(self.segments) * u64::from(self.blocks)
    }

    /// Bytes of a segment's index.
    pub fn index_bytes(&self) -> usize {
        (HEAD + ENTRY * self.blocks as usize).next_multiple_of(BLOCK)
    }

    /// Bytes of a segment.
    pub fn segment_bytes(&self) -> u64 {
        (self.index_bytes() + self.blocks as usize * BLOCK) as u64
    }

    /// Bytes of a checkpoint: the sequence number of each segment, and a bit for each block.
    pub fn checkpoint_bytes(&self) -> usize {
        (8 * self.segments as usize + self.slots().div_ceil(8) as usize).next_multiple_of(PAGE)
    }

    /// Where a superblock begins.
    pub fn superblock(number: u64) -> u64 {
        number % 2 * PAGE as u64
    }

    /// Where a page of intents begins.
    pub fn intents(&self, area: usize, page: usize) -> u64 {
        SUPERBLOCKS + ((area * self.intent_pages as usize + page) * PAGE) as u64
    }

    /// Where a checkpoint begins.
    pub fn checkpoint(&self, area: usize) -> u64 {
        self.intents(2, 0) + (area * self.checkpoint_bytes()) as u64
    }

    /// Where a segment begins.
    pub fn segment(&self, number: u32) -> u64 {
        self.checkpoint(2).next_multiple_of(BLOCK as u64) + u64::from(number) * self.segment_bytes()
    }

    /// Where a block begins.
    pub fn block(&self, slot: u32) -> u64 {
        let within = self.index_bytes() + (slot % self.blocks) as usize * BLOCK;
        self.segment(slot / self.blocks) + within as u64
    }
}

/// What a superblock says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Superblock {
    /// Version of the layout.
    pub version: u32,
    /// Increases with each superblock that is written.
    pub generation: u64,
    /// Sizes.
    pub geometry: Geometry,
    /// What identifies the origin and its state.
    pub origin: String,
    /// The valid checkpoint and intents.
    pub area: usize,
    /// Checksum of the checkpoint.
    pub checkpoint: u32,
    /// The last sequence number of a segment at the checkpoint.
    pub sequence: u64,
}

/// The version that is written and read.
pub const VERSION: u32 = 1;
const MAGIC: &[u8; 8] = b"DYNOFLSH";

impl Superblock {
    /// A page: magic, checksum, length, JSON.
    pub fn encode(&self, page: &mut [u8]) {
        let text = serde_json::to_vec(self).unwrap_or_default();
        page.fill(0);
        page[..8].copy_from_slice(MAGIC);
        page[12..16].copy_from_slice(&(text.len() as u32).to_le_bytes());
        page[16..16 + text.len()].copy_from_slice(&text);
        let sum = crc32c::crc32c(&page[12..]);
        page[8..12].copy_from_slice(&sum.to_le_bytes());
    }

    /// The superblock of a page; none if it has none, or a damaged one.
    pub fn decode(page: &[u8]) -> Option<Self> {
        if &page[..8] != MAGIC || number(&page[8..]) != crc32c::crc32c(&page[12..]) {
            return None;
        }
        let len = number(&page[12..]) as usize;
        serde_json::from_slice(page.get(16..16 + len)?).ok()
    }
}

/// Writes the index of a segment: checksum, queue, sequence number, then key and checksum by block.
/// Keys of blocks that are not valid are 0.
pub fn encode_index(
    index: &mut [u8],
    sequence: u64,
    queue: u8,
    entries: impl Iterator<Item = (u64, u32)>,
) {
    index.fill(0);
    index[4] = queue;
    index[8..16].copy_from_slice(&sequence.to_le_bytes());
    for (entry, (key, sum)) in index[HEAD..].chunks_exact_mut(ENTRY).zip(entries) {
        entry[..8].copy_from_slice(&key.to_le_bytes());
        entry[8..].copy_from_slice(&sum.to_le_bytes());
    }
    let sum = crc32c::crc32c(&index[4..]);
    index[..4].copy_from_slice(&sum.to_le_bytes());
}

/// The sequence number, queue and entries of a segment's index; none if it is damaged or empty.
pub fn decode_index(index: &[u8]) -> Option<(u64, u8, impl Iterator<Item = (u64, u32)>)> {
    if number(index) != crc32c::crc32c(&index[4..]) {
        return None;
    }
    let sequence = u64::from_le_bytes(index[8..16].try_into().ok()?);
    let entries = index[HEAD..].chunks_exact(ENTRY).map(|entry| {
        (u64::from_le_bytes(entry[..8].try_into().unwrap_or_default()), number(&entry[8..]))
    });
    (sequence > 0).then_some((sequence, index[4], entries))
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
