//! How requests are cancelled, with a server that the test plays itself.

use std::future::ready;

use tokio::io::AsyncReadExt as _;

use super::super::packet::BATCH;
use super::played::{
    BEGUN, CALLED, CANCELLED, COLUMN, LONG, QUERY, ROW, RUN, answer, pair, request, run,
};
use super::*;

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
