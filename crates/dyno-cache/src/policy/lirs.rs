//! LIRS: blocks with a short time between accesses stay; others share a hundredth of the cache.
//!
//! The stack orders blocks by their last access. Its lowest is always a staying block; a block that
//! is accessed again before the lowest staying one takes its place. The stack also remembers blocks
//! that are gone, at most as many as make it twice the capacity.

use super::lists::{Lists, Node};
use super::{Index, Policy, share};

const STACK: usize = 0;
const PASSING: usize = 1;
const GONE: usize = 2;

const PASSING_SHARE: f64 = 0.01;

/// The nodes of a block in the lists. A staying block is in the stack alone.
#[derive(Clone, Copy, Default)]
struct Place {
    stack: Option<Node>,
    passing: Option<Node>,
    gone: Option<Node>,
}

impl Place {
    fn stays(&self) -> bool {
        self.passing.is_none() && self.gone.is_none()
    }
}

pub struct Lirs {
    capacity: usize,
    staying_capacity: usize,
    staying: usize,
    lists: Lists<3>,
    index: Index<Place>,
}

impl Lirs {
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            staying_capacity: capacity - share(capacity, PASSING_SHARE),
            staying: 0,
            lists: Lists::default(),
            index: Index::default(),
        }
    }

    fn place(&mut self, block: u64) -> &mut Place {
        self.index.entry(block).or_default()
    }

    /// Puts a block on top of the stack.
    fn raise(&mut self, block: u64) {
        match self.place(block).stack {
            Some(node) => self.lists.raise(STACK, node),
            None => self.place(block).stack = Some(self.lists.push(STACK, block)),
        }
    }

    /// Keeps a block as a passing one.
    fn pass(&mut self, block: u64) {
        let node = self.lists.push(PASSING, block);
        self.place(block).passing = Some(node);
    }

    /// Lets a block stay, and the staying block of the oldest access pass instead if there are too
    /// many.
    fn stay(&mut self, block: u64) {
        let place = self.place(block);
        let others = [place.passing.take(), place.gone.take()];
        others.into_iter().flatten().for_each(|node| {
            self.lists.remove(node);
        });
        self.staying += 1;
        self.raise(block);
        self.prune();
        if self.staying > self.staying_capacity
            && let Some(lowest) = self.lists.pop(STACK)
        {
            self.staying -= 1;
            self.place(lowest).stack = None;
            self.pass(lowest);
            self.prune();
        }
    }

    /// Drops what is below the lowest staying block of the stack.
    fn prune(&mut self) {
        while let Some(node) = self.lists.back(STACK) {
            let block = self.lists.block(node);
            if self.place(block).stays() {
                return;
            }
            self.drop_from_stack(block);
        }
    }

    fn drop_from_stack(&mut self, block: u64) {
        let place = self.place(block);
        let nodes = [place.stack.take(), place.gone.take()];
        if place.passing.is_none() {
            self.index.remove(&block);
        }
        nodes.into_iter().flatten().for_each(|node| {
            self.lists.remove(node);
        });
    }

    fn make_space(&mut self) {
        if self.len() < self.capacity {
            return;
        }
        if let Some(block) = self.lists.pop(PASSING) {
            let place = self.place(block);
            place.passing = None;
            if place.stack.is_none() {
                self.index.remove(&block);
                return;
            }
            let node = self.lists.push(GONE, block);
            self.place(block).gone = Some(node);
        }
    }

    fn limit_stack(&mut self) {
        while self.lists.len(STACK) > 2 * self.capacity
            && let Some(oldest) = self.lists.back(GONE)
        {
            self.drop_from_stack(self.lists.block(oldest));
        }
    }
}

impl Policy for Lirs {
    fn access(&mut self, block: u64) -> bool {
        let known = self.index.get(&block).copied();
        let hit = known.is_some_and(|place| place.gone.is_none());
        match known {
            Some(place) if place.stays() => {
                self.raise(block);
                self.prune();
            }
            Some(Place { stack: None, passing: Some(node), .. }) => {
                self.lists.raise(PASSING, node);
                self.raise(block);
            }
            Some(place) => {
                if place.gone.is_some() {
                    self.make_space();
                }
                self.stay(block);
            }
            None if self.staying < self.staying_capacity => self.stay(block),
            None => {
                self.make_space();
                self.raise(block);
                self.pass(block);
            }
        }
        self.limit_stack();
        hit
    }

    fn contains(&self, block: u64) -> bool {
        self.index.get(&block).is_some_and(|place| place.gone.is_none())
    }

    fn len(&self) -> usize {
        self.staying + self.lists.len(PASSING)
    }
}
