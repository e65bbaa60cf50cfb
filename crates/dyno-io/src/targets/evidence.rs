//! Evidence that reads of a file reach the device.
//!
//! A read of an unwritten extent, or of a page in the cache, costs the device nothing and makes
//! results far too good.

use std::fs::File;
use std::io;
use std::path::Path;

/// Bytes of the first `bytes` without written extents, by FIEMAP (see
/// `Documentation/filesystems/fiemap.rst` in the Linux source).
///
/// # Errors
/// Of the operating system; `Unsupported` if the file system has no FIEMAP.
#[cfg(target_os = "linux")]
pub(crate) fn unwritten_bytes(file: &File, bytes: u64) -> io::Result<u64> {
    let mut map = fiemap::Map::default();
    let (mut at, mut unwritten) = (0, 0);
    while at < bytes {
        let extents = map.read(file, at, bytes - at)?;
        if extents.is_empty() {
            return Ok(unwritten + bytes - at);
        }
        for extent in extents {
            let start = extent.logical.clamp(at, bytes);
            let end = extent.logical.saturating_add(extent.length).clamp(start, bytes);
            let hole = start - at;
            unwritten += hole + if extent.holds_data() { 0 } else { end - start };
            at = end;
        }
    }
    Ok(unwritten)
}

/// Maximum part of a file to map at once.
#[cfg(target_os = "linux")]
const MAPPED: u64 = 1 << 30;

/// Share (0 to 1) of the first `bytes` in the page cache.
///
/// # Errors
/// Of the operating system.
#[cfg(target_os = "linux")]
pub(crate) fn cached_share(file: &File, bytes: u64) -> io::Result<f64> {
    let (mut cached, mut pages) = (0, 0);
    for from in (0..bytes).step_by(MAPPED as usize) {
        let length = MAPPED.min(bytes - from) as usize;
        cached += cached_pages(file, from, length)?;
        pages += length.div_ceil(page_bytes());
    }
    Ok(cached as f64 / pages.max(1) as f64)
}

/// Whether the kernel shows this user which pages of `file` at `path` are in the cache. It reports
/// all of them to users who neither own the file nor may write it (`can_do_mincore` in Linux).
pub(crate) fn sees_cache(file: &File, path: &Path) -> bool {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    use std::os::unix::fs::MetadataExt as _;

    let user = rustix::process::geteuid().as_raw();
    file.metadata().is_ok_and(|meta| meta.uid() == user)
        || accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

/// Number of cached pages in a part of `file`, which starts at a page boundary.
#[cfg(target_os = "linux")]
fn cached_pages(file: &File, from: u64, length: usize) -> io::Result<usize> {
    use std::os::fd::AsRawFd as _;
    use std::ptr::null_mut;

    let from = libc::off_t::try_from(from).map_err(|_| io::ErrorKind::Unsupported)?;
    // SAFETY: a fresh read-only mapping at an address that the kernel chooses touches no other
    // memory. It is never read, only queried.
    let base = unsafe {
        libc::mmap(null_mut(), length, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), from)
    };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let mut resident = vec![0u8; length.div_ceil(page_bytes())];
    // SAFETY: the range is the mapping made above, and the vector has one byte for each page.
    let status = unsafe { libc::mincore(base, length, resident.as_mut_ptr()) };
    let outcome = if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) };
    // SAFETY: unmaps exactly the mapping made above; nothing points to it any more.
    unsafe { libc::munmap(base, length) };
    outcome?;
    Ok(resident.iter().filter(|page| **page & 1 == 1).count())
}

