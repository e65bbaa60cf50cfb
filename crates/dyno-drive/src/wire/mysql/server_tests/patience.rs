//! How long sessions wait for locks, and what remains of a transaction that timed out.

use serde_json::json;

use super::*;

#[test]
fn a_lock_that_is_not_had_in_time_costs_the_transaction_and_nothing_else() {
    with_server(async |server, wire| {
        server.sql("d", "insert into t values (1, 0), (2, 0), (3, 0)");
        let hasty = self::wire(server, &json!({"lock_wait_s": 1}));
        let (mut holder, mut mine) = (session(wire).await, session(&hasty).await);
        holder.queue_begin(Access::Write);
        for key in [1, 2] {
            holder.queue(ADD, &[Value::Int(1), Value::Int(key)]);
        }
        holder.flush().await.unwrap();

        // InnoDB rolls back only the statement that timed out. Each of the others still runs, and
        // waits at most as long.
        let attempt = async |session: &mut MysqlSession| {
            session.queue_begin(Access::Write);
            for key in [3, 1, 2, 3] {
                session.queue(ADD, &[Value::Int(10), Value::Int(key)]);
            }
            session.queue_commit();
            session.flush().await
        };
        let error = attempt(&mut mine).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::LockTimeout, "{error}");
        assert!(error.kind.is_retryable());
        mine.recover().await.unwrap();
        // Nothing of it remains, not even a lock: the holder gets the row that it had changed.
        holder.queue(ADD, &[Value::Int(1), Value::Int(3)]);
        holder.queue_commit();
        holder.flush().await.unwrap();
        assert_eq!(server.sql("d", "select group_concat(v order by k) from t"), "1,1,1");

        // A retry succeeds.
        attempt(&mut mine).await.unwrap();
        assert_eq!(server.sql("d", "select group_concat(v order by k) from t"), "11,11,21");
    });
}

#[test]
fn sessions_are_never_more_patient_than_their_server() {
    with_server(async |_, wire| {
        let statement = |name, sql| Statement {
            name,
            sql: Cow::Borrowed(sql),
            params: &[],
            returns: &[Type::BigInt, Type::BigInt],
        };
        let waits = [statement(
            "waits",
            "select @@innodb_lock_wait_timeout, @@lock_wait_timeout from dual",
        )];
        let found = async |changes: &Json| {
            let Mysql(place) = wire;
            let mut config = place.config.clone();
            config.lock_wait_s = changes.as_u64().map(|most| most as u32);
            let wire = Mysql::new(config).unwrap();
            let mut session = wire.connect(&waits, &alarm()).await.unwrap();
            let slot = session.queue(StatementId(0), &[]);
            session.flush().await.unwrap();
            (session.int(slot, 0, 0).unwrap(), session.int(slot, 0, 1).unwrap())
        };
        assert_eq!(found(&json!(5)).await, (5, 5));
        assert_eq!(found(&json!(100_000_000)).await, (600, 86_400));
        assert_eq!(found(&Json::Null).await, (600, 86_400));
    });
}

#[test]
fn what_a_procedure_left_open_is_rolled_back() {
    with_server(async |server, wire| {
        server.sql(
            "d",
            "delimiter //\n\
             create procedure half(in key_ int) begin start transaction; \
             insert into t values (key_, 1); signal sqlstate '45000' set message_text = 'half-way'; \
             end//",
        );
        let calls = [Statement {
            name: "half",
            sql: Cow::Borrowed("call half($1)"),
            params: &[INT],
            returns: &[],
        }];
        let all = [&calls[..], &statements()[1..]].concat();
        let mut mine = wire.connect(&all, &alarm()).await.unwrap();
        mine.queue(StatementId(0), &[Value::Int(1)]);
        let error = mine.flush().await.unwrap_err();
        assert!(error.message.contains("half-way"), "{error}");
        mine.recover().await.unwrap();
        assert_eq!(server.sql("d", "select count(*) from information_schema.innodb_trx"), "0");
        // Nor does the next statement commit it.
        mine.queue_begin(Access::Write);
        mine.queue(TAKE, &[Value::Int(9)]);
        mine.queue_commit();
        mine.flush().await.unwrap();
        assert_eq!(server.sql("d", "select count(*) from t"), "0");
    });
}
