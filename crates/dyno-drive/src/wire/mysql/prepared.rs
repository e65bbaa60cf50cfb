//! A prepared statement, and the commands that execute it.

use bytes::{BufMut as _, BytesMut};
use dyno_record::{Error, ErrorKind, Result};

use super::packet::frame;
use super::row::Column;
use super::value::{encode, parameter_type};
use crate::wire::{Type, Value, is_declared};

/// The execute command.
const EXECUTE: u8 = 0x17;

/// A prepared statement.
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
    /// The server's commands for it, in order.
    pub steps: Vec<Step>,
    /// The columns of its result as last described by the server; empty before that.
    pub columns: Vec<Column>,
}

#[cfg(test)]
impl Prepared {
    /// A statement of `steps` commands, of which only the result types are known.
    pub fn of(name: &'static str, returns: &'static [Type], steps: u32) -> Self {
        let step = |id| Step { id, params: Vec::new(), bound: false };
        let steps = (0..steps).map(step).collect();
        Self { name, params: &[], returns, reads: false, steps, columns: Vec::new() }
    }
}

/// A prepared command.
#[derive(Debug)]
pub struct Step {
    /// Its id on the server.
    pub id: u32,
    /// For each of its parameters, the index among the statement's.
    pub params: Vec<u8>,
    /// Whether the server has the parameter types, which it keeps.
    pub bound: bool,
}

impl Step {
    /// Appends an execution with the statement's parameters, of the types `kinds`.
    #[inline]
    pub fn execute(&self, kinds: &[Type], values: &[Value<'_>], out: &mut BytesMut) {
        frame(out, 0, |out| {
            out.put_u8(EXECUTE);
            out.put_u32_le(self.id);
            // No cursor; one iteration.
            out.put_u8(0);
            out.put_u32_le(1);
            if self.params.is_empty() {
                return;
            }
            let nulls = out.len();
            out.put_bytes(0, self.params.len().div_ceil(8));
            out.put_u8(u8::from(!self.bound));
            if !self.bound {
                for position in &self.params {
                    out.put_slice(&[parameter_type(kinds[usize::from(*position)]), 0]);
                }
            }
            for (number, position) in self.params.iter().enumerate() {
                let value = values[usize::from(*position)];
                if value == Value::Null {
                    out[nulls + number / 8] |= 1 << (number % 8);
                }
                encode(value, out);
            }
        });
    }
}

/// Checks that columns have the declared types.
///
/// # Errors
/// `usage` if they do not.
pub fn require_declared(name: &str, declared: &[Type], columns: &[Column]) -> Result<()> {
    if is_declared(declared, columns, Column::is) {
        return Ok(());
    }
    let message = format!(
        "statement {name} should return {declared:?}, but its columns are {columns:?} here: load \
         the workload into this database again"
    );
    Err(Error::new(ErrorKind::Usage, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_names_the_types_until_the_server_knows_them() {
        let kinds = [Type::Int, Type::Text];
        let mut step = Step { id: 9, params: vec![1, 0, 1], bound: false };
        let mut out = BytesMut::new();
        step.execute(&kinds, &[Value::Int(5), Value::Null], &mut out);
        let head = b"\x17\x09\0\0\0\0\x01\0\0\0";
        let body = [&head[..], b"\x05\x01\xFD\0\x03\0\xFD\0", b"\x05\0\0\0"].concat();
        assert_eq!(&out[4..], body);
        assert_eq!(&out[..4], [body.len() as u8, 0, 0, 0]);

        step.bound = true;
        out.clear();
        step.execute(&kinds, &[Value::Int(5), Value::Text("ab")], &mut out);
        assert_eq!(&out[4..], [&head[..], b"\0\0\x02ab\x05\0\0\0\x02ab"].concat());
    }
}
