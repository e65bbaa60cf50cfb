//! Columns of results in the binary protocol.

use super::packet::Reader;
use crate::wire::Type;

// Type numbers of parameters and columns.
const TINY: u8 = 1;
const SHORT: u8 = 2;
pub const LONG: u8 = 3;
const FLOAT: u8 = 4;
const DOUBLE: u8 = 5;
pub const NULL: u8 = 6;
const TIMESTAMP: u8 = 7;
pub const LONGLONG: u8 = 8;
const INT24: u8 = 9;
pub const DATE: u8 = 10;
const TIME: u8 = 11;
pub const DATETIME: u8 = 12;
const YEAR: u8 = 13;
const VARCHAR: u8 = 15;
pub const NEWDECIMAL: u8 = 246;
const TINY_BLOB: u8 = 249;
const BLOB: u8 = 252;
pub const VAR_STRING: u8 = 253;
const STRING: u8 = 254;

/// Flag of an unsigned column.
const UNSIGNED: u16 = 0x20;
/// The collation of binary data.
const BINARY: u16 = 63;

/// A column of a result, as the server describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    kind: u8,
    unsigned: bool,
    binary: bool,
}

impl Column {
    /// Parses a description. Its names come first, then 13 bytes: their length (12), collation (2
    /// bytes), length (4), type, flags (2), digits after the point and a filler (2).
    pub fn parse(description: &[u8]) -> Option<Self> {
        let tail = description.get(description.len().checked_sub(13)?..)?;
        let mut reader = Reader(tail);
        if reader.u8()? != 12 {
            return None;
        }
        let collation = reader.u16()?;
        reader.bytes(4)?;
        let kind = reader.u8()?;
        let flags = reader.u16()?;
        let unsigned = flags & UNSIGNED != 0;
        Some(Self { kind, unsigned, binary: collation == BINARY })
    }

    /// Whether its values have the declared type.
    pub const fn is(self, declared: Type) -> bool {
        match declared {
            Type::Int | Type::BigInt => {
                matches!(self.kind, TINY | SHORT | INT24 | LONG | LONGLONG | YEAR)
            }
            Type::Decimal(_) => self.kind == NEWDECIMAL,
            Type::Text => {
                !self.binary
                    && matches!(self.kind, VARCHAR | TINY_BLOB..=BLOB | VAR_STRING | STRING)
            }
            Type::Date => self.kind == DATE,
            Type::Timestamp => matches!(self.kind, DATETIME | TIMESTAMP),
            Type::Rest => true,
        }
    }

    /// Removes its value from the front of a row.
    #[inline]
    fn take<'a>(self, row: &mut Reader<'a>) -> Option<&'a [u8]> {
        match self.kind {
            TINY => row.bytes(1),
            SHORT | YEAR => row.bytes(2),
            LONG | INT24 | FLOAT => row.bytes(4),
            LONGLONG | DOUBLE => row.bytes(8),
            NULL => row.bytes(0),
            DATE | TIME | DATETIME | TIMESTAMP => {
                let length = row.u8()?;
                row.bytes(usize::from(length))
            }
            _ => row.lengthy(),
        }
    }

    /// The value as an integer; `None` if it is not one, or too large.
    #[inline]
    pub fn integer(self, value: &[u8]) -> Option<i64> {
        if !self.is(Type::BigInt) {
            return None;
        }
        let mut wide = [0; 8];
        wide.get_mut(..value.len())?.copy_from_slice(value);
        let number = u64::from_le_bytes(wide);
        if self.unsigned {
            return i64::try_from(number).ok();
        }
        // The sign is the highest bit sent.
        let shift = 64 - 8 * u32::try_from(value.len()).ok()?;
        Some(((number << shift) as i64) >> shift)
    }
}

