use bytes::{BufMut as _, BytesMut};
use dyno_record::ErrorKind;
use proptest::prelude::{any, prop, prop_assert, proptest};

use super::super::answer::Tokens;
use super::super::text::put_utf16;
use super::*;

/// An answer with every kind of token.
fn answer() -> Vec<u8> {
    let mut out = BytesMut::new();
    // A change of the database's collation, of the packet's size, and the begin of a transaction.
    out.put_slice(&[ENVIRONMENT, 8, 0, DATABASE_COLLATION, 5, 9, 4, 0xD0, 0, 0x34, 0]);
    out.put_slice(&[ENVIRONMENT, 11, 0, PACKET_SIZE, 4]);
    put_utf16(&mut out, "8000");
    out.put_u8(0);
    out.put_slice(&[ENVIRONMENT, 11, 0, BEGUN, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0]);
    out.put_slice(&[INFORMATION, 3, 0, 1, 2, 3]);
    out.put_slice(&[ACCEPTED, 2, 0, 1, 2]);
    out.put_slice(&[FEATURES, 0x0A, 1, 0, 0, 0, 1, NO_FEATURE]);
    out.put_slice(&[SESSION_STATE, 2, 0, 0, 0, 1, 2]);
    // One integer column named "c", two rows.
    out.put_slice(&[COLUMNS, 1, 0, 0, 0, 0, 0, 9, 0, 0x26, 4, 1, b'c', 0]);
    out.put_slice(&[ORDER, 2, 0, 1, 0]);
    out.put_slice(&[ROW, 4, 5, 0, 0, 0]);
    out.put_slice(&[PACKED_ROW, 1]);
    out.put_slice(&[DONE_INSIDE, 0x11, 0, 0xC1, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    out.put_slice(&[DONE_INSIDE, 0x11, 0, 0xC5, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
    out.put_slice(&[RETURN_STATUS, 0, 0, 0, 0]);
    out.put_slice(&[RETURN_VALUE, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x26, 4, 4, 9, 0, 0, 0]);
    out.put_slice(&[ERROR, 16, 0, 0xB5, 4, 0, 0, 1, 13, 1, 0, b'x', 0, 0, 0, 1, 0, 0, 0]);
    out.put_slice(&[DONE_CALL, 2, 0, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    out.to_vec()
}

fn all(bytes: &[u8]) -> Result<Vec<Token>> {
    let mut tokens = Tokens::of(bytes);
    let mut all = Vec::new();
    while let Some((token, _)) = tokens.next()? {
        all.push(token);
    }
    Ok(all)
}

#[test]
fn every_token_is_read() {
    let all = all(&answer()).unwrap();
    let collation = Collation([9, 4, 0xD0, 0, 0x34]);
    let error = ServerError { code: 1205, severity: 13, message: "x".into() };
    let done = Done { ends: End::Statement, failed: false, changed: None, cancelled: false };
    let inside = |changed| Token::Done(Done { changed, ..done });
    let Token::Columns(columns) = &all[7] else { panic!("{all:?}") };
    assert_eq!(columns.len(), 1);
    let others = [
        Token::Environment(Change::Collation(collation)),
        Token::Environment(Change::PacketSize(8000)),
        Token::Environment(Change::Transaction(7)),
        Token::Other,
        Token::Accepted,
        Token::Other,
        Token::Other,
    ];
    assert_eq!(all[..7], others);
    assert_eq!(all[8..11], [Token::Other, Token::Row(false), Token::Row(true)]);
    assert_eq!(all[11..13], [inside(None), inside(Some(3))]);
    let integer = Column::take_type(&mut Reader(&[0x26, 4])).unwrap().unwrap();
    assert_eq!(all[13..16], [Token::Other, Token::Returned(integer), Token::Error(error)]);
    assert_eq!(all[16..], [Token::Done(Done { ends: End::Answer, failed: true, ..done })]);
}

#[test]
fn a_token_is_complete_or_not_there() {
    let bytes = answer();
    let mut tokens = Tokens::of(&bytes);
    let mut columns = Vec::new();
    let mut start = 0;
    while let Some((token, own)) = tokens.next().unwrap() {
        for cut in 0..own.len() {
            let found = next(&bytes[start..start + cut], &columns).unwrap();
            assert_eq!(found, None, "{token:?} cut at {cut}");
        }
        start += own.len();
        columns.clone_from(&tokens.columns);
    }
    assert_eq!(start, bytes.len());
}

#[test]
fn unknown_tokens_and_short_bodies_are_errors() {
    for wrong in [&[0x55, 0, 0][..], &[ERROR, 1, 0, 7], &[ENVIRONMENT, 2, 0, BEGUN, 8]] {
        assert_eq!(next(wrong, &[]).unwrap_err().kind, ErrorKind::Protocol);
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = all(&bytes);
    }

    #[test]
    fn a_changed_byte_never_reads_beyond_the_answer(place in 0usize..170, byte: u8) {
        let mut bytes = answer();
        let place = place % bytes.len();
        bytes[place] = byte;
        let mut tokens = Tokens::of(&bytes);
        let mut read = 0;
        while let Ok(Some((_, own))) = tokens.next() {
            read += own.len();
        }
        prop_assert!(read <= bytes.len());
    }
}
