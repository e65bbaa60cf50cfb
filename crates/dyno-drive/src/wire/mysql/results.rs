//! An index of a batch's answers in the read buffer.

use dyno_record::{Error, ErrorKind, Result};

use super::error::ServerError;
use super::packet::{Done, Packet, Reader, broken};
use super::prepared::{Prepared, require_declared};
use super::row::{self, Column};
use crate::wire::{LONGEST_ANSWERS, read_columns};

/// Statement index in [`Results`] of undeclared statements, such as COMMIT.
pub const UNDECLARED: u16 = u16::MAX;
/// Maximum columns of a result in MariaDB and MySQL.
const MOST_COLUMNS: u64 = 4096;

/// An index over the answers to a batch: statements and their rows, by offset into the read buffer.
/// It copies nothing; the next batch reuses all memory.
#[derive(Debug)]
pub struct Results {
    statements: Vec<Answer>,
    /// Offset of each row's packet.
    rows: Vec<u32>,
    /// Bytes of the buffer that are parsed.
    parsed: usize,
    /// The statement with the next answer.
    current: usize,
    stage: Stage,
    /// Number of columns of the result being read.
    columns: usize,
    /// Sequence number of the next packet: 1 after each command.
    sequence: u8,
    /// Whether answers state if they include column descriptions.
    tells_metadata: bool,
    failure: Option<(ServerError, u16)>,
}

/// The next expected part of a command's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Head,
    /// Column descriptions, starting with this column.
    Columns(usize),
    Rows,
}

/// One statement of the batch.
#[derive(Debug, Clone, Copy)]
struct Answer {
    /// Index in the list of declared statements, or [`UNDECLARED`].
    statement: u16,
    /// Number of its commands, and of their answers so far.
    steps: u8,
    answered: u8,
    /// Whether one of them has returned a result, even without rows.
    returned: bool,
    first_row: u32,
    rows: u32,
    /// Rows changed by commands without a result set; `None` if no command was of that kind.
    changed: Option<u64>,
}

impl Results {
    /// Creates an index for a server that always includes column descriptions, or states if it
    /// does.
    pub const fn new(tells_metadata: bool) -> Self {
        Self {
            statements: Vec::new(),
            rows: Vec::new(),
            parsed: 0,
            current: 0,
            stage: Stage::Head,
            columns: 0,
            sequence: 1,
            tells_metadata,
            failure: None,
        }
    }

    /// Whether answers state if they include column descriptions.
    pub const fn tells_metadata(&self) -> bool {
        self.tells_metadata
    }

    /// Discards the previous batch.
    pub fn clear(&mut self) {
        self.statements.clear();
        self.rows.clear();
        self.parsed = 0;
        self.current = 0;
        self.stage = Stage::Head;
        self.sequence = 1;
        self.failure = None;
    }

    /// Expects the answers to `steps` commands of `statement` next; returns its slot.
    pub fn expect(&mut self, statement: u16, steps: u8) -> u16 {
        self.statements.push(Answer {
            statement,
            steps,
            answered: 0,
            returned: false,
            first_row: 0,
            rows: 0,
            changed: None,
        });
        (self.statements.len() - 1) as u16
    }

    /// Statements of the batch.
    pub const fn len(&self) -> usize {
        self.statements.len()
    }

    /// Number of answered statements.
    pub const fn answered(&self) -> usize {
        self.current
    }

    /// Whether a statement has failed.
    pub const fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// The first failure of the batch, with the declared statement that failed.
    pub fn take_failure(&mut self) -> Option<(ServerError, u16)> {
        self.failure.take()
    }

    /// Continues parsing `buffer`. True once the first `count` statements are answered.
    ///
    /// # Errors
    /// `protocol` for unexpected packets, and for columns with other types than declared.
    pub fn advance(
        &mut self,
        buffer: &[u8],
        count: usize,
        prepared: &mut [Prepared],
    ) -> Result<bool> {
        while self.current < count {
            let Some(packet) = Packet::first(&buffer[self.parsed..])? else { return Ok(false) };
            if packet.sequence != self.sequence {
                return Err(broken("packets out of order"));
            }
            let start = self.parsed as u32;
            self.parsed += packet.length();
            if self.parsed > LONGEST_ANSWERS {
                return Err(broken("results of more than 1 GiB"));
            }
            self.sequence = self.sequence.wrapping_add(1);
            let body = packet.body;
            match (self.stage, body.first()) {
                (_, Some(0xFF)) if !matches!(self.stage, Stage::Columns(_)) => {
                    let statement = self.statements[self.current].statement;
                    let error = ServerError::parse(body);
                    self.failure.get_or_insert((error, statement));
                    self.end_command(false, prepared);
                }
                (Stage::Head, Some(0x00)) => {
                    let done = Done::parse(body).ok_or_else(|| broken("a truncated end packet"))?;
                    let answer = &mut self.statements[self.current];
                    let before = answer.changed.unwrap_or(0);
                    answer.changed = Some(before.saturating_add(done.affected));
                    self.end_result(done, prepared);
                }
                (Stage::Head, Some(_)) => self.begin_result(body, prepared)?,
                (Stage::Columns(number), _) => self.describe(number, body, prepared)?,
                (Stage::Rows, Some(0x00)) => {
                    self.statements[self.current].rows += 1;
                    self.rows.push(start);
                }
                (Stage::Rows, Some(0xFE)) => {
                    let done = Done::parse(body).ok_or_else(|| broken("a truncated end packet"))?;
                    self.end_result(done, prepared);
                }
                (Stage::Head | Stage::Rows, _) => return Err(broken("an unexpected packet")),
            }
        }
        Ok(true)
    }

