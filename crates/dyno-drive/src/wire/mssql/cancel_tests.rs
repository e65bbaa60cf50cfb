//! How requests are cancelled, with a server that the test plays itself.

use std::future::ready;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::super::packet::{ANSWER, BATCH};
use super::*;
use crate::wire::Statement;

const QUERY: StatementId = StatementId(0);
const LONG: Duration = Duration::from_secs(60);

/// A transaction with the number 7 begins.
const BEGUN: &[u8] = &[0xE3, 11, 0, 8, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0];
/// A column of integers, and a row.
const COLUMN: &[u8] = &[0x81, 1, 0, 0, 0, 0, 0, 9, 0, 0x26, 4, 1, b'a', 0];
const ROW: &[u8] = &[0xD1, 4, 5, 0, 0, 0];
/// The end of a call, of a text, and of a cancelled request.
const CALLED: &[u8] = &[0xFE, 0, 0, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const RUN: &[u8] = &[0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const CANCELLED: &[u8] = &[0xFD, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(work);
}

/// A session, and the server's end of its connection.
async fn pair(patience: Duration) -> (MssqlSession, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let transport = Transport::tcp("127.0.0.1", port).await.unwrap();
    let query = Statement { name: "query", sql: "".into(), params: &[], returns: &[Type::Int] };
    let mut prepared = Prepared::new(&query, Request::Prepared(1), Collation::default());
    prepared.reads = true;
    let server = Server { packet_size: 4096, collation: Collation::default(), babelfish: false };
    let session = MssqlSession::new(transport, vec![prepared], &server, patience);
    (session, listener.accept().await.unwrap().0)
}

/// The type and the body of the next message.
async fn request(server: &mut TcpStream) -> (u8, Vec<u8>) {
    let mut head = [0; HEADER];
    server.read_exact(&mut head).await.unwrap();
    let mut body = vec![0; usize::from(u16::from_be_bytes([head[2], head[3]])) - HEADER];
    server.read_exact(&mut body).await.unwrap();
    (head[0], body)
}

async fn answer(server: &mut TcpStream, tokens: &[&[u8]]) {
    let mut out = BytesMut::new();
    put_message(&mut out, ANSWER, &tokens.concat(), 20);
    server.write_all(&out).await.unwrap();
}

/// Sends a query whose flush is dropped before the answer.
async fn begin(session: &mut MssqlSession) {
    session.queue(QUERY, &[]);
    tokio::select! {
        biased;
        ended = session.flush() => panic!("{ended:?}"),
        () = ready(()) => {}
    }
}

#[test]
fn a_session_can_be_used_after_a_cancelled_request() {
    let interrupted: &[&[&[u8]]] = &[&[BEGUN, COLUMN, ROW, ROW, CANCELLED]];
    let ended_before: &[&[&[u8]]] = &[&[BEGUN, COLUMN, ROW, CALLED], &[CANCELLED]];
    for messages in [interrupted, ended_before] {
        run(async {
            let (mut session, mut server) = pair(LONG).await;
            begin(&mut session).await;
            assert_eq!(request(&mut server).await.0, CALLS);
            let played = async {
                assert_eq!(request(&mut server).await, (ATTENTION, vec![]));
                for tokens in messages {
                    answer(&mut server, tokens).await;
                }
                // The rollback names the transaction that the cancelled request began.
                let (kind, body) = request(&mut server).await;
                assert_eq!((kind, body[10]), (BATCH, 7));
                answer(&mut server, &[RUN]).await;
            };
            let (cancelled, ()) = tokio::join!(session.cancel(), played);
            cancelled.unwrap();

            let slot = session.queue(QUERY, &[]);
            let played = async {
                assert_eq!(request(&mut server).await.0, CALLS);
                answer(&mut server, &[COLUMN, ROW, CALLED]).await;
            };
            let (flushed, ()) = tokio::join!(session.flush(), played);
            flushed.unwrap();
            assert_eq!((session.rows(slot), session.int(slot, 0, 0).unwrap()), (1, 5));
        });
    }
}

#[test]
fn a_server_that_does_not_confirm_is_left() {
    run(async {
        let (mut session, mut server) = pair(Duration::from_millis(20)).await;
        begin(&mut session).await;
        assert_eq!(session.cancel().await.unwrap_err().kind, ErrorKind::ConnectionLost);
        assert_eq!(request(&mut server).await.0, CALLS);
        assert_eq!(request(&mut server).await.0, ATTENTION);
        assert_eq!(session.flush().await.unwrap_err().kind, ErrorKind::ConnectionLost);
        assert_eq!(session.cancel().await.unwrap_err().kind, ErrorKind::ConnectionLost);
    });
}

#[test]
fn an_answer_that_is_not_valid_ends_the_session() {
    for tokens in [&[COLUMN, &ROW[..3]][..], &[&[0x55], CANCELLED]] {
        run(async {
            let (mut session, mut server) = pair(LONG).await;
            begin(&mut session).await;
            answer(&mut server, tokens).await;
            let error = session.cancel().await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::ConnectionLost, "{error}");
            assert!(session.recover().await.is_err());
        });
    }
}

#[test]
fn what_is_not_sent_completely_cannot_be_cancelled() {
    run(async {
        let (mut session, mut server) = pair(LONG).await;
        session.queue_begin(Access::Write);
        // Before the query, the session turns on transactions.
        begin(&mut session).await;
        assert_eq!(session.cancel().await.unwrap_err().kind, ErrorKind::ConnectionLost);
        assert_eq!(request(&mut server).await.0, BATCH);
        drop(session);
        let mut rest = Vec::new();
        server.read_to_end(&mut rest).await.unwrap();
        assert!(rest.is_empty());
    });
}
