//! Sessions with real files.

use std::cell::Cell;
use std::path::PathBuf;
use std::pin::pin;
use std::rc::Rc;

use rusqlite::Connection;
use serde_json::json;

use super::*;
use crate::wire::{Access, Session as _, Slot, StatementId, Type, Value};
use dyno_record::{Error, ErrorKind};

const PUT: StatementId = StatementId(0);
const GET: StatementId = StatementId(1);
const ADD: StatementId = StatementId(2);
const FAIL: StatementId = StatementId(3);

/// Statements on a table of accounts. Their parameters are not in numerical order.
fn statements() -> Vec<Statement> {
    let all: [(&str, &str, &[Type], &[Type]); 4] = [
        (
            "put",
            "insert into account (balance, name, opened, id) values ($2, $3, $4, $1)",
            &[Type::Int, Type::Decimal(2), Type::Text, Type::Timestamp],
            &[],
        ),
        (
            "get",
            "select id, balance, name, opened, note from account order by id",
            &[],
            &[Type::Int, Type::Decimal(2), Type::Text, Type::Timestamp, Type::Text],
        ),
        (
            "add",
            "update account set balance = balance + $2 where id >= $1 returning balance",
            &[Type::Int, Type::Decimal(2)],
            &[Type::Decimal(2)],
        ),
        ("fail", "insert into account (id) values (null)", &[], &[]),
    ];
    let all = all.map(|(name, sql, params, returns)| Statement {
        name,
        sql: sql.into(),
        params,
        returns,
    });
    all.into()
}

/// A file with a table of accounts, in a folder removed with it.
struct File {
    folder: PathBuf,
    path: PathBuf,
}

impl File {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("dyno-wire-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("x.sqlite");
        let file = Self { folder, path };
        file.execute(
            "pragma journal_mode = wal;
             create table account (id integer not null, balance integer, name text, opened text, \
             note text)",
        );
        file
    }

    fn execute(&self, sql: &str) {
        Connection::open(&self.path).unwrap().execute_batch(sql).unwrap();
    }

