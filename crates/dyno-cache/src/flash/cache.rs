//! The cache itself: see [`super`] for what it guarantees, and how.

use super::device::Device;
use super::index::Index;
use super::intents::Intents;
use super::layout::{BLOCK, Geometry, Superblock};
use super::segments::Segments;
use crate::hash::mixed;
use crate::policy::{Queue, Retention};
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const GUARDS: usize = 1 << 14;
const MAX_USES: u8 = 3;
/// Slots that are counted at once.
const TALLIED: u32 = 1 << 14;
/// Segments that stay free for blocks that move when a segment makes way.
pub(super) const RESERVE: usize = 1;

/// Writes of the blocks that share a guard.
#[derive(Clone, Copy, Default)]
struct Guard {
    active: u32,
    /// Grows when a write begins and when it ends.
    version: u32,
}

/// What changes under one lock.
pub(super) struct State {
    pub index: Index,
    pub segments: Segments,
    pub retention: Box<dyn Retention>,
    guards: Vec<Guard>,
    /// Writes in progress that began in an even or odd epoch; a checkpoint begins an epoch.
    pub writers: [usize; 2],
    pub epoch: usize,
    pub counts: Counts,
}

/// What a cache did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Blocks that were found.
    pub hits: u64,
    /// Blocks that were not.
    pub misses: u64,
    /// Blocks that were cached.
    pub filled: u64,
    /// Blocks that were not cached, because they were written meanwhile.
    pub overtaken: u64,
    /// Blocks that were not cached, because the device was busy.
    pub busy: u64,
    /// Blocks whose checksum was wrong.
    pub damaged: u64,
    /// Reads and writes of the device that failed.
    pub errors: u64,
}

/// Blocks of an origin on a flash device.
pub struct Cache {
    pub(super) device: Arc<dyn Device>,
    pub(super) geometry: Geometry,
    pub(super) state: Mutex<State>,
    pub(super) changed: Condvar,
    /// Told when a segment waits to be written: a condition of its own, because every read tells
    /// the other one.
    work: Condvar,
    pub(super) intents: Mutex<Intents>,
    /// The last superblock; held during a checkpoint.
    pub(super) head: Mutex<Superblock>,
    /// Held by who writes segments or makes them free.
    pub(super) upkeep: Mutex<()>,
}

/// The keys of consecutive blocks of a file are so far apart.
pub const STEP: u64 = 4;

/// Blocks of a read that are consecutive on the device too.
struct Piece {
    /// The first of them in the read.
    at: usize,
    slot: u32,
    segment: usize,
    in_memory: bool,
    sums: Vec<u32>,
}

impl Piece {
    fn continues(&self, at: usize, slot: u32, segment: usize, in_memory: bool) -> bool {
        let blocks = self.sums.len();
        self.at + blocks == at
            && self.slot + blocks as u32 == slot
            && self.segment == segment
            && self.in_memory == in_memory
    }
}

/// A block that is not cached.
pub enum Missed<'a> {
    /// It may be cached once it was read.
    Fill(Fill<'a>),
    /// It is being written, or the policy leaves it out.
    Leave,
}

/// The right to cache a block that is read from the origin after it was given.
pub struct Fill<'a> {
    cache: &'a Cache,
    key: u64,
    queue: Queue,
    version: u32,
}

/// A write to the origin in progress; ends when it is dropped.
pub struct Writing<'a> {
    cache: &'a Cache,
    keys: Vec<u64>,
    /// How often each block was used, if it was cached.
    uses: Vec<Option<u8>>,
    /// Of the blocks' guards, once the write had begun.
    versions: Vec<u32>,
    ended: bool,
    epoch: usize,
}

impl Cache {
    pub(super) fn new(
        device: Arc<dyn Device>,
        head: Superblock,
        intents: Intents,
        index: Index,
        segments: Segments,
        retention: Box<dyn Retention>,
    ) -> Self {
        let state = State {
            index,
            segments,
            retention,
            guards: vec![Guard::default(); GUARDS],
            writers: [0; 2],
            epoch: 0,
            counts: Counts::default(),
        };
        Self {
            device,
            geometry: head.geometry,
            state: Mutex::new(state),
            changed: Condvar::new(),
            work: Condvar::new(),
            intents: Mutex::new(intents),
            head: Mutex::new(head),
            upkeep: Mutex::new(()),
        }
    }

    /// Reads a block into a buffer of [`BLOCK`] bytes if it is cached, and whether it was.
    ///
    /// A damaged or unreadable block is dropped, and counts as not cached.
    pub fn read(&self, key: u64, into: &mut [u8]) -> bool {
        self.read_blocks(key, &mut into[..BLOCK]) == [true]
    }

