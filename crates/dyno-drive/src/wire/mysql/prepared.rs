//! A statement that the server has prepared, and what it sends to run it.

use bytes::{BufMut as _, BytesMut};
use dyno_record::{Error, ErrorKind, Result};

use super::packet::frame;
use super::row::Column;
use super::value::{encode, parameter_type};
use crate::wire::{Type, Value};

/// The command that runs a prepared statement.
const EXECUTE: u8 = 0x17;

/// A statement that the server knows.
#[derive(Debug)]
pub struct Prepared {
    /// Its name in messages.
    pub name: &'static str,
    /// The declared types of its parameters.
    pub params: &'static [Type],
    /// The declared types of its result.
    pub returns: &'static [Type],
    /// Whether it certainly changes nothing.
    pub reads: bool,
    /// What the server runs for it, in this order.
    pub steps: Vec<Step>,
    /// What its result is made of, as the server said last; empty until it has said so.
    pub columns: Vec<Column>,
}

#[cfg(test)]
impl Prepared {
    /// A statement of so many commands, of which nothing is known but what it returns.
    pub fn of(name: &'static str, returns: &'static [Type], steps: u32) -> Self {
        let step = |id| Step { id, params: Vec::new(), bound: false };
        let steps = (0..steps).map(step).collect();
        Self { name, params: &[], returns, reads: false, steps, columns: Vec::new() }
    }
}

/// One prepared command.
#[derive(Debug)]
pub struct Step {
    /// Its number at the server.
    pub id: u32,
    /// For each of its parameters the position among the statement's.
    pub params: Vec<u8>,
    /// Whether the server knows the types of the parameters, which it keeps.
    pub bound: bool,
}

impl Step {
    /// Appends a run with the parameters of its statement, of the types `kinds`.
    #[inline]
    pub fn execute(&self, kinds: &[Type], values: &[Value<'_>], out: &mut BytesMut) {
        frame(out, 0, |out| {
            out.put_u8(EXECUTE);
            out.put_u32_le(self.id);
            // No cursor; one run.
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

/// Whether columns are of the types that a statement declares.
///
/// # Errors
/// `usage` if they are not.
pub fn require_declared(name: &str, declared: &[Type], columns: &[Column]) -> Result<()> {
    let same = columns.len() == declared.len()
        && columns.iter().zip(declared).all(|(column, kind)| column.is(*kind));
    if same {
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