/// Drops clean pages from the page cache, unless someone else holds them.
#[cfg(target_os = "linux")]
pub(crate) fn uncache(file: &File) {
    use rustix::fs::{Advice, fadvise};
    // On failure the pages stay, and the check finds them.
    let _ = file.sync_data();
    let _ = fadvise(file, 0, None, Advice::DontNeed);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn uncache(_: &File) {}

#[cfg(target_os = "linux")]
fn page_bytes() -> usize {
    // SAFETY: queries a constant of the system.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as usize
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn unwritten_bytes(_: &File, _: u64) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn cached_share(_: &File, _: u64) -> io::Result<f64> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
mod fiemap {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd as _;

    /// Extents per call.
    const EXTENTS: usize = 128;
    /// `_IOWR('f', 11, struct fiemap)`.
    const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B_u32 as libc::Ioctl;
    /// Write dirty pages before mapping.
    const FLAG_SYNC: u32 = 0x1;
    /// Location unknown, allocation delayed, or allocated but never written.
    const NO_DATA: u32 = 0x2 | 0x4 | 0x800;

    /// `struct fiemap_extent`.
    #[repr(C)]
    #[derive(Clone, Copy, Default)]
    pub(super) struct Extent {
        pub(super) logical: u64,
        physical: u64,
        pub(super) length: u64,
        reserved_64: [u64; 2],
        flags: u32,
        reserved: [u32; 3],
    }

    impl Extent {
        pub(super) fn holds_data(&self) -> bool {
            self.flags & NO_DATA == 0
        }
    }

    /// `struct fiemap` with space for its extents.
    #[repr(C)]
    pub(super) struct Map {
        start: u64,
        length: u64,
        flags: u32,
        mapped_extents: u32,
        extent_count: u32,
        reserved: u32,
        extents: [Extent; EXTENTS],
    }

    impl Default for Map {
        fn default() -> Self {
            Self {
                start: 0,
                length: 0,
                flags: FLAG_SYNC,
                mapped_extents: 0,
                extent_count: EXTENTS as u32,
                reserved: 0,
                extents: [Extent::default(); EXTENTS],
            }
        }
    }

    impl Map {
        /// The next extents from `start`; none if the rest is a hole.
        pub(super) fn read(
            &mut self,
            file: &File,
            start: u64,
            length: u64,
        ) -> io::Result<&[Extent]> {
            (self.start, self.length) = (start, length);
            self.flags = FLAG_SYNC;
            // SAFETY: `self` has the layout of `struct fiemap` with space for the `extent_count`
            // extents that it declares; the kernel writes no further.
            let status = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP, &raw mut *self) };
            if status == 0 {
                return Ok(&self.extents[..(self.mapped_extents as usize).min(EXTENTS)]);
            }
            let error = io::Error::last_os_error();
            Err(match error.raw_os_error() {
                Some(libc::EOPNOTSUPP | libc::ENOTTY | libc::EINVAL | libc::EBADR) => {
                    io::ErrorKind::Unsupported.into()
                }
                _ => error,
            })
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt as _;

    const MIB: u64 = 1 << 20;

    #[test]
    fn holes_and_unwritten_extents_are_seen() {
        let file = tempfile::tempfile_in(std::env::temp_dir()).unwrap();
        file.set_len(4 * MIB).unwrap();
        file.write_all_at(&vec![1; MIB as usize], MIB).unwrap();
        file.sync_all().unwrap();
        let unwritten = match unwritten_bytes(&file, 4 * MIB) {
            Ok(bytes) => bytes,
            Err(error) => return eprintln!("skipped: no FIEMAP here ({error})"),
        };
        assert_eq!(unwritten, 3 * MIB, "holes");
        if rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, 4 * MIB).is_ok() {
            assert_eq!(unwritten_bytes(&file, 4 * MIB).unwrap(), 3 * MIB, "unwritten extents");
        }
        file.write_all_at(&vec![2; 4 * MIB as usize], 0).unwrap();
        assert_eq!(unwritten_bytes(&file, 4 * MIB).unwrap(), 0);
        assert_eq!(unwritten_bytes(&file, 5 * MIB).unwrap(), MIB, "past the end");
    }

    #[test]
    fn pages_in_the_cache_are_seen() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&vec![1; 4 * MIB as usize], 0).unwrap();
        assert!(cached_share(&file, 4 * MIB).unwrap() > 0.9);
        uncache(&file);
        let share = cached_share(&file, 4 * MIB).unwrap();
        // A temporary directory in memory caches all of it.
        assert!(!(0.5..1.0).contains(&share), "{share}");
    }

    #[test]
    fn the_cache_of_a_file_is_hidden_from_others() {
        use rustix::process::{Uid, geteuid};
        use std::fs::Permissions;
        use std::os::unix::fs::PermissionsExt as _;

        if !geteuid().is_root() {
            return eprintln!("skipped: only root can become another user");
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_permissions(Permissions::from_mode(0o644)).unwrap();
        file.as_file().write_all_at(&vec![1; 4 * MIB as usize], 0).unwrap();
        assert!(sees_cache(file.as_file(), file.path()));
        uncache(file.as_file());
        let hidden = std::thread::spawn(move || {
            // Only this thread becomes another user, and it ends with the test.
            rustix::thread::set_thread_uid(Uid::from_raw(65_534)).unwrap();
            let share = cached_share(file.as_file(), 4 * MIB).unwrap();
            let sees = sees_cache(file.as_file(), file.path());
            // It may not remove the file.
            (sees, share, file)
        });
        let (sees, share, _file) = hidden.join().unwrap();
        assert_eq!((sees, share), (false, 1.0));
    }

    #[test]
    fn large_files_are_looked_at_part_by_part() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(5 * MAPPED / 2).unwrap();
        file.write_all_at(&vec![1; 4 * MIB as usize], 2 * MAPPED).unwrap();
        let share = cached_share(&file, 5 * MAPPED / 2).unwrap();
        let written = 4.0 * MIB as f64 / (2.5 * MAPPED as f64);
        assert!((share / written - 1.0).abs() < 0.01, "{share}");
    }
}
