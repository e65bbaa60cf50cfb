//! Queries alone in sessions with transactions, and their results.

use super::*;

/// A session with one query without parameters.
async fn asking(place: &Place, sql: &'static str, returns: &'static [Type]) -> MssqlSession {
    let statement = Statement { name: "x", sql: sql.into(), params: &[], returns };
    place.wire(&json!({})).connect(&[statement], &alarm()).await.unwrap()
}

#[test]
fn after_lone_queries_transactions_are_whole_and_none_is_open() {
    with_place(async |place| {
        let mut session = place.session().await;
        for key in 1..=3 {
            session.queue_begin(Access::Write);
            put(&mut session, key, 0);
            put(&mut session, key + 10, 0);
            session.queue_rollback();
            session.flush().await.unwrap();
            assert_eq!(all(&mut session).await, []);
            // The server shows no transaction that would keep others from changing the table.
            let mut loader = place.loader().await;
            let change = format!("alter table t add c{key} int");
            let changed = tokio::time::timeout(Duration::from_secs(20), loader.run(&change)).await;
            changed.unwrap().unwrap();
            loader.run(&format!("alter table t drop column c{key}")).await.unwrap();
        }
        assert_eq!(all(&mut place.session().await).await, []);
    });
}

#[test]
fn long_national_texts_come_back() {
    with_place(async |place| {
        let sql = "select replicate(cast(N'd\u{e9}\u{1F600}' as nvarchar(max)), 20000)";
        let mut session = asking(place, sql, &[Type::Text]).await;
        let slot = session.queue(StatementId(0), &[]);
        session.flush().await.unwrap();
        assert_eq!(session.text(slot, 0, 0).unwrap(), "d\u{e9}\u{1F600}".repeat(20_000));
    });
}

#[test]
fn different_values_have_a_limit() {
    with_place(async |place| {
        let mut session = place.session().await;
        for key in 1..=4 {
            put(&mut session, key, key % 2);
        }
        session.flush().await.unwrap();
        let sql = "select distinct v from t order by v limit 1";
        let mut asking = asking(place, sql, &[INT]).await;
        let slot = asking.queue(StatementId(0), &[]);
        asking.flush().await.unwrap();
        assert_eq!((asking.rows(slot), asking.int(slot, 0, 0).unwrap()), (1, 0));
    });
}
