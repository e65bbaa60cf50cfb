//! Answers to requests that are not measured: read completely, then token by token.

use bytes::{Buf as _, BytesMut};
use dyno_record::{Error, ErrorKind, Result};

use super::column::Column;
use super::error::ServerError;
use super::packet::{Packet, broken, put_message};
use super::token::{self, End, Token};
use crate::wire::transport::{Transport, lost};

/// Maximum bytes of such an answer.
const LONGEST: usize = 1 << 22;

/// Reads an answer, without the packets' headers.
///
/// # Errors
/// `connection_lost`; `protocol` if it is too long.
pub async fn read(transport: &mut Transport) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        if let Some(packet) = Packet::first(&transport.read)? {
            let (length, last) = (packet.length(), packet.last);
            bytes.extend_from_slice(packet.body);
            transport.read.advance(length);
            if bytes.len() > LONGEST {
                return Err(broken("an answer that is too long"));
            }
            if last {
                return Ok(bytes);
            }
            continue;
        }
        transport.receive().await.map_err(|error| lost(&error))?;
    }
}

/// The tokens of an answer.
#[derive(Debug)]
pub struct Tokens<'a> {
    rest: &'a [u8],
    /// The columns of the current result.
    pub columns: Vec<Column>,
}

impl<'a> Tokens<'a> {
    /// Reads `bytes` from the start.
    pub const fn of(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, columns: Vec::new() }
    }

    /// The next token with its bytes, `None` at the end.
    ///
    /// # Errors
    /// `protocol` if it is not valid.
    pub fn next(&mut self) -> Result<Option<(Token, &'a [u8])>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let found = token::next(self.rest, &self.columns)?;
        let (token, length) = found.ok_or_else(|| broken("a truncated answer"))?;
        let (bytes, rest) = self.rest.split_at(length);
        self.rest = rest;
        if let Token::Columns(columns) = &token
            && !columns.is_empty()
        {
            self.columns.clone_from(columns);
        }
        Ok(Some((token, bytes)))
    }
}

/// What an answer says in total.
#[derive(Debug, Default)]
pub struct Summary {
    /// The first error.
    pub error: Option<ServerError>,
    /// Rows changed.
    pub changed: u64,
    /// Whether a login was accepted.
    pub accepted: bool,
    /// Changes of the environment.
    pub changes: Vec<token::Change>,
}

impl Summary {
    /// Summarises an answer.
    ///
    /// # Errors
    /// `protocol` if it is not valid, or without an error not complete.
    pub fn of(bytes: &[u8]) -> Result<Self> {
        let mut summary = Self::default();
        let (mut ended, mut failed) = (false, false);
        let mut tokens = Tokens::of(bytes);
        while let Some((token, _)) = tokens.next()? {
            match token {
                Token::Error(error) => {
                    summary.error.get_or_insert(error);
                }
                Token::Done(done) => {
                    ended = done.ends == End::Answer;
                    failed |= done.failed;
                    summary.changed = summary.changed.saturating_add(done.changed.unwrap_or(0));
                }
                Token::Accepted => summary.accepted = true,
                Token::Environment(change) => summary.changes.push(change),
                _ => {}
            }
        }
        if failed {
            summary.error.get_or_insert_with(ServerError::unexplained);
        }
        if !ended && summary.error.is_none() {
            return Err(broken("an answer without its end"));
        }
        Ok(summary)
    }
}

/// Sends a message in packets of at most `size` bytes.
///
/// # Errors
/// `connection_lost`.
pub async fn send(transport: &mut Transport, kind: u8, body: &[u8], size: usize) -> Result<()> {
    let mut out = BytesMut::with_capacity(body.len() + 64);
    put_message(&mut out, kind, body, size);
    transport.send_bytes(&out).await.map_err(|error| lost(&error))
}

/// Runs statements, outside transactions, as one text; returns the whole answer.
///
/// # Errors
/// `connection_lost`; `protocol`.
pub async fn ask(transport: &mut Transport, sql: &str, size: usize) -> Result<Vec<u8>> {
    ask_within(transport, sql, 0, size).await
}

/// Like [`ask`], in a transaction.
///
/// # Errors
/// As [`ask`].
pub async fn ask_within(
    transport: &mut Transport,
    sql: &str,
    transaction: u64,
    size: usize,
) -> Result<Vec<u8>> {
    let mut body = BytesMut::new();
    body.extend_from_slice(&super::batch::headers(transaction));
    super::text::put_utf16(&mut body, sql);
    send(transport, super::packet::BATCH, &body, size).await?;
    read(transport).await
}

/// Runs statements as one text.
///
/// # Errors
/// The server's, as its own kind; as [`ask`].
pub async fn run(transport: &mut Transport, sql: &str, size: usize) -> Result<()> {
    let bytes = ask(transport, sql, size).await?;
    let summary = Summary::of(&bytes)?;
    summary.error.map_or(Ok(()), |error| Err(error.into_error()))
}

/// Whether the server is Babelfish.
///
/// # Errors
/// As [`ask`].
pub async fn is_babelfish(transport: &mut Transport, size: usize) -> Result<bool> {
    let sql = "select 1 where cast(serverproperty('babelfish') as int) = 1";
    has_row(transport, sql, size).await
}

/// Whether statements return a row.
///
/// # Errors
/// As [`ask`].
pub async fn has_row(transport: &mut Transport, sql: &str, size: usize) -> Result<bool> {
    let answer = ask(transport, sql, size).await?;
    let mut tokens = Tokens::of(&answer);
    while let Some((token, _)) = tokens.next()? {
        if matches!(token, Token::Row(_)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The error of a session that is unusable after it.
pub fn lost_during(error: Error, what: &str) -> Error {
    Error { kind: ErrorKind::ConnectionLost, ..error }.context(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_answer_is_an_error() {
        // An error of 1 byte too few, and a login that is accepted.
        let accepted = [0xAD, 2, 0, 1, 2, 0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let summary = Summary::of(&accepted).unwrap();
        assert!(summary.accepted && summary.error.is_none());
        for cut in 0..accepted.len() {
            assert_eq!(Summary::of(&accepted[..cut]).unwrap_err().kind, ErrorKind::Protocol);
        }
    }

    #[test]
    fn what_failed_without_an_error_is_an_error() {
        const ENDED: [u8; 13] = [0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        // Each of two statements, a call, and a severe error inside of one.
        for (kind, status) in [(0xFD, [3, 0]), (0xFD, [2, 0]), (0xFE, [2, 0]), (0xFF, [1, 1])] {
            let mut failed = ENDED;
            (failed[0], failed[1], failed[2]) = (kind, status[0], status[1]);
            let summary = Summary::of(&[failed, ENDED].concat()).unwrap();
            assert!(summary.error.is_some(), "{kind:#x} {status:?}");
        }
        // A procedure has handled it.
        let mut handled = ENDED;
        (handled[0], handled[1]) = (0xFF, 3);
        assert!(Summary::of(&[handled, ENDED].concat()).unwrap().error.is_none());
    }
}
