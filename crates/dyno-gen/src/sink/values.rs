//! Rows as plain values, for consumers that bind them to a prepared statement.
//!
//! Each value in a chunk is a tag, followed by eight bytes for a number, or length and bytes for a
//! text. Dates and times are ISO 8601 text.

use dyno_record::Result;
use serde::{Deserialize, Serialize};

use super::chunk::Chunks;
use super::{RowSink, calendar};
use crate::schema::{ColumnType, TableSchema};

/// How to convert decimals for a system that has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decimals {
    /// The nearest binary floating-point number.
    Real,
    /// An integer in units of the column's last digit: cents for a scale of 2.
    Unscaled,
}

/// One value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// An integer, or a decimal as [`Decimals::Unscaled`].
    Int(i64),
    /// A decimal as [`Decimals::Real`].
    Real(f64),
    /// Text in UTF-8.
    Text(&'a [u8]),
}

const NULL: u8 = 0;
const INT: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;

/// The values of a chunk, row by row.
pub fn values(chunk: &[u8]) -> impl Iterator<Item = Value<'_>> {
    let mut rest = chunk;
    std::iter::from_fn(move || {
        let (tag, tail) = rest.split_first()?;
        let (value, tail) = match *tag {
            NULL => (Value::Null, tail),
            TEXT => {
                let (length, tail) = tail.split_first_chunk()?;
                let (text, tail) = tail.split_at_checked(u32::from_le_bytes(*length) as usize)?;
                (Value::Text(text), tail)
            }
            _ => {
                let (number, tail) = tail.split_first_chunk()?;
                match *tag {
                    INT => (Value::Int(i64::from_le_bytes(*number)), tail),
                    _ => (Value::Real(f64::from_le_bytes(*number)), tail),
                }
            }
        };
        rest = tail;
        Some(value)
    })
}

/// Rows of one table as chunks for [`values`], of about [`CHUNK_BYTES`](super::CHUNK_BYTES) and
/// with whole rows.
#[derive(Debug)]
pub struct ValueSink<W> {
    chunks: Chunks<W>,
    decimals: Decimals,
    /// Digits after the point for each column; 0 for other types.
    scales: Vec<u8>,
    column: usize,
}

impl<W: FnMut(&[u8]) -> Result<()>> ValueSink<W> {
    /// Creates a sink for `table`. If `write` fails, `end_row` returns its error.
    pub fn new(table: &TableSchema, decimals: Decimals, write: W) -> Self {
        let scales = table.columns.iter().map(|column| match column.kind {
            ColumnType::Decimal { scale, .. } => scale,
            _ => 0,
        });
        Self { chunks: Chunks::new(write), decimals, scales: scales.collect(), column: 0 }
    }

    /// Writes the rows buffered so far.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn flush(&mut self) -> Result<()> {
        self.chunks.flush()
    }

    #[inline]
    fn number(&mut self, tag: u8, bytes: [u8; 8]) {
        let mut field = [tag; 9];
        field[1..].copy_from_slice(&bytes);
        self.chunks.put(&field);
        self.column += 1;
    }

    #[inline]
    fn bytes_of_text(&mut self, text: &[u8]) {
        let mut head = [TEXT; 5];
        head[1..].copy_from_slice(&(text.len() as u32).to_le_bytes());
        self.chunks.put(&head);
        self.chunks.buffer.extend_from_slice(text);
        self.column += 1;
    }
}

impl<W: FnMut(&[u8]) -> Result<()>> RowSink for ValueSink<W> {
    #[inline]
    fn begin_row(&mut self) {
        self.column = 0;
    }

    #[inline]
    fn int32(&mut self, value: i32) {
        self.int64(i64::from(value));
    }

    #[inline]
    fn int64(&mut self, value: i64) {
        self.number(INT, value.to_le_bytes());
    }

    #[inline]
    fn decimal(&mut self, unscaled: i64, scale: u8) {
        match self.decimals {
            // Both operands are exact up to 2^53, so the quotient is the number nearest to the
            // decimal: the same as from parsing its text.
            Decimals::Real => {
                let value = unscaled as f64 / 10f64.powi(i32::from(scale));
                self.number(REAL, value.to_le_bytes());
            }
            Decimals::Unscaled => {
                let missing = self.scales[self.column].saturating_sub(scale);
                let value = unscaled * 10i64.pow(u32::from(missing));
                self.number(INT, value.to_le_bytes());
            }
        }
    }

    #[inline]
    fn date(&mut self, days: i32) {
        self.bytes_of_text(&calendar::date_text(days));
    }

    #[inline]
    fn timestamp(&mut self, micros: i64) {
        let text = calendar::timestamp_text(micros);
        let whole = micros.rem_euclid(1_000_000) == 0;
        self.bytes_of_text(if whole { &text[..19] } else { &text });
    }

    #[inline]
    fn text(&mut self, value: &str) {
        self.bytes_of_text(value.as_bytes());
    }

    #[inline]
    fn null(&mut self) {
        self.chunks.put(&[NULL]);
        self.column += 1;
    }

    #[inline]
    fn end_row(&mut self) -> Result<()> {
        self.chunks.end_row()
    }

    fn bytes(&self) -> u64 {
        self.chunks.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Column;

    const TABLE: TableSchema = TableSchema {
        name: "t",
        columns: &[
            Column::int32("a"),
            Column::decimal("b", 15, 2),
            Column::timestamp("c").or_null(),
            Column::date("d"),
            Column::varchar("e", 9),
        ],
        primary_key: &[],
    };

    fn chunk(decimals: Decimals, fill: impl Fn(&mut dyn RowSink)) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut sink = ValueSink::new(&TABLE, decimals, |chunk: &[u8]| {
            bytes.extend_from_slice(chunk);
            Ok(())
        });
        fill(&mut sink);
        sink.flush().unwrap();
        bytes
    }

    fn rows(sink: &mut dyn RowSink) {
        sink.begin_row();
        sink.int32(-7);
        sink.decimal(-12_345, 2);
        sink.timestamp(45_296_000_000);
        sink.date(0);
        sink.text("é");
        sink.end_row().unwrap();
        sink.begin_row();
        sink.int64(1 << 40);
        sink.decimal(3, 0);
        sink.null();
        sink.date(-1);
        sink.text("");
        sink.end_row().unwrap();
    }

    #[test]
    fn values_come_out_as_they_went_in() {
        let bytes = chunk(Decimals::Real, rows);
        let found: Vec<_> = values(&bytes).collect();
        let expected = [
            Value::Int(-7),
            Value::Real("-123.45".parse().unwrap()),
            Value::Text(b"1970-01-01 12:34:56"),
            Value::Text(b"1970-01-01"),
            Value::Text("é".as_bytes()),
            Value::Int(1 << 40),
            Value::Real(3.0),
            Value::Null,
            Value::Text(b"1969-12-31"),
            Value::Text(b""),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn whole_units_have_the_scale_of_their_column() {
        let bytes = chunk(Decimals::Unscaled, rows);
        let found: Vec<_> = values(&bytes).collect();
        assert_eq!(found[1], Value::Int(-12_345));
        assert_eq!(found[6], Value::Int(300));
    }

    #[test]
    fn a_chunk_cut_short_ends_early_and_does_not_panic() {
        let bytes = chunk(Decimals::Real, rows);
        for length in 0..bytes.len() {
            assert!(values(&bytes[..length]).count() < 10);
        }
    }
}
