//! Rows as Arrow record batches.

use std::sync::Arc;

use arrow_array::types::{
    Date32Type, Decimal64Type, Int32Type, Int64Type, TimestampMicrosecondType,
};
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch, StringArray};
use arrow_buffer::{Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use dyno_record::{Error, ErrorKind, Result};

use super::RowSink;
use crate::schema::{ColumnType, TableSchema};

/// Rows in a batch: several of an engine's vectors, and 2 MB at most. `DuckDB` takes batches of
/// 4,096 to 65,536 rows equally fast.
const BATCH_ROWS: usize = 8_192;

/// Rows as record batches of 8,192, the last one of [`finish`](Self::finish) smaller.
///
/// Decimals have 64 bits: `DuckDB` takes them with 5 % less work than those of 128.
#[derive(Debug)]
pub struct ArrowSink<W> {
    schema: SchemaRef,
    columns: Vec<ColumnBuffer>,
    next: usize,
    rows: usize,
    handed_over: u64,
    write: W,
}

impl<W: FnMut(RecordBatch) -> Result<()>> ArrowSink<W> {
    /// No rows of `table` yet. An error of `write` ends the row that met it.
    pub fn new(table: &TableSchema, write: W) -> Self {
        Self {
            schema: arrow_schema(table),
            columns: table.columns.iter().map(ColumnBuffer::new).collect(),
            next: 0,
            rows: 0,
            handed_over: 0,
            write,
        }
    }

    /// Hands over the last rows.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn finish(mut self) -> Result<()> {
        if self.rows == 0 { Ok(()) } else { self.flush() }
    }

    #[cold]
    fn flush(&mut self) -> Result<()> {
        self.handed_over += self.waiting();
        let batch = self
            .columns
            .iter_mut()
            .map(ColumnBuffer::take)
            .collect::<Result<Vec<_>, _>>()
            .and_then(|arrays| RecordBatch::try_new(self.schema.clone(), arrays))
            .map_err(|error| Error::new(ErrorKind::Internal, format!("building rows: {error}")))?;
        self.rows = 0;
        (self.write)(batch)
    }

    /// Bytes of the batch under way.
    fn waiting(&self) -> u64 {
        self.columns.iter().map(|column| column.values.bytes() as u64).sum()
    }

    #[inline]
    fn column(&mut self) -> &mut Values {
        let column = &mut self.columns[self.next];
        self.next += 1;
        if let Some(valid) = &mut column.valid {
            valid.append_non_null();
        }
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
            values.push(value);
        }
    }

    #[inline]
    fn int64(&mut self, value: i64) {
        if let Values::Int64(values) = self.column() {
            values.push(value);
        }
    }

    #[inline]
    fn decimal(&mut self, unscaled: i64, scale: u8) {
        if let Values::Decimal { values, scale: own, .. } = self.column() {
            let factor = if scale == *own { 1 } else { 10i64.pow(u32::from(*own - scale)) };
            values.push(unscaled * factor);
        }
    }

    #[inline]
    fn date(&mut self, days: i32) {
        if let Values::Date(values) = self.column() {
            values.push(days);
        }
    }

    #[inline]
    fn timestamp(&mut self, micros: i64) {
        if let Values::Timestamp(values) = self.column() {
            values.push(micros);
        }
    }

    #[inline]
    fn text(&mut self, value: &str) {
        if let Values::Text { bytes, ends } = self.column() {
            bytes.extend_from_slice(value.as_bytes());
            ends.push(bytes.len() as i32);
        }
    }

    fn null(&mut self) {
        let column = &mut self.columns[self.next];
        self.next += 1;
        if let Some(valid) = &mut column.valid {
            valid.append_null();
        }
        column.values.push_empty();
    }

    #[inline]
    fn end_row(&mut self) -> Result<()> {
        debug_assert_eq!(self.next, self.columns.len(), "one value for each column");
        self.rows += 1;
        if self.rows == BATCH_ROWS { self.flush() } else { Ok(()) }
    }

    fn bytes(&self) -> u64 {
        self.handed_over + self.waiting()
    }
}

/// The Arrow schema that the batches of a table have.
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

