//! Digests of query answers.
//!
//! `dyno.workloads.canonical` defines the text of a value. This is the fast path for text and plain
//! numbers, which make up most answers; Python handles all other values. Both must write the same
//! text: `tests/workloads/test_digest.py` compares them.

use std::io::Write;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyFloat, PyInt, PySequence, PyString, PyType};
use sha2::{Digest as _, Sha256};

const FIELD: u8 = 0x1f;
const RECORD: u8 = 0x1e;

/// The first 16 hex digits of the SHA-256 of the answer: its rows as canonical text in UTF-8,
/// sorted by code point and joined.
///
/// `rounded` has one flag per column: whether its numbers are rounded to two decimals. `exact` and
/// `cents` convert all other values, in columns without and with rounding.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "a Python signature")]
pub fn digest(
    rows: &Bound<'_, PyAny>,
    rounded: Vec<bool>,
    exact: &Bound<'_, PyAny>,
    cents: &Bound<'_, PyAny>,
) -> PyResult<String> {
    static DECIMAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = rows.py();
    let decimal = DECIMAL.import(py, "decimal", "Decimal")?;
    let mut text: Vec<u8> = Vec::new();
    let mut ends = vec![0];
    for row in rows.try_iter()? {
        let row = row?.cast::<PySequence>()?.to_tuple()?;
        if row.len() != rounded.len() {
            return Err(PyValueError::new_err(format!(
                "a row has {} columns, expected {}",
                row.len(),
                rounded.len()
            )));
        }
        for (column, (value, &rounded)) in row.iter_borrowed().zip(&rounded).enumerate() {
            if column > 0 {
                text.push(FIELD);
            }
            if !plain(&value, rounded, decimal, &mut text)? {
                let written = if rounded { cents } else { exact }.call1((value,))?;
                text.extend_from_slice(written.cast::<PyString>()?.to_str()?.as_bytes());
            }
        }
        ends.push(text.len());
    }
    Ok(py.detach(|| {
        let mut records: Vec<&[u8]> = ends.windows(2).map(|at| &text[at[0]..at[1]]).collect();
        // UTF-8 bytes sort like code points. Most answers are already in some order.
        records.sort();
        let hash = Sha256::digest(records.join(&RECORD));
        let first = hash.first_chunk().expect("a SHA-256 has 32 bytes");
        format!("{:016x}", u64::from_be_bytes(*first))
    }))
}

/// Writes text or a plain number. Returns false for any other value, and writes nothing.
fn plain(
    value: &Bound<'_, PyAny>,
    rounded: bool,
    decimal: &Bound<'_, PyType>,
    out: &mut Vec<u8>,
) -> PyResult<bool> {
    if let Ok(text) = value.cast_exact::<PyString>() {
        if rounded {
            return Ok(false); // `canonical` may read it as a number
        }
        out.extend_from_slice(text.to_str()?.trim_end_matches(' ').as_bytes());
        return Ok(true);
    }
    if value.is_exact_instance_of::<PyInt>() {
        let Ok(number) = value.extract::<i64>() else { return Ok(false) };
        write!(out, "{number}").expect("memory takes it");
        if rounded {
            out.extend_from_slice(b".00");
        }
        return Ok(true);
    }
    let text = if value.is_exact_instance_of::<PyFloat>() {
        value.repr()?
    } else if value.get_type().is(decimal) {
        value.str()?
    } else {
        return Ok(false);
    };
    let Some(number) = Number::parse(text.to_str()?) else { return Ok(false) };
    if rounded {
        number.cents(out);
    } else {
        number.exact(out);
    }
    Ok(true)
}

/// A number of digits and at most one point.
struct Number<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
}

impl<'a> Number<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = rest.split_once('.').unwrap_or((rest, ""));
        let number = !whole.is_empty() && digits(whole) && digits(fraction);
        number.then_some(Self { negative, whole, fraction })
    }

    /// Writes it without trailing zeros and without the sign of zero.
    fn exact(&self, out: &mut Vec<u8>) {
        let fraction = self.fraction.trim_end_matches('0');
        let zero = fraction.is_empty() && self.whole == "0";
        if self.negative && !zero {
            out.push(b'-');
        }
        out.extend_from_slice(self.whole.as_bytes());
        if !fraction.is_empty() {
            out.push(b'.');
            out.extend_from_slice(fraction.as_bytes());
        }
    }

    /// Writes it with two decimals, halves rounded away from zero, without the sign of zero.
    fn cents(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.push(b'-');
        out.extend_from_slice(self.whole.as_bytes());
        out.push(b'.');
        let fraction = self.fraction.as_bytes();
        out.extend((0..2).map(|place| fraction.get(place).copied().unwrap_or(b'0')));
        if fraction.get(2).is_some_and(|&digit| digit >= b'5') {
            increase(out, start + 1);
        }
        let zero = out[start..].iter().all(|byte| matches!(byte, b'-' | b'.' | b'0'));
        if zero || !self.negative {
            out.remove(start);
        }
    }
}

/// Adds one to the last of the digits from `start` on.
fn increase(digits: &mut Vec<u8>, start: usize) {
    for place in (start..digits.len()).rev() {
        match digits[place] {
            b'.' => {}
            b'9' => digits[place] = b'0',
            _ => {
                digits[place] += 1;
                return;
            }
        }
    }
    digits.insert(start, b'1');
}
