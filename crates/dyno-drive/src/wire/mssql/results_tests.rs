use bytes::BufMut as _;
use proptest::prelude::{any, prop, proptest};

use super::super::packet::{ANSWER, put_message};
use super::super::prepared::Request;
use super::super::text::Collation;
use super::*;
use crate::wire::{Statement, Type};

/// Columns "a" (integer), "b" (UTF-16) and "c" (Western).
const THREE: &[u8] = &[
    0x81, 3, 0, 0, 0, 0, 0, 9, 0, 0x26, 4, 1, b'a', 0, 0, 0, 0, 0, 9, 0, 0xE7, 20, 0, 9, 4, 0xD0,
    0, 0x34, 1, b'b', 0, 0, 0, 0, 0, 9, 0, 0xA7, 20, 0, 9, 4, 0xD0, 0, 0x34, 1, b'c', 0,
];
const FIRST: &[u8] = &[0xD1, 4, 7, 0, 0, 0, 2, 0, 0xE9, 0, 2, 0, b'o', b'k'];
const SECOND: &[u8] = &[0xD1, 0, 2, 0, b'x', 0, 1, 0, 0x80];
const SELECTED: &[u8] = &[0xFF, 0x11, 0, 0xC1, 0, 2, 0, 0, 0, 0, 0, 0, 0];
const CHANGED: &[u8] = &[0xFF, 0x11, 0, 0xC5, 0, 3, 0, 0, 0, 0, 0, 0, 0];
const ENDED: &[u8] = &[0x79, 0, 0, 0, 0, 0xFE, 0x80, 0, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const FAILED: &[u8] = &[
    0xAA, 16, 0, 0xB5, 4, 0, 0, 1, 13, 1, 0, b'x', 0, 0, 0, 1, 0, 0, 0, 0xFE, 2, 0, 0xE0, 0, 0, 0,
    0, 0, 0, 0, 0, 0,
];

fn prepared() -> Vec<Prepared> {
    let statement = |name, returns, request| {
        let statement = Statement { name, sql: "".into(), params: &[], returns };
        Prepared::new(&statement, request, Collation::default())
    };
    vec![
        statement("query", &[Type::Int, Type::Text, Type::Text], Request::Prepared(1)),
        statement("change", &[], Request::Prepared(2)),
        statement("call", &[Type::Int, Type::Text], Request::CallWithOutputs("p".to_owned())),
    ]
}

/// The answers to a query, a change and a query, in packets of `size` bytes.
fn packets(size: usize) -> BytesMut {
    let all =
        [THREE, FIRST, SECOND, SELECTED, ENDED, CHANGED, ENDED, THREE, FIRST, SELECTED, ENDED];
    let mut out = BytesMut::new();
    put_message(&mut out, ANSWER, &all.concat(), size);
    out
}

fn expect(results: &mut Results) {
    for statement in [0, 1, 0] {
        results.expect(statement);
    }
}

fn expecting() -> Results {
    let mut results = Results::default();
    expect(&mut results);
    results
}

fn check(results: &Results, prepared: &[Prepared]) {
    let columns = &prepared[0].columns;
    let value = |slot, row| results.cell(columns, slot, row, 0).unwrap();
    assert_eq!((results.rows(0), results.rows(1), results.rows(2)), (2, 0, 1));
    assert_eq!(results.affected(0).unwrap(), 2);
    assert_eq!(results.affected(1).unwrap(), 3);
    assert_eq!(value(0, 0), Cell::Whole(&[7, 0, 0, 0]));
    assert_eq!(value(0, 1), Cell::Null);
    assert_eq!(value(2, 0), Cell::Whole(&[7, 0, 0, 0]));
    let text = |slot, row, column| results.converted(slot, row, column);
    assert_eq!((text(0, 0, 1), text(0, 1, 1)), (Some("\u{e9}"), Some("x")));
    assert_eq!((text(0, 0, 2), text(0, 1, 2)), (None, Some("\u{20ac}")));
    assert_eq!(results.cell(columns, 0, 0, 2).unwrap(), Cell::Whole(b"ok"));
    assert_eq!(text(2, 0, 1), Some("\u{e9}"));
    for (slot, row, column) in [(0, 2, 0), (0, 0, 3), (1, 0, 0), (9, 0, 0)] {
        let error = results.cell(columns, slot, row, column).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Database);
    }
}

