//! The cache on flash without its data: blocks collect in segments, and whole segments make way.

use super::retention::{QUEUES, Queue, Retention, SegmentedS3Fifo};
use super::{Index, Policy};
use std::collections::VecDeque;

const MAX_USES: u8 = 3;
/// Segments of a simulated cache; one on flash has at least as many.
const SEGMENTS: usize = 128;

/// A block of a segment. It is valid if the index has the same number for it.
#[derive(Clone, Copy)]
struct Entry {
    block: u64,
    number: u64,
}

#[derive(Clone, Copy)]
struct Kept {
    number: u64,
    uses: u8,
}

pub struct Segmented {
    capacity: usize,
    /// Blocks of a segment.
    blocks: usize,
    segments: usize,
    retention: SegmentedS3Fifo,
    index: Index<Kept>,
    open: [Vec<Entry>; QUEUES],
    sealed: [VecDeque<Vec<Entry>>; QUEUES],
    number: u64,
}

impl Segmented {
    pub fn new(capacity: usize) -> Self {
        let blocks = (capacity / SEGMENTS).max(1);
        let segments = capacity / blocks;
        Self {
            capacity,
            blocks,
            segments,
            retention: SegmentedS3Fifo::new(segments, blocks),
            index: Index::default(),
            open: Default::default(),
            sealed: Default::default(),
            number: 0,
        }
    }

    fn add(&mut self, queue: Queue, block: u64, uses: u8) {
        self.number += 1;
        self.index.insert(block, Kept { number: self.number, uses });
        self.open[queue].push(Entry { block, number: self.number });
        if self.open[queue].len() == self.blocks {
            let full = std::mem::take(&mut self.open[queue]);
            self.sealed[queue].push_back(full);
        }
    }

    /// Frees segments until two are, or no sealed one is left.
    fn make_space(&mut self) {
        while self.sealed.iter().map(VecDeque::len).sum::<usize>() + QUEUES >= self.segments {
            let queue = self.retention.makes_way([0, 1].map(|queue| self.sealed[queue].len()));
            let Some(leaving) = self.sealed[queue].pop_front() else { return };
            for Entry { block, number } in leaving {
                let Some(&kept) = self.index.get(&block).filter(|kept| kept.number == number)
                else {
                    continue;
                };
                match self.retention.at_end(queue, block, kept.uses) {
                    Some((to, uses)) => self.add(to, block, uses),
                    None => drop(self.index.remove(&block)),
                }
            }
        }
    }
}

impl Policy for Segmented {
    fn access(&mut self, block: u64) -> bool {
        if let Some(kept) = self.index.get_mut(&block) {
            kept.uses = MAX_USES.min(kept.uses + 1);
            return true;
        }
        self.make_space();
        if self.index.len() < self.capacity
            && let Some(queue) = self.retention.missed(block)
        {
            self.add(queue, block, 0);
        }
        false
    }

    fn contains(&self, block: u64) -> bool {
        self.index.contains_key(&block)
    }

    fn len(&self) -> usize {
        self.index.len()
    }
}
