//! The wire with a real server, named by DYNO_TEST_MSSQL_TLS_URL or DYNO_TEST_MSSQL_URL: effects of
//! batches on data, and conversion of values. The login must be allowed to create databases.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dyno_record::ErrorKind;
use serde_json::{Value as Json, json};
use tokio::runtime::Builder;

use super::*;
use crate::wire::{Access, Session, Slot, StatementId, Type, Value};

mod cancelling;
mod driving_tests;
mod encryption;
mod loading_tests;
mod locks;
mod outputs;
mod queries;

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
            "insert into kinds values ($1, $2, $3, $4, $4, $5, $6, $7)",
            &[INT, Type::BigInt, Type::Decimal(2), Type::Text, Type::Timestamp, Type::Date, INT],
            &[],
        ),
        statement(
            "stored",
            "select small, large, money, words, wide, moment, day from kinds where k = $1",
            &[INT],
            &[
                INT,
                Type::BigInt,
                Type::Decimal(2),
                Type::Text,
                Type::Text,
                Type::Timestamp,
                Type::Date,
            ],
        ),
        statement(
            "compare",
            "select count(*) from kinds where moment = $1 and money = $2 and words = $3 and day = $4",
            &[Type::Timestamp, Type::Decimal(2), Type::Text, Type::Date],
            &[INT],
        ),
        statement(
            "take",
            "delete from t where k = (select k from t order by k limit 1) returning k",
            &[],
            &[INT],
        ),
    ]
}

fn calls() -> Vec<Statement> {
    let statement =
        |name, sql, params, returns| Statement { name, sql: Cow::Borrowed(sql), params, returns };
    vec![
        statement("own", "exec own_put $1, $2", &[INT, INT], &[INT]),
        statement("bare", "exec bare_put $1, $2", &[INT, INT], &[INT]),
        statement(
            "given_back",
            "exec give_back $1, $2 output, $3 output, $4 output, $5 output, $6 output",
            &[INT],
            &[INT, Type::BigInt, Type::Decimal(2), Type::Text, Type::Timestamp],
        ),
    ]
}

/// The endpoint that the URL in a variable names: mssql://user:password@host:port[/…]
fn endpoint(variable: &str) -> Option<Json> {
    let Ok(url) = std::env::var(variable) else {
        eprintln!("skipped: {variable} names no server");
        return None;
    };
    let (login, place) = url.split_once("://").unwrap().1.rsplit_once('@').unwrap();
    let (user, password) = login.split_once(':').unwrap();
    let (host, port) = place.split(['/', '?']).next().unwrap().split_once(':').unwrap();
    let port: u16 = port.parse().unwrap();
    Some(json!({
        "host": host, "port": port, "user": user, "password": password, "database": "master",
        // Other tests keep the machine busy.
        "connect_timeout_s": 60
    }))
}

/// The server with TLS if there is one, as it has fewer other users; else the one without.
fn any_endpoint() -> Option<Json> {
    endpoint("DYNO_TEST_MSSQL_TLS_URL").or_else(|| endpoint("DYNO_TEST_MSSQL_URL"))
}

/// A database of its own.
struct Place {
    endpoint: Json,
    database: String,
}

impl Place {
    fn wire(&self, changes: &Json) -> Mssql {
        let mut config = self.endpoint.clone();
        for (name, value) in changes.as_object().unwrap() {
            config[name] = value.clone();
        }
        Mssql::new(serde_json::from_value(config).unwrap()).unwrap()
    }

    async fn session(&self) -> MssqlSession {
        self.wire(&json!({})).connect(&statements(), &alarm()).await.unwrap()
    }

    async fn loader(&self) -> Loader {
        let config = serde_json::from_value(self.endpoint.clone()).unwrap();
        Loader::connect(&Endpoint::new(config).unwrap()).await.unwrap()
    }
}

thread_local! {
    static ALARM: RefCell<Option<Alarm>> = const { RefCell::new(None) };
}

fn alarm() -> Alarm {
    ALARM.with_borrow(|alarm| alarm.clone().unwrap())
}

