//! How often blocks were accessed, in a few bits each.

use crate::hash::mixed;

const ROWS: usize = 4;
const MAX: u8 = 15;
const COUNTERS_PER_BLOCK: usize = 4;
/// Accesses per block of the capacity after which all counts are halved, so that old ones fade.
const PERIOD: usize = 10;

/// Counts accesses, at most 15 of a block, never too low until counts are halved.
///
/// A block has four counters that it shares with others. Only the lowest of them grow at an access
/// (conservative update), and the lowest is the count.
pub struct Sketch {
    counters: Vec<u8>,
    accesses: usize,
    period: usize,
}

impl Sketch {
    /// A sketch for a cache of `capacity` blocks; takes four to eight bytes of memory a block.
    pub fn new(capacity: usize) -> Self {
        let counters = (capacity * COUNTERS_PER_BLOCK).next_power_of_two().max(64);
        Self { counters: vec![0; counters], accesses: 0, period: capacity.max(16) * PERIOD }
    }

    /// Counts an access.
    pub fn add(&mut self, block: u64) {
        let places = self.places(block);
        let lowest = self.lowest(places);
        if lowest < MAX {
            for place in places {
                let counter = &mut self.counters[place];
                *counter = (*counter).max(lowest + 1);
            }
        }
        self.accesses += 1;
        if self.accesses == self.period {
            self.accesses /= 2;
            self.counters.iter_mut().for_each(|counter| *counter /= 2);
        }
    }

    /// The accesses to a block, weighted by age; an upper bound.
    pub fn count(&self, block: u64) -> u8 {
        self.lowest(self.places(block))
    }

    fn lowest(&self, places: [usize; ROWS]) -> u8 {
        places.iter().map(|&place| self.counters[place]).min().unwrap_or(0)
    }

    /// Places by two hashes (Kirsch and Mitzenmacher, "Less hashing, same performance", 2006).
    fn places(&self, block: u64) -> [usize; ROWS] {
        let (first, second) = (mixed(block), mixed(!block) | 1);
        std::array::from_fn(|row| {
            let hash = first.wrapping_add(second.wrapping_mul(row as u64));
            hash as usize & (self.counters.len() - 1)
        })
    }
}