    /// Reads consecutive blocks of a file, as [`Cache::read`] does, into a buffer of whole blocks.
    /// Their keys increase by [`STEP`]. Returns which of them were cached.
    pub fn read_blocks(&self, first: u64, into: &mut [u8]) -> Vec<bool> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut state = lock(&self.state);
        for (at, bytes) in into.chunks_exact_mut(BLOCK).enumerate() {
            let Some((slot, (_, sum, uses))) = state.located(first + STEP * at as u64) else {
                continue;
            };
            state.index.set_uses(slot, MAX_USES.min(uses + 1));
            let in_memory = state.segments.in_memory(slot);
            if let Some(cached) = in_memory {
                bytes.copy_from_slice(cached);
            }
            let segment = (slot / self.geometry.blocks) as usize;
            match pieces.last_mut() {
                Some(piece) if piece.continues(at, slot, segment, in_memory.is_some()) => {
                    piece.sums.push(sum);
                }
                _ => {
                    let in_memory = in_memory.is_some();
                    pieces.push(Piece { at, slot, segment, in_memory, sums: vec![sum] });
                    state.segments.pins[segment] += 1;
                }
            }
        }
        drop(state);
        let mut found = vec![false; into.len() / BLOCK];
        let (mut errors, mut damaged) = (0, Vec::new());
        for piece in &pieces {
            let bytes = &mut into[piece.at * BLOCK..][..piece.sums.len() * BLOCK];
            let read =
                piece.in_memory || self.device.read(bytes, self.geometry.block(piece.slot)).is_ok();
            errors += u64::from(!read);
            for (nth, (block, &sum)) in bytes.chunks_exact(BLOCK).zip(&piece.sums).enumerate() {
                found[piece.at + nth] = read && crc32c::crc32c(block) == sum;
                if !found[piece.at + nth] {
                    damaged.push((first + STEP * (piece.at + nth) as u64, piece.slot + nth as u32));
                }
            }
        }
        let hits = found.iter().filter(|&&hit| hit).count() as u64;
        let mut state = lock(&self.state);
        state.counts.hits += hits;
        state.counts.misses += found.len() as u64 - hits;
        state.counts.errors += errors;
        state.counts.damaged += if errors == 0 { damaged.len() as u64 } else { 0 };
        for (key, slot) in damaged {
            if state.index.find(key) == Some(slot) {
                state.index.remove(key);
            }
        }
        for piece in &pieces {
            state.segments.pins[piece.segment] -= 1;
        }
        if !pieces.is_empty() {
            self.changed.notify_all();
        }
        found
    }

    /// Asks, before a block is read from the origin, whether it should be cached.
    pub fn begin_fill(&self, key: u64) -> Missed<'_> {
        let mut state = lock(&self.state);
        let guard = *state.guard(key);
        if guard.active > 0 {
            state.counts.overtaken += 1;
            return Missed::Leave;
        }
        match state.retention.missed(key) {
            Some(queue) => Missed::Fill(Fill { cache: self, key, queue, version: guard.version }),
            None => Missed::Leave,
        }
    }

    /// The right to cache a block because somebody asks for it; none if it is cached, or is being
    /// written.
    pub fn begin_prewarm(&self, key: u64) -> Option<Fill<'_>> {
        let mut state = lock(&self.state);
        let guard = *state.guard(key);
        if guard.active > 0 || state.index.find(key).is_some() {
            return None;
        }
        let queue = state.retention.chosen(key);
        Some(Fill { cache: self, key, queue, version: guard.version })
    }

    /// Waits up to `most` until all full segments are written.
    pub fn wait_for_space(&self, most: Duration) {
        let full = |state: &mut State| {
            !state.segments.waiting.is_empty() || state.segments.free.len() <= RESERVE
        };
        drop(self.changed.wait_timeout_while(lock(&self.state), most, full));
    }

    /// Drops blocks before they are written in the origin. When it returns, a crash cannot bring
    /// them back. The write must be over when the result is dropped.
    ///
    /// # Errors
    /// Of the device; then the origin must not be written while a later start might use the cache.
    pub fn begin_write(&self, keys: Vec<u64>) -> io::Result<Writing<'_>> {
        let mut state = lock(&self.state);
        let epoch = state.epoch;
        state.writers[epoch] += 1;
        let mut uses = Vec::with_capacity(keys.len());
        for &key in &keys {
            let guard = state.guard(key);
            guard.active += 1;
            guard.version = guard.version.wrapping_add(1);
            uses.push(state.located(key).map(|(_, (_, _, uses))| uses));
            state.index.remove(key);
        }
        let versions = keys.iter().map(|&key| state.guard(key).version).collect();
        drop(state);
        let writing = Writing { cache: self, keys, uses, versions, ended: false, epoch };
        lock(&self.intents).mark(&*self.device, &writing.keys)?;
        Ok(writing)
    }

    /// Drops the blocks whose key is not wanted; a crash may bring them back.
    pub fn retain(&self, wanted: impl Fn(u64) -> bool) {
        let mut state = lock(&self.state);
        for slot in 0..self.geometry.slots() as u32 {
            if let Some((key, ..)) = state.index.at(slot)
                && !wanted(key)
            {
                state.index.remove(key);
            }
        }
    }

    /// Waits up to `most` until [`Cache::maintain`] has work.
    pub fn wait_for_upkeep(&self, most: Duration) {
        let idle = |state: &mut State| {
            state.segments.waiting.is_empty() && state.segments.free.len() > RESERVE
        };
        drop(self.work.wait_timeout_while(lock(&self.state), most, idle));
    }

    /// What it did so far.
    pub fn counts(&self) -> Counts {
        lock(&self.state).counts
    }

    /// The number of cached blocks.
    pub fn len(&self) -> usize {
        lock(&self.state).index.len()
    }

    /// The number of cached blocks by what `of` says of their keys. Others go on meanwhile.
    pub fn tally(&self, of: impl Fn(u64) -> u32) -> HashMap<u32, u64> {
        let mut found = HashMap::new();
        let slots = self.geometry.slots() as u32;
        for first in (0..slots).step_by(TALLIED as usize) {
            let state = lock(&self.state);
            for slot in first..slots.min(first + TALLIED) {
                if let Some((key, ..)) = state.index.at(slot) {
                    *found.entry(of(key)).or_insert(0) += 1;
                }
            }
        }
        found
    }

    /// The number of blocks that there is space for.
    pub fn capacity(&self) -> u64 {
        self.geometry.slots()
    }

    /// Whether no block is cached.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn located(&self, key: u64) -> Option<(u32, (u64, u32, u8))> {
        let slot = self.index.find(key)?;
        self.index.at(slot).map(|found| (slot, found))
    }

    fn guard(&mut self, key: u64) -> &mut Guard {
        &mut self.guards[mixed(key) as usize % GUARDS]
    }

    /// Drops all blocks of a segment.
    pub fn empty(&mut self, segment: u32) {
        for slot in self.segments.slots(segment) {
            if let Some((key, ..)) = self.index.at(slot) {
                self.index.remove(key);
            }
        }
    }
}