/// A column's value in a row, `Some(None)` if null. The row is a zero, a bitmap of null columns
/// (starting at bit 2), and the values of the others.
#[inline]
#[allow(clippy::option_option, reason = "no such value, and a value that is null")]
pub fn cell<'a>(row: &'a [u8], columns: &[Column], column: usize) -> Option<Option<&'a [u8]>> {
    let mut reader = Reader(row);
    reader.u8()?;
    let nulls = reader.bytes((columns.len() + 9) / 8)?;
    let is_null = |position: usize| nulls[(position + 2) / 8] & (1 << ((position + 2) % 8)) != 0;
    let (before, at) = (columns.get(..column)?, columns.get(column)?);
    for (position, passed) in before.iter().enumerate() {
        if !is_null(position) {
            passed.take(&mut reader)?;
        }
    }
    if is_null(column) { Some(None) } else { at.take(&mut reader).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};

    const KINDS: [u8; 20] = [
        TINY, SHORT, LONG, FLOAT, DOUBLE, NULL, TIMESTAMP, LONGLONG, INT24, DATE, TIME, DATETIME,
        YEAR, VARCHAR, NEWDECIMAL, TINY_BLOB, BLOB, VAR_STRING, STRING, 0,
    ];

    fn described(kind: u8, flags: u16, collation: u16) -> Vec<u8> {
        let mut bytes = b"\x03def\0\x01t\0\x01c\0\x0C".to_vec();
        bytes.extend(collation.to_le_bytes());
        bytes.extend([11, 0, 0, 0, kind]);
        bytes.extend(flags.to_le_bytes());
        bytes.extend([0, 0, 0]);
        bytes
    }

    fn column(kind: u8) -> Column {
        Column::parse(&described(kind, 0, 46)).unwrap()
    }

    #[test]
    fn descriptions_are_compared_with_what_was_declared() {
        assert!(column(TINY).is(Type::Int) && column(LONGLONG).is(Type::Int));
        assert!(column(NEWDECIMAL).is(Type::Decimal(2)) && !column(DOUBLE).is(Type::Decimal(2)));
        assert!(column(STRING).is(Type::Text) && column(BLOB).is(Type::Text));
        assert!(!Column::parse(&described(STRING, 0, BINARY)).unwrap().is(Type::Text));
        assert!(column(DATETIME).is(Type::Timestamp) && !column(DATE).is(Type::Timestamp));
        assert_eq!(Column::parse(b"short"), None);
    }

    #[test]
    fn integers_of_every_width_and_sign() {
        let unsigned = |kind| Column::parse(&described(kind, UNSIGNED, BINARY)).unwrap();
        assert_eq!(column(TINY).integer(&[0xFF]), Some(-1));
        assert_eq!(unsigned(TINY).integer(&[0xFF]), Some(255));
        assert_eq!(column(SHORT).integer(&[0, 0x80]), Some(-32768));
        assert_eq!(column(LONG).integer(&(-7i32).to_le_bytes()), Some(-7));
        assert_eq!(column(LONGLONG).integer(&i64::MIN.to_le_bytes()), Some(i64::MIN));
        assert_eq!(unsigned(LONGLONG).integer(&u64::MAX.to_le_bytes()), None);
        assert_eq!(column(DOUBLE).integer(&[0; 8]), None);
    }

    #[test]
    fn cells_are_found_behind_nulls_and_values_of_any_length() {
        let columns = [column(LONG), column(STRING), column(DATETIME), column(NEWDECIMAL)];
        // The second is null: bit 3.
        let row = b"\0\x08\x07\0\0\0\x04\xDA\x07\x0A\x11\x041.25";
        assert_eq!(cell(row, &columns, 0), Some(Some(&b"\x07\0\0\0"[..])));
        assert_eq!(cell(row, &columns, 1), Some(None));
        assert_eq!(cell(row, &columns, 3), Some(Some(&b"1.25"[..])));
        assert_eq!(cell(row, &columns, 4), None);
        assert_eq!(cell(&row[..row.len() - 1], &columns, 3), None);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(
            row in prop::collection::vec(any::<u8>(), 0..60),
            kinds in prop::collection::vec(prop::sample::select(KINDS.to_vec()), 0..20),
            at in 0usize..24,
        ) {
            let columns: Vec<Column> = kinds.into_iter().map(column).collect();
            if let Some(Some(value)) = cell(&row, &columns, at) {
                prop_assert!(value.len() < row.len());
                let _ = columns[at].integer(value);
            }
            let _ = Column::parse(&row);
        }

        #[test]
        fn a_row_that_is_written_is_read(values in prop::collection::vec(any::<Option<i32>>(), 1..30)) {
            let columns = vec![column(LONG); values.len()];
            let mut row = vec![0; 1 + (values.len() + 9) / 8];
            for (position, value) in values.iter().enumerate() {
                match value {
                    Some(value) => row.extend(value.to_le_bytes()),
                    None => row[1 + (position + 2) / 8] |= 1 << ((position + 2) % 8),
                }
            }
            for (position, value) in values.iter().enumerate() {
                let found = cell(&row, &columns, position).unwrap();
                let integer = found.map(|bytes| columns[position].integer(bytes).unwrap());
                prop_assert_eq!(integer, value.map(i64::from));
            }
        }
    }
}
