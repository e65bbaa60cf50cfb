//! The tokens of an answer (MS-TDS, 2.2.7).

use dyno_record::Result;

use super::column::{Cell, Column, Description, each_cell};
use super::error::ServerError;
use super::packet::{Reader, broken};
use super::text::Collation;

const RETURN_STATUS: u8 = 0x79;
pub const COLUMNS: u8 = 0x81;
const TABLE_NAMES: u8 = 0xA4;
const COLUMN_INFO: u8 = 0xA5;
const ORDER: u8 = 0xA9;
const ERROR: u8 = 0xAA;
const INFORMATION: u8 = 0xAB;
pub const RETURN_VALUE: u8 = 0xAC;
const ACCEPTED: u8 = 0xAD;
const FEATURES: u8 = 0xAE;
pub const ROW: u8 = 0xD1;
pub const PACKED_ROW: u8 = 0xD2;
const ENVIRONMENT: u8 = 0xE3;
const SESSION_STATE: u8 = 0xE4;
pub const DONE: u8 = 0xFD;
const DONE_CALL: u8 = 0xFE;
const DONE_INSIDE: u8 = 0xFF;

/// The end of a list of features.
const NO_FEATURE: u8 = 0xFF;
/// The status of an end that is not the last of the message.
const MORE: u16 = 0x01;
// The status of the end of what failed.
const FAILED: u16 = 0x02;
const SEVERE: u16 = 0x100;
/// The status of the end of a cancelled request.
const CANCELLED: u16 = 0x20;
/// A statement that returns rows, in the end of its result.
const SELECT: u16 = 0xC1;

// Kinds of changes of the session's environment.
const PACKET_SIZE: u8 = 4;
const DATABASE_COLLATION: u8 = 7;
const BEGUN: u8 = 8;
const COMMITTED: u8 = 9;
const ROLLED_BACK: u8 = 10;
const ENDED: u8 = 17;
const REDIRECTED: u8 = 20;

/// A token of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// Columns of the rows that follow; empty if they are those of the last time.
    Columns(Vec<Column>),
    /// A row; with a bitmap of its nulls if true.
    Row(bool),
    /// An error.
    Error(ServerError),
    /// A change of the session's environment.
    Environment(Change),
    /// The value of an output parameter of this type.
    Returned(Column),
    /// The login is accepted.
    Accepted,
    /// The end of a result, a call or a batch.
    Done(Done),
    /// Anything else.
    Other,
}

/// A change of the session's environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Bytes of a packet.
    PacketSize(u32),
    /// Collation of the database.
    Collation(Collation),
    /// The transaction that requests belong to, 0 for none.
    Transaction(u64),
    /// Another server should be used.
    Redirected,
    /// Anything else.
    Other,
}

/// What a [`Done`] ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A statement of a call or of a batch.
    Statement,
    /// A call, after which others follow: one of the message, or one within a procedure.
    Call,
    /// The last call, or the batch.
    Answer,
}

/// The end of a result, a call or a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// What ends.
    pub ends: End,
    /// Whether it failed.
    pub failed: bool,
    /// Rows that a statement changed.
    pub changed: Option<u64>,
    /// Whether it confirms the signal that cancels a request.
    pub cancelled: bool,
}

