//! Sequential streams.

use super::{Space, divisor};
use crate::plan::Block;

/// The alignment of a space's parts: the requested one, or the greatest common divisor of all
/// sizes.
pub(super) fn unit(blocks: &[Block], align: Option<u64>) -> u64 {
    let common = blocks.iter().map(|block| u64::from(block.bytes)).fold(0, divisor);
    align.unwrap_or(common).max(1)
}

/// Streams of reads and of writes, each in its own part of the space.
#[derive(Debug, Clone)]
pub(super) struct Cursors {
    reads: Vec<Cursor>,
    /// Empty if only reads or only writes occur.
    writes: Vec<Cursor>,
    next_read: usize,
    next_write: usize,
    align: u64,
}

#[derive(Debug, Clone)]
struct Cursor {
    start: u64,
    at: u64,
    end: u64,
}

impl Cursors {
    pub(super) fn new(
        space: Space,
        count: u32,
        directions: u64,
        unit: u64,
        align: Option<u64>,
    ) -> Self {
        let parts = u64::from(count) * directions;
        let length = (space.to - space.from) / parts / unit * unit;
        let part = |index: u64| {
            let start = space.from + index * length;
            Cursor { start, at: start, end: start + length }
        };
        let half = u64::from(count);
        Self {
            reads: (0..half).map(part).collect(),
            writes: (half..parts).map(part).collect(),
            next_read: 0,
            next_write: 0,
            align: align.unwrap_or(1),
        }
    }

    /// The offset of the next access, of `bytes` bytes.
    #[inline]
    pub(super) fn next(&mut self, bytes: u32, write: bool) -> u64 {
        let (cursors, next) = if write && !self.writes.is_empty() {
            (&mut self.writes, &mut self.next_write)
        } else {
            (&mut self.reads, &mut self.next_read)
        };
        let turn = *next;
        *next = if turn + 1 == cursors.len() { 0 } else { turn + 1 };
        cursors[turn].next(u64::from(bytes), self.align)
    }
}

impl Cursor {
    fn next(&mut self, bytes: u64, align: u64) -> u64 {
        let offset = if self.at + bytes > self.end { self.start } else { self.at };
        // Parts start at a multiple of the alignment, relative to the start of the space.
        self.at = offset + bytes.next_multiple_of(align);
        offset
    }
}
