//! Which block is in which slot, in 17 bytes of memory a slot.

use crate::hash::mixed;

const NONE: u32 = u32::MAX;
const USES: u64 = 3;

/// The blocks of all slots, found by key.
///
/// Keys are multiples of 4 above 0; their lower bits hold how often a block was used, at most 3.
pub struct Index {
    keys: Vec<u64>,
    sums: Vec<u32>,
    /// Slots by hash, with linear probing.
    table: Vec<u32>,
    used: usize,
    /// Blocks of each segment, of so many slots.
    live: Vec<u32>,
    per_segment: u32,
}

impl Index {
    /// An empty index of segments with so many slots each.
    pub fn new(segments: usize, per_segment: u32) -> Self {
        let slots = segments * per_segment as usize;
        let places = (slots + slots / 4).max(8);
        Self {
            keys: vec![0; slots],
            sums: vec![0; slots],
            table: vec![NONE; places],
            used: 0,
            live: vec![0; segments],
            per_segment,
        }
    }

    /// The number of blocks of a segment.
    pub fn live(&self, segment: u32) -> u32 {
        self.live[segment as usize]
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.used
    }

    /// The slot of a key.
    pub fn find(&self, key: u64) -> Option<u32> {
        let slot = self.table[self.place(key)];
        (slot != NONE).then_some(slot)
    }

    /// Key, checksum and uses of a slot; none if it is empty.
    pub fn at(&self, slot: u32) -> Option<(u64, u32, u8)> {
        let key = self.keys[slot as usize];
        (key != 0).then_some((key & !USES, self.sums[slot as usize], (key & USES) as u8))
    }

    /// Sets how often a slot's block was used.
    pub fn set_uses(&mut self, slot: u32, uses: u8) {
        let key = &mut self.keys[slot as usize];
        *key = (*key & !USES) | u64::from(uses).min(USES);
    }

    /// Puts a block into an empty slot; one of the same key elsewhere is removed.
    pub fn insert(&mut self, slot: u32, key: u64, sum: u32) {
        self.remove(key);
        let place = self.place(key);
        self.table[place] = slot;
        self.keys[slot as usize] = key;
        self.sums[slot as usize] = sum;
        self.used += 1;
        self.live[(slot / self.per_segment) as usize] += 1;
    }

    /// Removes a block; returns its slot.
    pub fn remove(&mut self, key: u64) -> Option<u32> {
        let mut hole = self.place(key);
        let slot = std::mem::replace(&mut self.table[hole], NONE);
        if slot == NONE {
            return None;
        }
        self.keys[slot as usize] = 0;
        self.used -= 1;
        self.live[(slot / self.per_segment) as usize] -= 1;
        // Moves back what would no longer be found behind the hole.
        let mut place = hole;
        loop {
            place = (place + 1) % self.table.len();
            let other = self.table[place];
            if other == NONE {
                return Some(slot);
            }
            let first = self.home(self.keys[other as usize] & !USES);
            let behind = |start: usize| (place + self.table.len() - start) % self.table.len();
            if behind(first) >= behind(hole) {
                self.table[hole] = std::mem::replace(&mut self.table[place], NONE);
                hole = place;
            }
        }
    }

    /// Where a key is in the table, or where it would be.
    fn place(&self, key: u64) -> usize {
        let mut place = self.home(key);
        loop {
            let slot = self.table[place];
            if slot == NONE || self.keys[slot as usize] & !USES == key {
                return place;
            }
            place = (place + 1) % self.table.len();
        }
    }

    fn home(&self, key: u64) -> usize {
        ((u128::from(mixed(key)) * self.table.len() as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn finds_what_a_map_finds(steps in prop::collection::vec((1_u64..60, 0_u8..3), 0..400)) {
            let mut index = Index::new(5, 8);
            let mut free: Vec<u32> = (0..40).collect();
            let mut map: HashMap<u64, (u32, u8)> = HashMap::new();
            for (number, what) in steps {
                let key = number << 2;
                match (what, free.pop()) {
                    (0, slot) => {
                        free.extend(slot);
                        let removed = index.remove(key);
                        prop_assert_eq!(removed, map.remove(&key).map(|(slot, _)| slot));
                        free.extend(removed);
                    }
                    (1, slot) => {
                        free.extend(slot);
                        if let Some((slot, uses)) = map.get_mut(&key) {
                            *uses = (*uses + 1).min(3);
                            index.set_uses(*slot, *uses);
                        }
                    }
                    (_, Some(slot)) => {
                        index.insert(slot, key, number as u32);
                        free.extend(map.insert(key, (slot, 0)).map(|(slot, _)| slot));
                    }
                    (_, None) => {}
                }
                prop_assert_eq!(index.len(), map.len());
                for segment in 0..5 {
                    let own = map.values().filter(|(slot, _)| slot / 8 == segment).count();
                    prop_assert_eq!(index.live(segment) as usize, own);
                }
                for number in 1..60 {
                    let (key, expected) = (number << 2, map.get(&(number << 2)));
                    let found = index.find(key);
                    prop_assert_eq!(found, expected.map(|&(slot, _)| slot));
                    let at = found.and_then(|slot| index.at(slot));
                    prop_assert_eq!(at, expected.map(|&(_, uses)| (key, number as u32, uses)));
                }
            }
        }
    }
}
