//! Segments of a cache: free, being filled in memory, being written, and kept in queues.

use super::device::Pages;
use super::index::Index;
use super::layout::{BLOCK, Geometry, encode_index};
use crate::policy::{QUEUES, Queue};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of segments that wait in memory, after which no more are begun for new blocks.
const MOST_WAITING: u64 = 64 << 20;

/// What a segment is.
pub enum Stage {
    /// Without blocks.
    Free,
    /// Blocks are added in memory.
    Open,
    /// Full, and not yet on the device.
    Sealing(Arc<Pages>),
    /// On the device.
    Sealed,
    /// On the device, and making way.
    Leaving,
}

/// A segment that takes blocks.
pub struct Open {
    /// Its number.
    pub segment: u32,
    used: u32,
    bytes: Pages,
}

/// All segments of a cache.
pub struct Segments {
    geometry: Geometry,
    /// What each is.
    pub stages: Vec<Stage>,
    /// The sequence number of each that is sealed or being sealed.
    pub sequences: Vec<u64>,
    /// How many are reading each.
    pub pins: Vec<u32>,
    /// Those being sealed, sealed or leaving, oldest first.
    pub queues: [VecDeque<u32>; QUEUES],
    /// Those being filled.
    open: [Option<Open>; QUEUES],
    /// Those without blocks.
    pub free: Vec<u32>,
    /// Those to be written.
    pub waiting: VecDeque<u32>,
    /// The last sequence number.
    pub sequence: u64,
}

impl Segments {
    /// Free segments only.
    pub fn new(geometry: Geometry) -> Self {
        let count = geometry.segments as usize;
        Self {
            geometry,
            stages: (0..count).map(|_| Stage::Free).collect(),
            sequences: vec![0; count],
            pins: vec![0; count],
            queues: Default::default(),
            open: Default::default(),
            free: (0..geometry.segments).rev().collect(),
            waiting: VecDeque::new(),
            sequence: 0,
        }
    }

    /// The bytes of a block in memory; none if it is on the device only.
    pub fn in_memory(&self, slot: u32) -> Option<&[u8]> {
        let segment = slot / self.geometry.blocks;
        let bytes = match &self.stages[segment as usize] {
            Stage::Sealing(bytes) => bytes,
            Stage::Open => &self.open.iter().flatten().find(|open| open.segment == segment)?.bytes,
            _ => return None,
        };
        Some(&bytes[self.within(slot)..][..BLOCK])
    }

    /// Adds a block to the open segment of a queue, and seals the segment if it is full.
    ///
    /// Returns its slot; none if fewer than `reserve` segments would stay free, or, with a reserve, if
    /// too many wait to be written.
    pub fn add(
        &mut self,
        index: &mut Index,
        queue: Queue,
        key: u64,
        sum: u32,
        data: &[u8],
        reserve: usize,
    ) -> Option<u32> {
        if self.open[queue].is_none() {
            let waiting = self.waiting.len() as u64 * self.geometry.segment_bytes();
            if self.free.len() <= reserve || reserve > 0 && waiting >= MOST_WAITING {
                return None;
            }
            let segment = self.free.pop()?;
            self.stages[segment as usize] = Stage::Open;
            let bytes = Pages::new(self.geometry.segment_bytes() as usize);
            self.open[queue] = Some(Open { segment, used: 0, bytes });
        }
        let blocks = self.geometry.blocks;
        let open = self.open[queue].as_mut()?;
        let slot = open.segment * blocks + open.used;
        open.used += 1;
        let full = open.used == blocks;
        let at = self.geometry.index_bytes() + (slot % blocks) as usize * BLOCK;
        open.bytes[at..at + BLOCK].copy_from_slice(data);
        index.insert(slot, key, sum);
        if full {
            self.seal(index, queue);
        }
        Some(slot)
    }

    /// Ends the open segment of a queue, if any: it waits to be written.
    pub fn seal(&mut self, index: &Index, queue: Queue) {
        let Some(mut open) = self.open[queue].take() else { return };
        self.sequence += 1;
        let first = open.segment * self.geometry.blocks;
        let entries = (first..first + self.geometry.blocks)
            .map(|slot| index.at(slot).map_or((0, 0), |(key, sum, _)| (key, sum)));
        let bytes = self.geometry.index_bytes();
        encode_index(&mut open.bytes[..bytes], self.sequence, queue as u8, entries);
        self.sequences[open.segment as usize] = self.sequence;
        self.stages[open.segment as usize] = Stage::Sealing(Arc::new(open.bytes));
        self.queues[queue].push_back(open.segment);
        self.waiting.push_back(open.segment);
    }

    /// Makes a segment free; it must be in no queue, without blocks, and read by nobody.
    pub fn release(&mut self, segment: u32) {
        self.stages[segment as usize] = Stage::Free;
        self.sequences[segment as usize] = 0;
        self.free.push(segment);
    }

    /// The slots of a segment.
    pub fn slots(&self, segment: u32) -> std::ops::Range<u32> {
        segment * self.geometry.blocks..(segment + 1) * self.geometry.blocks
    }

    fn within(&self, slot: u32) -> usize {
        self.geometry.index_bytes() + (slot % self.geometry.blocks) as usize * BLOCK
    }
}
