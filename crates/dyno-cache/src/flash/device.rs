//! Storage under a cache.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes that a device writes whole or not at all; offsets and lengths are multiples of it.
pub const PAGE: usize = 4096;

/// Storage of a fixed size, shared by threads.
///
/// A write is durable once a later [`Device::sync`] has returned. At a crash before that, each of its
/// pages may be old or new, in any order with pages of other writes. A read that began after a write
/// returned sees it.
pub trait Device: Send + Sync {
    /// The size in bytes, which never changes.
    fn size(&self) -> u64;

    /// Reads as many bytes as `into` has.
    ///
    /// # Errors
    /// Of the device; then `into` has any content.
    fn read(&self, into: &mut [u8], offset: u64) -> io::Result<()>;

    /// Writes all bytes.
    ///
    /// # Errors
    /// Of the device; then each page may be old or new.
    fn write(&self, from: &[u8], offset: u64) -> io::Result<()>;

    /// Makes the writes that returned before durable.
    ///
    /// # Errors
    /// Of the device; then none of these writes need be durable.
    fn sync(&self) -> io::Result<()>;
}

/// A file or block device. Opened with `O_DIRECT`, it takes buffers of [`Pages`] only.
pub struct FileDevice {
    file: File,
    size: u64,
}

impl FileDevice {
    /// A file of at least `size` bytes.
    pub fn new(file: File, size: u64) -> Self {
        Self { file, size }
    }
}

impl Device for FileDevice {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(into, offset)
    }

    fn write(&self, from: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(from, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// Keeps nothing: a device for a cache that is not used.
pub struct NullDevice(pub u64);

impl Device for NullDevice {
    fn size(&self) -> u64 {
        self.0
    }

    fn read(&self, into: &mut [u8], _: u64) -> io::Result<()> {
        into.fill(0);
        Ok(())
    }

    fn write(&self, _: &[u8], _: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Zeroed bytes that begin at a multiple of [`PAGE`] in memory, as `O_DIRECT` asks for.
pub struct Pages {
    bytes: Vec<u8>,
    start: usize,
}

impl Pages {
    /// A buffer of `len` bytes.
    pub fn new(len: usize) -> Self {
        let bytes = vec![0; len + PAGE];
        let start = bytes.as_ptr().align_offset(PAGE);
        Self { bytes, start }
    }
}

impl std::ops::Deref for Pages {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.bytes.len() - PAGE]
    }
}

impl std::ops::DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [u8] {
        let end = self.start + self.bytes.len() - PAGE;
        &mut self.bytes[self.start..end]
    }
}
