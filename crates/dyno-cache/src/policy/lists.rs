//! Doubly linked lists that share one pool of nodes.

/// The number of a node in the pool.
pub type Node = u32;

const NONE: Node = u32::MAX;

#[derive(Clone, Copy)]
struct Entry {
    block: u64,
    previous: Node,
    next: Node,
    list: u8,
    mark: u8,
}

#[derive(Clone, Copy)]
struct Ends {
    front: Node,
    back: Node,
    len: usize,
}

/// `N` lists of blocks. A node is in exactly one of them and has a mark of the caller's.
///
/// All operations take constant time. Nodes that left are used again.
pub struct Lists<const N: usize> {
    entries: Vec<Entry>,
    free: Vec<Node>,
    ends: [Ends; N],
}

impl<const N: usize> Default for Lists<N> {
    fn default() -> Self {
        let empty = Ends { front: NONE, back: NONE, len: 0 };
        Self { entries: Vec::new(), free: Vec::new(), ends: [empty; N] }
    }
}

impl<const N: usize> Lists<N> {
    /// The number of blocks in a list.
    pub fn len(&self, list: usize) -> usize {
        self.ends[list].len
    }

    /// Adds a block at the front of a list, with mark 0.
    pub fn push(&mut self, list: usize, block: u64) -> Node {
        let entry = Entry { block, previous: NONE, next: NONE, list: 0, mark: 0 };
        let node = if let Some(node) = self.free.pop() {
            self.entries[node as usize] = entry;
            node
        } else {
            self.entries.push(entry);
            (self.entries.len() - 1) as Node
        };
        self.link(list, node);
        node
    }

    /// Removes a node and returns its block.
    pub fn remove(&mut self, node: Node) -> u64 {
        self.unlink(node);
        self.free.push(node);
        self.block(node)
    }

    /// Removes the block at the back of a list.
    pub fn pop(&mut self, list: usize) -> Option<u64> {
        self.back(list).map(|node| self.remove(node))
    }

    /// Moves a node to the front of a list, which may be another one.
    pub fn raise(&mut self, list: usize, node: Node) {
        self.unlink(node);
        self.link(list, node);
    }

    /// The node at the back of a list.
    pub fn back(&self, list: usize) -> Option<Node> {
        Some(self.ends[list].back).filter(|&node| node != NONE)
    }

    /// The block of a node.
    pub fn block(&self, node: Node) -> u64 {
        self.entries[node as usize].block
    }

    /// The list that a node is in.
    pub fn list(&self, node: Node) -> usize {
        usize::from(self.entries[node as usize].list)
    }

    /// The mark of a node.
    pub fn mark(&mut self, node: Node) -> &mut u8 {
        &mut self.entries[node as usize].mark
    }

    fn link(&mut self, list: usize, node: Node) {
        let ends = &mut self.ends[list];
        let front = std::mem::replace(&mut ends.front, node);
        ends.len += 1;
        if front == NONE {
            ends.back = node;
        } else {
            self.entries[front as usize].previous = node;
        }
        let entry = &mut self.entries[node as usize];
        (entry.previous, entry.next, entry.list) = (NONE, front, list as u8);
    }

    fn unlink(&mut self, node: Node) {
        let Entry { previous, next, list, .. } = self.entries[node as usize];
        let ends = &mut self.ends[usize::from(list)];
        ends.len -= 1;
        if previous == NONE {
            ends.front = next;
        } else {
            self.entries[previous as usize].next = next;
        }
        if next == NONE {
            self.ends[usize::from(list)].back = previous;
        } else {
            self.entries[next as usize].previous = previous;
        }
    }
}
