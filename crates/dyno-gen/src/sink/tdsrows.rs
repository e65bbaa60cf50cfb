//! Rows as a bulk load of SQL Server's protocol takes them (MS-TDS, 2.2.6.1 and 2.2.7.19).

use dyno_record::{Error, ErrorKind, Result};

use super::RowSink;
use super::chunk::Chunks;

/// The token before each row.
const ROW: u8 = 0xD1;
/// Days from 0001-01-01 to the Unix epoch.
const EPOCH_DAYS: i32 = 719_162;
const DAY_US: i64 = 86_400_000_000;

/// How a column's values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TdsColumn {
    /// An integer of this many bytes (4 or 8), after its length if the column has one.
    Int {
        /// Bytes of a value.
        bytes: u8,
        /// Whether its length comes first.
        length: bool,
    },
    /// A sign and a magnitude of this many bytes (up to 16), with this many digits after the point.
    Decimal {
        /// Bytes of the magnitude.
        bytes: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// Days.
    Date,
    /// Time of a day, with 6 or 7 digits after the point, and days.
    Timestamp {
        /// Digits after the point.
        scale: u8,
    },
    /// A text.
    Text {
        /// Its encoding.
        encoding: TdsText,
        /// Whether it is in chunks, as texts without a limit are.
        chunks: bool,
    },
}

/// The encoding of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TdsText {
    /// UTF-8.
    Utf8,
    /// UTF-16.
    Utf16,
    /// A code page of which only ASCII is written.
    Ascii,
}

/// Rows of one table, written in chunks of about [`CHUNK_BYTES`](super::CHUNK_BYTES) of whole rows.
#[derive(Debug)]
pub struct TdsRowSink<'a, W> {
    chunks: Chunks<W>,
    columns: &'a [TdsColumn],
    column: usize,
    /// A value that its column cannot store.
    unfit: Option<usize>,
}

impl<'a, W: FnMut(&[u8]) -> Result<()>> TdsRowSink<'a, W> {
    /// Creates a sink for rows with `columns`. If `write` fails, `end_row` returns its error.
    pub fn new(columns: &'a [TdsColumn], write: W) -> Self {
        Self { chunks: Chunks::new(write), columns, column: 0, unfit: None }
    }

    /// Writes the last rows; returns the bytes of all.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn finish(mut self) -> Result<u64> {
        self.chunks.flush()?;
        Ok(self.chunks.bytes())
    }

    #[inline]
    fn next(&mut self) -> Option<TdsColumn> {
        let column = self.columns.get(self.column).copied();
        self.column += 1;
        column
    }

    #[cold]
    fn refuse(&mut self) {
        self.unfit.get_or_insert(self.column);
    }

    fn put_days(&mut self, days: i32) {
        let [a, b, c, _] = (days + EPOCH_DAYS).to_le_bytes();
        self.chunks.put(&[a, b, c]);
    }
}

