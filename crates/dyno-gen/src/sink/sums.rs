//! Sums of columns: a summary of a table that does not depend on the order of its rows.

use dyno_record::Result;

use super::RowSink;
use crate::schema::{ColumnType, TableSchema};

/// Adds up each column: integers as they are, decimals in units of the last digit, texts by length
/// in characters, dates and times in their unit. NULL adds nothing.
#[derive(Debug, Clone)]
pub struct SumSink {
    scales: Vec<u8>,
    sums: Vec<i128>,
    column: usize,
    rows: u64,
}

impl SumSink {
    /// Creates a sink for `table`.
    pub fn new(table: &TableSchema) -> Self {
        let scale = |kind| if let ColumnType::Decimal { scale, .. } = kind { scale } else { 0 };
        let scales: Vec<_> = table.columns.iter().map(|column| scale(column.kind)).collect();
        Self { sums: vec![0; scales.len()], scales, column: 0, rows: 0 }
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The sums in the order of the columns.
    pub fn sums(&self) -> &[i128] {
        &self.sums
    }

    /// Adds the sums of another sink of the same table.
    pub fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        for (sum, more) in self.sums.iter_mut().zip(&other.sums) {
            *sum += more;
        }
    }

    #[inline]
    fn add(&mut self, value: i64) {
        self.sums[self.column] += i128::from(value);
        self.column += 1;
    }
}

impl RowSink for SumSink {
    #[inline]
    fn begin_row(&mut self) {
        self.column = 0;
    }

    #[inline]
    fn int32(&mut self, value: i32) {
        self.add(i64::from(value));
    }

    #[inline]
    fn int64(&mut self, value: i64) {
        self.add(value);
    }

    #[inline]
    fn decimal(&mut self, unscaled: i64, scale: u8) {
        let missing = self.scales[self.column] - scale;
        self.add(unscaled * 10_i64.pow(u32::from(missing)));
    }

    #[inline]
    fn date(&mut self, days: i32) {
        self.add(i64::from(days));
    }

    #[inline]
    fn timestamp(&mut self, micros: i64) {
        self.add(micros);
    }

    #[inline]
    fn text(&mut self, value: &str) {
        let characters = if value.is_ascii() { value.len() } else { value.chars().count() };
        self.add(characters as i64);
    }

    #[inline]
    fn null(&mut self) {
        self.column += 1;
    }

    #[inline]
    fn end_row(&mut self) -> Result<()> {
        self.rows += 1;
        Ok(())
    }

    /// Sums have no size.
    fn bytes(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workload;

    #[test]
    fn decimals_count_in_their_last_digit_and_null_counts_nothing() {
        let table = Workload::Tpch.tables().iter().find(|table| table.name == "partsupp").unwrap();
        let mut sink = SumSink::new(table);
        for unscaled in [1234, -34] {
            sink.begin_row();
            sink.int32(7);
            sink.int32(-2);
            sink.null();
            sink.decimal(unscaled, if unscaled < 0 { 0 } else { 2 });
            sink.text("größer");
            sink.end_row().unwrap();
        }
        assert_eq!(sink.rows(), 2);
        assert_eq!(sink.sums(), [14, -4, 0, 1234 - 3400, 12]);
        let mut twice = sink.clone();
        twice.merge(&sink);
        assert_eq!((twice.rows(), twice.sums()[0]), (4, 28));
    }
}
