use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};

use super::*;

/// Types with their details, as servers describe them.
const TYPES: [&[u8]; 26] = [
    &[NULL],
    &[INT1],
    &[BIT],
    &[INT2],
    &[INT4],
    &[INT8],
    &[FLT8],
    &[DATETIME],
    &[INTN, 4],
    &[BITN, 1],
    &[MONEYN, 8],
    &[GUID, 16],
    &[DECIMALN, 9, 18, 2],
    &[DATEN],
    &[TIMEN, 7],
    &[DATETIME2N, 6],
    &[DATETIMEOFFSETN, 7],
    &[BIGVARCHAR, 50, 0, 9, 4, 0xD0, 0, 0x34],
    &[BIGCHAR, 2, 0, 9, 4, 0x10, 0x24, 0],
    &[NVARCHAR, 100, 0, 9, 4, 0xD0, 0, 0x34],
    &[NVARCHAR, 0xFF, 0xFF, 9, 4, 0xD0, 0, 0x34],
    &[BIGVARBINARY, 0xFF, 0xFF],
    &[TEXT, 0xFF, 0xFF, 0xFF, 0x7F, 9, 4, 0xD0, 0, 0x34],
    &[VARIANT, 0x71, 0x1F, 0, 0],
    &[XML, 0],
    &[UDT, 0xFF, 0xFF, 1, b'd', 0, 1, b's', 0, 1, b't', 0, 1, 0, b'a', 0],
];

fn column(type_info: &[u8]) -> Column {
    let mut reader = Reader(type_info);
    let column = Column::take_type(&mut reader).unwrap().unwrap();
    assert!(reader.0.is_empty(), "{type_info:?}");
    column
}

fn cells<'a>(row: &'a [u8], columns: &[Column], packed: bool) -> Option<Vec<Cell<'a>>> {
    let mut all = Vec::new();
    each_cell(&mut Reader(row), columns, packed, |_, cell| {
        all.push(cell);
        true
    })?;
    Some(all)
}

#[test]
fn types_are_compared_with_what_was_declared() {
    let is = |type_info: &[u8], declared| column(type_info).is(declared);
    assert!(is(&[INT4], Type::Int) && is(&[INTN, 8], Type::BigInt));
    assert!(is(&[DECIMALN, 9, 18, 2], Type::Decimal(2)) && is(&[INT4], Type::Decimal(2)));
    assert!(!is(&[FLT8], Type::Decimal(2)) && !is(&[DECIMALN, 9, 18, 2], Type::Int));
    assert!(is(TYPES[17], Type::Text) && is(TYPES[19], Type::Text) && !is(TYPES[21], Type::Text));
    assert!(is(TYPES[22], Type::Text));
    assert!(is(&[DATEN], Type::Date) && is(&[DATETIME2N, 6], Type::Timestamp));
    assert!(!is(&[DATEN], Type::Timestamp));
}

#[test]
fn truncated_types_are_not_there_and_unknown_ones_are_errors() {
    for type_info in TYPES {
        for cut in 0..type_info.len() {
            assert_eq!(Column::take_type(&mut Reader(&type_info[..cut])).unwrap(), None);
        }
    }
    let error = Column::take_type(&mut Reader(&[0x99, 0, 0])).unwrap_err();
    assert_eq!(error.kind, dyno_record::ErrorKind::Protocol);
    let many = [0xFF, 0x7F, 0, 0];
    assert!(Description::take_all(&mut Reader(&many)).is_err());
}

#[test]
fn integers_of_every_width_and_sign() {
    assert_eq!(column(&[INT1]).integer(&[0xFF]), Some(255));
    assert_eq!(column(&[INT2]).integer(&[0, 0x80]), Some(-32_768));
    assert_eq!(column(&[INTN, 4]).integer(&(-7i32).to_le_bytes()), Some(-7));
    assert_eq!(column(&[INT8]).integer(&i64::MIN.to_le_bytes()), Some(i64::MIN));
    assert_eq!(column(&[FLT8]).integer(&[0; 8]), None);
    assert_eq!(column(&[INTN, 4]).integer(&[0; 3]), None);
}