/// The token at the start of `bytes`, with its length; `None` if it is truncated. Rows have
/// `columns`.
///
/// # Errors
/// `protocol` for unknown tokens and types.
#[inline]
pub fn next(bytes: &[u8], columns: &[Column]) -> Result<Option<(Token, usize)>> {
    let mut reader = Reader(bytes);
    let Some(kind) = reader.u8() else { return Ok(None) };
    let token = match kind {
        ROW | PACKED_ROW => {
            let packed = kind == PACKED_ROW;
            each_cell(&mut reader, columns, packed, |_, _| true).map(|()| Token::Row(packed))
        }
        DONE | DONE_CALL | DONE_INSIDE => done(kind, &mut reader).map(Token::Done),
        COLUMNS => Description::take_all(&mut reader)?.map(|all| {
            Token::Columns(all.into_iter().map(|description| description.column).collect())
        }),
        RETURN_VALUE => output(&mut reader)?.map(|(column, _)| Token::Returned(column)),
        RETURN_STATUS => reader.u32().map(|_| Token::Other),
        ERROR => reader.long().map(ServerError::parse).map(known(Token::Error)).transpose()?,
        ENVIRONMENT => reader.long().map(change).map(known(Token::Environment)).transpose()?,
        ACCEPTED => reader.long().map(|_| Token::Accepted),
        TABLE_NAMES | COLUMN_INFO | ORDER | INFORMATION => reader.long().map(|_| Token::Other),
        FEATURES => features(&mut reader),
        SESSION_STATE => {
            reader.u32().and_then(|length| reader.bytes(length as usize)).map(|_| Token::Other)
        }
        _ => return Err(broken(format_args!("a token {kind:#x}"))),
    };
    Ok(token.map(|token| (token, bytes.len() - reader.0.len())))
}

/// A token whose body has its length, so that a truncated body is an error.
fn known<T>(token: impl Fn(T) -> Token) -> impl Fn(Option<T>) -> Result<Token> {
    move |body| body.map(&token).ok_or_else(|| broken("a truncated token"))
}

#[inline]
fn done(kind: u8, reader: &mut Reader<'_>) -> Option<Done> {
    let (status, command) = (reader.u16()?, reader.u16()?);
    let rows = reader.u64()?;
    // A procedure may have handled the error of one of its statements, unless it is severe.
    let failure = if kind == DONE_INSIDE { SEVERE } else { FAILED | SEVERE };
    // The end of a call may repeat a count, or have another one.
    let counted = status & 0x10 != 0 && command != SELECT && kind != DONE_CALL;
    Some(Done {
        ends: match kind {
            DONE | DONE_CALL if status & MORE == 0 => End::Answer,
            DONE_CALL => End::Call,
            _ => End::Statement,
        },
        failed: status & failure != 0,
        changed: counted.then_some(rows),
        cancelled: status & CANCELLED != 0,
    })
}

/// Removes an output parameter from the front, after its token's kind; `None` if it is truncated.
///
/// # Errors
/// `protocol` for an unknown type.
pub fn output<'a>(reader: &mut Reader<'a>) -> Result<Option<(Column, Cell<'a>)>> {
    if parameter(reader).is_none() {
        return Ok(None);
    }
    let Some(column) = Column::take_type(reader)? else { return Ok(None) };
    Ok(column.take(reader).map(|cell| (column, cell)))
}

/// Removes a parameter's number, name, status, user type and flags.
fn parameter(reader: &mut Reader<'_>) -> Option<()> {
    reader.u16()?;
    reader.short_text()?;
    reader.bytes(7).map(drop)
}

fn features(reader: &mut Reader<'_>) -> Option<Token> {
    while reader.u8()? != NO_FEATURE {
        let length = reader.u32()?;
        reader.bytes(length as usize)?;
    }
    Some(Token::Other)
}

fn change(body: &[u8]) -> Option<Change> {
    let mut reader = Reader(body);
    Some(match reader.u8()? {
        PACKET_SIZE => {
            let text = super::text::utf16_lossy(reader.short_text()?);
            Change::PacketSize(text.parse().ok()?)
        }
        DATABASE_COLLATION => {
            let bytes = reader.short()?;
            // Empty where the server has none.
            Collation::take(&mut Reader(bytes)).map_or(Change::Other, Change::Collation)
        }
        BEGUN => Change::Transaction(u64::from_le_bytes(reader.short()?.try_into().ok()?)),
        COMMITTED | ROLLED_BACK | ENDED => Change::Transaction(0),
        REDIRECTED => Change::Redirected,
        _ => Change::Other,
    })
}

#[cfg(test)]
#[path = "token_tests.rs"]
mod tests;
