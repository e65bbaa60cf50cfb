//! Reading and writing the content of files.
//!
//! Blocks are read from flash if they are there, and from the origin otherwise. Everything is
//! written to the origin, through its page cache, so a write waits for no disk; a sync is a sync of
//! the origin. Reads of the origin leave nothing in its page cache, because the
//! kernel has the data in that of the mount.

use super::kinds::{Action, Room};
use super::nodes::Node;
use super::volume::{Volume, key};
use crate::flash::{BLOCK, Fill, Missed, Pages};
use rustix::fs::{Advice, FallocateFlags, OFlags, fadvise, fdatasync, fsync};
use rustix::io::{Errno, ReadWriteFlags, preadv2, pwritev2};
use std::io::{self, IoSlice, IoSliceMut};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

/// The longest request of the kernel, in bytes.
pub const MAX_REQUEST: usize = 1 << 20;
/// The most data of a write, in bytes, as in the supervisor's handshake: each thread has as much memory.
pub const MAX_WRITE: usize = 256 << 10;
/// The size of a buffer for [`Volume::read`]: requests need not begin where blocks do.
pub const BUFFER: usize = MAX_REQUEST + 2 * BLOCK;
/// Data beyond this offset is not cached: block numbers have 38 bits.
const MOST_OFFSET: u64 = 1 << 50;
/// A read that leaves no copy in the page cache (since Linux 6.14).
const UNCACHED: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x80);
/// Prewarming waits so long at most for others, 1 MiB at a time.
const YIELD: Duration = Duration::from_millis(20);
/// Bytes copied at once within the origin.
const MAX_COPY: u64 = 16 << 20;

impl Volume {
    /// Reads at most `size` bytes into a buffer of [`BUFFER`] bytes; returns where they are in it.
    ///
    /// # Errors
    /// Of the origin.
    pub fn read(
        &self,
        node: &Node,
        offset: u64,
        size: usize,
        buffer: &mut Pages,
    ) -> io::Result<Range<usize>> {
        let size = size.min(MAX_REQUEST);
        let number = self.number(node).filter(|_| offset < MOST_OFFSET);
        self.recording.add(number, offset, size, false);
        self.reading.fetch_add(1, Relaxed);
        let read = self.read_blocks(node, number, offset, size, buffer);
        self.reading.fetch_sub(1, Relaxed);
        read
    }

    fn read_blocks(
        &self,
        node: &Node,
        number: Option<u32>,
        offset: u64,
        size: usize,
        buffer: &mut Pages,
    ) -> io::Result<Range<usize>> {
        let file = node.open(false)?;
        let begun = Instant::now();
        let past = |buffer: &mut Pages| -> io::Result<Range<usize>> {
            let read = self.read_origin(file.as_fd(), &mut buffer[..size], offset)?;
            let done = &self.kind(node).done;
            done.misses.fetch_add(read.div_ceil(BLOCK) as u64, Relaxed);
            done.origin.add(begun.elapsed());
            Ok(0..read)
        };
        let Some(number) = number else { return past(buffer) };
        let blocks = ((offset % BLOCK as u64) as usize + size).div_ceil(BLOCK);
        if self.aside.skips(blocks, begun) {
            if let Ok(read) = past(buffer) {
                self.kind(node).done.aside.fetch_add(read.len().div_ceil(BLOCK) as u64, Relaxed);
                self.aside.origin(begun.elapsed(), blocks);
                return Ok(read);
            }
            // Flash may have what the origin cannot read.
            self.aside.failed(begun.elapsed(), blocks);
        }
        self.read_cached(node, file.as_fd(), number, offset, size, buffer)
    }