#[test]
fn answers_are_read_however_the_bytes_arrive() {
    for size in [9, 13, 50, 4096] {
        let whole = packets(size);
        for cut in 0..whole.len() {
            let (mut results, mut prepared) = (expecting(), prepared());
            let mut read = BytesMut::from(&whole[..cut]);
            assert!(!results.advance(&mut read, 3, &mut prepared).unwrap(), "{size} {cut}");
            read.put_slice(&whole[cut..]);
            assert!(results.advance(&mut read, 3, &mut prepared).unwrap());
            assert!(read.is_empty() && !results.has_failed());
            check(&results, &prepared);
        }
    }
}

#[test]
fn memory_and_descriptions_are_used_again() {
    let (mut results, mut prepared) = (expecting(), prepared());
    for _ in 0..2 {
        assert!(results.advance(&mut packets(4096), 3, &mut prepared).unwrap());
        check(&results, &prepared);
        assert_eq!(prepared[0].described, THREE);
        results.clear();
        expect(&mut results);
    }
}

/// The result of an answer to a query and a change.
fn answered(tokens: &[&[u8]]) -> Result<Results> {
    let mut out = BytesMut::new();
    put_message(&mut out, ANSWER, &tokens.concat(), 4096);
    let mut results = Results::default();
    results.expect(0);
    results.expect(1);
    results.advance(&mut out, 2, &mut prepared()).map(|_| results)
}

#[test]
fn the_first_failure_counts_and_may_end_the_answer() {
    for tokens in [&[FAILED][..], &[FAILED, CHANGED, ENDED], &[FAILED, FAILED]] {
        let mut results = answered(tokens).unwrap();
        let (error, statement) = results.take_failure().unwrap();
        assert_eq!((error.code, statement), (1205, 0));
    }
}