#[test]
fn decimals_are_exact_or_refused() {
    let decimal =
        |scale, value: &[u8], wanted| column(&[DECIMALN, 17, 38, scale]).decimal(value, wanted);
    assert_eq!(decimal(2, &[1, 0x39, 0x30, 0, 0], 2), Some(12_345));
    assert_eq!(decimal(2, &[0, 0x39, 0x30, 0, 0], 4), Some(-1_234_500));
    assert_eq!(decimal(4, &[1, 100, 0, 0, 0], 2), Some(1));
    assert_eq!(decimal(4, &[1, 101, 0, 0, 0], 2), None);
    assert_eq!(decimal(0, &[[1].as_slice(), &[0xFF; 16]].concat(), 2), None);
    assert_eq!(decimal(0, &[1; 18], 0), None);
    assert_eq!(decimal(0, &[], 0), None);
    let money = column(&[MONEYN, 8]);
    assert_eq!(money.decimal(&[0, 0, 0, 0, 0x10, 0x27, 0, 0], 2), Some(100));
    assert_eq!(column(&[INT4]).decimal(&5i32.to_le_bytes(), 2), Some(500));
}

#[test]
fn cells_are_found_behind_nulls_and_values_of_any_length() {
    let columns = [column(TYPES[8]), column(TYPES[17]), column(TYPES[20]), column(TYPES[4])];
    let row = [
        &[0][..],
        &[2, 0, b'a', b'b'],
        &[4, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, b'c', 0, 2, 0, 0, 0, b'd', 0, 0, 0, 0, 0],
        &[7, 0, 0, 0],
    ]
    .concat();
    let all = cells(&row, &columns, false).unwrap();
    assert_eq!(all[0], Cell::Null);
    assert_eq!(all[1], Cell::Whole(b"ab"));
    assert_eq!(all[2].parts().collect::<Vec<_>>(), [b"c\0", b"d\0"]);
    assert_eq!(all[3], Cell::Whole(&[7, 0, 0, 0]));
    for cut in 0..row.len() {
        assert_eq!(cells(&row[..cut], &columns, false), None, "{cut}");
    }
    // The first three are null.
    let packed = cells(&[0b0111, 7, 0, 0, 0], &columns, true).unwrap();
    assert_eq!(packed[..3], [Cell::Null; 3]);
    assert_eq!(packed[3], Cell::Whole(&[7, 0, 0, 0]));
}

proptest! {
    #[test]
    fn no_bytes_panic(
        row in prop::collection::vec(any::<u8>(), 0..80),
        kinds in prop::collection::vec(0..TYPES.len(), 0..20),
        packed: bool,
    ) {
        let columns: Vec<Column> = kinds.into_iter().map(|place| column(TYPES[place])).collect();
        for (cell, column) in cells(&row, &columns, packed).iter().flatten().zip(&columns) {
            let read: usize = cell.parts().map(<[u8]>::len).sum();
            prop_assert!(read <= row.len());
            for part in cell.parts() {
                let _ = (column.integer(part), column.decimal(part, 2));
            }
        }
        let _ = Description::take_all(&mut Reader(&row));
    }

    #[test]
    fn a_row_that_is_written_is_read(values in prop::collection::vec(any::<Option<i32>>(), 1..30)) {
        let columns = vec![column(&[INTN, 4]); values.len()];
        let mut row = vec![0; values.len().div_ceil(8)];
        for (place, value) in values.iter().enumerate() {
            match value {
                Some(value) => row.extend([&[4][..], &value.to_le_bytes()].concat()),
                None => row[place / 8] |= 1 << (place % 8),
            }
        }
        let found: Vec<Option<i64>> = cells(&row, &columns, true)
            .unwrap()
            .into_iter()
            .map(|cell| cell.parts().next().and_then(|bytes| columns[0].integer(bytes)))
            .collect();
        let expected: Vec<Option<i64>> = values.iter().map(|value| value.map(i64::from)).collect();
        prop_assert_eq!(found, expected);
    }
}