    /// Reads blocks from flash, and those that it lacks from the origin.
    fn read_cached(
        &self,
        node: &Node,
        file: BorrowedFd<'_>,
        number: u32,
        offset: u64,
        size: usize,
        buffer: &mut Pages,
    ) -> io::Result<Range<usize>> {
        let begun = Instant::now();
        let kind = self.kind(node);
        let done = &kind.done;
        let first = offset / BLOCK as u64;
        let within = (offset % BLOCK as u64) as usize;
        let blocks = (within + size).div_ceil(BLOCK);
        let buffer = &mut buffer[..blocks * BLOCK];
        let found = self.cache.read_blocks(key(number, first), buffer);
        let hits = found.iter().filter(|&&hit| hit).count();
        done.hits.fetch_add(hits as u64, Relaxed);
        let mut end = within + size;
        if hits == blocks {
            node.sequence.follow(offset, size as u64);
            let took = begun.elapsed();
            done.flash.add(took);
            self.aside.flash(took, blocks);
            return Ok(within..end);
        }
        done.misses.fetch_add((blocks - hits) as u64, Relaxed);
        let scanning = node.sequence.follow(offset, size as u64) > self.scan_bytes;
        let mut at = 0;
        while let Some(from) = found[at..].iter().position(|&hit| !hit).map(|skip| at + skip) {
            let to = found[from..].iter().position(|&hit| hit).map_or(blocks, |skip| from + skip);
            at = to;
            let fills = (from..to).map(|block| {
                let why = if scanning {
                    &done.scanned
                } else if let Some(room) = kind.room() {
                    match self.cache.begin_fill(key(number, first + block as u64)) {
                        Missed::Fill(right) => return Some((right, room)),
                        Missed::Leave => &done.left,
                    }
                } else {
                    &done.over
                };
                why.fetch_add(1, Relaxed);
                None
            });
            let fills: Vec<Option<(Fill, Room)>> = fills.collect();
            let bytes = &mut buffer[from * BLOCK..to * BLOCK];
            let read = self.read_origin(file, bytes, (first + from as u64) * BLOCK as u64)?;
            // Blocks at the end of a file are cached once they are whole.
            for (block, fill) in bytes[..read].chunks_exact(BLOCK).zip(fills) {
                if let Some((fill, room)) = fill {
                    room.end(fill.finish(block));
                }
            }
            if read < bytes.len() {
                end = end.min(from * BLOCK + read);
                break;
            }
        }
        let took = begun.elapsed();
        done.origin.add(took);
        if hits == 0 {
            self.aside.origin(took, blocks);
        }
        Ok(within.min(end)..end)
    }

    /// Caches a range of a file, of at most [`MAX_REQUEST`] bytes, after waiting a little for reads that
    /// are being served. Returns how many blocks were put into the cache.
    ///
    /// # Errors
    /// Of the origin; `EOPNOTSUPP` if the file is of a kind that is not cached.
    pub fn prewarm(
        &self,
        node: &Node,
        offset: u64,
        size: usize,
        buffer: &mut Pages,
    ) -> io::Result<u32> {
        let number = self.number(node).ok_or(Errno::OPNOTSUPP)?;
        let file = node.open(false)?;
        let begun = Instant::now();
        while self.reading.load(Relaxed) > 0 && begun.elapsed() < YIELD {
            std::thread::sleep(YIELD / 20);
        }
        self.cache.wait_for_space(YIELD);
        let first = offset / BLOCK as u64;
        let blocks = size.min(MAX_REQUEST).div_ceil(BLOCK);
        let kind = self.kind(node);
        let keys = (first..).take(blocks).map(|block| key(number, block));
        let right = |key| Some((self.cache.begin_prewarm(key)?, kind.room()?));
        let fills: Vec<Option<(Fill, Room)>> = keys.map(right).collect();
        let (Some(from), Some(to)) =
            (fills.iter().position(Option::is_some), fills.iter().rposition(Option::is_some))
        else {
            return Ok(0);
        };
        let bytes = &mut buffer[..(to + 1 - from) * BLOCK];
        let read = self.read_origin(file.as_fd(), bytes, (first + from as u64) * BLOCK as u64)?;
        let whole = bytes[..read].chunks_exact(BLOCK).zip(fills.into_iter().skip(from));
        let added = whole.filter_map(|(block, right)| {
            let (right, room) = right?;
            Some(room.end(right.finish(block)))
        });
        Ok(added.filter(|&added| added).count() as u32)
    }

