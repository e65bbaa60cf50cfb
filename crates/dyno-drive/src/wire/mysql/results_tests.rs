//! Tests of [`Results`].

use bytes::{BufMut as _, BytesMut};
use proptest::prelude::{any, prop, prop_assert, proptest};

use super::super::packet::frame;
use super::*;
use crate::wire::Type;

const OK: &[u8] = b"\0\x01\0\x03\0\0\0";
const END: &[u8] = b"\xFE\0\0\x03\0\0\0";
const DEADLOCK: &[u8] = b"\xFF\xBD\x04#40001Deadlock found";
const INT: u8 = 3;
const TEXT: u8 = 253;

fn column(kind: u8) -> Vec<u8> {
    [&b"\x03def\0\x01t\0\x01c\0\x0C\x2E\0\x0B\0\0\0"[..], &[kind, 0, 0, 0, 0, 0]].concat()
}

fn row(number: i32, text: &str) -> Vec<u8> {
    [&b"\0\0"[..], &number.to_le_bytes(), &[text.len() as u8], text.as_bytes()].concat()
}

/// The packets of answers to several commands, each numbered from 1.
fn answers(commands: &[&[&[u8]]]) -> BytesMut {
    let mut out = BytesMut::new();
    for packets in commands {
        for (number, body) in (1..).zip(*packets) {
            frame(&mut out, number, |out| out.put_slice(body));
        }
    }
    out
}

/// Statement 0 is an update and a query of a number and a text; statement 1 only changes.
fn prepared() -> Vec<Prepared> {
    vec![
        Prepared::of("changes_and_returns", &[Type::Int, Type::Text], 2),
        Prepared::of("changes", &[], 1),
    ]
}

#[test]
fn answers_are_found_however_the_bytes_arrive() {
    let (number, text) = (column(INT), column(TEXT));
    let (first, second) = (row(7, "ab"), row(-1, ""));
    let bytes = answers(&[&[OK], &[b"\x02\x01", &number, &text, &first, &second, END], &[OK]]);
    for cut in 0..bytes.len() {
        let mut known = prepared();
        let mut results = Results::new(true);
        let (returns, changes) = (results.expect(0, 2), results.expect(1, 1));
        assert!(!results.advance(&bytes[..cut], 2, &mut known).unwrap());
        assert!(results.advance(&bytes, 2, &mut known).unwrap());
        assert_eq!((results.rows(returns), results.rows(changes)), (2, 0));
        let columns = &known[0].columns;
        let cell = |row, column| results.cell(&bytes, columns, returns, row, column);
        assert_eq!(cell(0, 0).unwrap(), Some(&7i32.to_le_bytes()[..]));
        assert_eq!(cell(0, 1).unwrap(), Some(&b"ab"[..]));
        assert_eq!(cell(1, 1).unwrap(), Some(&b""[..]));
        for (row, column) in [(2, 0), (0, 2)] {
            assert_eq!(cell(row, column).unwrap_err().kind, ErrorKind::Database);
        }
        assert_eq!(
            (results.affected(returns).unwrap(), results.affected(changes).unwrap()),
            (1, 1)
        );
        assert!(known.iter().flat_map(|it| &it.steps).all(|step| step.bound));
    }
}

#[test]
fn the_first_failure_counts_and_the_answers_after_it_are_read() {
    let bytes = answers(&[&[DEADLOCK], &[b"\xFF\x7A\x04#42S02gone"], &[OK]]);
    let mut known = prepared();
    let mut results = Results::new(true);
    results.expect(0, 2);
    results.expect(1, 1);
    assert!(results.advance(&bytes, 2, &mut known).unwrap());
    assert!(results.has_failed());
    let (error, statement) = results.take_failure().unwrap();
    assert_eq!((error.code, statement), (1213, 0));
    assert!(!known[0].steps[0].bound, "a run that failed may not have taken the types");
}

#[test]
fn columns_are_described_once_where_the_server_says_so() {
    let (number, text, one) = (column(INT), column(TEXT), row(1, "x"));
    let described = answers(&[&[OK], &[b"\x02\x01", &number, &text, &one, END]]);
    let short = answers(&[&[OK], &[b"\x02\0", &one, END]]);
    let mut known = prepared();
    let mut results = Results::new(true);
    results.expect(0, 2);
    // A result without any description cannot be read.
    assert!(results.advance(&short, 1, &mut known).is_err());
    for bytes in [&described, &short] {
        results.clear();
        results.expect(0, 2);
        assert!(results.advance(bytes, 1, &mut known).unwrap());
        let cell = results.cell(bytes, &known[0].columns, 0, 0, 1).unwrap();
        assert_eq!(cell, Some(&b"x"[..]));
    }
}

