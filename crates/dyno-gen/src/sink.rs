//! Destinations of rows. A table knows its rows, a sink its format: N tables and M sinks need no
//! code for N × M pairs.

mod arrow;
mod calendar;
mod chunk;
mod count;
mod digits;
mod fields;
mod loaddata;
mod pgcopy;
mod sums;
mod tdsrows;
mod text;
mod values;

pub use arrow::{ArrowSink, arrow_schema};
pub use calendar::{civil, date_text, timestamp_text};
pub use chunk::CHUNK_BYTES;
pub use count::CountSink;
pub use loaddata::LoadDataSink;
pub use pgcopy::PgCopySink;
pub use sums::SumSink;
pub use tdsrows::{TdsColumn, TdsRowSink, TdsText};
pub use text::{TextFormat, TextSink};
pub use values::{Decimals, Value, ValueSink, values};

use dyno_record::Result;

/// Takes rows value by value.
///
/// For each row the caller calls [`begin_row`](Self::begin_row), then the method of each column's
/// type in the order of the schema, then [`end_row`](Self::end_row). Values cannot fail: a sink
/// reports its errors at the end of the row.
pub trait RowSink {
    /// Starts a row.
    fn begin_row(&mut self);

    /// A value of an `Int32` column.
    fn int32(&mut self, value: i32);

    /// A value of an `Int64` column.
    fn int64(&mut self, value: i64);

    /// `unscaled / 10^scale`, a value of a `Decimal` column. `scale` is at most the column's, and
    /// at most 16. Text has exactly `scale` digits after the point.
    fn decimal(&mut self, unscaled: i64, scale: u8);

    /// A value of a `Date` column, in days since 1970-01-01.
    fn date(&mut self, days: i32);

    /// A value of a `Timestamp` column, in microseconds since 1970-01-01 00:00:00.
    fn timestamp(&mut self, micros: i64);

    /// A value of a `Char` or `Varchar` column.
    fn text(&mut self, value: &str);

    /// NULL, in a nullable column of any type.
    fn null(&mut self);

    /// Ends the row. May pass on buffered rows.
    ///
    /// # Errors
    /// Any error of the consumer of the rows.
    fn end_row(&mut self) -> Result<()>;

    /// Bytes produced in this sink's format so far, including buffered ones.
    fn bytes(&self) -> u64;
}
