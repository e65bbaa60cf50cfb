//! Answers that Babelfish 4.3 sent, truncated and corrupted in every way: each is read or refused,
//! with no more work and memory than its bytes justify.

use proptest::prelude::{any, prop, prop_assert, proptest};
use proptest::sample::Index;

use super::super::answer::{Summary, Tokens};
use super::super::packet::{ANSWER, put_message};
use super::super::prepared::Request;
use super::super::text::Collation;
use super::*;
use crate::wire::{Statement, Type};

/// An answer as it came over the network, and the requests that it answers.
type Recorded = (&'static [u8], &'static [u16]);

const LOGIN: &[u8] = include_bytes!("recorded/login.bin");
const PREPARED: &[u8] = include_bytes!("recorded/prepared.bin");
const DEADLOCK: Recorded = (include_bytes!("recorded/deadlock.bin"), &[2, 3]);
const ANSWERS: [Recorded; 3] = [
    // Two rows with a value of each type, one of them of nulls, and a number.
    (include_bytes!("recorded/rows.bin"), &[0, 0, 1]),
    // A change and a query, twice.
    (include_bytes!("recorded/changes.bin"), &[2, 2]),
    // Output parameters, twice with values and once without.
    (include_bytes!("recorded/outputs.bin"), &[4, 4, 4]),
];

const KINDS: &[Type] = &[
    Type::Int,
    Type::BigInt,
    Type::Decimal(2),
    Type::Text,
    Type::Text,
    Type::Timestamp,
    Type::Date,
];
const OUTPUTS: &[Type] = &[Type::Int, Type::BigInt, Type::Decimal(2), Type::Text, Type::Timestamp];

fn prepared() -> Vec<Prepared> {
    let statement = |name, returns, request| {
        let statement = Statement { name, sql: "".into(), params: &[], returns };
        Prepared::new(&statement, request, Collation::default())
    };
    vec![
        statement("stored", KINDS, Request::Prepared(1)),
        statement("compare", &[Type::Int], Request::Prepared(2)),
        statement("add", &[Type::Int, Type::Int], Request::Prepared(3)),
        statement("put", &[], Request::Prepared(4)),
        statement("give_back", OUTPUTS, Request::CallWithOutputs("p".to_owned())),
    ]
}

/// Reads an answer to these requests as a session does.
fn read(bytes: &[u8], requests: &[u16], prepared: &mut [Prepared]) -> Result<(bool, Results)> {
    let mut results = Results::default();
    for statement in requests {
        results.expect(*statement);
    }
    let ended = results.advance(&mut BytesMut::from(bytes), requests.len(), prepared)?;
    Ok((ended, results))
}

/// An answer's content without the headers of packets.
fn content(mut bytes: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Ok(Some(packet)) = Packet::first(bytes) {
        all.extend_from_slice(packet.body);
        bytes = &bytes[packet.length()..];
    }
    all
}

fn message(content: &[u8]) -> BytesMut {
    let mut out = BytesMut::new();
    put_message(&mut out, ANSWER, content, 4096);
    out
}

#[test]
fn recorded_answers_are_read() {
    for (bytes, requests) in ANSWERS {
        let (ended, results) = read(bytes, requests, &mut prepared()).unwrap();
        assert!(ended && !results.has_failed());
        for slot in 0..requests.len() as u16 {
            assert_eq!(results.rows(slot), 1);
        }
    }
    let (ended, mut results) = read(DEADLOCK.0, DEADLOCK.1, &mut prepared()).unwrap();
    assert!(ended);
    assert_eq!(results.take_failure().unwrap().0.code, 1205);
    assert!(Summary::of(&content(LOGIN)).unwrap().accepted);
}

#[test]
fn what_is_truncated_is_refused_or_awaited() {
    for (bytes, requests) in [&ANSWERS[..], &[DEADLOCK]].concat() {
        let whole = content(bytes);
        for cut in 1..whole.len() {
            let found = read(&message(&whole[..cut]), requests, &mut prepared());
            match found {
                Ok((ended, results)) => assert!(ended && results.has_failed(), "{cut}"),
                Err(error) => assert_eq!(error.kind, ErrorKind::Protocol, "{cut}"),
            }
        }
        for cut in 0..bytes.len() {
            assert!(!read(&bytes[..cut], requests, &mut prepared()).unwrap().0, "{cut}");
        }
    }
    for bytes in [LOGIN, PREPARED] {
        let whole = content(bytes);
        for cut in 0..whole.len() {
            let (mut tokens, mut read) = (Tokens::of(&whole[..cut]), 0);
            let ended = loop {
                match tokens.next() {
                    Ok(Some((_, own))) => read += own.len(),
                    Ok(None) => break read,
                    Err(error) => {
                        assert_eq!(error.kind, ErrorKind::Protocol);
                        break cut;
                    }
                }
            };
            assert_eq!(ended, cut);
        }
    }
}

/// Bytes with changes: one replaced, one inserted, or the rest cut.
fn corrupted(bytes: &[u8], edits: Vec<(Index, u8, u8)>) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (place, byte, edit) in edits {
        let length = bytes.len();
        let place = place.index(length);
        match edit {
            0 => bytes[place] = byte,
            1 => bytes.insert(place, byte),
            // One byte is left.
            _ if place > 0 => bytes.truncate(place),
            _ => bytes.swap(0, usize::from(byte) % length),
        }
    }
    bytes
}

proptest! {
    #[test]
    fn what_is_corrupted_is_read_or_refused(
        which in 0..4usize,
        packets: bool,
        edits in prop::collection::vec((any::<Index>(), any::<u8>(), 0..3u8), 1..8),
    ) {
        let (bytes, requests) = [&ANSWERS[..], &[DEADLOCK]].concat()[which];
        let bytes = if packets {
            corrupted(bytes, edits)
        } else {
            message(&corrupted(&content(bytes), edits)).to_vec()
        };
        let mut prepared = prepared();
        if let Ok((_, results)) = read(&bytes, requests, &mut prepared) {
            prop_assert!(results.bytes.len() <= bytes.len());
            prop_assert!(results.rows.len() <= results.bytes.len());
            for (slot, statement) in (0..).zip(requests) {
                let columns = &prepared[usize::from(*statement)].columns;
                prop_assert!(columns.len() <= results.bytes.len());
                for row in 0..results.rows(slot) {
                    for (place, column) in columns.iter().enumerate() {
                        let Ok(cell) = results.cell(columns, slot, row, place) else { continue };
                        for part in cell.parts() {
                            let _ = (column.integer(part), column.decimal(part, 2));
                        }
                        let text = results.converted(slot, row, place).unwrap_or_default();
                        prop_assert!(text.len() <= 3 * bytes.len());
                    }
                }
            }
        }
    }

    #[test]
    fn corrupted_logins_are_read_or_refused(
        prepared: bool,
        edits in prop::collection::vec((any::<Index>(), any::<u8>(), 0..3u8), 1..8),
    ) {
        let bytes = content(if prepared { PREPARED } else { LOGIN });
        let bytes = corrupted(&bytes, edits);
        let (mut tokens, mut read) = (Tokens::of(&bytes), 0);
        while let Ok(Some((_, own))) = tokens.next() {
            prop_assert!(!own.is_empty() && tokens.columns.len() <= bytes.len());
            read += own.len();
        }
        prop_assert!(read <= bytes.len());
        if let Ok(summary) = Summary::of(&bytes) {
            prop_assert!(summary.changes.len() <= bytes.len());
        }
    }
}