#[test]
fn a_failure_without_an_error_is_one_unless_a_procedure_handled_it() {
    let status = |kind, status: u16| {
        let [low, high] = status.to_le_bytes();
        [kind, low, high, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    };
    for (token, fails) in [(status(0xFF, 3), false), (status(0xFF, 0x101), true)] {
        let results = answered(&[&token, ENDED, CHANGED, ENDED]).unwrap();
        assert_eq!(results.has_failed(), fails, "{token:?}");
    }
    assert!(answered(&[&status(0xFE, 2)]).unwrap().has_failed());
    assert!(answered(&[&status(0xFD, 3), ENDED, CHANGED, ENDED]).unwrap().has_failed());
}

#[test]
fn what_was_not_requested_is_an_error() {
    let other: &[u8] = &[0x81, 1, 0, 0, 0, 0, 0, 9, 0, 0x26, 4, 1, b'a', 0];
    for tokens in [
        &[THREE, FIRST, ENDED][..],
        &[FIRST, ENDED, CHANGED, ENDED],
        &[THREE, FIRST, SELECTED, THREE, ENDED, CHANGED, ENDED],
        &[CHANGED, ENDED, THREE, FIRST, ENDED],
        &[ENDED, ENDED, ENDED],
        &[THREE, &FIRST[..5]],
    ] {
        assert_eq!(answered(tokens).unwrap_err().kind, ErrorKind::Protocol, "{tokens:?}");
    }
    assert_eq!(answered(&[other]).unwrap_err().kind, ErrorKind::Usage);
}

#[test]
fn what_triggers_change_does_not_count() {
    let by_trigger: &[u8] = &[0xFF, 0x11, 0, 0xC3, 0, 7, 0, 0, 0, 0, 0, 0, 0];
    let set: &[u8] = &[0xFF, 1, 0, 0xF9, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let tokens = [ENDED, by_trigger, by_trigger, CHANGED, ENDED];
    assert_eq!(answered(&tokens).unwrap().affected(1).unwrap(), 3);
    // A query of what was changed, and an option, follow.
    let tokens = [ENDED, CHANGED, SELECTED, set, ENDED];
    assert_eq!(answered(&tokens).unwrap().affected(1).unwrap(), 3);
}

#[test]
fn a_large_token_is_read_again_only_with_twice_as_many_bytes() {
    const HALF: usize = 100_000;
    let text: &[u8] = &[0xE7, 0xFF, 0xFF, 9, 4, 0xD0, 0, 0x34, 1, b'b', 0];
    let column = [&[0x81, 1, 0, 0, 0, 0, 0, 9, 0], text].concat();
    let mut row = vec![0xD1];
    row.put_u64_le(2 * HALF as u64);
    row.put_u32_le(2 * HALF as u32);
    row.put_bytes(0, 2 * HALF);
    row.put_u32_le(0);
    let mut sent = BytesMut::new();
    put_message(&mut sent, ANSWER, &[&column[..], &row, SELECTED, ENDED].concat(), 4096);
    let statement = Statement { name: "x", sql: "".into(), params: &[], returns: &[Type::Text] };
    let mut known = vec![Prepared::new(&statement, Request::Prepared(1), Collation::default())];
    let mut results = Results::default();
    results.expect(0);
    let mut give = |results: &mut Results, bytes: usize| {
        let mut part = sent.split_to(bytes.min(sent.len()));
        results.advance(&mut part, 1, &mut known).unwrap()
    };
    let packet = 4096;
    let first = HALF / packet * packet + packet;
    assert!(!give(&mut results, first));
    let awaited = results.awaited;
    assert!(awaited > HALF && results.bytes.len() < awaited);
    // Not read again before that, and at the end of the message in any case.
    assert!(!give(&mut results, packet));
    assert_eq!((results.awaited, results.rows(0)), (awaited, 0));
    assert!(give(&mut results, usize::MAX));
    assert_eq!((results.awaited, results.rows(0)), (0, 1));
}

#[test]
fn the_memory_of_a_large_answer_is_released() {
    const ROWS: usize = 300_000;
    let text: &[u8] = &[0xE7, 20, 0, 9, 4, 0xD0, 0, 0x34, 1, b'b', 0];
    let column = [&[0x81, 1, 0, 0, 0, 0, 0, 9, 0], text].concat();
    let row: &[u8] = &[0xD1, 8, 0, b'a', 0, b'b', 0, b'c', 0, b'd', 0];
    let rows = row.repeat(ROWS);
    let mut results = queried(&[Type::Text], &[&column, &rows, SELECTED]);
    assert_eq!(results.converted(0, ROWS - 1, 0), Some("abcd"));
    assert!(results.rows.capacity() >= ROWS);
    results.clear();
    let kept = [results.bytes.capacity(), results.rows.capacity(), results.converted.capacity()];
    assert_eq!(kept, [0; 3]);
}

#[test]
fn transactions_are_known_by_their_number() {
    let begun: &[u8] = &[0xE3, 11, 0, 8, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0];
    let ended: &[u8] = &[0xE3, 11, 0, 9, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(answered(&[begun, ENDED, ENDED]).unwrap().transaction(), 7);
    assert_eq!(answered(&[begun, ENDED, ended, ENDED]).unwrap().transaction(), 0);
}

/// Outputs: an integer, a Western text, and a null.
const NUMBER: &[u8] = &[0xAC, 0, 0, 1, b'a', 0, 1, 0, 0, 0, 0, 0, 0, 0x26, 4, 4, 9, 0, 0, 0];
const WORD: &[u8] =
    &[0xAC, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xA7, 20, 0, 9, 4, 0xD0, 0, 0x34, 2, 0, b'a', 0x80];
const NOTHING: &[u8] = &[0xAC, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x26, 4, 0];

/// The results of calls with these answers.
fn called(answers: &[&[&[u8]]]) -> Result<(Results, Vec<Prepared>)> {
    let (mut out, mut results, mut prepared) = (BytesMut::new(), Results::default(), prepared());
    put_message(&mut out, ANSWER, &answers.concat().concat(), 16);
    for _ in answers {
        results.expect(2);
    }
    results.advance(&mut out, answers.len(), &mut prepared).map(|_| (results, prepared))
}

#[test]
fn outputs_are_a_row() {
    let (results, prepared) =
        called(&[&[NUMBER, WORD, ENDED], &[ENDED], &[NOTHING, WORD, ENDED]]).unwrap();
    let columns = &prepared[2].columns;
    let cell = |slot, row, column| results.cell(columns, slot, row, column);
    assert_eq!([0, 1, 2].map(|slot| results.rows(slot)), [1, 0, 1]);
    assert_eq!(results.affected(0).unwrap(), 1);
    assert_eq!(cell(0, 0, 0).unwrap(), Cell::Whole(&[9, 0, 0, 0]));
    assert_eq!(results.converted(0, 0, 1), Some("a\u{20ac}"));
    assert_eq!(cell(2, 0, 0).unwrap(), Cell::Null);
    assert_eq!(results.converted(2, 0, 1), Some("a\u{20ac}"));
    for (slot, row, column) in [(0, 1, 0), (0, 0, 2), (1, 0, 0)] {
        let error = cell(slot, row, column).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Database);
    }
}

#[test]
fn wrong_outputs_are_errors() {
    for (tokens, kind) in [
        (&[NUMBER, WORD, NUMBER, ENDED][..], ErrorKind::Protocol),
        (&[NUMBER, THREE, ENDED], ErrorKind::Protocol),
        (&[NUMBER, FIRST, ENDED], ErrorKind::Protocol),
        (&[WORD, NUMBER, ENDED], ErrorKind::Usage),
    ] {
        assert_eq!(called(&[tokens]).err().unwrap().kind, kind, "{tokens:?}");
    }
    // A call of a statement that has rows.
    answered(&[NUMBER, THREE, FIRST, SELECTED, ENDED, CHANGED, ENDED]).unwrap();
}

/// The result of a query that returns `returns`, with these tokens before the end of its answer.
fn queried(returns: &'static [Type], tokens: &[&[u8]]) -> Results {
    let statement = Statement { name: "query", sql: "".into(), params: &[], returns };
    let query = Prepared::new(&statement, Request::Prepared(1), Collation::default());
    let (mut out, mut results) = (BytesMut::new(), Results::default());
    put_message(&mut out, ANSWER, &[&tokens.concat(), ENDED].concat(), 4096);
    results.expect(0);
    assert!(results.advance(&mut out, 1, &mut [query]).unwrap());
    results
}

#[test]
fn a_character_may_be_cut_between_chunks() {
    let national: &[u8] =
        &[0x81, 1, 0, 0, 0, 0, 0, 9, 0, 0xE7, 0xFF, 0xFF, 9, 4, 0xD0, 0, 0x34, 1, b'a', 0];
    let utf8: &[u8] =
        &[0x81, 1, 0, 0, 0, 0, 0, 9, 0, 0xA7, 0xFF, 0xFF, 9, 4, 0x10, 0x24, 0, 1, b'a', 0];
    for (columns, text, bytes) in
        [(national, "\u{1F600}", &[0x3D, 0xD8, 0, 0xDE][..]), (utf8, "\u{e9}", &[0xC3, 0xA9])]
    {
        for cut in 1..bytes.len() {
            let mut row = vec![0xD1, bytes.len() as u8, 0, 0, 0, 0, 0, 0, 0];
            for part in [&bytes[..cut], &bytes[cut..], &[]] {
                row.extend([&(part.len() as u32).to_le_bytes(), part].concat());
            }
            let results = queried(&[Type::Text], &[columns, &row]);
            assert_eq!(results.converted(0, 0, 0), Some(text), "{cut}");
        }
    }
}

#[test]
fn a_text_that_cannot_be_read_fails_only_where_it_is_read() {
    // "c" is Japanese. Half a pair of UTF-16, and a byte beyond ASCII.
    let mut columns = THREE.to_vec();
    (columns[40], columns[44]) = (0x11, 0);
    let bad: &[u8] = &[0xD1, 4, 7, 0, 0, 0, 2, 0, 0x3D, 0xD8, 1, 0, 0x83];
    let good: &[u8] = &[0xD1, 4, 7, 0, 0, 0, 2, 0, b'x', 0, 1, 0, b'y'];
    for returns in [&[Type::Int, Type::Rest][..], &[Type::Int, Type::Text, Type::Text]] {
        let results = queried(returns, &[&columns, bad, good]);
        assert_eq!((results.rows(0), results.has_failed()), (2, false));
        assert_eq!([1, 2].map(|column| results.converted(0, 0, column)), [None, None]);
        let read = returns[1] == Type::Text;
        assert_eq!(results.converted(0, 1, 1), read.then_some("x"));
    }
}

#[test]
fn the_memory_of_an_index_is_limited() {
    // Texts of one byte, "\x80", each of which has a place of its own.
    let column: &[u8] = &[0x81, 1, 0, 0, 0, 0, 0, 9, 0, 0xA7, 20, 0, 9, 4, 0xD0, 0, 0x34, 0];
    let rows = [0xD1, 1, 0, 0x80].repeat(LONGEST_ANSWERS / 8);
    let mut out = BytesMut::new();
    put_message(&mut out, ANSWER, &[column, &rows, ENDED].concat(), 4096);
    let statement = Statement { name: "x", sql: "".into(), params: &[], returns: &[Type::Text] };
    let query = Prepared::new(&statement, Request::Prepared(1), Collation::default());
    let mut results = Results::default();
    results.expect(0);
    let error = results.advance(&mut out, 1, &mut [query]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Protocol);
    assert!(results.rows.len() < LONGEST_ANSWERS / 8);
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..120), place in 0usize..200) {
        let (mut results, mut prepared) = (expecting(), prepared());
        let mut out = BytesMut::new();
        put_message(&mut out, ANSWER, &[THREE, &bytes].concat(), 64);
        let _ = results.advance(&mut out, 3, &mut prepared);
        let mut changed = packets(50);
        let place = place % changed.len();
        changed[place] ^= bytes.first().copied().unwrap_or(1);
        let mut results = expecting();
        if results.advance(&mut changed, 3, &mut prepared).is_ok() {
            for column in 0..3 {
                let _ = results.cell(&prepared[0].columns, 0, 0, column);
                let _ = results.converted(0, 0, column);
            }
        }
    }
}