impl Fill<'_> {
    /// Caches the block, and returns whether it did: not if it was written since it was begun, if it is
    /// cached, or if no segment is free.
    pub fn finish(self, data: &[u8]) -> bool {
        let sum = crc32c::crc32c(data);
        let mut state = lock(&self.cache.state);
        let guard = *state.guard(self.key);
        if guard.active > 0 || guard.version != self.version {
            state.counts.overtaken += 1;
            return false;
        }
        if state.index.find(self.key).is_some() {
            return false;
        }
        let State { index, segments, counts, .. } = &mut *state;
        let slot = segments.add(index, self.queue, self.key, sum, data, RESERVE);
        match slot {
            Some(_) => counts.filled += 1,
            None => counts.busy += 1,
        }
        if !segments.waiting.is_empty() {
            self.cache.work.notify_all();
        }
        slot.is_some()
    }
}

impl Writing<'_> {
    /// Ends the write; `content` has, for each of its blocks, what the origin has now, if that is
    /// known. Blocks that were cached before are cached again, unless others write them too.
    pub fn end(mut self, content: &[Option<&[u8]>]) {
        self.ended = true;
        let sums: Vec<u32> = content.iter().map(|data| data.map_or(0, crc32c::crc32c)).collect();
        let mut state = lock(&self.cache.state);
        // Of writes at the same time, it is unknown which one the origin has.
        let guards = self.keys.iter().zip(&self.versions);
        let alone: Vec<bool> =
            guards.map(|(&key, version)| state.guard(key).version == *version).collect();
        self.release(&mut state);
        let blocks = self.keys.iter().zip(&self.uses).zip(alone);
        for (((key, uses), alone), (data, sum)) in blocks.zip(content.iter().zip(sums)) {
            let (Some(uses), Some(data), true) = (uses, data, alone) else { continue };
            if state.guard(*key).active > 0 || state.index.find(*key).is_some() {
                continue;
            }
            let State { index, segments, retention, counts, .. } = &mut *state;
            let queue = retention.chosen(*key);
            if let Some(slot) = segments.add(index, queue, *key, sum, data, RESERVE) {
                index.set_uses(slot, *uses);
                counts.filled += 1;
            }
        }
        if !state.segments.waiting.is_empty() {
            self.cache.work.notify_all();
        }
    }

    /// Lets others write and cache the blocks.
    fn release(&self, state: &mut State) {
        for &key in &self.keys {
            let guard = state.guard(key);
            guard.active -= 1;
            guard.version = guard.version.wrapping_add(1);
        }
        state.writers[self.epoch] -= 1;
        self.cache.changed.notify_all();
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.release(&mut lock(&self.cache.state));
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
