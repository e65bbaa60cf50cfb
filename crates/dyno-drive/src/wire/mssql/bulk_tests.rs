use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::channel;

use super::super::packet::{ANSWER, put_message};
use super::super::text::Collation;
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

/// The end of a request, and an error 1105: the disk is full.
const RUN: &[u8] = &[DONE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const FULL: &[u8] = &[
    0xAA, 16, 0, 0x51, 4, 0, 0, 1, 17, 1, 0, b'x', 0, 0, 0, 1, 0, 0, 0, DONE, 2, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0,
];

async fn answer(server: &mut TcpStream, tokens: &[u8]) {
    let mut out = BytesMut::new();
    put_message(&mut out, ANSWER, tokens, 4096);
    server.write_all(&out).await.unwrap();
}

/// The error of a load of endless rows, and the bytes that the server read after its error. It
/// reads the rows to their end or, if it `leaves`, closes the connection.
fn failed(leaves: bool) -> (Error, usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let transport = Transport::tcp("127.0.0.1", port).await.unwrap();
        let server =
            Server { packet_size: 4096, collation: Collation::default(), babelfish: false };
        let mut loader = Loader { transport, server, transaction: 0 };
        let (send, chunks) = channel(1);
        let rows = async move { while send.send(Bytes::from_static(&[0; 9000])).await.is_ok() {} };
        let loading = async {
            let load = loader.load("insert bulk t (a int)", &[], chunks).await;
            drop(loader);
            load.unwrap_err()
        };
        let playing = async {
            let (mut server, _) = listener.accept().await.unwrap();
            let mut bytes = vec![0; 1 << 16];
            assert!(server.read(&mut bytes).await.unwrap() > 0);
            answer(&mut server, RUN).await;
            assert!(server.read(&mut bytes).await.unwrap() > 0);
            answer(&mut server, FULL).await;
            let mut read = 0;
            while !leaves && read < 1 << 24 {
                match server.read(&mut bytes).await {
                    Ok(0) | Err(_) => break,
                    Ok(length) => read += length,
                }
            }
            read
        };
        let (error, read, ()) = tokio::join!(loading, playing, rows);
        (error, read)
    })
}

#[test]
fn a_load_ends_with_the_error_that_the_server_sends_meanwhile() {
    let (error, read) = failed(false);
    assert_eq!(error.kind, ErrorKind::DiskFull, "{error}");
    assert!(read < 1 << 24);
}

#[test]
fn a_server_that_leaves_a_load_has_said_why() {
    let (error, _) = failed(true);
    assert_eq!(error.kind, ErrorKind::DiskFull, "{error}");
}
