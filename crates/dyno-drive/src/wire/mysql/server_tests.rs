//! The wire with a real MariaDB: effects of batches on data, and conversion of values.

use std::borrow::Cow;
use std::cell::RefCell;

use dyno_record::ErrorKind;
use serde_json::{Value as Json, json};
use tokio::runtime::Builder;

use super::*;
use crate::wire::{Access, Session, StatementId, Type, Value};

#[path = "../../../tests/engines/machine.rs"]
mod machine;
#[path = "../../../tests/engines/mysql/server.rs"]
mod mariadb;
mod patience;
mod texts;

use mariadb::Server;

const INT: Type = Type::Int;

const PUT: StatementId = StatementId(0);
const ADD: StatementId = StatementId(1);
const ALL: StatementId = StatementId(2);
const STORE: StatementId = StatementId(3);
const STORED: StatementId = StatementId(4);
const COMPARE: StatementId = StatementId(5);
const TAKE: StatementId = StatementId(6);

fn statements() -> Vec<Statement> {
    let statement =
        |name, sql, params, returns| Statement { name, sql: Cow::Borrowed(sql), params, returns };
    vec![
        statement("put", "insert into t values ($1, $2)", &[INT, INT], &[]),
        statement(
            "add",
            "update t set v = v + $1 where k = $2 returning v, k",
            &[INT, INT],
            &[INT, INT],
        ),
        statement("all", "select k, v from t order by k", &[], &[INT, INT]),
        statement(
            "store",
            "insert into kinds values ($1, $2, $3, $4, $5, $6)",
            &[INT, Type::BigInt, Type::Decimal(2), Type::Text, Type::Timestamp, INT],
            &[],
        ),
        statement(
            "stored",
            "select small, large, money, words, moment from kinds where k = $1",
            &[INT],
            &[INT, Type::BigInt, Type::Decimal(2), Type::Text, Type::Timestamp],
        ),
        statement(
            "compare",
            "select count(*) from kinds where moment = $1 and money = $2 and words = $3",
            &[Type::Timestamp, Type::Decimal(2), Type::Text],
            &[INT],
        ),
        statement("take", "delete from t where k = $1", &[INT], &[]),
    ]
}

/// Runs `work` with a server that has the tables.
fn with_server(work: impl AsyncFnOnce(&Server, &Mysql)) {
    let Some(server) = Server::start(&["--innodb-lock-wait-timeout=600"]) else { return };
    server.sql(
        "mysql",
        "create database d; create table d.t (k int primary key, v int not null);
         create table d.kinds (small smallint, large bigint unsigned, money decimal(17, 2),
                               words varchar(60), moment datetime(6), k int primary key)",
    );
    let wire = wire(&server, &json!({}));
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let alarm = Alarm::new().unwrap();
        ALARM.set(Some(alarm.clone()));
        tokio::select! {
            failed = alarm.run() => panic!("{failed:?}"),
            () = work(&server, &wire) => {}
        }
    });
}

thread_local! {
    static ALARM: RefCell<Option<Alarm>> = const { RefCell::new(None) };
}

/// The alarm for the test.
fn alarm() -> Alarm {
    ALARM.with_borrow(|alarm| alarm.clone().unwrap())
}

fn wire(server: &Server, changes: &Json) -> Mysql {
    let mut config = server.wire("d");
    config.as_object_mut().unwrap().remove("kind");
    for (name, value) in changes.as_object().unwrap() {
        config[name] = value.clone();
    }
    Mysql::new(serde_json::from_value(config).unwrap()).unwrap()
}

fn wire_over_tcp(server: &Server) -> Mysql {
    server.sql("mysql", "create user tcp@'%'; grant all on d.* to tcp@'%'");
    wire(server, &json!({"unix_socket": null, "host": "127.0.0.1", "user": "tcp"}))
}

async fn session(wire: &Mysql) -> MysqlSession {
    wire.connect(&statements(), &alarm()).await.unwrap()
}

fn put(session: &mut MysqlSession, key: i32, value: i32) -> crate::wire::Slot {
    session.queue(PUT, &[Value::Int(key), Value::Int(value)])
}

