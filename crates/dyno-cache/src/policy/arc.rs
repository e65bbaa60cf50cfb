//! ARC: two LRU lists, of blocks seen once and of those seen again, which share the space as the
//! accesses to blocks that either just lost suggest.

use super::lists::{Lists, Node};
use super::{Index, Policy};

const ONCE: usize = 0;
const AGAIN: usize = 1;
const ONCE_GHOST: usize = 2;
const AGAIN_GHOST: usize = 3;

pub struct Arc {
    capacity: usize,
    /// The space that blocks seen once should have, called p in the paper.
    once: f64,
    lists: Lists<4>,
    index: Index<Node>,
}

impl Arc {
    pub fn new(capacity: usize) -> Self {
        Self { capacity, once: 0.0, lists: Lists::default(), index: Index::default() }
    }

    /// How far one access to a ghost moves the border: the rarer list pulls harder.
    fn step(&self, ghost: usize, other: usize) -> f64 {
        (self.lists.len(other) as f64 / self.lists.len(ghost) as f64).max(1.0)
    }

    /// Turns the last block of a list into a ghost.
    fn replace(&mut self, wanted_by_again: bool) {
        if self.len() < self.capacity {
            return;
        }
        let once = self.lists.len(ONCE) as f64;
        let from_once = once > 0.0 && (once > self.once || wanted_by_again && once >= self.once);
        let (from, to) = if from_once || self.lists.len(AGAIN) == 0 {
            (ONCE, ONCE_GHOST)
        } else {
            (AGAIN, AGAIN_GHOST)
        };
        if let Some(last) = self.lists.back(from) {
            self.lists.raise(to, last);
        }
    }

    fn forget(&mut self, list: usize) {
        if let Some(block) = self.lists.pop(list) {
            self.index.remove(&block);
        }
    }

    fn make_space_for_new(&mut self) {
        let once = self.lists.len(ONCE) + self.lists.len(ONCE_GHOST);
        let all = once + self.lists.len(AGAIN) + self.lists.len(AGAIN_GHOST);
        if once == self.capacity {
            if self.lists.len(ONCE_GHOST) == 0 {
                return self.forget(ONCE);
            }
            self.forget(ONCE_GHOST);
        } else if all == 2 * self.capacity {
            self.forget(AGAIN_GHOST);
        }
        self.replace(false);
    }
}

impl Policy for Arc {
    fn access(&mut self, block: u64) -> bool {
        let Some(&node) = self.index.get(&block) else {
            self.make_space_for_new();
            self.index.insert(block, self.lists.push(ONCE, block));
            return false;
        };
        let list = self.lists.list(node);
        match list {
            ONCE_GHOST => {
                let step = self.step(ONCE_GHOST, AGAIN_GHOST);
                self.once = (self.once + step).min(self.capacity as f64);
                self.replace(false);
            }
            AGAIN_GHOST => {
                self.once = (self.once - self.step(AGAIN_GHOST, ONCE_GHOST)).max(0.0);
                self.replace(true);
            }
            _ => {}
        }
        self.lists.raise(AGAIN, node);
        list == ONCE || list == AGAIN
    }

    fn contains(&self, block: u64) -> bool {
        self.index.get(&block).is_some_and(|&node| self.lists.list(node) <= AGAIN)
    }

    fn len(&self) -> usize {
        self.lists.len(ONCE) + self.lists.len(AGAIN)
    }
}
