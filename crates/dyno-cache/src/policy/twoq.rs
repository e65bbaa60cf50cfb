//! 2Q, the full version: a queue for new blocks, and LRU for those that come back after it.

use super::lists::{Lists, Node};
use super::{Index, Policy, share};

const NEW: usize = 0;
const OFTEN: usize = 1;
const GHOST: usize = 2;

const NEW_SHARE: f64 = 0.25;
const GHOST_SHARE: f64 = 0.5;

pub struct TwoQ {
    capacity: usize,
    new: usize,
    ghosts: usize,
    lists: Lists<3>,
    index: Index<Node>,
}

impl TwoQ {
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            new: share(capacity, NEW_SHARE),
            ghosts: share(capacity, GHOST_SHARE),
            lists: Lists::default(),
            index: Index::default(),
        }
    }

    fn make_space(&mut self) {
        if self.len() < self.capacity {
            return;
        }
        if self.lists.len(NEW) > self.new || self.lists.len(OFTEN) == 0 {
            if self.lists.len(GHOST) == self.ghosts {
                self.forget(GHOST);
            }
            if let Some(oldest) = self.lists.back(NEW) {
                self.lists.raise(GHOST, oldest);
            }
        } else {
            self.forget(OFTEN);
        }
    }

    fn forget(&mut self, list: usize) {
        if let Some(block) = self.lists.pop(list) {
            self.index.remove(&block);
        }
    }
}

impl Policy for TwoQ {
    fn access(&mut self, block: u64) -> bool {
        let list = match self.index.get(&block).copied() {
            Some(node) if self.lists.list(node) == GHOST => {
                self.lists.remove(node);
                self.index.remove(&block);
                OFTEN
            }
            Some(node) => {
                if self.lists.list(node) == OFTEN {
                    self.lists.raise(OFTEN, node);
                }
                return true;
            }
            None => NEW,
        };
        self.make_space();
        self.index.insert(block, self.lists.push(list, block));
        false
    }

    fn contains(&self, block: u64) -> bool {
        self.index.get(&block).is_some_and(|&node| self.lists.list(node) != GHOST)
    }

    fn len(&self) -> usize {
        self.lists.len(NEW) + self.lists.len(OFTEN)
    }
}
