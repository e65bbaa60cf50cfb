//! Regions that were written since the last checkpoint: after a crash, what the cache has of them is
//! dropped.

use super::device::{Device, PAGE, Pages};
use super::layout::Geometry;
use crate::hash::mixed;
use std::io;

/// Blocks of a file that share a region: 1 MiB.
const SHARED: u32 = 7;
/// Bytes of marks in a page; its checksum follows.
const MARKS: usize = PAGE - 4;
const BITS: u64 = MARKS as u64 * 8;

/// Durable marks of regions, in two areas; see [`Intents::begin_both`].
pub struct Intents {
    geometry: Geometry,
    areas: [Pages; 2],
    /// The area that counts at a crash.
    active: usize,
    both: bool,
}

impl Intents {
    /// No marks, which must be what the areas have.
    pub fn new(geometry: Geometry, active: usize) -> Self {
        let bytes = geometry.intent_pages as usize * PAGE;
        Self { geometry, areas: [Pages::new(bytes), Pages::new(bytes)], active, both: false }
    }

    /// The marks of an area on a device. All regions of a damaged page count as marked.
    ///
    /// # Errors
    /// Of the device.
    pub fn read(device: &dyn Device, geometry: Geometry, area: usize) -> io::Result<Self> {
        let mut found = Self::new(geometry, area);
        device.read(&mut found.areas[area], geometry.intents(area, 0))?;
        for page in found.areas[area].chunks_exact_mut(PAGE) {
            if crc32c::crc32c(&page[..MARKS]).to_le_bytes() != page[MARKS..] {
                page.fill(0xff);
            }
        }
        Ok(found)
    }

    /// Whether the region of a block is marked.
    pub fn marked(&self, key: u64) -> bool {
        let (byte, bit) = self.place(key);
        self.areas[self.active][byte] & bit != 0
    }

    /// Marks the regions of blocks. When it returns, the marks are durable.
    ///
    /// # Errors
    /// Of the device; then the blocks must not be written.
    pub fn mark(&mut self, device: &dyn Device, keys: &[u64]) -> io::Result<()> {
        let areas = if self.both { vec![0, 1] } else { vec![self.active] };
        let mut set = Vec::new();
        for area in areas {
            for &key in keys {
                let (byte, bit) = self.place(key);
                if self.areas[area][byte] & bit == 0 {
                    self.areas[area][byte] |= bit;
                    set.push((area, byte, bit));
                }
            }
        }
        let done = self.write(device, &set);
        if done.is_err() {
            // A mark that may not be durable must not pass for one that is.
            for (area, byte, bit) in set {
                self.areas[area][byte] &= !bit;
            }
        }
        done
    }

    fn write(&mut self, device: &dyn Device, set: &[(usize, usize, u8)]) -> io::Result<()> {
        let mut pages: Vec<_> = set.iter().map(|&(area, byte, _)| (area, byte / PAGE)).collect();
        pages.sort_unstable();
        pages.dedup();
        if pages.is_empty() {
            return Ok(());
        }
        for (area, page) in pages {
            self.write_page(device, area, page)?;
        }
        device.sync()
    }

    /// From now on, marks go to both areas: which one counts is decided by the next superblock.
    pub fn begin_both(&mut self) {
        self.both = true;
    }

    /// The other area counts from now on. Clears the one that did.
    ///
    /// # Errors
    /// Of the device.
    pub fn switch(&mut self, device: &dyn Device) -> io::Result<()> {
        let old = self.active;
        self.active = 1 - old;
        self.both = false;
        self.clear(device, old)
    }

    /// Clears an area that does not count.
    ///
    /// # Errors
    /// Of the device.
    pub fn clear(&mut self, device: &dyn Device, area: usize) -> io::Result<()> {
        self.areas[area].fill(0);
        for page in 0..self.geometry.intent_pages as usize {
            self.write_page(device, area, page)?;
        }
        device.sync()
    }

    fn write_page(&mut self, device: &dyn Device, area: usize, page: usize) -> io::Result<()> {
        let bytes = &mut self.areas[area][page * PAGE..][..PAGE];
        let sum = crc32c::crc32c(&bytes[..MARKS]);
        bytes[MARKS..].copy_from_slice(&sum.to_le_bytes());
        device.write(bytes, self.geometry.intents(area, page))
    }

    fn place(&self, key: u64) -> (usize, u8) {
        // Keys are multiples of 4.
        let region = mixed(key >> (2 + SHARED)) % (u64::from(self.geometry.intent_pages) * BITS);
        let (page, byte) = (region / BITS, region % BITS / 8);
        ((page * PAGE as u64 + byte) as usize, 1 << (region % 8))
    }
}
