//! An index of a batch's answers.

use bytes::{Buf as _, BytesMut};
use dyno_record::{Error, ErrorKind, Result};

use super::column::{Cell, Column, each_cell};
use super::converted::{Converted, emptied};
use super::error::ServerError;
use super::packet::{Packet, Reader, broken};
use super::prepared::{Prepared, require_declared};
use super::token::{self, COLUMNS, Change, Done, End, PACKED_ROW, RETURN_VALUE, Token};
use crate::wire::{LONGEST_ANSWERS, Type};

/// Statement index of undeclared requests, such as a commit.
pub const UNDECLARED: u16 = u16::MAX;

/// A token that is not complete after so many bytes is read again only when twice as many are
/// there. From its start, at every packet, would take time with the square of its length.
const LARGE_TOKEN: usize = 1 << 16;

/// The answers to a batch: their tokens without the packets' headers, and where the rows are. The
/// next batch reuses the memory, unless it is large.
#[derive(Debug, Default)]
pub struct Results {
    /// The tokens.
    bytes: Vec<u8>,
    /// Bytes of the tokens that are parsed.
    parsed: usize,
    /// Bytes that are awaited before a large token is parsed again.
    awaited: usize,
    statements: Vec<Answer>,
    /// Offset of each row's token, or of each output parameter's.
    rows: Vec<u32>,
    /// The statement with the next answer.
    current: usize,
    failure: Option<(ServerError, u16)>,
    converted: Converted,
    /// The transaction that requests belong to, 0 for none.
    transaction: u64,
    /// Whether the server has confirmed that the batch is cancelled.
    cancelled: bool,
}

/// One request of the batch.
#[derive(Debug, Clone, Copy)]
struct Answer {
    /// Index in the list of declared statements, or [`UNDECLARED`].
    statement: u16,
    /// Whether it has returned a result, even without rows.
    returned: bool,
    /// Whether its result is one row of output parameters. `rows` then counts their values.
    outputs: bool,
    first_row: u32,
    rows: u32,
    /// Rows that it changed; `None` if it changes none.
    changed: Option<u64>,
}

impl Answer {
    /// Rows returned.
    const fn rows(&self) -> usize {
        if self.outputs { 1 } else { self.rows as usize }
    }
}

impl Results {
    /// Discards the previous batch.
    pub fn clear(&mut self) {
        emptied(&mut self.bytes);
        self.parsed = 0;
        self.awaited = 0;
        self.statements.clear();
        emptied(&mut self.rows);
        self.current = 0;
        self.failure = None;
        self.converted.clear();
        self.cancelled = false;
    }

    /// Expects the answer to a request of `statement` next; returns its slot.
    pub fn expect(&mut self, statement: u16) -> u16 {
        self.statements.push(Answer {
            statement,
            returned: false,
            outputs: false,
            first_row: 0,
            rows: 0,
            changed: None,
        });
        (self.statements.len() - 1) as u16
    }

    /// Requests of the batch.
    pub const fn len(&self) -> usize {
        self.statements.len()
    }

    /// The transaction that requests belong to, 0 for none.
    pub const fn transaction(&self) -> u64 {
        self.transaction
    }

    /// Whether a request has failed.
    pub const fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// The first failure of the batch, with the declared statement that failed.
    pub fn take_failure(&mut self) -> Option<(ServerError, u16)> {
        self.failure.take()
    }

    /// Takes the packets that have arrived from `read`. True once the answer to a message has
    /// ended, whose requests are those before number `count`.
    ///
    /// # Errors
    /// `protocol` for invalid or unexpected tokens, and for columns with other types than declared.
    pub fn advance(
        &mut self,
        read: &mut BytesMut,
        count: usize,
        prepared: &mut [Prepared],
    ) -> Result<bool> {
        if !self.take(read, count, prepared)? {
            return Ok(false);
        }
        // After some errors, the server runs nothing that follows.
        if self.current < count && self.failure.is_none() {
            return Err(broken("fewer answers than requests"));
        }
        self.current = count;
        Ok(true)
    }

    /// Like [`advance`](Self::advance), for a batch that is being cancelled. True once the server
    /// has confirmed it: at the end of the answer, or in a message of its own if the answer ended
    /// before the server read the signal.
    ///
    /// # Errors
    /// As [`advance`](Self::advance).
    pub fn advance_cancelled(
        &mut self,
        read: &mut BytesMut,
        prepared: &mut [Prepared],
    ) -> Result<bool> {
        while !self.cancelled && self.take(read, self.statements.len(), prepared)? {}
        Ok(self.cancelled)
    }

