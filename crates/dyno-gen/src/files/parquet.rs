//! Parquet files.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, OnceLock};

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrowPrimitiveType, RecordBatch};
use arrow_schema::SchemaRef;
use dyno_record::{Control, Error, ErrorKind, Result};
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, TypePtr};

use super::destination::PartialFile;
use super::format::{Format, GROUP_ROWS};
use super::line::Line;
use crate::dataset::{Dataset, Part};
use crate::schema::TableSchema;
use crate::sink::{ArrowSink, arrow_schema};

/// Rows encoded at once. All columns of 2,048 rows fit in the CPU's cache.
const BATCH_ROWS: usize = 2_048;

/// Rows sampled to choose encodings.
const SAMPLE_ROWS: u64 = 8_192;

/// The Parquet format. A piece is a row group: one thread generates and encodes it.
pub(super) struct Parquet<'d> {
    data: &'d Dataset,
    /// In the order of the workload's tables.
    encodings: Vec<OnceLock<Result<Encoding>>>,
}

/// The encoding of a table.
struct Encoding {
    schema: SchemaRef,
    root: TypePtr,
    properties: WriterPropertiesPtr,
    groups: ArrowRowGroupWriterFactory,
}

impl<'d> Parquet<'d> {
    pub(super) fn new(data: &'d Dataset) -> Self {
        Self { data, encodings: data.tables().iter().map(|_| OnceLock::new()).collect() }
    }

    fn encoding(&self, table: &'static TableSchema) -> Result<&Encoding> {
        let place = self.data.tables().iter().position(|other| other.name == table.name);
        let encoding = &self.encodings[place.expect("a table of the workload")];
        let made = encoding.get_or_init(|| {
            let columns = Stored::columns(self.data, table)?;
            Encoding::new(table, &columns).map_err(|error| internal(&error))
        });
        made.as_ref().map_err(Clone::clone)
    }
}

impl Format for Parquet<'_> {
    type Open = SerializedFileWriter<PartialFile>;

    const PIECE_ROWS: u64 = GROUP_ROWS;

    fn begin(&self, table: &'static TableSchema, file: PartialFile) -> io::Result<Self::Open> {
        let encoding = self.encoding(table).map_err(io::Error::other)?;
        SerializedFileWriter::new(file, encoding.root.clone(), encoding.properties.clone())
            .map_err(io_error)
    }

    fn work(&self, line: &Line<Self>) -> Result<()> {
        while let Some(piece) = line.next() {
            let encoding = self.encoding(piece.table)?;
            let mut group = Group::new(encoding).map_err(|error| internal(&error))?;
            let mut sink = ArrowSink::sized(piece.table, BATCH_ROWS, |batch| {
                group.add(&batch).map_err(|error| internal(&error))
            });
            let rows = line.generate(&piece, &mut sink)?;
            sink.finish()?;
            if rows > 0 {
                let chunks = group.finish().map_err(|error| internal(&error))?;
                line.write(piece.turn, |file| write_group(file, chunks).map_err(io_error))?;
            }
            line.end(&piece, rows)?;
        }
        Ok(())
    }

    fn end<'o>(&self, file: &'o mut Self::Open) -> io::Result<&'o mut PartialFile> {
        file.finish().map_err(io_error)?;
        Ok(file.inner_mut())
    }
}

impl Encoding {
    /// Columns of prose get no minimum and maximum: they take time to compute, and no reader could
    /// skip a row group by them.
    fn new(table: &TableSchema, columns: &[Stored]) -> parquet::errors::Result<Self> {
        let schema = arrow_schema(table);
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .set_dictionary_enabled(false);
        for (column, stored) in table.columns.iter().zip(columns) {
            let path = ColumnPath::from(column.name);
            if column.prose {
                let none = EnabledStatistics::None;
                properties = properties.set_column_statistics_enabled(path.clone(), none);
            }
            properties = match stored {
                Stored::Dictionary => properties.set_column_dictionary_enabled(path, true),
                Stored::By(encoding) => properties.set_column_encoding(path, *encoding),
            };
        }
        let mut properties = properties.build();
        add_encoded_arrow_schema_to_metadata(&schema, &mut properties);
        let properties = Arc::new(properties);
        let converted = ArrowSchemaConverter::new().schema_root("schema").convert(&schema)?;
        let root = converted.root_schema_ptr();
        let nowhere = SerializedFileWriter::new(io::sink(), root.clone(), properties.clone())?;
        let groups = ArrowRowGroupWriterFactory::new(&nowhere, schema.clone());
        Ok(Self { schema, root, properties, groups })
    }
}

