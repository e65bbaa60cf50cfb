//! Rows as text: `tbl` as the TPC's generator writes it, and CSV.

use dyno_record::Result;

use super::fields::{FieldSink, Fields};
use crate::schema::TableSchema;

/// A text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// Each field ends with `|`, nothing is quoted, NULL is empty. No workload has `|` in a text.
    Tbl,
    /// RFC 4180 with a header and line feeds. Fields are quoted where necessary, NULL is empty, and
    /// an empty text is `""`.
    Csv,
}

/// Rows in a [`TextFormat`].
pub type TextSink<W> = FieldSink<TextFormat, W>;

impl<W: FnMut(&[u8]) -> Result<()>> TextSink<W> {
    /// Creates an empty sink. If `write` fails, `end_row` returns its error.
    pub fn new(format: TextFormat, write: W) -> Self {
        Self::of(format, write)
    }

    /// Writes the column names, in formats with a header.
    pub fn header(&mut self, table: &TableSchema) {
        if self.format == TextFormat::Csv {
            let names: Vec<_> = table.columns.iter().map(|column| column.name).collect();
            self.chunks.buffer.extend_from_slice(names.join(",").as_bytes());
            self.chunks.put(b"\n");
        }
    }
}

impl Fields for TextFormat {
    #[inline]
    fn separator(&self) -> u8 {
        match self {
            Self::Tbl => b'|',
            Self::Csv => b',',
        }
    }

    #[inline]
    fn ends_rows_with_separator(&self) -> bool {
        *self == Self::Tbl
    }

    #[inline]
    fn null(&self) -> &'static [u8] {
        b""
    }

    #[inline]
    fn text(&self, buffer: &mut Vec<u8>, value: &str) {
        let special = |byte: &u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
        if *self == Self::Csv && (value.is_empty() || value.as_bytes().iter().any(special)) {
            quoted(buffer, value);
        } else {
            buffer.extend_from_slice(value.as_bytes());
        }
    }
}

fn quoted(buffer: &mut Vec<u8>, value: &str) {
    buffer.push(b'"');
    for (i, piece) in value.split('"').enumerate() {
        if i > 0 {
            buffer.extend_from_slice(b"\"\"");
        }
        buffer.extend_from_slice(piece.as_bytes());
    }
    buffer.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::RowSink;

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
