//! Blocks of an origin kept on a flash device, across restarts and crashes.
//!
//! Blocks are collected in memory, a segment for each queue, and written a segment at a time. Their
//! checksums are checked at each hit. What the cache must guarantee is that it never returns anything
//! but what the origin has:
//!
//! * A block that is written is dropped first, and nobody caches it until the write has ended
//!   ([`Cache::begin_write`]). Blocks that are read to be cached before that are not cached
//!   ([`Cache::begin_fill`]).
//! * Before the first write to a region since the last checkpoint, a mark of the region is durable.
//!   After a crash, marked regions are dropped ([`intents`]).
//! * A checkpoint has a bit for each valid block. It is taken once all writes that began before are
//!   durable in the origin; marks of later writes outlive it ([`Cache::checkpoint`]).
//! * Segments that were written after the checkpoint are valid but for marked regions, because their
//!   index was made of what was valid then, and a checkpoint waits for segments being written.

mod cache;
mod checkpoint;
mod device;
mod index;
mod intents;
mod layout;
mod recovery;
mod segments;
mod upkeep;

pub use cache::{Cache, Counts, Fill, Missed, STEP, Writing};
pub use device::{Device, FileDevice, NullDevice, PAGE, Pages};
pub use layout::{BLOCK, Geometry};
