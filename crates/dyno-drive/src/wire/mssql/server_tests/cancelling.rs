//! Requests that are cancelled.

use std::future::ready;

use super::*;

/// Babelfish confirms the signal only once the request has ended: it waits for a lock that the
/// holder gives up at the same time.
#[test]
fn a_session_goes_on_after_a_cancelled_request() {
    with_place(async |place| {
        let (mut holder, mut session) = (place.session().await, place.session().await);
        put(&mut holder, 1, 0);
        holder.flush().await.unwrap();
        // The first transaction turns them on.
        session.queue_begin(Access::Write);
        put(&mut session, 2, 0);
        session.queue_rollback();
        session.flush().await.unwrap();
        for begins in [true, false] {
            let add = [Value::Int(1), Value::Int(1)];
            holder.queue_begin(Access::Write);
            holder.queue(ADD, &add);
            holder.flush().await.unwrap();
            if begins {
                session.queue_begin(Access::Write);
            }
            put(&mut session, 3, 0);
            session.queue(ADD, &add);
            put(&mut session, 4, 0);
            tokio::select! {
                biased;
                ended = session.flush() => panic!("{ended:?}"),
                () = ready(()) => {}
            }
            holder.queue_rollback();
            let (cancelled, released) = tokio::join!(session.cancel(), holder.flush());
            cancelled.unwrap();
            released.unwrap();
            assert_eq!(all(&mut session).await, [(1, 0)]);
        }
        put(&mut session, 5, 0);
        session.flush().await.unwrap();
        assert_eq!(all(&mut holder).await, [(1, 0), (5, 0)]);
    });
}