    /// Reads until the buffer is full or the file ends.
    fn read_origin(&self, file: BorrowedFd<'_>, into: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut read = 0;
        while read < into.len() {
            let flags =
                if self.uncached_reads.load(Relaxed) { UNCACHED } else { ReadWriteFlags::empty() };
            let mut parts = [IoSliceMut::new(&mut into[read..])];
            match preadv2(file, &mut parts, offset + read as u64, flags) {
                Ok(0) => break,
                Ok(count) => read += count,
                Err(Errno::INTR) => {}
                Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS) if !flags.is_empty() => {
                    self.uncached_reads.store(false, Relaxed);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(read)
    }

    /// Writes; returns how much. `flags` are those of the open file.
    ///
    /// # Errors
    /// Of the origin.
    pub fn write(&self, node: &Node, offset: u64, data: &[u8], flags: u32) -> io::Result<usize> {
        let file = node.open(true)?;
        let flags = OFlags::from_bits_retain(flags);
        let how = if flags.contains(OFlags::SYNC) {
            ReadWriteFlags::SYNC
        } else if flags.contains(OFlags::DSYNC) {
            ReadWriteFlags::DSYNC
        } else {
            ReadWriteFlags::empty()
        };
        self.writing(node, offset, data.len() as u64, Some(data), || {
            let mut written = 0;
            while written < data.len() {
                let parts = [IoSlice::new(&data[written..])];
                match pwritev2(file.as_fd(), &parts, offset + written as u64, how) {
                    Ok(0) | Err(Errno::INTR) => {}
                    Ok(count) => written += count,
                    Err(error) if written == 0 => return Err(error.into()),
                    Err(_) => break,
                }
            }
            self.kind(node).done.written.fetch_add(written as u64, Relaxed);
            Ok(written)
        })
    }

    /// Runs something that writes a range of a file, and returns how much it wrote. Blocks that were
    /// cached are dropped before, and cached again if `data` has their new content.
    fn writing(
        &self,
        node: &Node,
        offset: u64,
        size: u64,
        data: Option<&[u8]>,
        write: impl FnOnce() -> io::Result<usize>,
    ) -> io::Result<usize> {
        let number = self.number_to_write(node);
        self.recording.add(*number, offset, size as usize, true);
        let writing = match *number {
            Some(number) if self.usable() && offset < MOST_OFFSET => {
                let blocks = offset / BLOCK as u64..(offset + size).div_ceil(BLOCK as u64);
                let keys = blocks.map(|block| key(number, block)).collect();
                let begun = self.cache.begin_write(keys);
                if begun.is_err() {
                    self.give_up();
                }
                begun.ok()
            }
            _ => None,
        };
        let done = write();
        match (writing, data, &done) {
            (Some(writing), Some(data), Ok(written)) => {
                writing.end(&whole_blocks(offset, &data[..*written]));
            }
            (writing, ..) => drop(writing),
        }
        done
    }

    /// Makes a file's content durable; without `data_only` its attributes too. What was written leaves
    /// the origin's page cache then: the kernel has it in that of the mount.
    ///
    /// # Errors
    /// Of the origin. Each open file reports each error once: `seen` counts the failures that it has
    /// reported.
    pub fn sync(&self, node: &Node, data_only: bool, seen: &mut u32) -> io::Result<()> {
        let file = node.open(false)?;
        let synced = if data_only { fdatasync(&file) } else { fsync(&file) };
        match synced {
            Err(error) => {
                node.failed(&error.into());
                // What the cache has of it may have been lost in the origin.
                self.change(node, || Ok(()))?;
            }
            Ok(()) if self.kind(node).action == Action::Cache => {
                let _ = fadvise(&file, 0, None, Advice::DontNeed);
            }
            Ok(()) => {}
        }
        let failures = node.failures.0.load(SeqCst);
        if *seen == failures {
            return Ok(());
        }
        *seen = failures;
        Err(io::Error::from_raw_os_error(node.failures.1.load(SeqCst)))
    }

    /// Sets the size of a file.
    ///
    /// # Errors
    /// Of the origin.
    pub fn truncate(&self, node: &Node, size: u64) -> io::Result<()> {
        let file = node.open(true)?;
        self.change(node, || Ok(rustix::fs::ftruncate(&file, size)?))
    }

    /// Allocates or frees space of a file.
    ///
    /// # Errors
    /// Of the origin.
    pub fn allocate(&self, node: &Node, offset: u64, size: u64, mode: u32) -> io::Result<()> {
        let file = node.open(true)?;
        let mode = FallocateFlags::from_bits_retain(mode);
        let allocate = || Ok(rustix::fs::fallocate(&file, mode, offset, size)?);
        if mode.difference(FallocateFlags::KEEP_SIZE).is_empty() {
            allocate()
        } else {
            self.change(node, allocate)
        }
    }

    /// Copies a range between files within the origin; returns how much.
    ///
    /// # Errors
    /// Of the origin.
    pub fn copy(
        &self,
        (from, mut from_offset): (&Node, u64),
        (to, to_offset): (&Node, u64),
        size: u64,
    ) -> io::Result<usize> {
        let (source, target) = (from.open(false)?, to.open(true)?);
        let size = size.min(MAX_COPY);
        self.writing(to, to_offset, size, None, || {
            let mut offset = to_offset;
            let copied = rustix::fs::copy_file_range(
                &source,
                Some(&mut from_offset),
                &target,
                Some(&mut offset),
                size as usize,
            )?;
            Ok(copied)
        })
    }
}

/// The blocks of a file that data at `offset` touches: the content of those that it has wholly.
fn whole_blocks(offset: u64, data: &[u8]) -> Vec<Option<&[u8]>> {
    let before = (BLOCK - (offset % BLOCK as u64) as usize) % BLOCK;
    let mut found = Vec::new();
    if before > 0 {
        found.push(None);
    }
    let blocks = data.get(before..).unwrap_or_default().chunks(BLOCK);
    found.extend(blocks.map(|block| (block.len() == BLOCK).then_some(block)));
    found
}