const TABLES: [&str; 5] = [
    "create table t (k int primary key, v int not null)",
    "create table kinds (small smallint, large bigint, money decimal(17, 2), words varchar(60), \
     wide nvarchar(60), moment datetime2(6), day date, k int primary key)",
    "create procedure own_put @k int, @v int as begin set nocount on; begin transaction; \
     insert into t values (@k, @v); commit; select v from t where k = @k; end",
    "create procedure bare_put @k int, @v int as begin set nocount on; \
     insert into t values (@k, @v); select v from t where k = @k; end",
    "create procedure give_back @k int, @small int output, @large bigint output, \
     @money decimal(17, 2) output, @words varchar(60) output, @moment datetime2(6) output as \
     begin set nocount on; if @k < 0 return; set @small = @k; set @large = @k; set @money = @k; \
     set @words = concat('d\u{e9}j\u{e0} vu ', @k); set @moment = '2026-01-02'; end",
];

/// Runs `work` with a database that has the tables, one such work at a time: Babelfish does not
/// create two databases at once.
fn with_place(work: impl AsyncFnOnce(&Place)) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    static TURN: Mutex<()> = Mutex::new(());
    let Some(mut endpoint) = any_endpoint() else { return };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let alarm = Alarm::new().unwrap();
        ALARM.set(Some(alarm.clone()));
        let number = NUMBER.fetch_add(1, Relaxed);
        let database = format!("dyno_test_{}_{number}", std::process::id());
        let master = Place { endpoint: endpoint.clone(), database: "master".to_owned() };
        let mut loader = master.loader().await;
        loader.run(&format!("create database {database}")).await.unwrap();
        endpoint["database"] = json!(database);
        let place = Place { endpoint, database };
        let mut inside = place.loader().await;
        for sql in TABLES {
            inside.run(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        drop(inside);
        tokio::select! {
            failed = alarm.run() => panic!("{failed:?}"),
            () = work(&place) => {}
        }
        // The server takes a moment to notice that the sessions are gone.
        let drop = format!("drop database {}", place.database);
        let dropping = async {
            while loader.run(&drop).await.is_err() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), dropping).await.unwrap();
    });
}

fn put(session: &mut MssqlSession, key: i32, value: i32) -> Slot {
    session.queue(PUT, &[Value::Int(key), Value::Int(value)])
}

/// All rows, in a transaction of its own.
async fn all(session: &mut MssqlSession) -> Vec<(i64, i64)> {
    let slot = session.queue(ALL, &[]);
    session.flush().await.unwrap();
    (0..session.rows(slot))
        .map(|row| (session.int(slot, row, 0).unwrap(), session.int(slot, row, 1).unwrap()))
        .collect()
}

#[test]
fn a_batch_is_answered_in_order_and_commits_once_it_has_succeeded() {
    with_place(async |place| {
        let (mut mine, mut other) = (place.session().await, place.session().await);
        mine.queue_begin(Access::Write);
        let slots = [put(&mut mine, 1, 10), put(&mut mine, 2, 20)];
        let added = mine.queue(ADD, &[Value::Int(5), Value::Int(1)]);
        let found = mine.queue(ALL, &[]);
        mine.queue_commit();
        mine.flush().await.unwrap();
        assert_eq!(slots.map(|slot| mine.affected(slot).unwrap()), [1, 1]);
        assert_eq!((mine.int(added, 0, 0).unwrap(), mine.int(added, 0, 1).unwrap()), (15, 1));
        assert_eq!((mine.rows(added), mine.affected(added).unwrap()), (1, 1));
        assert_eq!((mine.rows(found), mine.affected(found).unwrap()), (2, 2));
        assert_eq!(all(&mut other).await, [(1, 15), (2, 20)]);
    });
}

