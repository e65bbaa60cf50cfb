//! Prepares a workload's statements and checks that the database's types match the declared ones.

use bytes::BufMut as _;
use dyno_record::{Error, ErrorKind, Result};

use super::dialect::{self, Command};
use super::error::ServerError;
use super::packet::{Packet, Reader, broken, frame};
use super::prepared::{Prepared, Step, require_declared};
use super::row::Column;
use crate::wire::Statement;
use crate::wire::transport::Transport;

/// The prepare command.
const PREPARE: u8 = 0x16;

const ADVICE: &str = "load the workload into this database first";

/// Prepares all statements in one round trip.
///
/// # Errors
/// `usage` if tables are missing or a column's type differs from the declared one.
pub async fn prepare(transport: &mut Transport, statements: &[Statement]) -> Result<Vec<Prepared>> {
    let mut commands = Vec::with_capacity(statements.len());
    for statement in statements {
        commands.push(dialect::commands(statement)?);
    }
    for command in commands.iter().flatten() {
        frame(&mut transport.write, 0, |out| {
            out.put_u8(PREPARE);
            out.put_slice(command.sql.as_bytes());
        });
    }
    let lost = |error: std::io::Error| Error::from_io(&error, "preparing statements");
    transport.send().await.map_err(lost)?;
    let mut answers = Answers::default();
    let count = commands.iter().map(Vec::len).sum();
    while !answers.advance(&transport.read, count)? {
        transport.receive().await.map_err(lost)?;
    }
    transport.forget();
    let mut answers = answers.all.into_iter();
    let with = |(statement, commands): (&Statement, Vec<Command>)| {
        let of_it = answers.by_ref().take(commands.len()).collect::<Vec<_>>();
        prepared(statement, commands, of_it)
            .map_err(|error| error.context(format!("preparing statement {}", statement.name)))
    };
    statements.iter().zip(commands).map(with).collect()
}

/// Builds a statement from the server's answers to its commands.
fn prepared(
    statement: &Statement,
    commands: Vec<Command>,
    answers: Vec<Result<Answer, ServerError>>,
) -> Result<Prepared> {
    let reads = commands.iter().all(|command| dialect::reads(&command.sql));
    let (mut steps, mut columns) = (Vec::new(), Vec::new());
    for (command, answer) in commands.into_iter().zip(answers) {
        let answer = answer.map_err(|error| error.into_error_unless_missing(ADVICE))?;
        let Command { sql, params } = command;
        let known = params.iter().all(|position| usize::from(*position) < statement.params.len());
        if answer.params != params.len() || !known {
            let message = format!("not all of its parameters are declared: {sql}");
            return Err(Error::new(ErrorKind::Internal, message));
        }
        if !columns.is_empty() && !answer.columns.is_empty() {
            let message = "two of its commands return rows".to_owned();
            return Err(Error::new(ErrorKind::Internal, message));
        }
        columns.extend(answer.columns);
        steps.push(Step { id: answer.id, params, bound: false });
    }
    // A procedure's result is known only when it runs.
    if !(dialect::calls(&statement.sql) && columns.is_empty()) {
        require_declared(statement.name, statement.returns, &columns)?;
    }
    let Statement { name, params, returns, .. } = *statement;
    Ok(Prepared { name, params, returns, reads, steps, columns })
}

/// The server's answer to one command.
#[derive(Debug)]
struct Answer {
    id: u32,
    params: usize,
    columns: Vec<Column>,
}

/// The server's answers, parsed as they arrive.
#[derive(Debug, Default)]
struct Answers {
    all: Vec<Result<Answer, ServerError>>,
    parsed: usize,
    /// Descriptions left in the last answer: of parameters, then of columns.
    left: (usize, usize),
}

impl Answers {
    /// Continues parsing `buffer`. True once there are `count` answers.
    fn advance(&mut self, buffer: &[u8], count: usize) -> Result<bool> {
        while self.all.len() < count || self.left != (0, 0) {
            let Some(packet) = Packet::first(&buffer[self.parsed..])? else { return Ok(false) };
            self.parsed += packet.length();
            match (self.left, self.all.last_mut()) {
                ((0, 0), _) => self.answer(packet.body)?,
                ((0, columns), Some(Ok(answer))) => {
                    let column = Column::parse(packet.body);
                    answer.columns.push(column.ok_or_else(|| broken("a truncated column"))?);
                    self.left.1 = columns - 1;
                }
                ((params, columns), _) => self.left = (params.saturating_sub(1), columns),
            }
        }
        Ok(true)
    }

    /// Parses the first packet of an answer.
    fn answer(&mut self, body: &[u8]) -> Result<()> {
        if body.first() == Some(&0xFF) {
            self.all.push(Err(ServerError::parse(body)));
            return Ok(());
        }
        let fields = || {
            let mut reader = Reader(body);
            (reader.u8()? == 0).then_some(())?;
            let id = reader.u32()?;
            let (columns, params) = (reader.u16()?, reader.u16()?);
            Some((id, usize::from(params), usize::from(columns)))
        };
        let (id, params, columns) = fields().ok_or_else(|| broken("no answer to PREPARE"))?;
        self.all.push(Ok(Answer { id, params, columns: Vec::with_capacity(columns) }));
        self.left = (params, columns);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use proptest::prelude::{any, prop, proptest};

    use super::*;
    use crate::wire::Type;

    #[test]
    fn answers_are_read_however_the_bytes_arrive() {
        let column = b"\x03def\0\x01t\0\x01c\0\x0C\x3F\0\x0B\0\0\0\x03\0\0\0\0\0";
        let mut out = BytesMut::new();
        for body in [
            &b"\0\x07\0\0\0\x01\0\x02\0\0\0\0"[..],
            b"a parameter",
            b"another",
            column,
            b"\xFF\x7A\x04#42S02no such table",
            b"\0\x08\0\0\0\0\0\0\0\0\0\0",
        ] {
            frame(&mut out, 1, |out| out.put_slice(body));
        }
        for cut in 0..out.len() {
            let mut answers = Answers::default();
            assert!(!answers.advance(&out[..cut], 3).unwrap(), "{cut}");
            assert!(answers.advance(&out, 3).unwrap());
            let Ok(first) = &answers.all[0] else { panic!("{:?}", answers.all) };
            assert_eq!((first.id, first.params, first.columns.len()), (7, 2, 1));
            assert!(first.columns[0].is(Type::Int));
            assert_eq!(answers.all[1].as_ref().unwrap_err().code, 1146);
            assert_eq!(answers.all[2].as_ref().unwrap().id, 8);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut answers = Answers::default();
            let _ = answers.advance(&bytes, 5);
            let mut framed = BytesMut::new();
            frame(&mut framed, 1, |out| out.put_slice(&bytes));
            let _ = Answers::default().advance(&framed, 5);
        }
    }
}
