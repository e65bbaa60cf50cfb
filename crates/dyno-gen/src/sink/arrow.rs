//! Rows as Arrow record batches.

use std::sync::Arc;

use arrow_array::builder::{
    Date32Builder, Decimal64Builder, Int32Builder, Int64Builder, StringBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use dyno_record::{Error, ErrorKind, Result};

use super::RowSink;
use crate::schema::{ColumnType, TableSchema};

/// Rows of a batch: several vectors of an engine, and at most 2 MB. `DuckDB` takes batches of 4,096
/// to 65,536 rows equally fast.
const BATCH_ROWS: usize = 8_192;

/// Rows as record batches of 8,192 rows, or [another size](Self::sized). The last one, from
/// [`finish`](Self::finish), is smaller.
///
/// Decimals have 64 bits: `DuckDB` reads them with 5 % less work than 128-bit ones.
#[derive(Debug)]
pub struct ArrowSink<W> {
    schema: SchemaRef,
    columns: Vec<Column>,
    next: usize,
    rows: usize,
    batch_rows: usize,
    handed_over: u64,
    write: W,
}

impl<W: FnMut(RecordBatch) -> Result<()>> ArrowSink<W> {
    /// Creates an empty sink for `table`. If `write` fails, `end_row` returns its error.
    pub fn new(table: &TableSchema, write: W) -> Self {
        Self {
            schema: arrow_schema(table),
            columns: table.columns.iter().map(|column| Column::new(column.kind)).collect(),
            next: 0,
            rows: 0,
            batch_rows: BATCH_ROWS,
            handed_over: 0,
            write,
        }
    }

    /// Like [`new`](Self::new), in batches of `batch_rows` rows.
    pub fn sized(table: &TableSchema, batch_rows: usize, write: W) -> Self {
        Self { batch_rows, ..Self::new(table, write) }
    }

    /// Writes the last batch.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn finish(mut self) -> Result<()> {
        if self.rows == 0 { Ok(()) } else { self.flush() }
    }

    #[cold]
    fn flush(&mut self) -> Result<()> {
        self.handed_over += self.waiting();
        let arrays = self.columns.iter_mut().map(Column::take).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), arrays)
            .map_err(|error| Error::new(ErrorKind::Internal, format!("building rows: {error}")))?;
        self.rows = 0;
        (self.write)(batch)
    }

    /// Bytes of the current batch.
    fn waiting(&self) -> u64 {
        self.columns.iter().map(|column| column.values.bytes() as u64).sum()
    }

    #[inline]
    fn column(&mut self) -> &mut Values {
        let column = &mut self.columns[self.next];
        self.next += 1;
        &mut column.values
    }
}

impl<W: FnMut(RecordBatch) -> Result<()>> RowSink for ArrowSink<W> {
    #[inline]
    fn begin_row(&mut self) {
        self.next = 0;
    }

    #[inline]
    fn int32(&mut self, value: i32) {
        if let Values::Int32(values) = self.column() {
            values.append_value(value);
        }
    }

    #[inline]
    fn int64(&mut self, value: i64) {
        if let Values::Int64(values) = self.column() {
            values.append_value(value);
        }
    }

    #[inline]
    fn decimal(&mut self, unscaled: i64, scale: u8) {
        if let Values::Decimal(values, own) = self.column() {
            let factor = if scale == *own { 1 } else { 10i64.pow(u32::from(*own - scale)) };
            values.append_value(unscaled * factor);
        }
    }

    #[inline]
    fn date(&mut self, days: i32) {
        if let Values::Date(values) = self.column() {
            values.append_value(days);
        }
    }

    #[inline]
    fn timestamp(&mut self, micros: i64) {
        if let Values::Timestamp(values) = self.column() {
            values.append_value(micros);
        }
    }

    #[inline]
    fn text(&mut self, value: &str) {
        if let Values::Text(values) = self.column() {
            values.append_value(value);
        }
    }

    fn null(&mut self) {
        match self.column() {
            Values::Int32(values) => values.append_null(),
            Values::Int64(values) => values.append_null(),
            Values::Decimal(values, _) => values.append_null(),
            Values::Date(values) => values.append_null(),
            Values::Timestamp(values) => values.append_null(),
            Values::Text(values) => values.append_null(),
        }
    }

