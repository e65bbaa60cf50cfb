//! The formats of files, and what each has to do.

use std::io;

use dyno_record::Result;
use serde::{Deserialize, Serialize};

use super::destination::PartialFile;
use super::line::Line;
use crate::schema::TableSchema;

/// Rows of a row group or batch: what analytic engines read at a time (`DuckDB`'s own size).
pub(super) const GROUP_ROWS: u64 = 122_880;

/// A format of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileFormat {
    /// Text as the TPC's generator writes it.
    Tbl,
    /// Comma-separated text with a header.
    Csv,
    /// Parquet, compressed by zstd.
    Parquet,
    /// Arrow's own format (IPC), uncompressed so that readers can map the file.
    Arrow,
}

impl FileFormat {
    /// Every format, by the name that is also its file extension.
    pub const NAMES: [&'static str; 4] = ["tbl", "csv", "parquet", "arrow"];

    /// The name of the format, which is also its file extension.
    pub const fn as_str(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// How rows become files of a format.
pub(super) trait Format: Sync + Sized {
    /// A file under way.
    type Open: Send;

    /// About as many rows are a piece, but at least one of the generator's units.
    const PIECE_ROWS: u64;

    /// Begins a file of `table`'s rows.
    ///
    /// # Errors
    /// If it cannot be written.
    fn begin(&self, table: &'static TableSchema, file: PartialFile) -> io::Result<Self::Open>;

    /// Makes pieces of `line` and writes each in its turn, until there are none. Every thread does
    /// this.
    ///
    /// # Errors
    /// If a file cannot be written; `cancelled`.
    fn work(&self, line: &Line<Self>) -> Result<()>;

    /// Writes what ends a file.
    ///
    /// # Errors
    /// If it cannot be written.
    fn end<'o>(&self, open: &'o mut Self::Open) -> io::Result<&'o mut PartialFile>;
}
