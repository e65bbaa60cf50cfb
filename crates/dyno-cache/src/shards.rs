//! Miss ratios of LRU caches of every size, from a sample of the blocks.
//!
//! SHARDS with a fixed number of blocks (Waldspurger, Park, Garthwaite and Ahmad, "Efficient MRC
//! construction with SHARDS", FAST 2015): a block is sampled if its hash is below a threshold, which
//! falls so that at most a given number of blocks are sampled. Reuse distances within the sample,
//! divided by the sampling rate, are those of the trace. The accesses that a sample has too many or
//! too few of count as distance 0 (their "adjustment").

use crate::hash::mixed;
use crate::policy::Index;
use std::collections::BinaryHeap;

/// Buckets per doubling of the distance: a distance is off by at most 1.1 %.
const PER_DOUBLING: f64 = 64.0;
const BUCKETS: usize = 64 * 40;
/// Of a hash; the threshold starts here, so all blocks are sampled at first.
const RANGE: f64 = (1_u64 << 32) as f64;

/// Takes accesses and estimates the miss ratio of an LRU cache of any size.
pub struct Shards {
    most: usize,
    threshold: u64,
    order: Order,
    /// The place of the last access of each sampled block.
    last: Index<u32>,
    by_hash: BinaryHeap<(u64, u64)>,
    /// Accesses by distance, weighted by the rate at that time over today's.
    buckets: Vec<f64>,
    sampled: f64,
    accesses: u64,
}

impl Shards {
    /// Samples at most `most` blocks; with 8,192 of them it takes less than 1 MiB of memory.
    pub fn new(most: usize) -> Self {
        let most = most.max(2);
        Self {
            most,
            threshold: RANGE as u64,
            order: Order::new(2 * most),
            last: Index::default(),
            by_hash: BinaryHeap::new(),
            buckets: vec![0.0; BUCKETS],
            sampled: 0.0,
            accesses: 0,
        }
    }

    /// The share of blocks that is sampled now.
    pub fn rate(&self) -> f64 {
        self.threshold as f64 / RANGE
    }

    /// Records an access to a block.
    pub fn access(&mut self, block: u64) {
        self.accesses += 1;
        let hash = mixed(block) >> 32;
        if hash >= self.threshold {
            return;
        }
        self.sampled += 1.0;
        if self.order.is_full() {
            self.renumber();
        }
        let place = self.order.push();
        if let Some(previous) = self.last.insert(block, place) {
            let distance = f64::from(self.order.after(previous) - 1) / self.rate();
            self.order.remove(previous);
            self.buckets[bucket(distance)] += 1.0;
            return;
        }
        self.by_hash.push((hash, block));
        if self.last.len() > self.most {
            self.lower_threshold();
        }
    }

    /// The estimated share of accesses that miss an LRU cache of `capacity` blocks; 1 without
    /// accesses.
    pub fn miss_ratio(&self, capacity: u64) -> f64 {
        if self.accesses == 0 {
            return 1.0;
        }
        let expected = self.accesses as f64 * self.rate();
        let within = capacity_buckets(capacity);
        let hits: f64 = self.buckets[..within].iter().sum::<f64>() + expected - self.sampled;
        (1.0 - hits / expected).clamp(0.0, 1.0)
    }

    /// The estimated number of different blocks.
    pub fn footprint(&self) -> f64 {
        self.last.len() as f64 / self.rate()
    }

    fn lower_threshold(&mut self) {
        let before = self.rate();
        let Some(&(highest, _)) = self.by_hash.peek() else { return };
        while let Some(&(hash, block)) = self.by_hash.peek()
            && hash == highest
        {
            self.by_hash.pop();
            if let Some(place) = self.last.remove(&block) {
                self.order.remove(place);
            }
        }
        self.threshold = highest;
        let scale = self.rate() / before;
        self.buckets.iter_mut().for_each(|count| *count *= scale);
        self.sampled *= scale;
    }

    /// Gives the sampled blocks consecutive places in the order of their last accesses.
    fn renumber(&mut self) {
        let mut places: Vec<(u32, u64)> = self.last.iter().map(|(&b, &place)| (place, b)).collect();
        places.sort_unstable();
        self.order.clear();
        for (_, block) in places {
            self.last.insert(block, self.order.push());
        }
    }
}

fn bucket(distance: f64) -> usize {
    (((distance + 1.0).log2() * PER_DOUBLING) as usize).min(BUCKETS - 1)
}

/// The buckets whose distances fit into a capacity: a block with n others in between needs n + 1.
fn capacity_buckets(capacity: u64) -> usize {
    if capacity == 0 { 0 } else { bucket(capacity as f64 - 1.0) + 1 }
}

/// Places in the order of time, and how many are taken after one (a Fenwick tree).
struct Order {
    tree: Vec<u32>,
    next: u32,
    taken: u32,
}

impl Order {
    fn new(places: usize) -> Self {
        Self { tree: vec![0; places + 1], next: 0, taken: 0 }
    }

    fn is_full(&self) -> bool {
        self.next as usize + 1 == self.tree.len()
    }

    fn clear(&mut self) {
        self.tree.fill(0);
        (self.next, self.taken) = (0, 0);
    }

    fn push(&mut self) -> u32 {
        let place = self.next;
        self.next += 1;
        self.taken += 1;
        self.add(place, 1);
        place
    }

    fn remove(&mut self, place: u32) {
        self.taken -= 1;
        self.add(place, u32::MAX); // minus one
    }

    fn after(&self, place: u32) -> u32 {
        let (mut at, mut until) = (place as usize + 1, 0_u32);
        while at > 0 {
            until = until.wrapping_add(self.tree[at]);
            at &= at - 1;
        }
        self.taken - until
    }

    fn add(&mut self, place: u32, by: u32) {
        let mut at = place as usize + 1;
        while at < self.tree.len() {
            self.tree[at] = self.tree[at].wrapping_add(by);
            at += at & at.wrapping_neg();
        }
    }
}
