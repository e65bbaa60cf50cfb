//! Files in the Arrow IPC format.

use std::io::{self, BufWriter};

use arrow_ipc::writer::FileWriter;
use arrow_schema::ArrowError;
use dyno_record::Result;

use super::destination::PartialFile;
use super::format::{Format, GROUP_ROWS};
use super::line::Line;
use crate::schema::TableSchema;
use crate::sink::{ArrowSink, arrow_schema};

/// The Arrow IPC format. A piece is one batch.
pub(super) struct Arrow;

impl Format for Arrow {
    type Open = FileWriter<BufWriter<PartialFile>>;

    const PIECE_ROWS: u64 = GROUP_ROWS;

    fn begin(&self, table: &'static TableSchema, file: PartialFile) -> io::Result<Self::Open> {
        FileWriter::try_new_buffered(file, &arrow_schema(table)).map_err(io_error)
    }

    fn work(&self, line: &Line<Self>) -> Result<()> {
        while let Some(piece) = line.next() {
            let mut sink = ArrowSink::sized(piece.table, usize::MAX, |batch| {
                line.write(piece.turn, |file| file.write(&batch).map_err(io_error))
            });
            let rows = line.generate(&piece, &mut sink)?;
            sink.finish()?;
            line.end(&piece, rows)?;
        }
        Ok(())
    }

    fn end<'o>(&self, file: &'o mut Self::Open) -> io::Result<&'o mut PartialFile> {
        file.finish().map_err(io_error)?;
        Ok(file.get_mut().get_mut())
    }
}

fn io_error(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        error => io::Error::other(error),
    }
}
