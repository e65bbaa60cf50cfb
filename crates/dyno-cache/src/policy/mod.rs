//! Which blocks a cache keeps.
//!
//! All blocks have the same size, and a policy knows their numbers only. Storing them is the work of
//! others, so a policy can be simulated, and serve as a shadow beside a real cache.

mod arc;
mod belady;
mod ghosts;
mod lirs;
mod lists;
mod lru;
mod retention;
mod s3fifo;
mod segmented;
mod twoq;
mod wtinylfu;

pub use belady::hits as belady_hits;
pub use retention::{QUEUES, Queue, Retention, SegmentedS3Fifo};
use serde::{Deserialize, Serialize};

/// Decides by the accesses so far which blocks a cache keeps.
///
/// Implementations guarantee that at most as many blocks are kept as the capacity given to them,
/// that [`Policy::access`] returns true exactly if [`Policy::contains`] did before it, and that a
/// sequence of accesses always has the same result.
pub trait Policy: Send {
    /// Records an access to a block, and whether it was kept until now. May keep it from now on, and
    /// others no longer.
    fn access(&mut self, block: u64) -> bool;

    /// Whether a block is kept.
    fn contains(&self, block: u64) -> bool;

    /// How many blocks are kept.
    fn len(&self) -> usize;

    /// Whether no block is kept.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A policy of this crate that decides without knowing later accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Name {
    /// Least recently used.
    Lru,
    /// Adaptive replacement cache (Megiddo and Modha, FAST 2003).
    Arc,
    /// Full 2Q (Johnson and Shasha, VLDB 1994).
    #[serde(rename = "2q")]
    TwoQ,
    /// Low inter-reference recency set (Jiang and Zhang, SIGMETRICS 2002).
    Lirs,
    /// Three queues (Yang et al., SOSP 2023).
    S3Fifo,
    /// S3-FIFO as the cache on flash has it: whole segments make way.
    Flash,
    /// Window and admission by frequency (Einziger, Friedman and Manes, ACM TOS 2017).
    WTinyLfu,
}

impl Name {
    /// All policies.
    pub const ALL: [Self; 7] =
        [Self::Lru, Self::Arc, Self::TwoQ, Self::Lirs, Self::S3Fifo, Self::WTinyLfu, Self::Flash];

    /// An empty cache of `capacity` blocks, at least one.
    pub fn cache(self, capacity: usize) -> Box<dyn Policy> {
        let capacity = capacity.max(1);
        match self {
            Self::Lru => Box::new(lru::Lru::new(capacity)),
            Self::Arc => Box::new(arc::Arc::new(capacity)),
            Self::TwoQ => Box::new(twoq::TwoQ::new(capacity)),
            Self::Lirs => Box::new(lirs::Lirs::new(capacity)),
            Self::S3Fifo => Box::new(s3fifo::S3Fifo::new(capacity)),
            Self::Flash => Box::new(segmented::Segmented::new(capacity)),
            Self::WTinyLfu => Box::new(wtinylfu::WTinyLfu::new(capacity)),
        }
    }
}

/// A table from blocks to nodes or other small values.
pub(crate) type Index<V> = std::collections::HashMap<u64, V, foldhash::fast::FixedState>;

/// A share of a capacity, at least one block.
fn share(capacity: usize, of: f64) -> usize {
    ((capacity as f64 * of) as usize).max(1)
}
