//! The null sink: measures the cost of rows without a format.

use dyno_record::Result;

use super::RowSink;

/// Counts rows and the bytes of their values in plain binary: 4 for `Int32` and `Date`, 8 for
/// `Int64`, `Decimal` and `Timestamp`, the length of text, nothing for NULL.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct CountSink {
    rows: u64,
    bytes: u64,
}

impl CountSink {
    /// Creates an empty sink.
    pub fn new() -> Self {
        Self::default()
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

impl RowSink for CountSink {
    #[inline]
    fn begin_row(&mut self) {}

    #[inline]
    fn int32(&mut self, value: i32) {
        std::hint::black_box(value);
        self.bytes += 4;
    }

    #[inline]
    fn int64(&mut self, value: i64) {
        std::hint::black_box(value);
        self.bytes += 8;
    }

    #[inline]
    fn decimal(&mut self, unscaled: i64, _scale: u8) {
        self.int64(unscaled);
    }

    #[inline]
    fn date(&mut self, days: i32) {
        self.int32(days);
    }

    #[inline]
    fn timestamp(&mut self, micros: i64) {
        self.int64(micros);
    }

    #[inline]
    fn text(&mut self, value: &str) {
        self.bytes += std::hint::black_box(value).len() as u64;
    }

    #[inline]
    fn null(&mut self) {}

    #[inline]
    fn end_row(&mut self) -> Result<()> {
        self.rows += 1;
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
