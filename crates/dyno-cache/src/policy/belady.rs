//! Belady's MIN: the block whose next access is furthest away makes way. No policy has more hits.

use super::Index;
use std::collections::BinaryHeap;

const NEVER: usize = usize::MAX;
/// Blocks between two looks at whether to stop.
const LOOK: usize = 1 << 16;

/// The hits of a cache of `capacity` blocks that knows all later accesses and keeps each block at
/// its access. Only accesses in `counted` count. Ends early, with the hits so far, once `stop`.
pub fn hits(blocks: &[u64], counted: &[bool], capacity: usize, stop: impl Fn() -> bool) -> u64 {
    let next = next_accesses(blocks);
    let mut kept = Index::<usize>::default();
    let mut by_next = BinaryHeap::<(usize, u64)>::new();
    let mut hits = 0;
    for ((&block, &next), &counts) in blocks.iter().zip(&next).zip(counted) {
        if by_next.len().is_multiple_of(LOOK) && stop() {
            break;
        }
        if kept.insert(block, next).is_some() {
            hits += u64::from(counts);
        } else if kept.len() > capacity.max(1) {
            // Entries of blocks that were accessed since are outdated: they have another next access.
            while let Some((due, furthest)) = by_next.pop() {
                if furthest != block && kept.get(&furthest) == Some(&due) {
                    kept.remove(&furthest);
                    break;
                }
            }
        }
        by_next.push((next, block));
    }
    hits
}

fn next_accesses(blocks: &[u64]) -> Vec<usize> {
    let mut seen = Index::<usize>::default();
    let mut next = vec![NEVER; blocks.len()];
    for (place, &block) in blocks.iter().enumerate().rev() {
        next[place] = seen.insert(block, place).unwrap_or(NEVER);
    }
    next
}
