//! Aligned buffers in one mapping.
//!
//! Does not use the allocator: when a large block is freed, glibc raises its `mmap` threshold to
//! that size, and then keeps tens of megabytes of freed histograms.

use std::ptr::{NonNull, null_mut};

use dyno_record::{Error, ErrorKind, Result};
#[cfg(target_os = "linux")]
use procfs_core::FromRead as _;
#[cfg(target_os = "linux")]
use procfs_core::process::MemoryMaps;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore as _, SeedableRng as _};
use serde::Deserialize;

/// Alignment that satisfies `O_DIRECT` on every device with sectors up to 4 KiB.
const PAGE: usize = 4096;
/// Huge-page size of `x86_64` and of arm64 with 4 KiB pages.
const HUGE_PAGE: usize = 2 << 20;
/// Smallest unit in which devices and file systems deduplicate.
const SECTOR: usize = 512;

/// Page size for buffers. A device gets a block in as many segments as it has non-contiguous pages,
/// so large blocks can be much faster from huge pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pages {
    /// Huge pages if the system provides them.
    #[default]
    Auto,
    /// Huge pages.
    Huge,
    /// Never huge pages, whatever the system's default.
    Ordinary,
}

/// One buffer per slot, filled with incompressible data.
#[derive(Debug)]
pub(crate) struct Arena {
    /// Start of the first buffer, and the total size of all in bytes.
    base: NonNull<u8>,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only io_uring asks"))]
    bytes: usize,
    /// The mapping with the buffers.
    mapping: (NonNull<libc::c_void>, usize),
    /// Start and length of each slot's buffer.
    slots: Vec<(usize, usize)>,
}

// SAFETY: the arena is the only owner of its memory, like a `Box<[u8]>`.
unsafe impl Send for Arena {}

impl Arena {
    /// Allocates one buffer per length.
    ///
    /// # Errors
    /// `out_of_memory`.
    pub(crate) fn new(lengths: &[u32], seed: u64, pages: Pages) -> Result<Self> {
        let mut bytes = 0;
        let place = |length: &u32| {
            let start = bytes;
            bytes += (*length as usize).max(1).next_multiple_of(PAGE);
            (start, *length as usize)
        };
        let slots: Vec<_> = lengths.iter().map(place).collect();
        let bytes = bytes.max(PAGE);
        let too_large = || {
            Error::new(
                ErrorKind::OutOfMemory,
                format!(
                    "not enough memory for {} buffers of {bytes} bytes in total",
                    lengths.len()
                ),
            )
        };
        let align = if pages == Pages::Ordinary { PAGE } else { HUGE_PAGE };
        let bytes = bytes.checked_next_multiple_of(align).ok_or_else(too_large)?;
        let length = bytes.checked_add(align).ok_or_else(too_large)?;
        let mapping = NonNull::new(map(length)).ok_or_else(too_large)?;
        let skipped = mapping.as_ptr().cast::<u8>().align_offset(align);
        // SAFETY: skips less than `align` bytes, and the mapping is `align` bytes larger than
        // needed.
        let base = unsafe { mapping.cast::<u8>().add(skipped) };
        advise(base, bytes, pages);
        let mut arena = Self { base, bytes, mapping: (mapping, length), slots };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        for slot in 0..lengths.len() {
            rng.fill_bytes(arena.slot_mut(slot));
        }
        Ok(arena)
    }

    /// Size of the slot's buffer in bytes.
    pub(crate) fn bytes(&self, slot: usize) -> usize {
        self.slots[slot].1
    }

    /// Start of the slot's buffer.
    pub(crate) fn slot_ptr(&self, slot: usize) -> *mut u8 {
        let (start, _) = self.slots[slot];
        // SAFETY: `new` placed every slot completely inside the allocation.
        unsafe { self.base.as_ptr().add(start) }
    }

    /// The slot's buffer.
    pub(crate) fn slot_mut(&mut self, slot: usize) -> &mut [u8] {
        // SAFETY: the slot's bytes are initialised, overlap with no other slot and belong to this
        // arena only; the result borrows the arena mutably. An engine that lends a buffer to the
        // kernel does not return it before the I/O has ended.
        unsafe { std::slice::from_raw_parts_mut(self.slot_ptr(slot), self.bytes(slot)) }
    }