#[test]
fn a_batch_is_answered_in_order_and_commits_once_it_has_succeeded() {
    with_server(async |server, wire| {
        let mut mine = session(wire).await;
        mine.queue_begin(Access::Write);
        let first = put(&mut mine, 1, 10);
        let second = put(&mut mine, 2, 20);
        let added = mine.queue(ADD, &[Value::Int(5), Value::Int(1)]);
        let unmatched = mine.queue(ADD, &[Value::Int(5), Value::Int(9)]);
        let unchanged = mine.queue(ADD, &[Value::Int(0), Value::Int(2)]);
        let all = mine.queue(ALL, &[]);
        mine.queue_commit();
        mine.flush().await.unwrap();
        let affected = |slot| mine.affected(slot).unwrap();
        assert_eq!([first, second, added, unmatched, unchanged].map(affected), [1, 1, 1, 0, 1]);
        assert_eq!((mine.rows(added), mine.rows(unmatched), mine.rows(all)), (1, 0, 2));
        assert_eq!((mine.int(added, 0, 0).unwrap(), mine.int(added, 0, 1).unwrap()), (15, 1));
        assert_eq!(mine.int(all, 1, 1).unwrap(), 20);
        assert_eq!(mine.int(all, 2, 0).unwrap_err().kind, ErrorKind::Database);
        assert_eq!(server.sql("d", "select sum(v) from t"), "35");

        // The same again: the server has the types, and MariaDB describes no column twice.
        mine.queue_begin(Access::Write);
        let again: Vec<_> =
            (0..200).map(|_| mine.queue(ADD, &[Value::Int(1), Value::Int(1)])).collect();
        mine.queue_rollback();
        mine.flush().await.unwrap();
        for (number, slot) in (16..).zip(again) {
            assert_eq!(mine.int(slot, 0, 0).unwrap(), number);
        }
        assert_eq!(server.sql("d", "select sum(v) from t"), "35");
        mine.close().await;
    });
}

#[test]
fn a_failure_in_the_middle_leaves_nothing_committed() {
    with_server(async |server, wire| {
        let mut mine = session(wire).await;
        mine.queue_begin(Access::Write);
        put(&mut mine, 1, 10);
        put(&mut mine, 1, 11);
        // The server still runs this one.
        put(&mut mine, 2, 20);
        mine.queue_commit();
        let error = mine.flush().await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Database);
        assert!(error.to_string().contains("Duplicate entry"), "{error}");
        assert!(error.to_string().contains("statement put"), "{error}");
        mine.recover().await.unwrap();
        assert_eq!(server.sql("d", "select count(*) from t"), "0");

        // The session continues, and what was not sent is discarded.
        mine.queue_begin(Access::Write);
        put(&mut mine, 3, 30);
        mine.recover().await.unwrap();
        mine.queue_begin(Access::Write);
        put(&mut mine, 4, 40);
        mine.queue_commit();
        mine.flush().await.unwrap();
        assert_eq!(server.sql("d", "select group_concat(k) from t"), "4");

        // A failed read commits nothing that an earlier batch wrote.
        server.sql("d", "create table gone (k int primary key)");
        let more = [
            statements(),
            vec![Statement {
                name: "gone",
                sql: Cow::Borrowed("select k from gone"),
                params: &[],
                returns: &[INT],
            }],
        ]
        .concat();
        let mut other = wire.connect(&more, &alarm()).await.unwrap();
        other.queue_begin(Access::Write);
        put(&mut other, 5, 50);
        other.flush().await.unwrap();
        server.sql("d", "drop table gone");
        other.queue(StatementId(7), &[]);
        other.queue_commit();
        assert!(other.flush().await.is_err());
        other.recover().await.unwrap();
        assert_eq!(server.sql("d", "select group_concat(k) from t"), "4");
    });
}

#[test]
fn statements_without_a_transaction_commit_themselves_together() {
    with_server(async |server, wire| {
        let mut mine = session(wire).await;
        put(&mut mine, 1, 10);
        mine.flush().await.unwrap();
        assert_eq!(server.sql("d", "select count(*) from t"), "1");
        // Each of these sees what others have committed since.
        for expected in [10, 11] {
            let all = mine.queue(ALL, &[]);
            mine.flush().await.unwrap();
            assert_eq!(mine.int(all, 0, 1).unwrap(), expected);
            server.sql("d", "update t set v = 11");
        }
        put(&mut mine, 2, 20);
        put(&mut mine, 1, 10);
        put(&mut mine, 3, 30);
        assert!(mine.flush().await.is_err());
        mine.recover().await.unwrap();
        assert_eq!(server.sql("d", "select count(*) from t"), "1");
        put(&mut mine, 2, 20);
        mine.flush().await.unwrap();
        assert_eq!(server.sql("d", "select count(*) from t"), "2");
    });
}

