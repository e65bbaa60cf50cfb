//! Prepares a workload's statements and checks that the database's types match the declared ones.

use bytes::{BufMut as _, BytesMut};
use dyno_record::{Error, ErrorKind, Result};

use super::answer::{Tokens, read, send};
use super::batch::headers;
use super::column::{Cell, Column, INTN, NVARCHAR};
use super::dialect::{self, Command};
use super::error::ServerError;
use super::login::Server;
use super::packet::{CALLS, Reader};
use super::prepared::{Prepared, Request, put_head, require_declared};
use super::text::{Collation, put_utf16};
use super::token::{self, End, Token};
use super::value::declaration;
use crate::wire::transport::Transport;
use crate::wire::{AND_THEN, Statement, Type};

/// Number of `sp_prepare`.
const PREPARE: u16 = 11;
/// Maximum bytes of a text that is not in chunks.
const LONGEST: usize = 8000;

const ADVICE: &str = "load the workload into this database first";

/// Makes of a statement a transaction of its own in a session that has turned on
/// `implicit_transactions`: the option is off as long as the text runs.
const ALONE: &str = "set implicit_transactions off";

/// Prepares all statements in one round trip; those that may run alone also as such a text, because
/// the session does not know which will.
///
/// # Errors
/// `usage` if tables are missing or a column's type differs from the declared one, as far as the
/// server describes results before they are requested.
pub async fn prepare(
    transport: &mut Transport,
    statements: &[Statement],
    server: &Server,
) -> Result<Vec<Prepared>> {
    let mut commands = Vec::with_capacity(statements.len());
    for statement in statements {
        commands.push(dialect::command(statement, server.babelfish)?);
    }
    let mut body = BytesMut::new();
    body.extend_from_slice(&headers(0));
    let start = body.len();
    let mut put = |sql: &str, statement: &Statement| {
        if body.len() > start {
            body.put_u8(0xFF);
        }
        put_prepare(sql, statement.params, server, &mut body);
    };
    for (statement, command) in statements.iter().zip(&commands) {
        if let Command::Text(sql) = command {
            put(sql, statement);
        }
    }
    for (statement, command) in statements.iter().zip(&commands) {
        if let Some(sql) = alone(command) {
            put(&format!("{ALONE}{AND_THEN}{sql}"), statement);
        }
    }
    let mut answers = Vec::new();
    if body.len() > start {
        send(transport, CALLS, &body, server.packet_size).await?;
        answers = Answer::all(&read(transport).await?)?;
    }
    let mut answers = answers.into_iter();
    let mut all = Vec::with_capacity(statements.len());
    let named = |error: Error, statement: &Statement| {
        error.context(format!("preparing statement {}", statement.name))
    };
    for (statement, command) in statements.iter().zip(&commands) {
        let made = prepared(statement, command, &mut answers, server.collation);
        all.push(made.map_err(|error| named(error, statement))?);
    }
    for (at, (statement, command)) in statements.iter().zip(&commands).enumerate() {
        if alone(command).is_some() {
            let made = next(&mut answers).and_then(|answer| answer.handle());
            all[at].alone = Some(made.map_err(|error| named(error, statement))?);
        }
    }
    Ok(all)
}

/// The text of a command that may run alone.
fn alone(command: &Command) -> Option<&str> {
    match command {
        Command::Text(sql) if dialect::is_one(sql) => Some(sql),
        _ => None,
    }
}

/// Appends a call that prepares a statement.
fn put_prepare(sql: &str, params: &[Type], server: &Server, out: &mut BytesMut) {
    put_head(PREPARE, out);
    // The number, an output.
    out.put_slice(&[0, 1, INTN, 4, 0]);
    let declared: Vec<String> = (1..)
        .zip(params)
        .map(|(number, kind)| format!("@p{number} {}", declaration(*kind)))
        .collect();
    put_national(&declared.join(","), server, out);
    put_national(sql, server, out);
    // Describe the result.
    out.put_slice(&[0, 0, INTN, 4, 4, 1, 0, 0, 0]);
}

/// Appends a text as a national parameter, null if it is empty.
fn put_national(text: &str, server: &Server, out: &mut BytesMut) {
    let bytes = text.encode_utf16().count() * 2;
    out.put_slice(&[0, 0, NVARCHAR]);
    if bytes <= LONGEST {
        out.put_u16_le(LONGEST as u16);
        out.put_slice(&server.collation.0);
        out.put_u16_le(if bytes == 0 { u16::MAX } else { bytes as u16 });
        put_utf16(out, text);
    } else {
        out.put_u16_le(u16::MAX);
        out.put_slice(&server.collation.0);
        out.put_u64_le(bytes as u64);
        out.put_u32_le(bytes as u32);
        put_utf16(out, text);
        out.put_u32_le(0);
    }
}

/// Builds a statement from the server's answer to its command.
fn prepared(
    statement: &Statement,
    command: &Command,
    answers: &mut impl Iterator<Item = Result<Answer, ServerError>>,
    collation: Collation,
) -> Result<Prepared> {
    let prepared = |request| Prepared::new(statement, request, collation);
    let sql = match command {
        Command::Call(name) => return Ok(prepared(Request::Call(name.clone()))),
        Command::CallWithOutputs(name) => {
            return Ok(prepared(Request::CallWithOutputs(name.clone())));
        }
        Command::Text(sql) => sql,
    };
    let answer = next(answers)?;
    let handle = answer.handle()?;
    if !answer.columns.is_empty() {
        require_declared(statement.name, statement.returns, &answer.columns)?;
    }
    let mut prepared = prepared(Request::Prepared(handle));
    prepared.reads = dialect::reads(sql);
    prepared.columns = answer.columns;
    Ok(prepared)
}

/// The next answer of the server, empty if there is none.
fn next(answers: &mut impl Iterator<Item = Result<Answer, ServerError>>) -> Result<Answer> {
    let answer = answers.next().unwrap_or(Ok(Answer::default()));
    answer.map_err(|error| error.into_error_with(ADVICE))
}

/// The number in the token of an output parameter.
fn number(token: &[u8]) -> Result<Option<i32>> {
    let output = token::output(&mut Reader(&token[1..]))?;
    let found = output.and_then(|(column, cell)| match cell {
        Cell::Whole(bytes) => column.integer(bytes),
        Cell::Null | Cell::Chunks(_) => None,
    });
    Ok(found.and_then(|number| i32::try_from(number).ok()))
}

/// The server's answer to one command.
#[derive(Debug, Default)]
struct Answer {
    handle: Option<i32>,
    columns: Vec<Column>,
}

impl Answer {
    fn handle(&self) -> Result<i32> {
        self.handle.ok_or_else(|| {
            Error::new(ErrorKind::Protocol, "the server did not prepare the statement")
        })
    }

    /// The answers to all commands.
    fn all(bytes: &[u8]) -> Result<Vec<Result<Self, ServerError>>> {
        let mut all = Vec::new();
        let (mut current, mut failure) = (Self::default(), None);
        let mut tokens = Tokens::of(bytes);
        while let Some((token, bytes)) = tokens.next()? {
            match token {
                Token::Returned(_) => current.handle = number(bytes)?,
                Token::Columns(columns) => current.columns = columns,
                Token::Error(error) => {
                    failure.get_or_insert(error);
                }
                Token::Done(done) if done.ends != End::Statement => {
                    let answer = std::mem::take(&mut current);
                    all.push(failure.take().map_or(Ok(answer), Err));
                }
                _ => {}
            }
        }
        Ok(all)
    }
}
