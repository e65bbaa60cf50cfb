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
        ("set search_path = x", Kind::Session),
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
        ("set standard_conforming_strings = off", Kind::Never),
        ("commit prepared 'x'", Kind::Never),
        ("select 'open", Kind::Never),
        ("select $a$ open", Kind::Never),
        ("/* open", Kind::Never),
        ("nonsense", Kind::Never),
    ] {
        assert_eq!(kind(sql), expected, "{sql}");
    }
}

#[test]
fn kinds_of_mysql() {
    for (sql, expected) in [
        ("select `update` from t # x", Kind::Read),
        ("select \"drop\", 'a\\'' from t", Kind::Read),
        ("select a into @x from t", Kind::Read),
        ("select 1 -- x", Kind::Read),
        ("set @a = 1", Kind::Session),
        ("set session sql_mode = ''", Kind::Session),
        ("replace into t values (1)", Kind::Write),
        ("select * from t lock in share mode", Kind::Write),
        ("/*!50000 drop */ table t", Kind::Ddl),
        ("set global max_connections = 1", Kind::Never),
        ("set @@global.max_connections = 1", Kind::Never),
        ("select * from t into outfile '/tmp/x'", Kind::Never),
        ("load data infile 'x' into table t", Kind::Never),
        ("kill 5", Kind::Never),
        ("start slave", Kind::Never),
    ] {
        assert_eq!(mysql(sql), expected, "{sql}");
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
