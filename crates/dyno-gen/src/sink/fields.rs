//! Rows as text fields with any separator and quoting.

use dyno_record::Result;

use super::chunk::Chunks;
use super::{RowSink, calendar, digits};

/// What differs between text formats. Calls are inlined, so abstraction costs nothing.
pub trait Fields {
    /// The byte after each field.
    fn separator(&self) -> u8;

    /// Whether the separator also follows the last field of a row.
    fn ends_rows_with_separator(&self) -> bool;

    /// The text for NULL.
    fn null(&self) -> &'static [u8];

    /// Appends a text, quoted or escaped where necessary.
    fn text(&self, buffer: &mut Vec<u8>, value: &str);
}

/// Rows as text, written in chunks of about [`CHUNK_BYTES`](super::CHUNK_BYTES) of whole rows.
#[derive(Debug)]
pub struct FieldSink<F, W> {
    pub(super) chunks: Chunks<W>,
    pub(super) format: F,
}

impl<F: Fields, W: FnMut(&[u8]) -> Result<()>> FieldSink<F, W> {
    /// Creates an empty sink. If `write` fails, `end_row` returns its error.
    pub(super) fn of(format: F, write: W) -> Self {
        Self { chunks: Chunks::new(write), format }
    }

    /// Writes the rows buffered so far.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn flush(&mut self) -> Result<()> {
        self.chunks.flush()
    }

    /// Writes the last rows; returns the bytes of the whole text.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn finish(mut self) -> Result<u64> {
        self.chunks.flush()?;
        Ok(self.chunks.bytes())
    }

    #[inline]
    fn end_field(&mut self) {
        self.chunks.put(&[self.format.separator()]);
    }
}

impl<F: Fields, W: FnMut(&[u8]) -> Result<()>> RowSink for FieldSink<F, W> {
    #[inline]
    fn begin_row(&mut self) {}

    #[inline]
    fn int32(&mut self, value: i32) {
        self.int64(i64::from(value));
    }

    #[inline]
    fn int64(&mut self, value: i64) {
        digits::signed(&mut self.chunks.buffer, value);
        self.end_field();
    }

    #[inline]
    fn decimal(&mut self, unscaled: i64, scale: u8) {
        digits::decimal(&mut self.chunks.buffer, unscaled, scale);
        self.end_field();
    }

    #[inline]
    fn date(&mut self, days: i32) {
        self.chunks.put(&calendar::date_text(days));
        self.end_field();
    }

    #[inline]
    fn timestamp(&mut self, micros: i64) {
        let text = calendar::timestamp_text(micros);
        let shown = if micros % 1_000_000 == 0 { &text[..19] } else { &text[..] };
        self.chunks.buffer.extend_from_slice(shown);
        self.end_field();
    }

    #[inline]
    fn text(&mut self, value: &str) {
        self.format.text(&mut self.chunks.buffer, value);
        self.end_field();
    }

    #[inline]
    fn null(&mut self) {
        self.chunks.buffer.extend_from_slice(self.format.null());
        self.end_field();
    }

    #[inline]
    fn end_row(&mut self) -> Result<()> {
        if !self.format.ends_rows_with_separator() {
            self.chunks.buffer.pop();
        }
        self.chunks.put(b"\n");
        self.chunks.end_row()
    }

    fn bytes(&self) -> u64 {
        self.chunks.bytes()
    }
}
