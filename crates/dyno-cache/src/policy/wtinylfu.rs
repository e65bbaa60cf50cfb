//! W-TinyLFU: a small window takes new blocks, and those at its end enter the main part only if they
//! were accessed more often than the block that would make way.
//!
//! The main part is LRU in two segments: a second access moves a block to the protected one.

use super::lists::{Lists, Node};
use super::{Index, Policy, share};
use crate::sketch::Sketch;

const WINDOW: usize = 0;
const TRIAL: usize = 1;
const PROTECTED: usize = 2;

const WINDOW_SHARE: f64 = 0.01;
const PROTECTED_SHARE: f64 = 0.8;

pub struct WTinyLfu {
    window: usize,
    main: usize,
    protected: usize,
    lists: Lists<3>,
    index: Index<Node>,
    sketch: Sketch,
}

impl WTinyLfu {
    pub fn new(capacity: usize) -> Self {
        let window = share(capacity, WINDOW_SHARE);
        let main = capacity - window;
        Self {
            window,
            main,
            protected: (main as f64 * PROTECTED_SHARE) as usize,
            lists: Lists::default(),
            index: Index::default(),
            sketch: Sketch::new(capacity),
        }
    }

    fn hit(&mut self, node: Node) {
        let list = self.lists.list(node);
        if list == WINDOW {
            return self.lists.raise(WINDOW, node);
        }
        self.lists.raise(PROTECTED, node);
        if self.lists.len(PROTECTED) > self.protected
            && let Some(oldest) = self.lists.back(PROTECTED)
        {
            self.lists.raise(TRIAL, oldest);
        }
    }

    /// Moves the last block of a full window to the main part, or drops it.
    fn leave_window(&mut self) {
        let Some(candidate) = self.lists.back(WINDOW) else { return };
        if self.lists.len(TRIAL) + self.lists.len(PROTECTED) < self.main {
            return self.lists.raise(TRIAL, candidate);
        }
        let last = self.lists.back(TRIAL).or(self.lists.back(PROTECTED));
        let Some(victim) = last.filter(|&victim| self.uses(candidate) > self.uses(victim)) else {
            return self.remove(candidate);
        };
        self.remove(victim);
        self.lists.raise(TRIAL, candidate);
    }

    fn uses(&self, node: Node) -> u8 {
        self.sketch.count(self.lists.block(node))
    }

    fn remove(&mut self, node: Node) {
        let block = self.lists.remove(node);
        self.index.remove(&block);
    }
}

impl Policy for WTinyLfu {
    fn access(&mut self, block: u64) -> bool {
        self.sketch.add(block);
        if let Some(&node) = self.index.get(&block) {
            self.hit(node);
            return true;
        }
        if self.lists.len(WINDOW) == self.window {
            self.leave_window();
        }
        self.index.insert(block, self.lists.push(WINDOW, block));
        false
    }

    fn contains(&self, block: u64) -> bool {
        self.index.contains_key(&block)
    }

    fn len(&self) -> usize {
        self.index.len()
    }
}
