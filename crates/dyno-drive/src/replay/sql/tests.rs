use super::*;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

fn class(sql: &str) -> String {
    let mut reader = Reader::new(Dialect::Postgres);
    reader.read(sql);
    reader.text().to_owned()
}

fn kind(sql: &str) -> Kind {
    Reader::new(Dialect::Postgres).read(sql).0
}

fn mysql(sql: &str) -> Kind {
    Reader::new(Dialect::Mysql).read(sql).0
}

#[test]
fn a_class_is_a_statement_without_literals() {
    for (sql, expected) in [
        ("SELECT  abalance FROM t WHERE aid=5;", "select abalance from t where aid = ?"),
        ("select abalance from t where aid = $1", "select abalance from t where aid = ?"),
        (
            "select abalance\nfrom t -- 7\nwhere/* x */aid = 'o''x'",
            "select abalance from t where aid = ?",
        ),
        (
            "select * from t where a in (1, 2, 3) and b=1.5e-7",
            "select * from t where a in (?) and b = ?",
        ),
        ("insert into t values (1, 'a'), (2, 'b'), (3, E'\\'')", "insert into t values (?)"),
        ("select count(*), \"Q\".x from s.\"Q\"", "select count(*), \"Q\".x from s.\"Q\""),
        ("select $tag$ it's $$ ; $tag$, x::int", "select ?, x::int"),
    ] {
        assert_eq!(class(sql), expected, "{sql}");
    }
}

#[test]
fn the_sign_of_a_number_belongs_to_it() {
    for (sql, expected) in [
        ("select -1", "select ?"),
        ("update t set a = a + -5, b=-.5", "update t set a = a + ?, b = ?"),
        ("update t set a = a - -5 where b in (-1, 2, +3)", "update t set a = a - ? where b in (?)"),
        ("insert into t values (1, -2), (-3, 4)", "insert into t values (?)"),
        ("select a where b between - 1 AND -2", "select a where b between ? and ?"),
        ("select a[-1], b::int - 1", "select a[?], b::int - ?"),
        ("select a - 1, (b) - 4, c - -5", "select a - ?, (b) - ?, c - ?"),
        ("select 2 - 3 + $1 - 4", "select ? - ? + ? - ?"),
        ("select \"a\" -1, t.all - 1, -a, -$1", "select \"a\" - ?, t.all - ?, - a, - ?"),
        (
            "select \"interval\".a, interval - 1 from t",
            "select \"interval\".a, interval - ? from t",
        ),
        ("select 'a' -1, current_date - 1", "select ? - ?, current_date - ?"),
    ] {
        assert_eq!(class(sql), expected, "{sql}");
    }
    let mut reader = Reader::new(Dialect::Mysql);
    reader.read("select now() + interval -7 day, `a` -1, @b -1, c--1");
    assert_eq!(reader.text(), "select now() + interval ? day, `a` - ?, @ b - ?, c - ?");
}

#[test]
fn kinds_by_words() {
    for (sql, expected) in [
        ("", Kind::Read),
        ("-- ping", Kind::Read),
        ("select 1; select 2", Kind::Read),
        ("(select 1) union ((select 2))", Kind::Read),
        ("alter table t add user int", Kind::Ddl),
        ("with x as (select 1) select * from x", Kind::Read),
        ("select t.update, replace(a, 'b', 'c') from t", Kind::Read),
        ("select 'drop table t'", Kind::Read),
        ("BEGIN ISOLATION LEVEL SERIALIZABLE", Kind::Control),
        ("rollback to savepoint a", Kind::Control),
        ("commit transaction", Kind::Control),
        ("rollback transaction", Kind::Control),
        ("set search_path = x", Kind::Session),
        ("set app.role = 'x'", Kind::Session),
        ("set constraints all deferred", Kind::Session),
        ("declare c cursor for select 1", Kind::Session),
        ("select * from t for update", Kind::Write),
        ("with x as (delete from t returning *) select * from x", Kind::Write),
        ("with x as (insert into t values (1) returning *) select * from x", Kind::Write),
        ("explain analyze update t set a = 1", Kind::Write),
        ("call p()", Kind::Write),
        ("prepare p as delete from t", Kind::Write),
        ("select 1; update t set a = 1", Kind::Write),
        ("select * into t2 from t", Kind::Ddl),
        ("create table t (a int)", Kind::Ddl),
        ("select 1; /* ; */ drop table t", Kind::Ddl),
        ("create user u password 'x'", Kind::Never),
        ("alter system set fsync = off", Kind::Never),
        ("create or replace language x", Kind::Never),
        ("grant all on t to u", Kind::Never),
        ("copy t to program 'x'", Kind::Never),
        ("set role postgres", Kind::Never),
        ("set session authorization x", Kind::Never),
        ("set \"role\" = x", Kind::Never),
        ("set U&\"\\0072ole\" = x", Kind::Never),
        ("set session_authorization = x", Kind::Never),
        ("commit prepared 'x'", Kind::Never),
        ("prepare transaction 'x'", Kind::Never),
        ("do $$ begin execute 'drop table t'; end $$", Kind::Never),
        ("create function f() returns int language sql as 'select 1'", Kind::Never),
        ("create foreign table t (a int) server s options (program 'x')", Kind::Never),
        ("use other", Kind::Never),
        ("select 'open", Kind::Never),
        ("select $a$ open", Kind::Never),
        ("/* open", Kind::Never),
        ("nonsense", Kind::Never),
    ] {
        assert_eq!(kind(sql), expected, "{sql}");
    }
}