    fn number(&self, sql: &str) -> i64 {
        Connection::open(&self.path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    fn wire(&self, busy_timeout_s: f64) -> Sqlite {
        let settings = Settings::new();
        Sqlite::new(Config { path: self.path.clone(), busy_timeout_s, settings })
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Runs `body` like a driver thread.
fn on_runtime<T>(body: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, body)
}

async fn try_open(wire: &Sqlite, statements: Vec<Statement>) -> Result<SqliteSession> {
    SqliteSession::open(&wire.config, &wire.shared, statements.into()).await
}

async fn open(wire: &Sqlite) -> SqliteSession {
    try_open(wire, statements()).await.unwrap()
}

fn put(session: &mut SqliteSession, id: i32, cents: i64) -> Slot {
    let parameters =
        [Value::Int(id), Value::cents(cents), Value::Text("Zoë"), Value::Timestamp(1_000_001)];
    session.queue(PUT, &parameters)
}

#[test]
fn results_are_what_was_stored() {
    let file = File::new("results");
    on_runtime(async {
        let mut session = open(&file.wire(5.0)).await;
        session.queue_begin(Access::Write);
        let first = put(&mut session, 1, 123_456_789_012_345);
        put(&mut session, 2, -5);
        let sums = session.queue(ADD, &[Value::Int(1), Value::cents(1)]);
        let all = session.queue(GET, &[]);
        session.queue_commit();
        session.flush().await.unwrap();
        assert_eq!((session.rows(first), session.affected(first).unwrap()), (0, 1));
        assert_eq!((session.rows(sums), session.affected(sums).unwrap()), (2, 2));
        assert_eq!((session.rows(all), session.affected(all).unwrap()), (2, 2));
        assert_eq!(session.decimal(sums, 0, 0).unwrap(), 123_456_789_012_346);
        assert_eq!(session.int(all, 1, 0).unwrap(), 2);
        assert_eq!(session.decimal(all, 1, 1).unwrap(), -4);
        assert_eq!(session.text(all, 0, 2).unwrap(), "Zoë");
        assert_eq!(session.text(all, 0, 3).unwrap(), "1970-01-01 00:00:01.000001");
        assert!(session.is_null(all, 0, 4).unwrap());
        for error in [
            session.int(all, 0, 2).map(|_| ()),
            session.decimal(all, 0, 4).map(|_| ()),
            session.text(all, 0, 1).map(|_| ()),
        ] {
            let error = error.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Protocol);
            assert!(error.to_string().contains("statement get"), "{error}");
        }
        assert_eq!(session.int(all, 2, 0).unwrap_err().kind, ErrorKind::Database);
        session.close().await;
    });
    assert_eq!(file.number("select balance from account where id = 2"), -4);
}

#[test]
fn an_error_in_the_middle_rolls_back_and_the_session_goes_on() {
    let file = File::new("middle");
    on_runtime(async {
        let mut session = open(&file.wire(5.0)).await;
        session.queue_begin(Access::Write);
        put(&mut session, 1, 1);
        session.queue(FAIL, &[]);
        let after = put(&mut session, 2, 1);
        session.queue_commit();
        let error = session.flush().await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Database);
        assert!(error.to_string().contains("NOT NULL"), "{error}");
        assert!(error.to_string().contains("statement fail"), "{error}");
        assert!(session.affected(after).is_err());
        // Queued and never sent: discarded with the transaction.
        put(&mut session, 3, 1);
        session.recover().await.unwrap();
        session.queue_begin(Access::Write);
        put(&mut session, 4, 1);
        session.queue_commit();
        session.flush().await.unwrap();
        session.recover().await.unwrap();
    });
    assert_eq!(file.number("select 100 * count(*) + max(id) from account"), 104);
}

#[test]
fn two_writers_take_turns_and_a_reader_waits_for_neither() {
    let file = File::new("turns");
    on_runtime(async {
        let wire = file.wire(3_600.0);
        let (mut one, mut two, mut reader) =
            (open(&wire).await, open(&wire).await, open(&wire).await);
        one.queue_begin(Access::Write);
        put(&mut one, 1, 1);
        one.flush().await.unwrap();

        let reached = Rc::new(Cell::new(false));
        let there = Rc::clone(&reached);
        let second = tokio::task::spawn_local(async move {
            two.queue_begin(Access::Write);
            put(&mut two, 2, 1);
            two.queue_commit();
            two.flush().await.unwrap();
            there.set(true);
        });
        // While the second one waits, the thread serves others, who see the previous state.
        for _ in 0..50 {
            reader.queue_begin(Access::Read);
            let rows = reader.queue(GET, &[]);
            reader.queue_commit();
            reader.flush().await.unwrap();
            assert_eq!(reader.rows(rows), 0);
        }
        assert!(!reached.get());
        one.queue_commit();
        one.flush().await.unwrap();
        second.await.unwrap();
        let Embedded { writer, page_cache } = wire.embedded().unwrap();
        assert!(writer.wait_ms.max > 0.0);
        assert!(writer.busy_share > 0.0 && writer.busy_share <= 1.0);
        // Each commit writes the table's page at least; the reader finds its pages in its cache.
        assert!(page_cache.writes >= 2 && page_cache.hits >= 50, "{page_cache:?}");
        assert!(page_cache.misses > 0 && page_cache.bytes_max > 0, "{page_cache:?}");
        assert_eq!(wire.embedded().unwrap().page_cache.hits, 0);
    });
    assert_eq!(file.number("select count(*) from account"), 2);
}

#[test]
fn who_waits_too_long_is_told_and_may_try_again() {
    let file = File::new("timeout");
    on_runtime(async {
        let wire = file.wire(0.02);
        let (mut one, mut two) = (open(&wire).await, open(&wire).await);
        one.queue_begin(Access::Write);
        one.flush().await.unwrap();
        two.queue_begin(Access::Write);
        let error = two.flush().await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::LockTimeout, "{error}");
        assert!(error.kind.is_retryable());
        assert!(error.to_string().contains("beginning to write"), "{error}");
        two.recover().await.unwrap();
        one.queue_rollback();
        one.flush().await.unwrap();
        two.queue_begin(Access::Write);
        two.queue_commit();
        two.flush().await.unwrap();
    });
}

