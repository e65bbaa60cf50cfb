//! LRU: the block whose last access is oldest makes way.

use super::lists::{Lists, Node};
use super::{Index, Policy};

pub struct Lru {
    capacity: usize,
    lists: Lists<1>,
    index: Index<Node>,
}

impl Lru {
    pub fn new(capacity: usize) -> Self {
        Self { capacity, lists: Lists::default(), index: Index::default() }
    }
}

impl Policy for Lru {
    fn access(&mut self, block: u64) -> bool {
        if let Some(&node) = self.index.get(&block) {
            self.lists.raise(0, node);
            return true;
        }
        if self.len() == self.capacity
            && let Some(oldest) = self.lists.pop(0)
        {
            self.index.remove(&oldest);
        }
        self.index.insert(block, self.lists.push(0, block));
        false
    }

    fn contains(&self, block: u64) -> bool {
        self.index.contains_key(&block)
    }

    fn len(&self) -> usize {
        self.index.len()
    }
}