#[test]
fn columns_of_other_types_than_declared_are_refused() {
    let (number, text) = (column(INT), column(TEXT));
    let texts: &[&[u8]] = &[b"\x02", &text, &text];
    let too_few: &[&[u8]] = &[b"\x01", &number];
    for packets in [texts, too_few] {
        let bytes = answers(&[&[OK], packets]);
        let mut results = Results::new(false);
        results.expect(0, 2);
        assert!(results.advance(&bytes, 1, &mut prepared()).is_err());
    }
    // Nor may columns change between two executions in a batch, because one description is used for
    // both.
    let (one, wide) = (row(1, "x"), column(8));
    let bytes = answers(&[
        &[OK],
        &[b"\x02", &number, &text, &one, END],
        &[OK],
        &[b"\x02", &wide, &text, END],
    ]);
    let mut results = Results::new(false);
    results.expect(0, 2);
    results.expect(0, 2);
    let error = results.advance(&bytes, 2, &mut prepared()).unwrap_err();
    assert!(error.message.contains("columns that differ"), "{error}");
}

#[test]
fn a_procedure_ends_with_its_last_result() {
    let (number, text, one) = (column(INT), column(TEXT), row(1, "x"));
    let more = b"\xFE\0\0\x0B\0\0\0";
    let bytes = answers(&[&[b"\x02", &number, &text, &one, more, b"\0\x05\0\x03\0\0\0"]]);
    let mut known = vec![Prepared::of("calls", &[Type::Int, Type::Text], 1)];
    let mut results = Results::new(false);
    let slot = results.expect(0, 1);
    assert!(results.advance(&bytes, 1, &mut known).unwrap());
    assert_eq!((results.rows(slot), results.affected(slot).unwrap()), (1, 5));
}

#[test]
fn surplus_rows_and_packets_out_of_order_are_refused() {
    let mut results = Results::new(true);
    results.expect(1, 1);
    assert!(results.advance(&answers(&[&[b"\x01\x01"]]), 1, &mut prepared()).is_err());
    let mut shifted = answers(&[&[OK]]);
    shifted[3] = 2;
    results.clear();
    results.expect(1, 1);
    assert!(results.advance(&shifted, 1, &mut prepared()).is_err());
    results.clear();
    results.expect(1, 1);
    assert!(results.advance(&answers(&[&[b"\xFBfile"]]), 1, &mut prepared()).is_err());
}

proptest! {
    #[test]
    fn no_bytes_panic(bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..8), tells in any::<bool>()) {
        let bodies: Vec<&[u8]> = bodies.iter().map(Vec::as_slice).collect();
        let bytes = answers(&[&bodies]);
        let mut known = prepared();
        let mut results = Results::new(tells);
        let slot = results.expect(0, 2);
        results.expect(1, 1);
        let _ = results.advance(&bytes, 2, &mut known);
        for row in 0..results.rows(slot) {
            let _ = results.cell(&bytes, &known[0].columns, slot, row, 1);
        }
    }

    #[test]
    fn answers_that_were_altered_panic_nowhere(at in 0usize..400, byte in any::<u8>(), cut in 0usize..400, tells in any::<bool>()) {
        let (number, text, one) = (column(INT), column(TEXT), row(1, "some text"));
        let head: &[u8] = if tells { b"\x02\x01" } else { b"\x02" };
        let select: &[&[u8]] = &[head, &number, &text, &one, &one, END];
        let mut bytes = answers(&[&[OK], select, &[OK], &[OK], select, &[DEADLOCK]]).to_vec();
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.truncate(bytes.len() - cut % 8);
        let mut known = prepared();
        let mut results = Results::new(tells);
        let slots = [results.expect(0, 2), results.expect(1, 1), results.expect(0, 2), results.expect(1, 1)];
        let _ = results.advance(&bytes, 4, &mut known);
        for slot in slots {
            for row in 0..results.rows(slot) {
                for column in 0..3 {
                    if let Ok(Some(cell)) = results.cell(&bytes, &known[0].columns, slot, row, column) {
                        prop_assert!(cell.len() < bytes.len());
                    }
                }
            }
            let _ = results.affected(slot);
        }
    }
}