#[test]
fn nothing_of_a_failed_batch_stays() {
    with_place(async |place| {
        let mut session = place.session().await;
        put(&mut session, 1, 1);
        session.flush().await.unwrap();
        session.queue_begin(Access::Write);
        put(&mut session, 2, 2);
        put(&mut session, 1, 2);
        put(&mut session, 3, 2);
        session.queue_commit();
        let error = session.flush().await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Database);
        assert!(error.message.contains("[error 2627]"), "{error}");
        session.recover().await.unwrap();
        assert_eq!(all(&mut session).await, [(1, 1)]);
        // Several statements without a begin are one transaction, too.
        put(&mut session, 4, 4);
        put(&mut session, 1, 4);
        session.flush().await.unwrap_err();
        session.recover().await.unwrap();
        put(&mut session, 5, 5);
        session.flush().await.unwrap();
        assert_eq!(all(&mut place.session().await).await, [(1, 1), (5, 5)]);
    });
}

#[test]
fn a_rollback_undoes_and_an_open_transaction_is_not_seen() {
    with_place(async |place| {
        let mut session = place.session().await;
        session.queue_begin(Access::Write);
        put(&mut session, 1, 1);
        session.flush().await.unwrap();
        session.queue_rollback();
        session.flush().await.unwrap();
        assert_eq!(all(&mut session).await, []);
        session.queue_begin(Access::Write);
        put(&mut session, 2, 2);
        session.flush().await.unwrap();
        drop(session);
        assert_eq!(all(&mut place.session().await).await, []);
    });
}

#[test]
fn what_a_statement_takes_it_returns() {
    with_place(async |place| {
        let mut session = place.session().await;
        for key in [3, 1, 2] {
            put(&mut session, key, 0);
        }
        session.flush().await.unwrap();
        for key in 1..=3 {
            let slot = session.queue(TAKE, &[]);
            session.flush().await.unwrap();
            assert_eq!(
                (session.int(slot, 0, 0).unwrap(), session.affected(slot).unwrap()),
                (key, 1)
            );
        }
        let slot = session.queue(TAKE, &[]);
        session.flush().await.unwrap();
        assert_eq!((session.rows(slot), session.affected(slot).unwrap()), (0, 0));
    });
}

#[test]
fn values_of_every_kind_come_back() {
    with_place(async |place| {
        let mut session = place.session().await;
        // 2010-10-17 19:27:30.000001
        let moment = Value::Timestamp(1_287_343_650_000_001);
        let day = Value::Date(14_899);
        let given = [
            Value::Int(-7),
            Value::BigInt(i64::MAX),
            Value::cents(-123_456_789_012_345),
            Value::Text("d\u{e9}j\u{e0} vu"),
            moment,
            day,
            Value::Int(1),
        ];
        session.queue(STORE, &given);
        session.queue(
            STORE,
            &[
                Value::Null,
                Value::Null,
                Value::Null,
                Value::Null,
                Value::Null,
                Value::Null,
                Value::Int(2),
            ],
        );
        session.flush().await.unwrap();
        let slots = [1, 2].map(|key| session.queue(STORED, &[Value::Int(key)]));
        let compared = session.queue(COMPARE, &[moment, given[2], given[3], day]);
        session.flush().await.unwrap();
        assert_eq!(session.int(slots[0], 0, 0).unwrap(), -7);
        assert_eq!(session.int(slots[0], 0, 1).unwrap(), i64::MAX);
        assert_eq!(session.decimal(slots[0], 0, 2).unwrap(), -123_456_789_012_345);
        assert_eq!(session.text(slots[0], 0, 3).unwrap(), "d\u{e9}j\u{e0} vu");
        assert_eq!(session.text(slots[0], 0, 4).unwrap(), "d\u{e9}j\u{e0} vu");
        assert_eq!(session.int(compared, 0, 0).unwrap(), 1);
        for column in 0..7 {
            assert!(!session.is_null(slots[0], 0, column).unwrap(), "{column}");
            assert!(session.is_null(slots[1], 0, column).unwrap(), "{column}");
        }
        assert_eq!(session.int(slots[1], 0, 0).unwrap_err().kind, ErrorKind::Protocol);
        assert_eq!(session.int(slots[1], 1, 0).unwrap_err().kind, ErrorKind::Database);
    });
}

