//! File formats, and what each implements.

use std::io;

use dyno_record::Result;
use serde::{Deserialize, Serialize};

use super::destination::PartialFile;
use super::line::Line;
use crate::schema::TableSchema;

/// Rows of a row group or batch: the unit that analytic engines read (`DuckDB`'s own size).
pub(super) const GROUP_ROWS: u64 = 122_880;

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileFormat {
    /// Text as the TPC's generator writes it.
    Tbl,
    /// Comma-separated text with a header.
    Csv,
    /// Parquet, compressed with zstd.
    Parquet,
    /// Arrow IPC, uncompressed so that readers can map the file.
    Arrow,
}

impl FileFormat {
    /// The names of all formats; each is also the file extension.
    pub const NAMES: [&'static str; 4] = ["tbl", "csv", "parquet", "arrow"];

    /// The format's name, which is also its file extension.
    pub const fn as_str(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// Writes rows as files of a format.
pub(super) trait Format: Sync + Sized {
    /// An open file.
    type Open: Send;

    /// Approximate rows of a piece. A piece has at least one of the generator's units.
    const PIECE_ROWS: u64;

    /// Begins a file of `table`'s rows.
    ///
    /// # Errors
    /// If it cannot be written.
    fn begin(&self, table: &'static TableSchema, file: PartialFile) -> io::Result<Self::Open>;

    /// Generates pieces from `line` and writes each in its turn, until none is left. Every thread
    /// runs this.
    ///
    /// # Errors
    /// If a file cannot be written; `cancelled`.
    fn work(&self, line: &Line<Self>) -> Result<()>;

    /// Writes the end of a file.
    ///
    /// # Errors
    /// If it cannot be written.
    fn end<'o>(&self, open: &'o mut Self::Open) -> io::Result<&'o mut PartialFile>;
}
