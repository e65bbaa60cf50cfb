//! A declared statement, and how it is requested.

use bytes::{BufMut as _, BytesMut};
use dyno_record::{Error, ErrorKind, Result};

use super::column::{Column, INTN};
use super::text::{Collation, put_utf16};
use super::value::put_parameter;
use crate::wire::{Type, Value, is_declared};

/// Marks a procedure of the server that is called by number.
const BY_NUMBER: u16 = u16::MAX;
/// Number of `sp_execute`.
const EXECUTE: u16 = 12;

/// How a statement is requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// The server prepared it under this number. The indexes of its parameters among the
    /// statement's, in order.
    Prepared(i32),
    /// A call of the procedure with this name.
    Call(String),
}

/// A declared statement.
#[derive(Debug)]
pub struct Prepared {
    /// Its name in messages.
    pub name: &'static str,
    /// The declared types of its parameters.
    pub params: &'static [Type],
    /// The declared types of its result.
    pub returns: &'static [Type],
    /// Whether it only reads.
    pub reads: bool,
    /// How it is requested.
    pub request: Request,
    /// The columns of its result as last described by the server; empty before that.
    pub columns: Vec<Column>,
    /// That description, as the server sent it.
    pub described: Vec<u8>,
}

impl Prepared {
    /// Appends an execution with parameters. Texts are sent in the encoding of `collation`.
    #[inline]
    pub fn put(&self, values: &[Value<'_>], collation: Collation, out: &mut BytesMut) {
        match &self.request {
            Request::Prepared(handle) => {
                put_head(EXECUTE, out);
                out.put_slice(&[0, 0, INTN, 4, 4]);
                out.put_i32_le(*handle);
            }
            Request::Call(name) => {
                out.put_u16_le(name.encode_utf16().count() as u16);
                put_utf16(out, name);
                out.put_u16_le(0);
            }
        }
        for (kind, value) in self.params.iter().zip(values) {
            put_parameter(*kind, *value, collation, out);
        }
    }
}

/// Appends the head of a call of one of the server's own procedures.
pub fn put_head(procedure: u16, out: &mut BytesMut) {
    out.put_u16_le(BY_NUMBER);
    out.put_u16_le(procedure);
    out.put_u16_le(0);
}

/// Checks that columns have the declared types.
///
/// # Errors
/// `usage` if they do not.
pub fn require_declared(name: &str, declared: &[Type], columns: &[Column]) -> Result<()> {
    if is_declared(declared, columns, Column::is) {
        return Ok(());
    }
    let kinds: Vec<u8> = columns.iter().map(|column| column.kind).collect();
    let message = format!(
        "statement {name} should return {declared:?}, but its columns have the types {kinds:x?} \
         here: load the workload into this database again"
    );
    Err(Error::new(ErrorKind::Usage, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(request: Request) -> Prepared {
        Prepared {
            name: "x",
            params: &[Type::Int],
            returns: &[],
            reads: true,
            request,
            columns: Vec::new(),
            described: Vec::new(),
        }
    }

    #[test]
    fn requests_are_by_number_or_name() {
        let mut out = BytesMut::new();
        prepared(Request::Prepared(9)).put(&[Value::Int(5)], Collation::default(), &mut out);
        let head = [0xFF, 0xFF, 12, 0, 0, 0];
        let parameters = [0, 0, 0x26, 4, 4, 9, 0, 0, 0, 0, 0, 0x26, 4, 4, 5, 0, 0, 0];
        assert_eq!(out[..], [&head[..], &parameters[..]].concat());

        out.clear();
        let call = Request::Call("pq".to_owned());
        prepared(call).put(&[Value::Null], Collation::default(), &mut out);
        assert_eq!(out[..], [2, 0, b'p', 0, b'q', 0, 0, 0, 0, 0, 0x26, 4, 0]);
    }

    #[test]
    fn other_columns_are_a_wrong_use() {
        let error = require_declared("x", &[Type::Int], &[]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
    }
}
