//! Lone statements in a session that also has transactions, with a server that the test plays itself.

use super::super::packet::{BATCH, TRANSACTION};
use super::played::{
    BEGUN, CALL, CALLED, CHANGE, COLUMN, LONG, QUERY, ROW, RUN, answer, pair, request, run,
};
use super::*;
use tokio::net::TcpStream;

/// A transaction ends.
const COMMITTED: &[u8] = &[0xE3, 11, 0, 9, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0];
/// An option is set in a call.
const SET: &[u8] = &[0xFF, 1, 0, 0xF9, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// A statement changes two rows.
const CHANGED: &[u8] = &[0xFF, 0x11, 0, 0xC5, 0, 2, 0, 0, 0, 0, 0, 0, 0];
/// A statement fails after a wait for a lock, or as the victim of a deadlock.
const FAILED: &[u8] = &[0xAA, 16, 0, 0xC6, 4, 0, 0, 1, 16, 1, 0, b'x', 0, 0, 0, 1, 0, 0, 0];
const VICTIM: &[u8] = &[0xAA, 16, 0, 0xB5, 4, 0, 0, 1, 13, 1, 0, b'x', 0, 0, 0, 1, 0, 0, 0];
const FAILED_CALL: &[u8] = &[0xFE, 2, 0, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// A session that has had a transaction, and its server.
async fn experienced() -> (MssqlSession, TcpStream) {
    let (mut session, mut server) = pair(LONG).await;
    session.queue_begin(Access::Write);
    session.queue(QUERY, &[]);
    session.queue_commit();
    let played = async {
        assert_eq!(request(&mut server).await.0, BATCH);
        answer(&mut server, &[RUN]).await;
        assert_eq!(request(&mut server).await.0, CALLS);
        answer(&mut server, &[BEGUN, COLUMN, ROW, CALLED]).await;
        assert_eq!(request(&mut server).await.0, TRANSACTION);
        answer(&mut server, &[COMMITTED, RUN]).await;
    };
    let (flushed, ()) = tokio::join!(session.flush(), played);
    flushed.unwrap();
    (session, server)
}

/// Expects a call of a prepared text.
async fn called(server: &mut TcpStream, number: u8) {
    let (kind, body) = request(server).await;
    assert_eq!((kind, body[PREFIX - HEADER + 11]), (CALLS, number));
}

#[test]
fn a_lone_statement_takes_one_round_trip_after_a_transaction() {
    run(async {
        let (mut session, mut server) = experienced().await;
        for first in [true, false, false] {
            let slot = session.queue(QUERY, &[]);
            let played = async {
                called(&mut server, 9).await;
                answer(&mut server, &[SET, COLUMN, ROW, CALLED]).await;
                if first {
                    // Whether the server begins transactions again: a row.
                    assert_eq!(request(&mut server).await.0, BATCH);
                    answer(&mut server, &[COLUMN, ROW, RUN]).await;
                }
            };
            let (flushed, ()) = tokio::join!(session.flush(), played);
            flushed.unwrap();
            assert_eq!(session.int(slot, 0, 0).unwrap(), 5);
        }
        // A change, too.
        let slot = session.queue(CHANGE, &[]);
        let played = async {
            called(&mut server, 10).await;
            answer(&mut server, &[SET, CHANGED, CALLED]).await;
        };
        let (flushed, ()) = tokio::join!(session.flush(), played);
        flushed.unwrap();
        assert_eq!(session.affected(slot).unwrap(), 2);
        // Transactions are as before.
        session.queue_begin(Access::Write);
        session.queue(QUERY, &[]);
        session.queue_commit();
        let played = async {
            called(&mut server, 1).await;
            answer(&mut server, &[BEGUN, COLUMN, ROW, CALLED]).await;
            assert_eq!(request(&mut server).await.0, TRANSACTION);
            answer(&mut server, &[COMMITTED, RUN]).await;
        };
        let (flushed, ()) = tokio::join!(session.flush(), played);
        flushed.unwrap();
    });
}

#[test]
fn where_an_option_of_a_text_stays_lone_queries_are_committed() {
    run(async {
        let (mut session, mut server) = experienced().await;
        for first in [true, false] {
            session.queue(QUERY, &[]);
            let played = async {
                if first {
                    called(&mut server, 9).await;
                    answer(&mut server, &[SET, COLUMN, ROW, CALLED]).await;
                    // No row, so the session turns it on again.
                    for _ in 0..2 {
                        assert_eq!(request(&mut server).await.0, BATCH);
                        answer(&mut server, &[RUN]).await;
                    }
                } else {
                    called(&mut server, 1).await;
                    answer(&mut server, &[BEGUN, COLUMN, ROW, CALLED]).await;
                    assert_eq!(request(&mut server).await.0, TRANSACTION);
                    answer(&mut server, &[COMMITTED, RUN]).await;
                }
            };
            let (flushed, ()) = tokio::join!(session.flush(), played);
            flushed.unwrap();
        }
    });
}

#[test]
fn after_a_failed_lone_statement_the_session_is_sure_of_its_mode() {
    let cases = [
        (QUERY, 9, FAILED, ErrorKind::LockTimeout),
        (CHANGE, 10, FAILED, ErrorKind::LockTimeout),
        (CHANGE, 10, VICTIM, ErrorKind::Deadlock),
    ];
    for (statement, number, failure, kind) in cases {
        run(async {
            let (mut session, mut server) = experienced().await;
            session.queue(statement, &[]);
            let played = async {
                called(&mut server, number).await;
                answer(&mut server, &[failure, FAILED_CALL]).await;
            };
            let (flushed, ()) = tokio::join!(session.flush(), played);
            assert_eq!(flushed.unwrap_err().kind, kind);
            let played = async {
                // A rollback, and the mode.
                for _ in 0..2 {
                    assert_eq!(request(&mut server).await.0, BATCH);
                    answer(&mut server, &[RUN]).await;
                }
            };
            let (recovered, ()) = tokio::join!(session.recover(), played);
            recovered.unwrap();
        });
    }
}

#[test]
fn a_lone_procedure_is_committed() {
    run(async {
        let (mut session, mut server) = experienced().await;
        session.queue(CALL, &[]);
        let played = async {
            assert_eq!(request(&mut server).await.0, CALLS);
            answer(&mut server, &[BEGUN, CALLED]).await;
            assert_eq!(request(&mut server).await.0, TRANSACTION);
            answer(&mut server, &[COMMITTED, RUN]).await;
        };
        let (flushed, ()) = tokio::join!(session.flush(), played);
        flushed.unwrap();
    });
}
