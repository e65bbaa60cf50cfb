//! Files written in pieces: any thread generates a piece, and the pieces are written in order.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use dyno_record::{Control, Error, Result};

use super::MOST_THREADS;
use super::destination::Destination;
use super::format::Format;
use super::turns::{self, Turns};
use crate::dataset::{Dataset, Part};
use crate::schema::TableSchema;
use crate::sink::RowSink;

/// Files that are written one after another, each by all threads.
pub(super) struct Line<'d, F: Format> {
    format: &'d F,
    data: &'d Dataset,
    control: &'d Control,
    files: Vec<Planned>,
    next: AtomicU64,
    turns: Turns,
    state: Mutex<State<F::Open>>,
}

struct Planned {
    part: Part,
    place: Destination,
    units: Range<u64>,
    /// Units per piece, and the turns of all pieces.
    step: u64,
    turns: Range<u64>,
}

struct State<O> {
    open: Option<Open<O>>,
    written: Vec<WrittenFile>,
}

struct Open<O> {
    file: O,
    rows: u64,
    start: Instant,
}

/// A range of a table's units, which one thread generates.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) turn: u64,
    pub(super) table: &'static TableSchema,
    units: Range<u64>,
}

/// What was written to a file.
pub(super) struct WrittenFile {
    pub(super) table: &'static str,
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) seconds: f64,
}

/// Writes the files of `parts` in their order.
///
/// # Errors
/// The first error of any thread. Incomplete files are then removed.
pub(super) fn write<F: Format>(
    format: &F,
    data: &Dataset,
    parts: Vec<(Part, Destination)>,
    threads: usize,
    control: &Control,
) -> Result<Vec<WrittenFile>> {
    let line = Line::new(format, data, parts, control);
    std::thread::scope(|scope| {
        let threads = threads.clamp(1, MOST_THREADS);
        let workers: Vec<_> =
            (0..threads).map(|_| scope.spawn(|| line.turns.run(|| format.work(&line)))).collect();
        let joined: Vec<Result<()>> = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| Err(turns::panicked())))
            .collect();
        joined.into_iter().collect::<Result<()>>()
    })?;
    Ok(line.state.into_inner().unwrap_or_else(PoisonError::into_inner).written)
}

impl<'d, F: Format> Line<'d, F> {
    fn new(
        format: &'d F,
        data: &'d Dataset,
        parts: Vec<(Part, Destination)>,
        control: &'d Control,
    ) -> Self {
        let mut turn = 0;
        let mut plan = |(part, place): (Part, Destination)| {
            let (units, first) = (data.units_of(&part), turn);
            let step = data.units_for(part.table, F::PIECE_ROWS);
            turn += (units.end - units.start).div_ceil(step).max(1); // at least one turn, even for a file without rows
            Planned { part, place, units, step, turns: first..turn }
        };
        let files = parts.into_iter().map(&mut plan).collect();
        let state = Mutex::new(State { open: None, written: Vec::new() });
        Self { format, data, control, files, next: 0.into(), turns: Turns::new(0), state }
    }

    /// The next piece to generate. The caller must [`end`](Self::end) it.
    pub(super) fn next(&self) -> Option<Piece> {
        let turn = self.next.fetch_add(1, Relaxed);
        let file = self.files.get(self.file(turn))?;
        let start = file.units.start + (turn - file.turns.start) * file.step;
        let units = start..file.units.end.min(start + file.step);
        Some(Piece { turn, table: file.part.table, units })
    }

    /// Writes the rows of `piece` to `sink`; returns their number.
    ///
    /// # Errors
    /// Those of the sink; `cancelled`.
    pub(super) fn generate(&self, piece: &Piece, sink: &mut impl RowSink) -> Result<u64> {
        self.data.write_units(piece.table, piece.units.clone(), sink, self.control)
    }

    /// Waits for `turn`, then calls `write` with its file.
    ///
    /// # Errors
    /// That of `write`, with the path, or the failure of another thread.
    pub(super) fn write(
        &self,
        turn: u64,
        write: impl FnOnce(&mut F::Open) -> io::Result<()>,
    ) -> Result<()> {
        self.turns.wait(turn)?;
        let file = &self.files[self.file(turn)];
        let mut state = self.lock();
        let open = match &mut state.open {
            Some(open) => open,
            none => none.insert(self.open(file)?),
        };
        write(&mut open.file).map_err(|error| file.failed(&error))
    }

    fn open(&self, file: &Planned) -> Result<Open<F::Open>> {
        self.control.set_step(file.part.table.name);
        let start = Instant::now();
        let begun = file.place.open().and_then(|place| self.format.begin(file.part.table, place));
        Ok(Open { file: begun.map_err(|error| file.failed(&error))?, rows: 0, start })
    }

    /// Ends a piece of `rows` rows, and its file after the last piece.
    ///
    /// # Errors
    /// If the file cannot be finished; the failure of another thread.
    pub(super) fn end(&self, piece: &Piece, rows: u64) -> Result<()> {
        self.write(piece.turn, |_| Ok(()))?; // creates a file without rows, too
        let file = &self.files[self.file(piece.turn)];
        let mut state = self.lock();
        if let Some(open) = &mut state.open {
            open.rows += rows;
        }
        if piece.turn + 1 == file.turns.end
            && let Some(Open { file: mut open, rows, start }) = state.open.take()
        {
            let whole = self.format.end(&mut open).map_err(|error| file.failed(&error))?;
            let bytes = file.place.put(whole)?.map_err(|error| file.failed(&error))?;
            let (table, seconds) = (file.part.table.name, start.elapsed().as_secs_f64());
            state.written.push(WrittenFile { table, rows, bytes, seconds });
        }
        drop(state);
        self.turns.end(piece.turn)
    }

    /// The index of the file that `turn` belongs to.
    fn file(&self, turn: u64) -> usize {
        self.files.partition_point(|file| file.turns.end <= turn)
    }

    fn lock(&self) -> MutexGuard<'_, State<F::Open>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Planned {
    fn failed(&self, error: &io::Error) -> Error {
        Error::from_io(error, format!("writing {}", self.place.path().display()))
    }
}
