use super::*;

#[test]
fn messages_are_cut_as_their_bytes_become_known() {
    let mut message = Message::new(12);
    message.rest.put_slice(&[1; 5]);
    message.cut(false);
    assert_eq!(message.out[..], [ROWS, 0, 0, 12, 0, 0, 1, 0, 1, 1, 1, 1]);
    message.rest.put_slice(&[2; 3]);
    message.cut(false);
    // A full packet stays until it is known whether it is the last.
    assert_eq!((message.out.len(), message.rest.len()), (12, 4));
    message.cut(true);
    assert_eq!(message.out[12..], [ROWS, 1, 0, 12, 0, 0, 2, 0, 1, 2, 2, 2]);
}

fn field(type_info: &[u8], collation: Option<&str>) -> Result<Field> {
    let column = Column::take_type(&mut Reader(type_info)).unwrap().unwrap();
    Field::new("c", &(column, 9, type_info.to_vec()), collation.map(str::to_owned))
}

#[test]
fn columns_are_stated_as_the_server_has_them() {
    let utf8 = [9, 4, 0x10, 0x24, 0];
    let varchar = [&[BIGVARCHAR, 25, 0][..], &utf8].concat();
    let national = [&[NVARCHAR, 0xFF, 0xFF][..], &utf8].concat();
    let table = [
        (&[INT4][..], None, "int"),
        (&[INTN, 8], None, "bigint"),
        (&[DECIMALN, 9, 15, 2], None, "decimal(15,2)"),
        (&[DATEN], None, "date"),
        (&[DATETIME2N, 6], None, "datetime2(6)"),
        (&varchar, Some("X_UTF8"), "varchar(25) collate X_UTF8"),
        (&national, None, "nvarchar(max)"),
    ];
    for (type_info, collation, sql) in table {
        assert_eq!(field(type_info, collation).unwrap().sql, sql);
    }
    let form = TdsColumn::Text { encoding: TdsText::Utf8, chunks: false };
    assert_eq!(field(&varchar, None).unwrap().form, form);
    let error = field(&[0x3E], None).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Usage);
}

#[test]
fn fields_are_described_to_the_server() {
    let mut out = BytesMut::new();
    put_fields(&[field(&[INT4], None).unwrap()], &mut out);
    assert_eq!(out[..], [COLUMNS, 1, 0, 0, 0, 0, 0, 9, 0, INT4, 1, b'c', 0]);
}

#[test]
fn names_are_quoted() {
    assert_eq!(quoted("a]b"), "[a]]b]");
}
