//! Blocks that were let go not long ago, in some 5 bytes each.

use crate::hash::mixed;

const WAYS: usize = 8;

/// Remembers about as many keys as given, the latest ones, by fingerprints of 32 bits.
///
/// Keys share places by hash, so some are forgotten early, and one in half a billion is taken for
/// another.
pub struct Ghosts {
    /// Groups of [`WAYS`] fingerprints, 0 if empty; the next of a group to overwrite is a counter.
    groups: Vec<[u32; WAYS]>,
    next: Vec<u8>,
}

impl Ghosts {
    /// For `most` keys.
    pub fn new(most: usize) -> Self {
        let groups = most.div_ceil(WAYS).max(1);
        Self { groups: vec![[0; WAYS]; groups], next: vec![0; groups] }
    }

    /// Remembers a key; forgets the oldest of its group.
    pub fn add(&mut self, key: u64) {
        let (group, print) = self.place(key);
        let next = &mut self.next[group];
        self.groups[group][usize::from(*next) % WAYS] = print;
        *next = next.wrapping_add(1);
    }

    /// Whether a key is remembered; forgets it.
    pub fn take(&mut self, key: u64) -> bool {
        let (group, print) = self.place(key);
        let found = self.groups[group].iter_mut().find(|known| **known == print);
        found.map(|known| *known = 0).is_some()
    }

    fn place(&self, key: u64) -> (usize, u32) {
        let hash = mixed(key);
        let group = ((u128::from(hash) * self.groups.len() as u128) >> 64) as usize;
        (group, (mixed(hash) as u32).max(1))
    }
}