#[test]
fn the_loser_of_a_deadlock_has_changed_nothing_at_all() {
    with_server(async |server, wire| {
        server.sql("d", "insert into t values (1, 0), (2, 0), (3, 0), (4, 0)");
        let (mut mine, mut yours) = (session(wire).await, session(wire).await);
        for (session, key) in [(&mut mine, 1), (&mut yours, 2)] {
            session.queue_begin(Access::Write);
            session.queue(ADD, &[Value::Int(1), Value::Int(key)]);
            session.flush().await.unwrap();
        }
        // Each wants the other's row, then one of its own: by then the loser's transaction is gone.
        for (session, want, own) in [(&mut mine, 2, 3), (&mut yours, 1, 4)] {
            session.queue(ADD, &[Value::Int(1), Value::Int(want)]);
            session.queue(ADD, &[Value::Int(1), Value::Int(own)]);
            session.queue_commit();
        }
        let work = async |session: &mut MysqlSession| {
            let result = session.flush().await;
            session.recover().await.unwrap();
            result
        };
        let results = tokio::join!(work(&mut mine), work(&mut yours));
        let loser = match results {
            (Err(error), Ok(())) => (error, "1,1,0,1"),
            (Ok(()), Err(error)) => (error, "1,1,1,0"),
            other => panic!("{other:?}"),
        };
        assert_eq!(loser.0.kind, ErrorKind::Deadlock, "{}", loser.0);
        assert_eq!(server.sql("d", "select group_concat(v order by k) from t"), loser.1);
    });
}

#[test]
fn a_connection_that_is_killed_is_lost() {
    with_server(async |server, wire| {
        let mut mine = session(wire).await;
        mine.queue_begin(Access::Write);
        put(&mut mine, 1, 10);
        mine.flush().await.unwrap();
        let id =
            "select id from information_schema.processlist where db = 'd' and command = 'Sleep'";
        server.sql("mysql", &format!("kill {}", server.sql("mysql", id)));
        put(&mut mine, 2, 20);
        mine.queue_commit();
        assert_eq!(mine.flush().await.unwrap_err().kind, ErrorKind::ConnectionLost);
        assert_eq!(mine.recover().await.unwrap_err().kind, ErrorKind::ConnectionLost);
        assert_eq!(server.sql("d", "select count(*) from t"), "0");
        mine.close().await;
        // This one is gone permanently; a new session works.
        let mut again = session(wire).await;
        put(&mut again, 3, 30);
        again.flush().await.unwrap();
    });
}

#[test]
fn values_arrive_as_they_were_sent() {
    with_server(async |server, wire| {
        let mut mine = session(wire).await;
        let long = "é".repeat(60);
        let rows: [(i32, i64, i64, &str, i64); 4] = [
            (0, 0, 0, "", 0),
            (-32_768, i64::MAX, -99_999_999_999_999_999, "it's \0 \"odd\"", 1_287_343_650_000_001),
            (32_767, 1, 5, &long, 4_102_444_799_999_999),
            (7, 1 << 40, 12_345_678_901_234_567, "x", 951_782_400_000_000),
        ];
        mine.queue_begin(Access::Write);
        for (key, (small, large, cents, words, moment)) in (0..).zip(rows) {
            mine.queue(
                STORE,
                &[
                    Value::Int(small),
                    Value::BigInt(large),
                    Value::cents(cents),
                    Value::Text(words),
                    Value::Timestamp(moment),
                    Value::Int(key),
                ],
            );
        }
        let nothing = [Value::Null; 5];
        mine.queue(STORE, &[&nothing[..], &[Value::Int(99)]].concat());
        mine.queue_commit();
        mine.flush().await.unwrap();
        for (key, (small, large, cents, words, moment)) in (0..).zip(rows) {
            let stored = mine.queue(STORED, &[Value::Int(key)]);
            let parameters = [Value::Timestamp(moment), Value::cents(cents), Value::Text(words)];
            let same = mine.queue(COMPARE, &parameters);
            mine.flush().await.unwrap();
            assert_eq!(mine.int(stored, 0, 0).unwrap(), i64::from(small));
            assert_eq!(mine.int(stored, 0, 1).unwrap(), large);
            assert_eq!(mine.decimal(stored, 0, 2).unwrap(), cents);
            assert_eq!(mine.text(stored, 0, 3).unwrap(), words);
            assert!(!mine.is_null(stored, 0, 4).unwrap());
            assert_eq!(mine.int(same, 0, 0).unwrap(), 1, "{words}");
            // A column cannot be read as another type.
            assert_eq!(mine.int(stored, 0, 2).unwrap_err().kind, ErrorKind::Protocol);
            assert_eq!(mine.text(stored, 0, 4).unwrap_err().kind, ErrorKind::Protocol);
        }
        let nulls = mine.queue(STORED, &[Value::Int(99)]);
        mine.flush().await.unwrap();
        for column in 0..5 {
            assert!(mine.is_null(nulls, 0, column).unwrap());
        }
        assert_eq!(mine.int(nulls, 0, 0).unwrap_err().kind, ErrorKind::Protocol);
        // A text that does not fit is an error, not truncated.
        let words = "y".repeat(61);
        mine.queue(
            STORE,
            &[
                Value::Int(1),
                Value::BigInt(1),
                Value::cents(1),
                Value::Text(&words),
                Value::Timestamp(0),
                Value::Int(50),
            ],
        );
        assert!(mine.flush().await.unwrap_err().message.contains("too long"));
        mine.recover().await.unwrap();
        assert_eq!(server.sql("d", "select money from kinds where k = 1"), "-999999999999999.99");
        assert_eq!(
            server.sql("d", "select moment from kinds where k = 1"),
            "2010-10-17 19:27:30.000001"
        );
    });
}