#[test]
fn a_session_that_is_dropped_while_it_waits_is_gone() {
    let file = File::new("dropped");
    on_runtime(async {
        let wire = file.wire(3_600.0);
        let (mut one, mut two) = (open(&wire).await, open(&wire).await);
        one.queue_begin(Access::Write);
        put(&mut one, 1, 1);
        one.flush().await.unwrap();
        two.queue_begin(Access::Write);
        {
            let waiting = two.flush();
            tokio::select! {
                biased;
                _ = waiting => panic!("the lock is held"),
                () = tokio::task::yield_now() => {}
            }
        }
        assert_eq!(two.flush().await.unwrap_err().kind, ErrorKind::ConnectionLost);
        drop(two); // returns
        drop(one); // rolls back
    });
    assert_eq!(file.number("select count(*) from account"), 0);
}

#[test]
fn a_statement_that_begins_after_the_interruption_ends_with_its_session() {
    let file = File::new("missed");
    let endless = "with recursive up(n) as (select 1 union all select n + 1 from up) \
                   select count(*) from up";
    let mut all = statements();
    all.push(Statement {
        name: "endless",
        sql: endless.into(),
        params: &[],
        returns: &[Type::Int],
    });
    on_runtime(async {
        let mut session = try_open(&file.wire(5.0), all).await.unwrap();
        put(&mut session, 1, 1);
        session.queue(StatementId(4), &[]);
        {
            let mut working = pin!(session.flush());
            // The first one is done, so the second is running.
            while file.number("select count(*) from account") == 0 {
                tokio::select! {
                    biased;
                    _ = &mut working => panic!("it has no end"),
                    () = tokio::task::yield_now() => {}
                }
            }
        }
        session.miss_interruption();
        drop(session); // returns
    });
}

fn refused(file: &File, statements: Vec<Statement>, settings: &serde_json::Value) -> Error {
    let config = json!({"path": file.path, "settings": settings});
    let wire = Sqlite::new(serde_json::from_value(config).unwrap());
    on_runtime(try_open(&wire, statements)).unwrap_err()
}

#[test]
fn what_cannot_be_driven_is_told_at_once() {
    let file = File::new("wrong");
    let mut other = statements();
    other[1].returns = &[Type::Int];
    let error = refused(&file, other, &json!({}));
    assert_eq!(error.kind, ErrorKind::Usage);
    assert!(error.to_string().contains("statement get should return"), "{error}");

    let error = refused(&file, statements(), &json!({"synchronous": 9}));
    assert_eq!(error.kind, ErrorKind::Usage, "{error}");

    file.execute("alter table account rename to other");
    file.execute("create table account (id integer, balance real, name text, opened text, note)");
    let error = refused(&file, statements(), &json!({}));
    assert_eq!(error.kind, ErrorKind::Usage);
    assert!(error.to_string().to_lowercase().contains("real"), "{error}");

    file.execute("drop table account");
    let error = refused(&file, statements(), &json!({}));
    assert_eq!(error.kind, ErrorKind::Usage);
    assert!(error.to_string().contains("no such table: account; load the workload"), "{error}");

    std::fs::write(&file.path, [b'x'; 5000]).unwrap();
    assert_eq!(refused(&file, statements(), &json!({})).kind, ErrorKind::Io);
    std::fs::remove_file(&file.path).unwrap();
    let error = refused(&file, statements(), &json!({}));
    assert_eq!(error.kind, ErrorKind::Io, "{error}");
    assert!(!file.path.exists(), "a file was made");
}