    /// Takes packets up to the end of a message. True if it has ended.
    fn take(
        &mut self,
        read: &mut BytesMut,
        count: usize,
        prepared: &mut [Prepared],
    ) -> Result<bool> {
        let mut ended = false;
        while !ended {
            let Some(packet) = Packet::first(read)? else { break };
            let (length, last) = (packet.length(), packet.last);
            self.bytes.extend_from_slice(packet.body);
            if self.bytes.len() > LONGEST_ANSWERS {
                return Err(too_long());
            }
            read.advance(length);
            ended = last;
        }
        if !ended && self.bytes.len() < self.awaited {
            return Ok(false);
        }
        self.parse(count, prepared)?;
        let open = self.bytes.len() - self.parsed;
        if ended && open > 0 {
            return Err(broken("a truncated answer"));
        }
        self.awaited = if open > LARGE_TOKEN { self.bytes.len() + open } else { 0 };
        Ok(ended)
    }

    fn parse(&mut self, count: usize, prepared: &mut [Prepared]) -> Result<()> {
        while self.parsed < self.bytes.len() {
            let statement = self.statements.get(self.current).map(|answer| answer.statement);
            let mut known = prepared.get_mut(usize::from(statement.unwrap_or(UNDECLARED)));
            let rest = &self.bytes[self.parsed..];
            if let Some(known) = known.as_deref()
                && rest[0] == COLUMNS
                && !known.described.is_empty()
                && rest.starts_with(&known.described)
            {
                self.parsed += known.described.len();
                self.begin_result(known)?;
                continue;
            }
            let columns = known.as_deref().map_or(&[][..], |known| &known.columns);
            let Some((token, length)) = token::next(rest, columns)? else { break };
            let start = self.parsed;
            self.parsed += length;
            match token {
                Token::Row(packed) => self.add_row(start, packed, known.as_deref())?,
                Token::Done(done) if done.cancelled => self.cancelled = true,
                Token::Done(done) => self.end(done, count)?,
                Token::Returned(column) => {
                    if let Some(known) = known.as_mut().filter(|known| known.has_outputs()) {
                        self.add_output(known, column, start)?;
                    }
                }
                Token::Columns(columns) => {
                    let returns =
                        |known: &Prepared| !known.returns.is_empty() && !known.has_outputs();
                    let known = known.as_mut().filter(|known| returns(known));
                    let known = known.ok_or_else(|| broken("unrequested rows"))?;
                    if !columns.is_empty() {
                        self.describe(known, columns, start)?;
                    }
                    self.begin_result(known)?;
                }
                Token::Error(error) => {
                    self.failure.get_or_insert((error, statement.unwrap_or(UNDECLARED)));
                }
                Token::Environment(Change::Transaction(number)) => self.transaction = number,
                Token::Environment(_) | Token::Accepted | Token::Other => {}
            }
        }
        Ok(())
    }

    /// New columns of a statement, whose description begins at `start`.
    fn describe(&self, known: &mut Prepared, columns: Vec<Column>, start: usize) -> Result<()> {
        if known.columns != columns {
            if known.returns != [Type::Rest] {
                self.require_no_rows()?;
            }
            require_declared(known.name, known.returns, &columns)?;
            known.columns = columns;
        }
        known.described.clear();
        known.described.extend_from_slice(&self.bytes[start..self.parsed]);
        Ok(())
    }

    /// Fails if earlier requests of the current statement have returned rows, which would become
    /// unreadable with other columns.
    fn require_no_rows(&self) -> Result<()> {
        let statement = self.statements[self.current].statement;
        let before = &self.statements[..self.current];
        if before.iter().any(|answer| answer.statement == statement && answer.rows > 0) {
            return Err(broken("columns that differ from the previous ones"));
        }
        Ok(())
    }

    /// Adds the next output parameter, whose token begins at `start`.
    fn add_output(&mut self, known: &mut Prepared, column: Column, start: usize) -> Result<()> {
        let place = self.statements[self.current].rows as usize;
        if place >= known.returns.len() {
            return Err(broken("more outputs than requested"));
        }
        if known.columns.get(place) != Some(&column) {
            self.require_no_rows()?;
            known.columns.truncate(place);
            known.columns.push(column);
            let declared = &known.returns[..=place];
            require_declared(known.name, declared, &known.columns)?;
        }
        let answer = &mut self.statements[self.current];
        if place == 0 {
            answer.outputs = true;
            answer.first_row = self.rows.len() as u32;
        }
        answer.rows += 1;
        let number = self.add_place(start)?;
        let output = token::output(&mut Reader(&self.bytes[start + 1..]))?;
        if let Some((_, cell)) = output.filter(|_| known.returns[place] == Type::Text) {
            self.converted.add(number, place, column, cell);
        }
        Ok(())
    }

