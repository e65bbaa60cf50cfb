//! Rows as text: `tbl` as the TPC's generator writes it, and CSV.

use dyno_record::Result;
use serde::{Deserialize, Serialize};

use super::chunk::Chunks;
use super::{RowSink, calendar, digits};
use crate::schema::TableSchema;

/// A text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextFormat {
    /// Fields end with `|`, nothing is quoted, NULL is empty. No workload has `|` in its text.
    Tbl,
    /// RFC 4180 with a header and line feeds: fields are quoted where they must be, NULL is empty
    /// and an empty text is `""`.
    Csv,
}

impl TextFormat {
    /// Every format, by the name that is also its file extension.
    pub const NAMES: [&'static str; 2] = ["tbl", "csv"];

    /// The name of the format, which is also its file extension.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tbl => "tbl",
            Self::Csv => "csv",
        }
    }
}

/// Rows as text, handed over in chunks of about [`CHUNK_BYTES`](super::CHUNK_BYTES), which end at
/// the end of a row.
#[derive(Debug)]
pub struct TextSink<W> {
    chunks: Chunks<W>,
    format: TextFormat,
}

impl<W: FnMut(&[u8]) -> Result<()>> TextSink<W> {
    /// An empty text. An error of `write` ends the row that met it.
    pub fn new(format: TextFormat, write: W) -> Self {
        Self { chunks: Chunks::new(write), format }
    }

    /// The line with the names of the columns, in formats that have one.
    pub fn header(&mut self, table: &TableSchema) {
        if self.format == TextFormat::Csv {
            let names: Vec<_> = table.columns.iter().map(|column| column.name).collect();
            self.chunks.buffer.extend_from_slice(names.join(",").as_bytes());
            self.chunks.put(b"\n");
        }
    }

    /// Hands over the rows gathered so far.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn flush(&mut self) -> Result<()> {
        self.chunks.flush()
    }

    /// Hands over the last rows; returns the bytes of the whole text.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn finish(mut self) -> Result<u64> {
        self.chunks.flush()?;
        Ok(self.chunks.bytes())
    }

    /// Every field is followed by its separator; CSV takes the last one back.
    #[inline]
    fn end_field(&mut self) {
        self.chunks.put(match self.format {
            TextFormat::Tbl => b"|",
            TextFormat::Csv => b",",
        });
    }

    fn quoted(&mut self, value: &str) {
        self.chunks.put(b"\"");
        for (i, piece) in value.split('"').enumerate() {
            if i > 0 {
                self.chunks.put(b"\"\"");
            }
            self.chunks.buffer.extend_from_slice(piece.as_bytes());
        }
        self.chunks.put(b"\"");
    }
}

impl<W: FnMut(&[u8]) -> Result<()>> RowSink for TextSink<W> {
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
        let special = |byte: &u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
        if self.format == TextFormat::Csv
            && (value.is_empty() || value.as_bytes().iter().any(special))
        {
            self.quoted(value);
        } else {
            self.chunks.buffer.extend_from_slice(value.as_bytes());
        }
        self.end_field();
    }

    #[inline]
    fn null(&mut self) {
        self.end_field();
    }

    #[inline]
    fn end_row(&mut self) -> Result<()> {
        if self.format == TextFormat::Csv {
            self.chunks.buffer.pop();
        }
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

    fn row(format: TextFormat, fill: impl FnOnce(&mut dyn RowSink)) -> String {
        let mut text = Vec::new();
        let mut sink = TextSink::new(format, |chunk: &[u8]| {
            text.extend_from_slice(chunk);
            Ok(())
        });
        sink.begin_row();
        fill(&mut sink);
        sink.end_row().unwrap();
        sink.finish().unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn csv_quotes_only_where_it_must() {
        let line = row(TextFormat::Csv, |sink| {
            for text in ["plain", "a,b", "say \"hi\"", "two\nlines", "", " spaced "] {
                sink.text(text);
            }
            sink.null();
        });
        assert_eq!(line, "plain,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\"\", spaced ,\n");
    }

    #[test]
    fn tbl_ends_every_field_with_a_bar() {
        let line = row(TextFormat::Tbl, |sink| {
            sink.int32(-7);
            sink.decimal(-5, 2);
            sink.decimal(17, 0);
            sink.date(0);
            sink.timestamp(1_000_000);
            sink.timestamp(1_500_000);
            sink.null();
        });
        assert_eq!(
            line,
            "-7|-0.05|17|1970-01-01|1970-01-01 00:00:01|1970-01-01 00:00:01.500000||\n"
        );
    }
}