    #[inline]
    fn end_row(&mut self) -> Result<()> {
        debug_assert_eq!(self.next, self.columns.len(), "one value for each column");
        self.rows += 1;
        if self.rows == self.batch_rows { self.flush() } else { Ok(()) }
    }

    fn bytes(&self) -> u64 {
        self.handed_over + self.waiting()
    }
}

/// The Arrow schema of a table's batches.
pub fn arrow_schema(table: &TableSchema) -> SchemaRef {
    let field = |column: &crate::schema::Column| {
        Field::new(column.name, arrow_type(column.kind), column.nullable)
    };
    Arc::new(Schema::new(table.columns.iter().map(field).collect::<Vec<_>>()))
}

fn arrow_type(kind: ColumnType) -> DataType {
    match kind {
        ColumnType::Int32 => DataType::Int32,
        ColumnType::Int64 => DataType::Int64,
        ColumnType::Decimal { precision, scale } => DataType::Decimal64(precision, scale as i8),
        ColumnType::Date => DataType::Date32,
        ColumnType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        ColumnType::Char { .. } | ColumnType::Varchar { .. } => DataType::Utf8,
    }
}

/// A column of the current batch.
#[derive(Debug)]
struct Column {
    kind: ColumnType,
    values: Values,
}

/// Its values. Text builders rely on `&str` being UTF-8: an array built from bytes would be checked
/// again.
#[derive(Debug)]
enum Values {
    Int32(Int32Builder),
    Int64(Int64Builder),
    /// With the scale of the column.
    Decimal(Decimal64Builder, u8),
    Date(Date32Builder),
    Timestamp(TimestampMicrosecondBuilder),
    Text(StringBuilder),
}

impl Column {
    fn new(kind: ColumnType) -> Self {
        Self { kind, values: Values::new(kind, 0) }
    }

    /// Takes the values as an array. Reserves the same space for the next batch, which a builder's
    /// own `finish` does not.
    fn take(&mut self) -> ArrayRef {
        let text_bytes = match &self.values {
            Values::Text(values) => values.values_slice().len() * 17 / 16,
            _ => 0,
        };
        match std::mem::replace(&mut self.values, Values::new(self.kind, text_bytes)) {
            Values::Int32(mut values) => Arc::new(values.finish()),
            Values::Int64(mut values) => Arc::new(values.finish()),
            Values::Decimal(mut values, _) => Arc::new(values.finish()),
            Values::Date(mut values) => Arc::new(values.finish()),
            Values::Timestamp(mut values) => Arc::new(values.finish()),
            Values::Text(mut values) => Arc::new(values.finish()),
        }
    }
}

impl Values {
    /// An empty column. Text columns reserve `text_bytes` bytes.
    fn new(kind: ColumnType, text_bytes: usize) -> Self {
        match kind {
            ColumnType::Int32 => Self::Int32(Int32Builder::with_capacity(BATCH_ROWS)),
            ColumnType::Int64 => Self::Int64(Int64Builder::with_capacity(BATCH_ROWS)),
            ColumnType::Decimal { scale, .. } => {
                let values = Decimal64Builder::with_capacity(BATCH_ROWS);
                Self::Decimal(values.with_data_type(arrow_type(kind)), scale)
            }
            ColumnType::Date => Self::Date(Date32Builder::with_capacity(BATCH_ROWS)),
            ColumnType::Timestamp => {
                Self::Timestamp(TimestampMicrosecondBuilder::with_capacity(BATCH_ROWS))
            }
            ColumnType::Char { .. } | ColumnType::Varchar { .. } => {
                Self::Text(StringBuilder::with_capacity(BATCH_ROWS, text_bytes))
            }
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Int32(values) => size_of_val(values.values_slice()),
            Self::Int64(values) => size_of_val(values.values_slice()),
            Self::Decimal(values, _) => size_of_val(values.values_slice()),
            Self::Date(values) => size_of_val(values.values_slice()),
            Self::Timestamp(values) => size_of_val(values.values_slice()),
            Self::Text(values) => values.values_slice().len() + size_of_val(values.offsets_slice()),
        }
    }
}
