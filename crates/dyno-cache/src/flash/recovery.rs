//! How a cache begins: new, or as it was left.

use super::cache::Cache;
use super::device::{Device, PAGE, Pages};
use super::index::Index;
use super::intents::Intents;
use super::layout::{Geometry, Superblock, VERSION, decode_index};
use super::segments::{Segments, Stage};
use crate::policy::{QUEUES, Queue, Retention};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Threads that read the indexes of segments, because flash reads several at once as fast as one.
const READERS: u32 = 16;

impl Cache {
    /// Makes an empty cache on a device. What was on it is lost.
    ///
    /// # Errors
    /// Of the device; `InvalidInput` if the geometry does not fit it.
    pub fn create(
        device: Arc<dyn Device>,
        geometry: Geometry,
        origin: &str,
        retention: Box<dyn Retention>,
    ) -> io::Result<Self> {
        if geometry.segment(geometry.segments) > device.size() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the device is too small"));
        }
        let generation = superblocks(&*device)?.first().map_or(0, |head| head.generation);
        empty(device, geometry, origin, generation, retention)
    }

    /// Opens a cache with all blocks that are certainly what the origin has.
    ///
    /// # Errors
    /// Of the device; `InvalidData` if it has no cache, one of another version, or one of another
    /// origin.
    pub fn open(
        device: Arc<dyn Device>,
        origin: &str,
        retention: impl FnOnce(&Geometry) -> Box<dyn Retention>,
    ) -> io::Result<Self> {
        let refuse = |reason: &str| io::Error::new(io::ErrorKind::InvalidData, reason.to_owned());
        let heads = superblocks(&*device)?;
        let head = heads.first().ok_or_else(|| refuse("the device has no cache"))?.clone();
        let geometry = head.geometry;
        if head.version != VERSION || geometry.segment(geometry.segments) > device.size() {
            return Err(refuse("the cache is of another version or device"));
        }
        if head.origin != origin {
            return Err(refuse("the cache belongs to another origin"));
        }
        let retention = retention(&geometry);
        let mut checkpoint = Pages::new(geometry.checkpoint_bytes());
        device.read(&mut checkpoint, geometry.checkpoint(head.area))?;
        if crc32c::crc32c(&checkpoint) != head.checkpoint {
            return empty(device, geometry, origin, head.generation, retention);
        }
        // In both places, before the marks are cleared that only an older one may count.
        head.write(&*device)?;
        let mut intents = Intents::read(&*device, geometry, head.area)?;
        intents.clear(&*device, 1 - head.area)?;
        let (index, segments) = segments_of(&*device, &head, &checkpoint, &intents)?;
        Ok(Self::new(device, head, intents, index, segments, retention))
    }
}

/// The readable superblocks, latest first.
fn superblocks(device: &dyn Device) -> io::Result<Vec<Superblock>> {
    let mut found = Vec::new();
    let mut page = Pages::new(PAGE);
    for number in 0..2 {
        device.read(&mut page, Geometry::superblock(number))?;
        found.extend(Superblock::decode(&page));
    }
    found.sort_by_key(|head| std::cmp::Reverse(head.generation));
    Ok(found)
}

fn empty(
    device: Arc<dyn Device>,
    geometry: Geometry,
    origin: &str,
    generation: u64,
    retention: Box<dyn Retention>,
) -> io::Result<Cache> {
    // Segments of an earlier cache must not pass for later ones. It keeps its marks if reading fails.
    let mut segments = Segments::new(geometry);
    segments.sequence = last_sequence(&*device, geometry)?;
    let mut intents = Intents::new(geometry, 0);
    intents.clear(&*device, 0)?;
    intents.clear(&*device, 1)?;
    let checkpoint = Pages::new(geometry.checkpoint_bytes());
    device.write(&checkpoint, geometry.checkpoint(0))?;
    device.sync()?;
    let head = Superblock {
        version: VERSION,
        generation: generation + 1,
        geometry,
        origin: origin.to_owned(),
        area: 0,
        checkpoint: crc32c::crc32c(&checkpoint),
        sequence: segments.sequence,
    };
    head.write(&*device)?;
    let index = Index::new(geometry.segments as usize, geometry.blocks);
    Ok(Cache::new(device, head, intents, index, segments, retention))
}

fn last_sequence(device: &dyn Device, geometry: Geometry) -> io::Result<u64> {
    let mut index = Pages::new(geometry.index_bytes());
    let mut last = 0;
    for segment in 0..geometry.segments {
        device.read(&mut index, geometry.segment(segment))?;
        last = last.max(decode_index(&index).map_or(0, |(sequence, ..)| sequence));
    }
    Ok(last)
}

/// A segment on a device, with slot, key and checksum of its valid blocks.
struct Found {
    sequence: u64,
    segment: u32,
    queue: Queue,
    blocks: Vec<(u32, u64, u32)>,
}

/// The segments of a device, with the blocks that are valid.
fn segments_of(
    device: &dyn Device,
    head: &Superblock,
    checkpoint: &[u8],
    intents: &Intents,
) -> io::Result<(Index, Segments)> {
    let geometry = head.geometry;
    let each = geometry.segments.div_ceil(READERS).max(1);
    let parts = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..geometry.segments)
            .step_by(each as usize)
            .map(|first| first..geometry.segments.min(first + each))
            .map(|part| scope.spawn(|| read_indexes(device, head, checkpoint, intents, part)))
            .collect();
        readers.into_iter().map(joined).collect::<io::Result<Vec<_>>>()
    })?;
    let mut found: Vec<Found> = parts.into_iter().flatten().collect();
    found.sort_unstable_by_key(|one| one.sequence);
    let mut index = Index::new(geometry.segments as usize, geometry.blocks);
    let mut segments = Segments::new(geometry);
    segments.sequence = head.sequence;
    for Found { sequence, segment, queue, blocks } in found {
        for (slot, key, sum) in blocks {
            index.insert(slot, key, sum);
        }
        segments.sequence = segments.sequence.max(sequence);
        segments.sequences[segment as usize] = sequence;
        segments.stages[segment as usize] = Stage::Sealed;
        segments.queues[queue].push_back(segment);
    }
    let Segments { stages, free, .. } = &mut segments;
    free.retain(|&segment| matches!(stages[segment as usize], Stage::Free));
    Ok((index, segments))
}

fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Some segments of a device, with the blocks that are valid.
fn read_indexes(
    device: &dyn Device,
    head: &Superblock,
    checkpoint: &[u8],
    intents: &Intents,
    part: Range<u32>,
) -> io::Result<Vec<Found>> {
    let geometry = head.geometry;
    let bits = 8 * geometry.segments as usize;
    let mut found: Vec<Found> = Vec::new();
    let mut bytes = Pages::new(geometry.index_bytes());
    for segment in part {
        device.read(&mut bytes, geometry.segment(segment))?;
        let Some((sequence, queue, entries)) = decode_index(&bytes) else { continue };
        let known = checkpoint[segment as usize * 8..][..8] == sequence.to_le_bytes();
        if usize::from(queue) >= QUEUES || !known && sequence <= head.sequence {
            continue;
        }
        let first = segment * geometry.blocks;
        let valid =
            (first..).zip(entries.take(geometry.blocks as usize)).filter(|&(slot, (key, _))| {
                let bit = checkpoint[bits + slot as usize / 8] >> (slot % 8) & 1;
                key != 0 && (!known || bit == 1) && !intents.marked(key)
            });
        let blocks = valid.map(|(slot, (key, sum))| (slot, key, sum)).collect();
        found.push(Found { sequence, segment, queue: queue.into(), blocks });
    }
    Ok(found)
}