impl<W: FnMut(&[u8]) -> Result<()>> RowSink for TdsRowSink<'_, W> {
    #[inline]
    fn begin_row(&mut self) {
        self.column = 0;
        self.chunks.put(&[ROW]);
    }

    #[inline]
    fn int32(&mut self, value: i32) {
        self.int64(i64::from(value));
    }

    #[inline]
    fn int64(&mut self, value: i64) {
        match (self.next(), i32::try_from(value)) {
            (Some(TdsColumn::Int { bytes: 4, length }), Ok(value)) => {
                if length {
                    self.chunks.put(&[4]);
                }
                self.chunks.put(&value.to_le_bytes());
            }
            (Some(TdsColumn::Int { bytes: 8, length }), _) => {
                if length {
                    self.chunks.put(&[8]);
                }
                self.chunks.put(&value.to_le_bytes());
            }
            _ => self.refuse(),
        }
    }

    #[inline]
    fn decimal(&mut self, unscaled: i64, scale: u8) {
        let Some(TdsColumn::Decimal { bytes, scale: own }) = self.next() else {
            return self.refuse();
        };
        let Some(shift) = own.checked_sub(scale) else { return self.refuse() };
        let units = u128::from(unscaled.unsigned_abs()) * 10u128.pow(u32::from(shift));
        let units = units.to_le_bytes();
        let (kept, lost) = units.split_at(usize::from(bytes).min(units.len()));
        if lost.iter().any(|byte| *byte != 0) {
            return self.refuse();
        }
        self.chunks.put(&[kept.len() as u8 + 1, u8::from(unscaled >= 0)]);
        self.chunks.buffer.extend_from_slice(kept);
    }

    #[inline]
    fn date(&mut self, days: i32) {
        if self.next() != Some(TdsColumn::Date) {
            return self.refuse();
        }
        self.chunks.put(&[3]);
        self.put_days(days);
    }

    #[inline]
    fn timestamp(&mut self, micros: i64) {
        let Some(TdsColumn::Timestamp { scale }) = self.next() else { return self.refuse() };
        let within = micros.rem_euclid(DAY_US) * if scale == 7 { 10 } else { 1 };
        self.chunks.put(&[8]);
        self.chunks.buffer.extend_from_slice(&within.to_le_bytes()[..5]);
        self.put_days(micros.div_euclid(DAY_US) as i32);
    }

    #[inline]
    fn text(&mut self, value: &str) {
        let Some(TdsColumn::Text { encoding, chunks }) = self.next() else { return self.refuse() };
        let bytes = match encoding {
            TdsText::Utf16 => value.encode_utf16().count() * 2,
            TdsText::Ascii if !value.is_ascii() => return self.refuse(),
            TdsText::Ascii | TdsText::Utf8 => value.len(),
        };
        if chunks {
            self.chunks.put(&(bytes as u64).to_le_bytes());
            // An empty chunk ends the value.
            if bytes > 0 {
                self.chunks.put(&(bytes as u32).to_le_bytes());
            }
        } else {
            self.chunks.put(&(bytes as u16).to_le_bytes());
        }
        if encoding == TdsText::Utf16 {
            value.encode_utf16().for_each(|unit| self.chunks.put(&unit.to_le_bytes()));
        } else {
            self.chunks.buffer.extend_from_slice(value.as_bytes());
        }
        if chunks {
            self.chunks.put(&[0; 4]);
        }
    }

    #[inline]
    fn null(&mut self) {
        match self.next() {
            Some(TdsColumn::Text { chunks: true, .. }) => self.chunks.put(&[0xFF; 8]),
            Some(TdsColumn::Text { chunks: false, .. }) => self.chunks.put(&[0xFF; 2]),
            Some(TdsColumn::Int { length: false, .. }) | None => self.refuse(),
            Some(_) => self.chunks.put(&[0]),
        }
    }

    #[inline]
    fn end_row(&mut self) -> Result<()> {
        if let Some(column) = self.unfit {
            let message = format!("column {column} of the table cannot store a generated value");
            return Err(Error::new(ErrorKind::Database, message));
        }
        self.chunks.end_row()
    }

    fn bytes(&self) -> u64 {
        self.chunks.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [TdsColumn; 6] = [
        TdsColumn::Int { bytes: 4, length: false },
        TdsColumn::Int { bytes: 8, length: true },
        TdsColumn::Decimal { bytes: 8, scale: 2 },
        TdsColumn::Timestamp { scale: 6 },
        TdsColumn::Text { encoding: TdsText::Utf8, chunks: false },
        TdsColumn::Text { encoding: TdsText::Utf16, chunks: true },
    ];

    fn written(columns: &[TdsColumn], fill: impl Fn(&mut dyn RowSink)) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut sink = TdsRowSink::new(columns, |chunk: &[u8]| {
            bytes.extend_from_slice(chunk);
            Ok(())
        });
        sink.begin_row();
        fill(&mut sink);
        sink.end_row()?;
        sink.finish()?;
        Ok(bytes)
    }

    #[test]
    fn a_row_is_as_the_protocol_describes_it() {
        let bytes = written(&COLUMNS, |sink| {
            sink.int32(-2);
            sink.int64(3);
            sink.decimal(-5, 1);
            sink.timestamp(1);
            sink.text("\u{e9}");
            sink.text("ab");
        });
        let mut expected = vec![ROW, 0xFE, 0xFF, 0xFF, 0xFF, 8, 3, 0, 0, 0, 0, 0, 0, 0];
        expected.extend([9, 0, 50, 0, 0, 0, 0, 0, 0, 0]);
        expected.extend([8, 1, 0, 0, 0, 0, 0x3A, 0xF9, 0x0A]);
        expected.extend([2, 0, 0xC3, 0xA9]);
        expected.extend([4, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, b'a', 0, b'b', 0, 0, 0, 0, 0]);
        assert_eq!(bytes.unwrap(), expected);
    }

    #[test]
    fn nulls_have_the_form_of_their_column() {
        let nulls = written(&COLUMNS, |sink| {
            sink.int32(1);
            (1..6).for_each(|_| sink.null());
        });
        let mut expected = vec![ROW, 1, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF];
        expected.extend([0xFF; 8]);
        assert_eq!(nulls.unwrap(), expected);
    }

    #[test]
    fn dates_count_from_year_one() {
        let bytes = written(&[TdsColumn::Date], |sink| sink.date(0)).unwrap();
        assert_eq!(bytes, [ROW, 3, 0x3A, 0xF9, 0x0A]);
    }

    #[test]
    fn what_a_column_cannot_store_is_an_error() {
        let ascii = TdsColumn::Text { encoding: TdsText::Ascii, chunks: false };
        let small = TdsColumn::Decimal { bytes: 4, scale: 2 };
        for (column, fill) in [
            (ascii, (|sink| sink.text("\u{e9}")) as fn(&mut dyn RowSink)),
            (small, |sink| sink.decimal(1 << 40, 2)),
            (small, |sink| sink.decimal(1, 3)),
            (COLUMNS[0], |sink| sink.int64(1 << 40)),
            (COLUMNS[0], |sink| sink.null()),
            (COLUMNS[0], |sink| sink.text("1")),
        ] {
            assert_eq!(written(&[column], fill).unwrap_err().kind, ErrorKind::Database);
        }
    }
}
