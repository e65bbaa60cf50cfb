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
fn lone_changes_are_committed_also_after_one_that_failed() {
    with_place(async |place| {
        let (mut session, mut other) = (place.session().await, place.session().await);
        session.queue_begin(Access::Write);
        put(&mut session, 1, 0);
        session.queue_commit();
        session.flush().await.unwrap();
        for key in 2..=4 {
            let slot = put(&mut session, key, 0);
            session.flush().await.unwrap();
            assert_eq!(session.affected(slot).unwrap(), 1);
            put(&mut session, 1, 0);
            let error = session.flush().await.unwrap_err();
            assert!(error.message.contains("[error 2627]"), "{error}");
            session.recover().await.unwrap();
            // Transactions are still whole.
            session.queue_begin(Access::Write);
            put(&mut session, 10, 0);
            put(&mut session, 11, 0);
            session.queue_rollback();
            session.flush().await.unwrap();
            let rows: Vec<(i64, i64)> = (1..=i64::from(key)).map(|key| (key, 0)).collect();
            assert_eq!(all(&mut other).await, rows);
        }
    });
}

#[test]
fn what_triggers_change_does_not_count() {
    with_place(async |place| {
        let mut loader = place.loader().await;
        loader.run("create table log (k int)").await.unwrap();
        let trigger = "create trigger twice on t after insert as begin \
                       insert into log select k from inserted; \
                       insert into log select k from inserted union all select k from inserted; end";
        loader.run(trigger).await.unwrap();
        let mut session = place.session().await;
        let slot = put(&mut session, 1, 0);
        session.flush().await.unwrap();
        assert_eq!(session.affected(slot).unwrap(), 1);
        let mut asking = asking(place, "SELECT count(*)\nFROM log", &[INT]).await;
        let slot = asking.queue(StatementId(0), &[]);
        asking.flush().await.unwrap();
        assert_eq!(asking.int(slot, 0, 0).unwrap(), 3);
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