/// The encoding of a column.
#[derive(Clone, Copy)]
enum Stored {
    Dictionary,
    By(parquet::basic::Encoding),
}

impl Stored {
    /// Chooses encodings from the first rows of the table, whichever part is written.
    fn columns(data: &Dataset, table: &'static TableSchema) -> Result<Vec<Self>> {
        let mut columns = Vec::new();
        let mut sink = ArrowSink::sized(table, usize::MAX, |batch| {
            columns.extend(batch.columns().iter().map(|values| Self::of(values)));
            Ok(())
        });
        let whole = data.units_of(&Part { table, index: 0, of: 1 });
        let units = 0..data.units_for(table, SAMPLE_ROWS).min(whole.end);
        data.write_units(table, units, &mut sink, &Control::new())?;
        sink.finish()?;
        Ok(columns)
    }

    /// Ascending keys: delta encoding. Values that occur twice or more on average: a dictionary,
    /// which is useless for others. Other texts: lengths stored separately from the bytes, which
    /// takes less work here and in readers than plain encoding.
    fn of(values: &dyn Array) -> Self {
        use parquet::basic::Encoding::{DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY, PLAIN};
        let text = values.as_string_opt::<i32>();
        if ascends::<Int32Type>(values) || ascends::<Int64Type>(values) {
            Self::By(DELTA_BINARY_PACKED)
        } else if distinct(values) * 2 <= values.len() {
            Self::Dictionary
        } else {
            Self::By(if text.is_some() { DELTA_LENGTH_BYTE_ARRAY } else { PLAIN })
        }
    }
}

/// Whether these are several integers that never decrease.
fn ascends<T: ArrowPrimitiveType>(values: &dyn Array) -> bool {
    values.as_primitive_opt::<T>().is_some_and(|numbers| {
        let numbers = numbers.values();
        numbers.is_sorted() && numbers.first() != numbers.last()
    })
}

fn distinct(values: &dyn Array) -> usize {
    if let Some(texts) = values.as_string_opt::<i32>() {
        return texts.iter().collect::<HashSet<_>>().len();
    }
    let width = values.data_type().primitive_width().unwrap_or(1);
    let data = values.to_data();
    data.buffers()[0].chunks_exact(width).collect::<HashSet<_>>().len()
}

/// A row group being encoded.
struct Group<'e> {
    encoding: &'e Encoding,
    columns: Vec<ArrowColumnWriter>,
}

impl<'e> Group<'e> {
    fn new(encoding: &'e Encoding) -> parquet::errors::Result<Self> {
        Ok(Self { encoding, columns: encoding.groups.create_column_writers(0)? })
    }

    fn add(&mut self, batch: &RecordBatch) -> parquet::errors::Result<()> {
        let fields = self.encoding.schema.fields().iter().zip(batch.columns());
        for ((field, values), column) in fields.zip(&mut self.columns) {
            for leaf in compute_leaves(field, values)? {
                column.write(&leaf)?;
            }
        }
        Ok(())
    }

    fn finish(self) -> parquet::errors::Result<Vec<ArrowColumnChunk>> {
        self.columns.into_iter().map(ArrowColumnWriter::close).collect()
    }
}

fn write_group(
    file: &mut SerializedFileWriter<PartialFile>,
    chunks: Vec<ArrowColumnChunk>,
) -> parquet::errors::Result<()> {
    let mut group = file.next_row_group()?;
    for chunk in chunks {
        chunk.append_to_row_group(&mut group)?;
    }
    group.close()?;
    Ok(())
}

fn internal(error: &ParquetError) -> Error {
    Error::new(ErrorKind::Internal, format!("encoding rows: {error}"))
}

fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
}