#[test]
fn explain_runs_the_statement_that_it_explains() {
    for (sql, expected) in [
        ("explain select 1", Kind::Read),
        ("explain (analyze, format json) (select 1)", Kind::Read),
        ("explain analyze create table t as select 1", Kind::Ddl),
        ("explain (analyze) create materialized view v as select 1", Kind::Ddl),
        ("explain analyze verbose refresh materialized view v", Kind::Ddl),
        ("explain analyze select * into t2 from t", Kind::Ddl),
        ("explain (analyze) delete from t", Kind::Write),
        ("explain analyze execute p", Kind::Write),
    ] {
        assert_eq!(kind(sql), expected, "{sql}");
    }
    assert_eq!(mysql("explain format = json update t set a = 1"), Kind::Write);
    assert_eq!(mysql("describe t"), Kind::Read);
}

#[test]
fn settings_that_reading_relies_on_are_pinned() {
    for sql in [
        "set standard_conforming_strings = off",
        "set local \"standard_conforming_strings\" = off",
        "select 1; reset standard_conforming_strings",
        "set names 'sjis'",
        "set client_encoding to 'sjis'",
        "set transaction_read_only = off",
        "reset all",
        "discard all",
        "select pg_catalog.set_config('standard_conforming_strings', 'off', false)",
        "update pg_settings set setting = 'off'",
        "with x as (select 1) update pg_catalog.pg_settings set setting = 'off'",
    ] {
        assert_eq!(kind(sql), Kind::Pinned, "{sql}");
    }
    for sql in [
        "set session sql_mode = ''",
        "set autocommit = 1, @@session.sql_mode = 'ANSI_QUOTES'",
        "set @@session . `sql_mode` = 'ANSI_QUOTES'",
        "set names gbk",
        "set character set gbk",
        "set @@character_set_client = gbk",
        "set tx_read_only = 0",
        "set @@session.transaction_read_only = 0",
    ] {
        assert_eq!(mysql(sql), Kind::Pinned, "{sql}");
    }
    assert_eq!(kind("select name from pg_settings"), Kind::Read);
    assert_eq!(mysql("select @@session.sql_mode"), Kind::Read);
    assert_eq!(mysql("set @role = 1, @names = 2"), Kind::Session);
}

#[test]
fn what_makes_a_session_writable_is_seen() {
    for sql in [
        "begin read write",
        "start transaction isolation level serializable, read write",
        "set transaction read write",
        "set session characteristics as transaction read write",
        "set session transaction read write",
        "select 1; set transaction read write; select 2",
    ] {
        for dialect in [Dialect::Postgres, Dialect::Mysql] {
            let mut reader = Reader::new(dialect);
            assert!(reader.read(sql).0 <= Kind::Session, "{sql}");
            assert!(reader.unlocks(), "{sql}");
            reader.read("select write from t");
            assert!(!reader.unlocks());
        }
    }
}

#[test]
fn texts_that_servers_read_in_different_ways_are_not_replayed() {
    for sql in [
        // A text continues on the next line with its escapes.
        "select E'a'\n'\\', '; drop table t; --'",
        "select E'a' -- x\n'\\', '; drop table t; --'",
        // Versions before 15 end the number before the letter.
        "select 1e'\\', '; drop table t; --'",
        "select 1e$a$ ; drop table t; -- $a$",
    ] {
        assert_eq!(kind(sql), Kind::Never, "{sql}");
    }
    for sql in [
        "/*!50000 drop */ table t",
        "/*!999999 select 1 */ drop table t",
        "/*!999999 ' */ drop table t -- '",
        "/*M! ' */ drop table t -- '",
    ] {
        assert_eq!(mysql(sql), Kind::Never, "{sql}");
    }
}

