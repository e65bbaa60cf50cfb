//! A declared statement, and how it is requested.

use bytes::{BufMut as _, BytesMut};
use dyno_record::{Error, ErrorKind, Result};

use super::column::{Column, INTN};
use super::text::{Collation, put_utf16};
use super::value::{put_output, put_parameter};
use crate::wire::{Statement, Type, Value, is_declared};

/// Marks a procedure of the server that is called by number.
const BY_NUMBER: u16 = u16::MAX;
/// Number of `sp_execute`.
const EXECUTE: u16 = 12;
/// Where the number of a prepared text is in a request.
const HANDLE: std::ops::Range<usize> = 11..15;

/// How a statement is requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// The server prepared it under this number.
    Prepared(i32),
    /// A call of the procedure with this name, which returns a row.
    Call(String),
    /// A call of the procedure with this name. Its results are output parameters, after the
    /// statement's own.
    CallWithOutputs(String),
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
    /// The number of its text that turns off `implicit_transactions` for itself, if it may be a
    /// transaction of its own.
    pub alone: Option<i32>,
    /// How it is requested.
    pub request: Request,
    /// The columns of its result as last described by the server; empty before that.
    pub columns: Vec<Column>,
    /// That description, as the server sent it.
    pub described: Vec<u8>,
    /// What precedes the parameters of a request.
    head: Vec<u8>,
    /// What follows them: the output parameters.
    tail: Vec<u8>,
}

impl Prepared {
    /// A statement that is requested in this way. Null texts have `collation`.
    pub fn new(statement: &Statement, request: Request, collation: Collation) -> Self {
        let Statement { name, params, returns, .. } = *statement;
        let (mut head, mut tail) = (BytesMut::new(), BytesMut::new());
        match &request {
            Request::Prepared(handle) => {
                put_head(EXECUTE, &mut head);
                head.put_slice(&[0, 0, INTN, 4, 4]);
                head.put_i32_le(*handle);
            }
            Request::Call(name) | Request::CallWithOutputs(name) => {
                head.put_u16_le(name.encode_utf16().count() as u16);
                put_utf16(&mut head, name);
                head.put_u16_le(0);
            }
        }
        if matches!(request, Request::CallWithOutputs(_)) {
            for kind in returns {
                put_output(*kind, collation, &mut tail);
            }
        }
        Self {
            name,
            params,
            returns,
            reads: false,
            alone: None,
            request,
            columns: Vec::new(),
            described: Vec::new(),
            head: head.to_vec(),
            tail: tail.to_vec(),
        }
    }

    /// Appends a request with parameters. Texts are sent in the encoding of `collation`.
    #[inline]
    pub fn put(&self, values: &[Value<'_>], collation: Collation, out: &mut BytesMut) {
        out.put_slice(&self.head);
        for (kind, value) in self.params.iter().zip(values) {
            put_parameter(*kind, *value, collation, out);
        }
        out.put_slice(&self.tail);
    }

    /// Whether its results are output parameters.
    pub const fn has_outputs(&self) -> bool {
        matches!(self.request, Request::CallWithOutputs(_))
    }
}

/// Changes the number of the prepared text in a request.
pub fn put_handle(request: &mut [u8], handle: i32) {
    request[HANDLE].copy_from_slice(&handle.to_le_bytes());
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

    fn put(request: Request, returns: &'static [Type], value: Value<'_>) -> BytesMut {
        let statement = Statement { name: "x", sql: "".into(), params: &[Type::Int], returns };
        let mut out = BytesMut::new();
        Prepared::new(&statement, request, Collation::default()).put(
            &[value],
            Collation::default(),
            &mut out,
        );
        out
    }

    #[test]
    fn requests_are_by_number_or_name() {
        let head = [0xFF, 0xFF, 12, 0, 0, 0];
        let parameters = [0, 0, 0x26, 4, 4, 9, 0, 0, 0, 0, 0, 0x26, 4, 4, 5, 0, 0, 0];
        let out = put(Request::Prepared(9), &[Type::Int], Value::Int(5));
        assert_eq!(out[..], [&head[..], &parameters[..]].concat());
        let mut changed = put(Request::Prepared(8), &[Type::Int], Value::Int(5));
        put_handle(&mut changed, 9);
        assert_eq!(changed, out);

        let out = put(Request::Call("pq".to_owned()), &[Type::Int], Value::Null);
        assert_eq!(out[..], [2, 0, b'p', 0, b'q', 0, 0, 0, 0, 0, 0x26, 4, 0]);
    }

    #[test]
    fn outputs_follow_the_parameters() {
        let request = Request::CallWithOutputs("p".to_owned());
        let out = put(request, &[Type::BigInt, Type::Decimal(2)], Value::Int(5));
        let given = [1, 0, b'p', 0, 0, 0, 0, 0, 0x26, 4, 4, 5, 0, 0, 0];
        let outputs = [0, 1, 0x26, 8, 0, 0, 1, 0x6A, 17, 38, 18, 0];
        assert_eq!(out[..], [&given[..], &outputs].concat());
    }

    #[test]
    fn other_columns_are_a_wrong_use() {
        let error = require_declared("x", &[Type::Int], &[]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
    }
}