#[test]
fn batches_of_many_packets() {
    with_place(async |place| {
        let mut session = place.session().await;
        session.queue_begin(Access::Write);
        for key in 0..2000 {
            put(&mut session, key, key);
        }
        session.queue_commit();
        session.flush().await.unwrap();
        let rows = all(&mut session).await;
        assert_eq!(rows.len(), 2000);
        assert!(rows.iter().enumerate().all(|(at, row)| *row == (at as i64, at as i64)));
    });
}

#[test]
fn procedures_are_called_by_name() {
    with_place(async |place| {
        let wire = place.wire(&json!({}));
        let mut session = wire.connect(&calls(), &alarm()).await.unwrap();
        let call = |session: &mut MssqlSession, which, key| {
            session.queue(StatementId(which), &[Value::Int(key), Value::Int(key * 10)])
        };
        let slot = call(&mut session, 0, 1);
        session.flush().await.unwrap();
        assert_eq!((session.rows(slot), session.int(slot, 0, 0).unwrap()), (1, 10));
        // Several calls in one transaction, committed and not.
        for (keys, commits) in [([2, 3], true), ([4, 5], false)] {
            session.queue_begin(Access::Write);
            call(&mut session, 1, keys[0]);
            session.flush().await.unwrap();
            let slot = call(&mut session, 1, keys[1]);
            if commits {
                session.queue_commit();
            } else {
                session.queue_rollback();
            }
            session.flush().await.unwrap();
            assert_eq!(session.int(slot, 0, 0).unwrap(), i64::from(keys[1]) * 10);
        }
        // A failed call in a transaction undoes it.
        session.queue_begin(Access::Write);
        call(&mut session, 1, 6);
        call(&mut session, 1, 1);
        session.queue_commit();
        session.flush().await.unwrap_err();
        session.recover().await.unwrap();
        // And one that left its transaction open.
        call(&mut session, 0, 1);
        session.flush().await.unwrap_err();
        session.recover().await.unwrap();
        assert_eq!(all(&mut place.session().await).await, [(1, 10), (2, 20), (3, 30)]);
    });
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    with_place(async |place| {
        let failed = async |changes: Json, statements: &[Statement]| {
            place.wire(&changes).connect(statements, &alarm()).await.err().unwrap()
        };
        let denied = failed(json!({"password": "no"}), &[]).await;
        assert_eq!(denied.kind, ErrorKind::Denied, "{denied}");
        let missing = failed(json!({"database": "dyno_nothing"}), &[]).await;
        assert_eq!(missing.kind, ErrorKind::Usage, "{missing}");
        let mut session = place.session().await;
        session.queue(ALL, &[]);
        session.flush().await.unwrap();
        let declared = |sql: &'static str, returns| {
            vec![Statement { name: "x", sql: sql.into(), params: &[], returns }]
        };
        // Where the server describes results only as they are requested, then.
        for (statements, kind) in [
            (declared("select a from nothing", &[INT]), ErrorKind::Usage),
            (declared("select k from t", &[Type::Text]), ErrorKind::Usage),
        ] {
            let connected = place.wire(&json!({})).connect(&statements, &alarm()).await;
            let error = match connected {
                Err(error) => error,
                Ok(mut session) => {
                    session.queue(StatementId(0), &[]);
                    session.flush().await.unwrap_err()
                }
            };
            assert_eq!(error.kind, kind, "{error}");
        }
    });
}

#[test]
fn a_session_that_the_server_ends_is_lost() {
    with_place(async |place| {
        let mut session = place.session().await;
        let id = vec![Statement {
            name: "id",
            sql: "select cast(@@spid as int)".into(),
            params: &[],
            returns: &[INT],
        }];
        let mut victim = place.wire(&json!({})).connect(&id, &alarm()).await.unwrap();
        let slot = victim.queue(StatementId(0), &[]);
        victim.flush().await.unwrap();
        let number = victim.int(slot, 0, 0).unwrap();
        let mut loader = place.loader().await;
        loader.run(&format!("kill {number}")).await.unwrap();
        victim.queue(StatementId(0), &[]);
        let error = victim.flush().await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::ConnectionLost, "{error}");
        assert!(victim.recover().await.is_err());
        assert_eq!(all(&mut session).await, []);
    });
}
