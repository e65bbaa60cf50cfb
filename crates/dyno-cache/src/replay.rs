//! Traces replayed over policies and sizes.

use crate::hash::mixed;
use crate::policy::{Name, belady_hits};
use dyno_record::{Control, Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

/// Accesses between two looks at the control handle.
const STEP: usize = 1 << 16;
/// The bit of an access's byte that says that it writes; the others are the kind of its file.
const WRITE: u8 = 0x80;

/// Accesses to blocks in the order of their times.
#[derive(Clone, Copy)]
pub struct Trace<'a> {
    /// The numbers of the blocks.
    pub blocks: &'a [u64],
    /// By access: the kind of the file, 0 to 127, and [`WRITE`]. Empty: reads of kind 0.
    pub kinds: &'a [u8],
}

/// What a write does to the cache. Writes are never hits or misses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Writes {
    /// It is an access like a read: the written block is kept.
    Allocate,
    /// It is an access if the block is kept already, else nothing.
    Update,
    /// Writes are left out.
    Ignore,
}

/// A cache to simulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// Its policy.
    pub policy: Replayed,
    /// Its size in blocks.
    pub blocks: usize,
}

/// A policy, or the optimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replayed {
    /// Belady's MIN, which knows later accesses.
    Belady,
    /// A policy that does not.
    #[serde(untagged)]
    Policy(Name),
}

/// What to replay, and how.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The caches, each replayed by itself.
    pub caches: Vec<Cache>,
    /// What writes do.
    pub writes: Writes,
    /// The share of the blocks that is replayed, in caches smaller by the same factor; 1 for all.
    pub rate: f64,
}

/// Reads and hits of a cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The cache.
    #[serde(flatten)]
    pub cache: Cache,
    /// Reads by kind of file, up to the highest kind.
    pub reads: Vec<u64>,
    /// Those of blocks that were kept. Those of the optimum are not told apart by kind.
    pub hits: Vec<u64>,
}

/// Replays a trace over all caches of a plan, several at once.
///
/// Progress counts accesses times caches.
///
/// # Errors
/// `usage` if kinds and blocks differ in number or the rate is not within 0 and 1; `cancelled`.
pub fn replay(trace: Trace, plan: &Plan, control: &Control) -> Result<Vec<Counts>> {
    if !trace.kinds.is_empty() && trace.kinds.len() != trace.blocks.len() {
        return Err(Error::new(ErrorKind::Usage, "a trace needs one kind per access"));
    }
    if !(plan.rate > 0.0 && plan.rate <= 1.0) {
        return Err(Error::new(ErrorKind::Usage, "the sampling rate must be within 0 and 1"));
    }
    let (blocks, kinds) = sampled(trace, plan);
    control.set_total((blocks.len() * plan.caches.len()) as u64);
    let waiting = Mutex::new(plan.caches.iter().enumerate());
    let found = Mutex::new(vec![None; plan.caches.len()]);
    let work = || {
        loop {
            let next = waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
            let Some((place, &cache)) = next else { return };
            let counts = one(&blocks, &kinds, cache, plan, control);
            found.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[place] = Some(counts);
        }
    };
    thread::scope(|scope| {
        let others = thread::available_parallelism().map_or(1, NonZero::get).min(plan.caches.len());
        for _ in 1..others {
            scope.spawn(work);
        }
        work();
    });
    control.check()?;
    let found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(found.into_iter().flatten().collect())
}

/// The accesses that count, of the blocks that are sampled.
fn sampled(trace: Trace, plan: &Plan) -> (Vec<u64>, Vec<u8>) {
    let threshold = (plan.rate * (1_u64 << 32) as f64) as u64;
    let kinds = trace.kinds.iter().copied().chain(std::iter::repeat(0));
    trace
        .blocks
        .iter()
        .copied()
        .zip(kinds)
        .filter(|&(block, kind)| {
            mixed(block) >> 32 < threshold && (plan.writes != Writes::Ignore || kind & WRITE == 0)
        })
        .unzip()
}

fn one(blocks: &[u64], kinds: &[u8], cache: Cache, plan: &Plan, control: &Control) -> Counts {
    let highest = kinds.iter().map(|kind| kind & !WRITE).max().unwrap_or(0);
    let mut counts = Counts {
        cache,
        reads: vec![0; usize::from(highest) + 1],
        hits: vec![0; usize::from(highest) + 1],
    };
    let capacity = ((cache.blocks as f64 * plan.rate).round() as usize).max(1);
    let Replayed::Policy(name) = cache.policy else {
        let reads: Vec<bool> = kinds.iter().map(|kind| kind & WRITE == 0).collect();
        counts.reads[0] = reads.iter().filter(|&&read| read).count() as u64;
        counts.hits[0] = belady_hits(blocks, &reads, capacity, || control.is_cancelled());
        control.add(blocks.len() as u64, 0);
        return counts;
    };
    let mut kept = name.cache(capacity);
    for (blocks, kinds) in blocks.chunks(STEP).zip(kinds.chunks(STEP)) {
        if control.is_cancelled() {
            break;
        }
        for (&block, &kind) in blocks.iter().zip(kinds) {
            if kind & WRITE == 0 {
                counts.reads[usize::from(kind)] += 1;
                counts.hits[usize::from(kind)] += u64::from(kept.access(block));
            } else if plan.writes == Writes::Allocate || kept.contains(block) {
                kept.access(block);
            }
        }
        control.add(blocks.len() as u64, 0);
    }
    counts
}