/// The values of one column of the batch under way.
#[derive(Debug)]
struct ColumnBuffer {
    values: Values,
    /// Which values are not NULL, for nullable columns.
    valid: Option<NullBufferBuilder>,
}

#[derive(Debug)]
enum Values {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Decimal {
        values: Vec<i64>,
        precision: u8,
        scale: u8,
    },
    Date(Vec<i32>),
    Timestamp(Vec<i64>),
    /// All texts, and where each ends; the first end is the 0 before the first text.
    Text {
        bytes: Vec<u8>,
        ends: Vec<i32>,
    },
}

impl ColumnBuffer {
    fn new(column: &crate::schema::Column) -> Self {
        let values = match column.kind {
            ColumnType::Int32 => Values::Int32(Vec::with_capacity(BATCH_ROWS)),
            ColumnType::Int64 => Values::Int64(Vec::with_capacity(BATCH_ROWS)),
            ColumnType::Decimal { precision, scale } => {
                Values::Decimal { values: Vec::with_capacity(BATCH_ROWS), precision, scale }
            }
            ColumnType::Date => Values::Date(Vec::with_capacity(BATCH_ROWS)),
            ColumnType::Timestamp => Values::Timestamp(Vec::with_capacity(BATCH_ROWS)),
            ColumnType::Char { .. } | ColumnType::Varchar { .. } => {
                Values::Text { bytes: Vec::new(), ends: no_ends() }
            }
        };
        Self { values, valid: column.nullable.then(|| NullBufferBuilder::new(BATCH_ROWS)) }
    }

    /// The gathered values as an array; the buffer is empty afterwards.
    fn take(&mut self) -> Result<ArrayRef, arrow_schema::ArrowError> {
        let nulls = self.valid.as_mut().and_then(NullBufferBuilder::finish);
        Ok(match &mut self.values {
            Values::Int32(values) => primitive::<Int32Type>(refill(values), nulls)?,
            Values::Int64(values) => primitive::<Int64Type>(refill(values), nulls)?,
            Values::Date(values) => primitive::<Date32Type>(refill(values), nulls)?,
            Values::Timestamp(values) => {
                primitive::<TimestampMicrosecondType>(refill(values), nulls)?
            }
            Values::Decimal { values, precision, scale } => Arc::new(
                PrimitiveArray::<Decimal64Type>::try_new(refill(values), nulls)?
                    .with_precision_and_scale(*precision, *scale as i8)?,
            ),
            Values::Text { bytes, ends } => {
                let room = bytes.len() + bytes.len() / 16;
                let text = std::mem::replace(bytes, Vec::with_capacity(room));
                let ends = std::mem::replace(ends, no_ends());
                let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
                Arc::new(StringArray::try_new(offsets, Buffer::from_vec(text), nulls)?)
            }
        })
    }
}

impl Values {
    fn bytes(&self) -> usize {
        match self {
            Self::Int32(values) | Self::Date(values) => size_of_val(values.as_slice()),
            Self::Int64(values) | Self::Timestamp(values) | Self::Decimal { values, .. } => {
                size_of_val(values.as_slice())
            }
            Self::Text { bytes, ends } => bytes.len() + size_of_val(ends.as_slice()),
        }
    }

    /// What stands in the place of a NULL.
    fn push_empty(&mut self) {
        match self {
            Self::Int32(values) | Self::Date(values) => values.push(0),
            Self::Int64(values) | Self::Timestamp(values) | Self::Decimal { values, .. } => {
                values.push(0);
            }
            Self::Text { bytes, ends } => ends.push(bytes.len() as i32),
        }
    }
}

fn no_ends() -> Vec<i32> {
    let mut ends = Vec::with_capacity(BATCH_ROWS + 1);
    ends.push(0);
    ends
}

fn refill<T: arrow_buffer::ArrowNativeType>(values: &mut Vec<T>) -> ScalarBuffer<T> {
    std::mem::replace(values, Vec::with_capacity(BATCH_ROWS)).into()
}

fn primitive<T: arrow_array::types::ArrowPrimitiveType>(
    values: ScalarBuffer<T::Native>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, arrow_schema::ArrowError> {
    Ok(Arc::new(PrimitiveArray::<T>::try_new(values, nulls)?))
}