#[test]
fn comments_end_where_the_server_ends_them() {
    assert_eq!(kind("select 1 --\r; drop table t"), Kind::Ddl);
    assert_eq!(kind("select 1 --\r; copy t to program 'x'"), Kind::Never);
    assert_eq!(kind("select 1e--'\n; drop table t; --'"), Kind::Ddl);
    assert_eq!(mysql("select 1 -- \r '\n"), Kind::Read);
}

#[test]
fn statements_that_a_general_log_shows_twice() {
    let used = |name: &str| Some(Aside::Use(name.to_owned()));
    assert_eq!(aside("USE shop;"), used("shop"));
    assert_eq!(aside("/* x */ use `a``b` "), used("a`b"));
    assert_eq!(aside("use 2shop"), used("2shop"));
    assert_eq!(aside("EXECUTE p USING @a"), Some(Aside::Prepared));
    assert_eq!(aside("prepare p from 'select 1'"), Some(Aside::Prepared));
    assert_eq!(aside("select 1"), None);
}

#[test]
fn kinds_of_mysql() {
    for (sql, expected) in [
        ("select `update` from t # x", Kind::Read),
        ("select \"drop\", 'a\\'' from t", Kind::Read),
        ("select a into @x from t", Kind::Read),
        ("select 1 -- x", Kind::Read),
        ("set @a = 1", Kind::Session),
        ("set autocommit = 0", Kind::Session),
        ("set @a = (select a from t limit 1 for update)", Kind::Write),
        ("replace into t values (1)", Kind::Write),
        ("select * from t lock in share mode", Kind::Write),
        ("set global max_connections = 1", Kind::Never),
        ("set @@global.max_connections = 1", Kind::Never),
        ("select * from t into outfile '/tmp/x'", Kind::Never),
        ("load data infile 'x' into table t", Kind::Never),
        ("kill 5", Kind::Never),
        ("start slave", Kind::Never),
        ("reset master", Kind::Never),
        ("drop schema shop", Kind::Never),
        ("create definer = 'root'@'localhost' view v as select 1", Kind::Never),
        ("set statement max_statement_time = 1 for delete from t", Kind::Never),
        ("set statement max_statement_time = 1 for select * from t into outfile 'x'", Kind::Never),
        ("set @a = 1, role admin", Kind::Never),
        ("set `role` = admin", Kind::Never),
        ("prepare p from 'drop table t'", Kind::Never),
        ("execute p", Kind::Never),
        ("execute immediate 'drop table t'", Kind::Never),
        ("begin not atomic drop table t; end", Kind::Never),
    ] {
        assert_eq!(mysql(sql), expected, "{sql}");
    }
}

#[test]
fn texts_begin_and_end_transactions() {
    for (text, expected) in [
        ("begin", Turn::Begins),
        ("start transaction read only", Turn::Begins),
        ("begin; update t set a = ?", Turn::Begins),
        ("begin; update t set a = ?; commit", Turn::Ends),
        ("commit and chain", Turn::Begins),
        ("commit and no chain", Turn::Ends),
        ("rollback", Turn::Ends),
        ("rollback to savepoint s", Turn::Stays),
        ("savepoint s", Turn::Stays),
        ("update t set a = ?", Turn::Stays),
        ("", Turn::Stays),
    ] {
        assert_eq!(turn(text), expected, "{text}");
    }
}

#[test]
fn parameters_are_numbered() {
    assert_eq!(parameters("select $1, '$9', $2 -- $3"), 2);
    assert_eq!(parameters("select 1"), 0);
}

proptest! {
    #[test]
    fn any_text_has_an_end(sql in "\\PC{0,60}") {
        for dialect in [Dialect::Postgres, Dialect::Mysql] {
            let mut reader = Reader::new(dialect);
            let first = reader.read(&sql);
            prop_assert_eq!(first, reader.read(&sql));
            prop_assert!(reader.text().len() <= LONGEST_TEXT);
        }
    }

    #[test]
    fn literals_do_not_change_the_class(text in "[^']{0,20}", number in 0u32..1000) {
        let sql = format!("select a from t where b = '{text}' and c = {number}");
        prop_assert_eq!(class(&sql), "select a from t where b = ? and c = ?");
    }
}
