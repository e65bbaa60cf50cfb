//! S3-FIFO: most blocks are used once, so a small queue lets those go early.
//!
//! A new block enters the small queue. At its end it moves to the main queue if it was accessed at
//! least twice meanwhile, else its number stays in the ghost queue for a while; a block found there
//! enters the main queue. Blocks at the end of the main queue that were accessed go round again.

use super::lists::{Lists, Node};
use super::{Index, Policy, share};

const SMALL: usize = 0;
const MAIN: usize = 1;
const GHOST: usize = 2;

const SMALL_SHARE: f64 = 0.1;
const GHOST_SHARE: f64 = 0.9;
const MAX_USES: u8 = 3;
const USES_TO_MOVE: u8 = 2;

/// Marks of nodes are accesses since the block entered its queue, at most [`MAX_USES`].
pub struct S3Fifo {
    capacity: usize,
    main: usize,
    ghosts: usize,
    lists: Lists<3>,
    index: Index<Node>,
}

impl S3Fifo {
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            main: capacity - share(capacity, SMALL_SHARE),
            ghosts: share(capacity, GHOST_SHARE),
            lists: Lists::default(),
            index: Index::default(),
        }
    }

    fn make_space(&mut self) {
        while self.len() >= self.capacity {
            if self.lists.len(MAIN) > self.main || self.lists.len(SMALL) == 0 {
                self.end_of_main();
            } else {
                self.end_of_small();
            }
        }
    }

    fn end_of_small(&mut self) {
        let Some(node) = self.lists.back(SMALL) else { return };
        if *self.lists.mark(node) >= USES_TO_MOVE {
            *self.lists.mark(node) = 0;
            self.lists.raise(MAIN, node);
            return;
        }
        if self.lists.len(GHOST) == self.ghosts
            && let Some(forgotten) = self.lists.pop(GHOST)
        {
            self.index.remove(&forgotten);
        }
        self.lists.raise(GHOST, node);
    }

    fn end_of_main(&mut self) {
        let Some(node) = self.lists.back(MAIN) else { return };
        let uses = self.lists.mark(node);
        if *uses > 0 {
            *uses -= 1;
            self.lists.raise(MAIN, node);
        } else {
            let block = self.lists.remove(node);
            self.index.remove(&block);
        }
    }
}

impl Policy for S3Fifo {
    fn access(&mut self, block: u64) -> bool {
        let queue = match self.index.get(&block) {
            Some(&node) if self.lists.list(node) != GHOST => {
                let uses = self.lists.mark(node);
                *uses = MAX_USES.min(*uses + 1);
                return true;
            }
            Some(&node) => {
                self.lists.remove(node);
                self.index.remove(&block);
                MAIN
            }
            None => SMALL,
        };
        self.make_space();
        self.index.insert(block, self.lists.push(queue, block));
        false
    }

    fn contains(&self, block: u64) -> bool {
        self.index.get(&block).is_some_and(|&node| self.lists.list(node) != GHOST)
    }

    fn len(&self) -> usize {
        self.lists.len(SMALL) + self.lists.len(MAIN)
    }
}
