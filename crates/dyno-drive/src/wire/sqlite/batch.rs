//! A batch of statements and their answers, passed between two threads.

use dyno_record::{Error, ErrorKind, Result};
use rusqlite::types::ValueRef;

use super::values::Values;
use crate::wire::{Access, Type, Value};

/// A command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Begin a transaction.
    Begin(Access),
    /// Commit it.
    Commit,
    /// Roll it back.
    Rollback,
    /// Execute the statement with this index and the next parameters.
    Execute(u16),
}

/// Position of a command's answer.
#[derive(Debug, Clone, Copy, Default)]
struct Answer {
    /// Index of its first cell.
    first: usize,
    rows: usize,
    columns: usize,
    affected: u64,
}

/// Statements to execute in order, and their results. All memory is reused.
#[derive(Debug, Default)]
pub struct Batch {
    /// What to do.
    pub commands: Vec<Command>,
    /// Parameters of the statements, in order.
    pub parameters: Values,
    /// The first error, which ended the batch, and the command that failed.
    pub failure: Option<(Error, Command)>,
    /// Whether a transaction was open at the end.
    pub in_transaction: bool,
    cells: Values,
    answers: Vec<Answer>,
}

impl Batch {
    /// Starts another batch.
    pub fn clear(&mut self) {
        self.commands.clear();
        self.parameters.clear();
        self.failure = None;
        self.cells.clear();
        self.answers.clear();
    }

    /// Adds a command; returns its number.
    pub fn add(&mut self, command: Command) -> u16 {
        self.commands.push(command);
        (self.commands.len() - 1) as u16
    }

    /// Adds a parameter of a declared type.
    pub fn add_parameter(&mut self, value: &Value<'_>, declared: Type) {
        match *value {
            Value::Null => self.parameters.push(ValueRef::Null),
            Value::Int(value) => self.parameters.push(ValueRef::Integer(value.into())),
            Value::BigInt(value) => self.parameters.push(ValueRef::Integer(value)),
            Value::Decimal { units, scale } => {
                // The tables store decimals as exact integers in units of the last digit.
                debug_assert_eq!(Type::Decimal(scale), declared, "a unit of another size");
                self.parameters.push(ValueRef::Integer(units));
            }
            Value::Text(text) => self.parameters.push(ValueRef::Text(text.as_bytes())),
            Value::Date(days) => {
                self.parameters.push(ValueRef::Text(&dyno_gen::sink::date_text(days)));
            }
            Value::Timestamp(unix_us) => {
                self.parameters.push(ValueRef::Text(&dyno_gen::sink::timestamp_text(unix_us)));
            }
        }
    }

    /// Starts the answer to the next command, with `columns` columns per row.
    pub fn begin_answer(&mut self, columns: usize) {
        self.answers.push(Answer { first: self.cells.len(), columns, ..Answer::default() });
    }

    /// Adds a cell of the answer, row by row.
    pub fn add_cell(&mut self, value: ValueRef<'_>) {
        self.cells.push(value);
    }

    /// Ends an answer: its rows, and the rows that the command inserted, updated, deleted or
    /// returned.
    pub fn end_answer(&mut self, rows: usize, affected: u64) {
        if let Some(answer) = self.answers.last_mut() {
            answer.rows = rows;
            answer.affected = affected;
        }
    }

    /// Rows that a command returned.
    pub fn rows(&self, number: u16) -> usize {
        self.answers.get(usize::from(number)).map_or(0, |answer| answer.rows)
    }

    /// Rows that a command inserted, updated, deleted or returned; None if it did not run.
    pub fn affected(&self, number: u16) -> Option<u64> {
        self.answers.get(usize::from(number)).map(|answer| answer.affected)
    }

    /// A cell of an answer.
    ///
    /// # Errors
    /// `database` if there is none.
    pub fn cell(&self, number: u16, row: usize, column: usize) -> Result<ValueRef<'_>> {
        let answer = self.answers.get(usize::from(number));
        let answer = answer.filter(|answer| row < answer.rows && column < answer.columns);
        answer
            .and_then(|answer| self.cells.get(answer.first + row * answer.columns + column))
            .ok_or_else(|| missing(row, column))
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
mod tests {
    use super::*;

    #[test]
    fn answers_are_found_by_command_row_and_column() {
        let mut batch = Batch::default();
        batch.add(Command::Begin(Access::Read));
        let (select, update) = (batch.add(Command::Execute(0)), batch.add(Command::Execute(1)));
        batch.begin_answer(0);
        batch.begin_answer(2);
        for value in [1, 2, 3, 4] {
            batch.add_cell(ValueRef::Integer(value));
        }
        batch.end_answer(2, 2);
        batch.begin_answer(1);
        batch.add_cell(ValueRef::Text(b"x"));
        batch.end_answer(1, 7);
        assert_eq!((batch.rows(0), batch.rows(select), batch.rows(update)), (0, 2, 1));
        assert_eq!(batch.cell(select, 1, 0).unwrap(), ValueRef::Integer(3));
        assert_eq!(batch.cell(update, 0, 0).unwrap(), ValueRef::Text(b"x"));
        assert_eq!(batch.affected(update), Some(7));
        for (number, row, column) in [(0, 0, 0), (select, 2, 0), (select, 0, 2), (9, 0, 0)] {
            let error = batch.cell(number, row, column).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Database);
        }
        assert_eq!(batch.affected(9), None);
    }

    #[test]
    fn parameters_are_stored_as_the_tables_hold_them() {
        let mut batch = Batch::default();
        batch.add_parameter(&Value::cents(-1234), Type::Decimal(2));
        batch.add_parameter(&Value::Timestamp(1), Type::Timestamp);
        assert_eq!(batch.parameters.get(0), Some(ValueRef::Integer(-1234)));
        let text = ValueRef::Text(b"1970-01-01 00:00:00.000001");
        assert_eq!(batch.parameters.get(1), Some(text));
    }
}
