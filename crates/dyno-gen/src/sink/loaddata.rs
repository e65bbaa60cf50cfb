//! Rows in the default format of MySQL's `LOAD DATA`: tab-separated, `\` escapes, `\N` is NULL.

#![allow(clippy::doc_markdown, reason = "names of products are not code")]

use dyno_record::Result;

use super::fields::{FieldSink, Fields};

/// Rows for `LOAD DATA` without a `FIELDS` or `LINES` clause.
///
/// Source: MariaDB and MySQL reference manuals, `LOAD DATA`, "Field and line handling".
pub type LoadDataSink<W> = FieldSink<LoadData, W>;

/// The format of a [`LoadDataSink`].
#[derive(Debug, Clone, Copy)]
pub struct LoadData;

impl<W: FnMut(&[u8]) -> Result<()>> LoadDataSink<W> {
    /// Creates an empty sink. If `write` fails, `end_row` returns its error.
    pub fn new(write: W) -> Self {
        Self::of(LoadData, write)
    }
}

impl Fields for LoadData {
    #[inline]
    fn separator(&self) -> u8 {
        b'\t'
    }

    #[inline]
    fn ends_rows_with_separator(&self) -> bool {
        false
    }

    #[inline]
    fn null(&self) -> &'static [u8] {
        b"\\N"
    }

    #[inline]
    fn text(&self, buffer: &mut Vec<u8>, value: &str) {
        if value.bytes().any(|byte| matches!(byte, b'\\' | b'\t' | b'\n' | 0)) {
            escaped(buffer, value);
        } else {
            buffer.extend_from_slice(value.as_bytes());
        }
    }
}

#[cold]
fn escaped(buffer: &mut Vec<u8>, value: &str) {
    for byte in value.bytes() {
        match byte {
            b'\\' => buffer.extend_from_slice(b"\\\\"),
            b'\t' => buffer.extend_from_slice(b"\\t"),
            b'\n' => buffer.extend_from_slice(b"\\n"),
            0 => buffer.extend_from_slice(b"\\0"),
            other => buffer.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::RowSink as _;

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