    /// The whole memory, for registration with a ring.
    #[cfg(target_os = "linux")]
    pub(crate) fn iovec(&self) -> libc::iovec {
        libc::iovec { iov_base: self.base.as_ptr().cast(), iov_len: self.bytes }
    }

    /// Share of the memory in huge pages; `None` if the system does not report it.
    #[cfg(target_os = "linux")]
    pub(crate) fn huge_share(&self) -> Option<f64> {
        let (start, end) =
            (self.base.as_ptr() as u64, self.base.as_ptr() as u64 + self.bytes as u64);
        let maps = MemoryMaps::from_file("/proc/self/smaps").ok()?;
        let own = maps.iter().filter(|map| map.address.0 < end && start < map.address.1);
        let huge: u64 = own.filter_map(|map| map.extension.map.get("AnonHugePages")).sum();
        Some((huge as f64 / self.bytes as f64).min(1.0))
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let (start, length) = self.mapping;
        // SAFETY: exactly the mapping from `new`, unmapped only here. Nothing points to it any
        // more: an engine drops its ring, and with it all I/O, before its arena.
        unsafe { libc::munmap(start.as_ptr(), length) };
    }
}

/// Maps zeroed memory; null on failure.
fn map(length: usize) -> *mut libc::c_void {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a private mapping at an address that the kernel chooses touches no other memory.
    let start = unsafe {
        libc::mmap(null_mut(), length, access, libc::MAP_PRIVATE | libc::MAP_ANON, -1, 0)
    };
    if start == libc::MAP_FAILED { null_mut() } else { start }
}

/// Requests a page size before the first access. The result does not matter: `huge_share` measures
/// the pages obtained.
#[cfg(target_os = "linux")]
fn advise(start: NonNull<u8>, bytes: usize, pages: Pages) {
    let advice = match pages {
        Pages::Ordinary => libc::MADV_NOHUGEPAGE,
        Pages::Huge | Pages::Auto => libc::MADV_HUGEPAGE,
    };
    // SAFETY: the caller owns the range, which consists of whole pages, and the advice does not
    // change its content.
    unsafe { libc::madvise(start.as_ptr().cast(), bytes, advice) };
}

#[cfg(not(target_os = "linux"))]
const fn advise(_: NonNull<u8>, _: usize, _: Pages) {}

/// Makes incompressible `data` unique again at low cost: fresh random bits in each sector defeat
/// deduplication, the random rest defeats compression.
#[inline]
pub(crate) fn stamp(data: &mut [u8], rng: &mut Xoshiro256PlusPlus) {
    for sector in data.chunks_exact_mut(SECTOR) {
        sector[..8].copy_from_slice(&rng.next_u64().to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn buffers_are_aligned_and_apart() {
        for lengths in [&[512][..], &[8192, 512, 65536], &[512 << 10; 8]] {
            let mut arena = Arena::new(lengths, 1, Pages::Auto).unwrap();
            for (slot, length) in lengths.iter().enumerate() {
                assert_eq!(arena.slot_ptr(slot) as usize % PAGE, 0);
                assert_eq!(arena.slot_mut(slot).len(), *length as usize);
                arena.slot_mut(slot).fill(slot as u8);
            }
            for slot in 0..lengths.len() {
                assert!(arena.slot_mut(slot).iter().all(|byte| *byte == slot as u8));
            }
        }
    }

    #[test]
    fn no_two_stamped_sectors_are_equal() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut arena = Arena::new(&[64 << 10], 7, Pages::Ordinary).unwrap();
        let mut seen = HashSet::new();
        for _ in 0..4 {
            stamp(arena.slot_mut(0), &mut rng);
            for sector in arena.slot_mut(0).chunks(SECTOR) {
                assert!(seen.insert(sector.to_vec()));
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn pages_are_those_asked_for() {
        let ordinary = Arena::new(&[1 << 20; 8], 1, Pages::Ordinary).unwrap();
        assert_eq!(ordinary.huge_share(), Some(0.0));
        let known = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
        if known.is_ok_and(|words| !words.contains("[never]")) {
            let huge = Arena::new(&[1 << 20; 8], 1, Pages::Huge).unwrap();
            assert!(huge.huge_share().unwrap() > 0.0);
        }
    }

    #[test]
    fn no_slot_at_all_is_fine() {
        assert!(Arena::new(&[], 0, Pages::Huge).is_ok());
    }
}
