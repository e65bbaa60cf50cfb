//! Text files.

use std::cell::Cell;
use std::io::{self, Write as _};

use dyno_record::Result;

use super::destination::PartialFile;
use super::format::Format;
use super::line::Line;
use crate::schema::TableSchema;
use crate::sink::{TextFormat, TextSink};

/// A text format. A piece, about 1 MB, is written as it is generated.
pub(super) struct Text(pub(super) TextFormat);

impl Format for Text {
    type Open = PartialFile;

    const PIECE_ROWS: u64 = 1;

    fn begin(&self, table: &'static TableSchema, mut file: PartialFile) -> io::Result<PartialFile> {
        let mut header = Vec::new();
        let mut sink = TextSink::new(self.0, |chunk: &[u8]| {
            header.extend_from_slice(chunk);
            Ok(())
        });
        sink.header(table);
        sink.finish().map_err(io::Error::other)?;
        file.write_all(&header)?;
        Ok(file)
    }

    fn work(&self, line: &Line<Self>) -> Result<()> {
        let turn = Cell::new(0);
        let mut sink = TextSink::new(self.0, |chunk: &[u8]| {
            line.write(turn.get(), |file| file.write_all(chunk))
        });
        while let Some(piece) = line.next() {
            turn.set(piece.turn);
            let rows = line.generate(&piece, &mut sink)?;
            sink.flush()?;
            line.end(&piece, rows)?;
        }
        Ok(())
    }

    fn end<'o>(&self, file: &'o mut PartialFile) -> io::Result<&'o mut PartialFile> {
        Ok(file)
    }
}