    /// The number of columns; a result with rows follows.
    fn begin_result(&mut self, body: &[u8], prepared: &[Prepared]) -> Result<()> {
        let mut reader = Reader(body);
        let columns = reader.length().ok_or_else(|| broken("an unexpected packet"))?;
        let described = !self.tells_metadata || reader.u8() != Some(0);
        let answer = &mut self.statements[self.current];
        let declared = prepared.get(usize::from(answer.statement));
        let (named, open) = declared.map_or((&[][..], false), |it| read_columns(it.returns));
        let same = columns == named.len() as u64 || open && columns > named.len() as u64;
        if !same || columns == 0 || columns > MOST_COLUMNS || answer.returned {
            return Err(broken("unrequested rows"));
        }
        // Without a description, the last one applies.
        let wanted = columns as usize;
        if !described && declared.is_none_or(|it| it.columns.len() != wanted) {
            return Err(broken("rows without a description"));
        }
        answer.returned = true;
        answer.first_row = self.rows.len() as u32;
        self.columns = wanted;
        self.stage = if described { Stage::Columns(0) } else { Stage::Rows };
        Ok(())
    }

    /// The description of column `number` (from 0).
    fn describe(&mut self, number: usize, body: &[u8], prepared: &mut [Prepared]) -> Result<()> {
        let statement = self.statements[self.current].statement;
        let known = &mut prepared[usize::from(statement)];
        let found = Column::parse(body).ok_or_else(|| broken("a truncated column"))?;
        if known.columns.get(number) != Some(&found) {
            // Rows indexed by the old description would become unreadable.
            let before = &self.statements[..self.current];
            if before.iter().any(|answer| answer.statement == statement && answer.rows > 0) {
                return Err(broken("columns that differ from the prepared statement's"));
            }
            known.columns.truncate(number);
            known.columns.push(found);
        }
        let next = number + 1;
        if next < self.columns {
            self.stage = Stage::Columns(next);
            return Ok(());
        }
        known.columns.truncate(next);
        self.stage = Stage::Rows;
        require_declared(known.name, known.returns, &known.columns)
    }

    /// The end of a result; a procedure has several.
    fn end_result(&mut self, done: Done, prepared: &mut [Prepared]) {
        if done.more {
            self.stage = Stage::Head;
        } else {
            self.end_command(true, prepared);
        }
    }

    fn end_command(&mut self, succeeded: bool, prepared: &mut [Prepared]) {
        let answer = &mut self.statements[self.current];
        let step = usize::from(answer.answered);
        if let (true, Some(known)) = (succeeded, prepared.get_mut(usize::from(answer.statement))) {
            known.steps[step].bound = true;
        }
        answer.answered += 1;
        self.current += usize::from(answer.answered == answer.steps);
        self.stage = Stage::Head;
        self.sequence = 1;
    }

    /// The declared statement of a slot.
    pub fn statement(&self, slot: u16) -> usize {
        usize::from(self.statements.get(usize::from(slot)).map_or(UNDECLARED, |it| it.statement))
    }

    /// Rows that a slot returned.
    pub fn rows(&self, slot: u16) -> usize {
        self.statements.get(usize::from(slot)).map_or(0, |answer| answer.rows as usize)
    }

    /// Rows that a slot changed, or returned if it changed none.
    pub fn affected(&self, slot: u16) -> Result<u64> {
        let answer = self.statements.get(usize::from(slot));
        let answer = answer.ok_or_else(|| broken("no answer to a statement"))?;
        Ok(answer.changed.unwrap_or(u64::from(answer.rows)))
    }

    /// A column's bytes, `None` if null.
    #[inline]
    pub fn cell<'a>(
        &self,
        buffer: &'a [u8],
        columns: &[Column],
        slot: u16,
        row: usize,
        column: usize,
    ) -> Result<Option<&'a [u8]>> {
        let none = || missing(row, column);
        let answer = self.statements.get(usize::from(slot)).ok_or_else(none)?;
        if row >= answer.rows as usize || column >= columns.len() {
            return Err(none());
        }
        let start = self.rows[answer.first_row as usize + row] as usize;
        let packet = buffer.get(start..).map_or(Ok(None), Packet::first)?.ok_or_else(none)?;
        row::cell(packet.body, columns, column).ok_or_else(|| broken("a truncated row"))
    }
}

#[cold]
fn missing(row: usize, column: usize) -> Error {
    let message = format!(
        "the result has no row {row} with a column {column}: check that the data is complete \
         and its scale correct"
    );
    Error::new(ErrorKind::Database, message)
}

#[cfg(test)]
#[path = "results_tests.rs"]
mod tests;