#[test]
fn a_batch_that_fills_both_directions_is_answered() {
    with_server(async |server, wire| {
        let values: Vec<String> = (0..2000).map(|key| format!("({key}, {key})")).collect();
        server.sql("d", &format!("insert into t values {}", values.join(",")));
        let over = wire_over_tcp(server);
        for mut mine in [session(wire).await, session(&over).await] {
            // In both cases the server stops in the middle until its answers are read.
            for (statements, every) in [(3000, 30), (60, 2)] {
                mine.queue_begin(Access::Write);
                let slots: Vec<_> = (0..statements)
                    .map(|number| match number % every {
                        0 => mine.queue(ALL, &[]),
                        _ => mine.queue(TAKE, &[Value::Int(-1)]),
                    })
                    .collect();
                mine.queue_rollback();
                mine.flush().await.unwrap();
                for (number, slot) in slots.into_iter().enumerate() {
                    assert_eq!(mine.rows(slot), if number % every == 0 { 2000 } else { 0 });
                }
            }
        }
    });
}

/// Inserts two rows, and never ends if the value is 7; returns a number, a null and a text.
const PROCEDURES: &str = "delimiter //
    create procedure d.pair(a int, b int)
    begin
        declare turns int default 0;
        declare exit handler for sqlexception begin rollback; resignal; end;
        start transaction;
        insert into t values (a, b);
        insert into t values (a + 1, b);
        while b = 7 do set turns = 1 - turns; end while;
        commit;
        select b + b, cast(null as signed), concat('k', a);
    end //";

#[test]
fn a_call_is_a_transaction_of_its_own_that_returns_a_row() {
    with_server(async |server, wire| {
        server.sql("d", PROCEDURES);
        server.sql("d", "insert into t values (9, 0)");
        let calls = vec![
            Statement {
                name: "pair",
                sql: Cow::Borrowed("call pair($1, $2)"),
                params: &[INT, INT],
                returns: &[Type::BigInt, INT, Type::Text],
            },
            Statement {
                name: "alone",
                sql: Cow::Borrowed("select @@autocommit from t limit 1"),
                params: &[],
                returns: &[Type::BigInt],
            },
        ];
        let (pair, alone) = (StatementId(0), StatementId(1));
        let mut mine = wire.connect(&calls, &alarm()).await.unwrap();
        let present = || server.sql("d", "select group_concat(k order by k) from t");
        for key in [1, 3] {
            let slot = mine.queue(pair, &[Value::Int(key), Value::Int(20)]);
            mine.flush().await.unwrap();
            assert_eq!((mine.rows(slot), mine.int(slot, 0, 0).unwrap()), (1, 40));
            assert!(mine.is_null(slot, 0, 1).unwrap());
            assert_eq!(mine.text(slot, 0, 2).unwrap(), format!("k{key}"));
        }
        assert_eq!(present(), "1,2,3,4,9");

        // The procedure rolls back its own failures and reports them unchanged.
        mine.queue(pair, &[Value::Int(8), Value::Int(0)]);
        let error = mine.flush().await.unwrap_err();
        assert!(error.message.contains("Duplicate entry '9'"), "{error}");
        assert!(error.to_string().contains("statement pair"), "{error}");
        assert_eq!(present(), "1,2,3,4,9");
        mine.recover().await.unwrap();

        // If it is stopped from outside, its transaction stays open until `recover`.
        mine.queue(pair, &[Value::Int(5), Value::Int(7)]);
        let (stopped, ()) = tokio::join!(mine.flush(), async {
            let turns = "select trx_mysql_thread_id from information_schema.innodb_trx \
                         where trx_rows_modified = 2";
            let mut id = String::new();
            while id.is_empty() {
                id = server.sql("mysql", turns);
                tokio::task::yield_now().await;
            }
            server.sql("mysql", &format!("kill query {id}"));
        });
        assert_eq!(stopped.unwrap_err().kind, ErrorKind::Timeout);
        mine.recover().await.unwrap();
        mine.queue(pair, &[Value::Int(11), Value::Int(0)]);
        mine.flush().await.unwrap();
        assert_eq!(present(), "1,2,3,4,9,11,12");
        // A call is still one round trip: no commit has to follow.
        let commits = mine.queue(alone, &[]);
        mine.flush().await.unwrap();
        assert_eq!(mine.int(commits, 0, 0).unwrap(), 1);
    });
}
