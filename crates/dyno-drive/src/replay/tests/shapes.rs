use std::fmt::Write as _;

use super::super::shape::Transaction;
use super::super::*;
use serde_json::json;

#[test]
fn statements_between_begin_and_commit_are_one_transaction() {
    let said = [
        ("a.1", "begin"),
        ("a.2", "select 9"),
        ("a.1", "select a from t where b = 1"),
        ("a.1", "update t set a = 2 where b = 1"),
        ("a.1", "update t set a = 3 where b = 2"),
        ("a.2", "select 7"),
        ("a.1", "commit"),
        ("a.1", "begin"),
        ("a.1", "rollback"),
        ("a.1", "start transaction"),
        ("a.1", "select a from t where b = 5"),
        ("a.1", "update t set a = 2 where b = 1"),
        ("a.1", "commit"),
    ];
    let mut text = String::new();
    for (session, sql) in said {
        let row = json!({
            "timestamp": "2026-11-26 14:00:00.000 UTC", "dbname": "shop", "session_id": session,
            "message": format!("statement: {sql}"),
        });
        writeln!(text, "{row}").unwrap();
    }
    let found = shaped("begin", &text);
    let counted: Vec<_> = found.transactions.iter().map(|one| (one.count, one.explicit)).collect();
    assert_eq!(counted, [(2, true), (2, false)]);
    let runs: Vec<_> = found.transactions[0].statements.iter().map(|one| one.runs).collect();
    assert_eq!(runs, [2, 3]);
    assert_eq!(found.transactions[0].statements[0].sql, "select a from t where b = 1");
    assert_eq!(found.rolled_back.0, 1);
}

#[test]
fn a_second_begin_commits_or_goes_on() {
    let said = ["begin", "select a from t", "begin", "select b from t", "commit"];
    let mut text = String::new();
    for sql in said {
        writeln!(text, "261126 14:00:00\t     1 Query\t{sql}").unwrap();
    }
    text.push_str(super::LAST);
    let counted = |found: &Shapes| {
        let lengths: Vec<_> = found.transactions.iter().map(|one| one.statements.len()).collect();
        (lengths, found.rolled_back.0)
    };
    assert_eq!(counted(&shaped("twice-mysql", &text)), (vec![1, 1], 0));
    let mut text = String::new();
    for sql in said {
        let row = json!({
            "timestamp": "2026-11-26 14:00:00.000 UTC", "dbname": "shop", "session_id": "a.1",
            "message": format!("statement: {sql}"),
        });
        writeln!(text, "{row}").unwrap();
    }
    assert_eq!(counted(&shaped("twice-postgres", &text)), (vec![2], 0));
}

#[test]
fn without_autocommit_each_commit_begins_the_next_transaction() {
    let said = [
        (1, "Connect", "app@localhost on shop using TCP/IP"),
        (2, "Connect", "app@localhost on shop using TCP/IP"),
        (1, "Query", "SET @@session.autocommit = OFF"),
        (2, "Query", "set autocommit=1"),
        (1, "Query", "select a from t where b = 1"),
        (2, "Query", "select a from t where b = 2"),
        (1, "Query", "update t set a = 2 where b = 1"),
        (1, "Query", "COMMIT"),
        (1, "Query", "select a from t where b = 3"),
        (1, "Query", "update t set a = 9 where b = 3"),
        (1, "Query", "SET autocommit=1"),
        (1, "Query", "select c from t"),
        (1, "Query", "set autocommit=0, names utf8mb4"),
        (1, "Query", "select d from t"),
        (1, "Query", "rollback"),
        (1, "Query", "delete from t"),
        (1, "Quit", ""),
    ];
    let mut text = String::new();
    for (session, command, argument) in said {
        writeln!(text, "261126 14:00:00\t{session:6} {command}\t{argument}").unwrap();
    }
    let found = shaped("autocommit", &text);
    let shown = |one: &Transaction| {
        let statements: Vec<_> = one.statements.iter().map(|each| each.text.as_str()).collect();
        (one.count, one.explicit, statements.join("; "))
    };
    let counted: Vec<_> = found.transactions.iter().map(shown).collect();
    let both = "select a from t where b = ?; update t set a = ? where b = ?";
    assert_eq!(
        counted,
        [
            (2, true, both.to_owned()),
            (1, false, "select a from t where b = ?".to_owned()),
            (1, false, "select c from t".to_owned()),
            (1, true, "select d from t".to_owned()),
        ]
    );
    assert_eq!(found.rolled_back.0, 1);
}

fn shaped(name: &str, text: &str) -> Shapes {
    let name = format!("dyno-replay-{}-shapes-{name}.log", std::process::id());
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, text).unwrap();
    let plan = serde_json::from_value(json!({"select": {"log": path, "writes": true}})).unwrap();
    let found = shapes(&plan, &Control::new()).unwrap();
    std::fs::remove_file(path).unwrap();
    found
}
