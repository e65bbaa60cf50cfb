//! Rows in the default format of MySQL's `LOAD DATA`: tabs between fields, `\` escapes, `\N` is NULL.

#![allow(clippy::doc_markdown, reason = "names of products are not code")]

use dyno_record::Result;

use super::chunk::Chunks;
use super::{RowSink, calendar, digits};

/// Rows as `LOAD DATA` takes them without any `FIELDS` or `LINES` clause, handed over in chunks of
/// about [`CHUNK_BYTES`](super::CHUNK_BYTES), which end at the end of a row.
///
/// Source: MariaDB and MySQL reference manuals, `LOAD DATA`, "Field and line handling".
#[derive(Debug)]
pub struct LoadDataSink<W> {
    chunks: Chunks<W>,
}

impl<W: FnMut(&[u8]) -> Result<()>> LoadDataSink<W> {
    /// An empty text. An error of `write` ends the row that met it.
    pub fn new(write: W) -> Self {
        Self { chunks: Chunks::new(write) }
    }

    /// Hands over the last rows; returns the bytes of the whole text.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn finish(mut self) -> Result<u64> {
        self.chunks.flush()?;
        Ok(self.chunks.bytes())
    }

    /// Every field is followed by its separator; the end of the row takes the last one back.
    #[inline]
    fn end_field(&mut self) {
        self.chunks.put(b"\t");
    }

    #[cold]
    fn escaped(&mut self, value: &str) {
        for byte in value.bytes() {
            match byte {
                b'\\' => self.chunks.put(b"\\\\"),
                b'\t' => self.chunks.put(b"\\t"),
                b'\n' => self.chunks.put(b"\\n"),
                0 => self.chunks.put(b"\\0"),
                other => self.chunks.put(&[other]),
            }
        }
    }
}

impl<W: FnMut(&[u8]) -> Result<()>> RowSink for LoadDataSink<W> {
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
        if value.bytes().any(|byte| matches!(byte, b'\\' | b'\t' | b'\n' | 0)) {
            self.escaped(value);
        } else {
            self.chunks.buffer.extend_from_slice(value.as_bytes());
        }
        self.end_field();
    }

    #[inline]
    fn null(&mut self) {
        self.chunks.put(b"\\N");
        self.end_field();
    }

    #[inline]
    fn end_row(&mut self) -> Result<()> {
        self.chunks.buffer.pop();
        self.chunks.put(b"\n");
        self.chunks.end_row()
    }

    fn bytes(&self) -> u64 {
        self.chunks.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_parted_by_tabs_and_escaped_where_they_must_be() {
        let mut text = Vec::new();
        let mut sink = LoadDataSink::new(|chunk: &[u8]| {
            text.extend_from_slice(chunk);
            Ok(())
        });
        sink.begin_row();
        sink.int32(-7);
        sink.decimal(-5, 2);
        sink.date(0);
        sink.timestamp(1_500_000);
        sink.null();
        sink.text("");
        sink.text("a\\N\tb\nc\0ü|");
        sink.end_row().unwrap();
        assert_eq!(sink.finish().unwrap(), text.len() as u64);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "-7\t-0.05\t1970-01-01\t1970-01-01 00:00:01.500000\t\\N\t\ta\\\\N\\tb\\nc\\0ü|\n"
        );
    }
}
