//! Bytes buffered into chunks, which bounds memory and amortises each write.

use dyno_record::Result;

/// A chunk is written at the first end of a row at or above this size.
pub const CHUNK_BYTES: usize = 1 << 20;

/// A buffer that passes whole rows to `write` whenever it holds [`CHUNK_BYTES`].
#[derive(Debug)]
pub(super) struct Chunks<W> {
    pub(super) buffer: Vec<u8>,
    handed_over: u64,
    write: W,
}

impl<W: FnMut(&[u8]) -> Result<()>> Chunks<W> {
    pub(super) fn new(write: W) -> Self {
        // Space for the row that exceeds the limit, so that the buffer never grows.
        Self { buffer: Vec::with_capacity(CHUNK_BYTES + 4096), handed_over: 0, write }
    }

    #[inline]
    pub(super) fn put<const N: usize>(&mut self, bytes: &[u8; N]) {
        self.buffer.extend_from_slice(bytes);
    }

    #[inline]
    pub(super) fn end_row(&mut self) -> Result<()> {
        if self.buffer.len() >= CHUNK_BYTES { self.flush() } else { Ok(()) }
    }

    #[cold]
    pub(super) fn flush(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        (self.write)(&self.buffer)?;
        self.handed_over += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    pub(super) fn bytes(&self) -> u64 {
        self.handed_over + self.buffer.len() as u64
    }
}
