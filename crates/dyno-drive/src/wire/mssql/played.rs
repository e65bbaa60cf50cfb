//! The server's end of a session, played by a test.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::super::packet::ANSWER;
use super::super::text::Collation;
use super::*;
use crate::wire::Statement;

/// A query without parameters, prepared as number 1, and alone as number 9.
pub const QUERY: StatementId = StatementId(0);
/// A change without parameters, prepared as number 2, and alone as number 10.
pub const CHANGE: StatementId = StatementId(1);
/// A procedure.
pub const CALL: StatementId = StatementId(2);
pub const LONG: Duration = Duration::from_secs(60);

/// A transaction with the number 7 begins.
pub const BEGUN: &[u8] = &[0xE3, 11, 0, 8, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0];
/// A column of integers, and a row.
pub const COLUMN: &[u8] = &[0x81, 1, 0, 0, 0, 0, 0, 9, 0, 0x26, 4, 1, b'a', 0];
pub const ROW: &[u8] = &[0xD1, 4, 5, 0, 0, 0];
/// The end of a call, of a text, and of a cancelled request.
pub const CALLED: &[u8] = &[0xFE, 0, 0, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
pub const RUN: &[u8] = &[0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
pub const CANCELLED: &[u8] = &[0xFD, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

pub fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(work);
}

/// A session, and the server's end of its connection.
pub async fn pair(patience: Duration) -> (MssqlSession, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let transport = Transport::tcp("127.0.0.1", port).await.unwrap();
    let query = Statement { name: "query", sql: "".into(), params: &[], returns: &[Type::Int] };
    let mut prepared = Prepared::new(&query, Request::Prepared(1), Collation::default());
    prepared.reads = true;
    prepared.alone = Some(9);
    let change = Statement { name: "change", returns: &[], ..query.clone() };
    let mut changing = Prepared::new(&change, Request::Prepared(2), Collation::default());
    changing.alone = Some(10);
    let procedure = Request::Call("p".to_owned());
    let called = Prepared::new(&change, procedure, Collation::default());
    let server = Server { packet_size: 4096, collation: Collation::default(), babelfish: false };
    let all = vec![prepared, changing, called];
    let session = MssqlSession::new(transport, all, &server, patience);
    (session, listener.accept().await.unwrap().0)
}

/// The type and the body of the next message.
pub async fn request(server: &mut TcpStream) -> (u8, Vec<u8>) {
    let mut head = [0; HEADER];
    server.read_exact(&mut head).await.unwrap();
    let mut body = vec![0; usize::from(u16::from_be_bytes([head[2], head[3]])) - HEADER];
    server.read_exact(&mut body).await.unwrap();
    (head[0], body)
}

pub async fn answer(server: &mut TcpStream, tokens: &[&[u8]]) {
    let mut out = BytesMut::new();
    put_message(&mut out, ANSWER, &tokens.concat(), 20);
    server.write_all(&out).await.unwrap();
}