    fn begin_result(&mut self, known: &Prepared) -> Result<()> {
        let answer = &mut self.statements[self.current];
        // Of a procedure that returns several results nothing is read.
        let unread = known.returns == [Type::Rest];
        if known.columns.is_empty() || (answer.returned && !unread) {
            return Err(broken("unrequested rows"));
        }
        if answer.returned {
            return Ok(());
        }
        answer.returned = true;
        answer.first_row = self.rows.len() as u32;
        Ok(())
    }

    /// Adds a row, and the texts that are read of it.
    fn add_row(&mut self, start: usize, packed: bool, known: Option<&Prepared>) -> Result<()> {
        let answer = self.statements.get_mut(self.current).filter(|answer| answer.returned);
        let (answer, known) =
            answer.zip(known).ok_or_else(|| broken("a row without its columns"))?;
        answer.rows += 1;
        let number = self.add_place(start)?;
        let Some(last) = known.returns.iter().rposition(|kind| *kind == Type::Text) else {
            return Ok(());
        };
        let mut row = Reader(&self.bytes[start + 1..]);
        each_cell(&mut row, &known.columns, packed, |place, cell| {
            if known.returns[place] == Type::Text {
                self.converted.add(number, place, known.columns[place], cell);
            }
            place < last
        });
        Ok(())
    }

    /// Records where a row or an output begins; returns its number.
    fn add_place(&mut self, start: usize) -> Result<u32> {
        let index = self.rows.len() * size_of::<u32>() + self.converted.size();
        if self.bytes.len() + index > LONGEST_ANSWERS {
            return Err(too_long());
        }
        self.rows.push(start as u32);
        Ok((self.rows.len() - 1) as u32)
    }

    fn end(&mut self, done: Done, count: usize) -> Result<()> {
        let answer = self.statements[..count].get_mut(self.current);
        let answer = answer.ok_or_else(|| broken("more answers than requests"))?;
        // The rows that its triggers changed come before its own.
        answer.changed = done.changed.or(answer.changed);
        if done.failed {
            self.failure.get_or_insert_with(|| (ServerError::unexplained(), answer.statement));
        }
        // A procedure that the last call of the message has called ends before the call does.
        let of_message = match done.ends {
            End::Statement => false,
            End::Call => self.current + 1 < count,
            End::Answer => true,
        };
        self.current += usize::from(of_message);
        Ok(())
    }

    /// The declared statement of a slot.
    pub fn statement(&self, slot: u16) -> usize {
        usize::from(self.statements.get(usize::from(slot)).map_or(UNDECLARED, |it| it.statement))
    }

    /// Rows that a slot returned.
    pub fn rows(&self, slot: u16) -> usize {
        self.statements.get(usize::from(slot)).map_or(0, Answer::rows)
    }

    /// Rows that a slot changed, or returned if it changed none.
    pub fn affected(&self, slot: u16) -> Result<u64> {
        let answer = self.statements.get(usize::from(slot));
        let answer = answer.ok_or_else(|| broken("no answer to a statement"))?;
        // Babelfish reports 0 for a change with OUTPUT.
        Ok(answer.changed.filter(|rows| *rows > 0).unwrap_or(answer.rows() as u64))
    }

    /// The place in `rows` of a row, or of an output parameter.
    fn place(&self, slot: u16, row: usize, column: usize) -> Option<u32> {
        let answer = self.statements.get(usize::from(slot))?;
        let next = if answer.outputs { column } else { row };
        let found = row < answer.rows() && next < answer.rows as usize;
        found.then(|| answer.first_row + next as u32)
    }

    /// A column's value.
    ///
    /// # Errors
    /// `database` if there is no such row or column.
    #[inline]
    pub fn cell(
        &self,
        columns: &[Column],
        slot: u16,
        row: usize,
        column: usize,
    ) -> Result<Cell<'_>> {
        let none = || missing(row, column);
        let place = self.place(slot, row, column).filter(|_| column < columns.len());
        let start = self.rows[place.ok_or_else(none)? as usize] as usize;
        let bytes = self.bytes.get(start..).ok_or_else(none)?;
        let (kind, rest) = bytes.split_first().ok_or_else(none)?;
        if *kind == RETURN_VALUE {
            let output = token::output(&mut Reader(rest))?;
            return output.map(|(_, cell)| cell).ok_or_else(none);
        }
        let mut found = None;
        each_cell(&mut Reader(rest), columns, *kind == PACKED_ROW, |at, cell| {
            found = Some(cell);
            at < column
        });
        found.ok_or_else(|| broken("a truncated row"))
    }

    /// A text that is not read where it lies.
    pub fn converted(&self, slot: u16, row: usize, column: usize) -> Option<&str> {
        self.converted.get(self.place(slot, row, column)?, column)
    }
}

#[cold]
fn too_long() -> Error {
    broken("results of more than 1 GiB")
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

#[cfg(test)]
#[path = "recorded_tests.rs"]
mod recorded_tests;
