//! Statements that are left out or replaced so that sessions commit what they did.

use super::*;

/// The texts to replay.
fn texts(select: &serde_json::Value) -> Vec<String> {
    let select: plan::Selection = serde_json::from_value(select.clone()).unwrap();
    let mut chosen = select.chosen().unwrap();
    let mut found = Vec::new();
    while let Some(next) = chosen.next().unwrap() {
        if let Found::Run { ran, .. } = next {
            found.push(ran.sql);
        }
    }
    found
}

#[test]
fn only_what_a_session_prepared_by_sql_is_dropped() {
    let rows = [
        (0.0, "a.1", "shop", "statement: BEGIN"),
        (0.1, "a.1", "shop", "execute pdo_stmt_1: select 1"),
        (0.2, "a.1", "shop", "statement: DEALLOCATE pdo_stmt_1"),
        (0.3, "a.1", "shop", "statement: PREPARE own (int) AS select $1"),
        (0.4, "a.2", "shop", "statement: DEALLOCATE own"),
        (0.5, "a.1", "shop", "statement: DEALLOCATE PREPARE \"own\""),
        (0.6, "a.1", "shop", "statement: DEALLOCATE own"),
        (0.7, "a.1", "shop", "statement: DEALLOCATE ALL"),
        (0.8, "a.1", "shop", "statement: COMMIT"),
    ];
    let path = said("deallocate", &rows);
    let select = json!({"log": path, "writes": true});
    let (run, found) = (lines(&select), scanned(&select));
    std::fs::remove_file(path).unwrap();
    assert_eq!(run, [1, 2, 4, 6, 8, 9]);
    assert_eq!(found.left_out[&chosen::Reason::Prepared], (3, 3));
}

#[test]
fn transactions_in_two_phases_end_when_they_did() {
    let rows = [
        (0.0, "a.1", "shop", "statement: BEGIN"),
        (0.1, "a.1", "shop", "statement: update t set a = 1"),
        (0.2, "a.1", "shop", "statement: PREPARE TRANSACTION 'x'"),
        (0.3, "a.1", "shop", "statement: COMMIT PREPARED 'x'"),
    ];
    let path = said("phases", &rows);
    let run = texts(&json!({"log": path, "writes": true}));
    std::fs::remove_file(path).unwrap();
    assert_eq!(run, ["BEGIN", "update t set a = 1", "commit"]);
    let rows = [
        (1, "Query", "XA START 'x'"),
        (1, "Query", "update t set a = 1"),
        (1, "Query", "XA END 'x'"),
        (1, "Query", "XA PREPARE 'x'"),
        (1, "Query", "XA COMMIT 'x'"),
        (1, "Query", "XA START 'y'"),
        (1, "Query", "XA ROLLBACK 'y'"),
    ];
    let path = general("xa", &rows);
    let run = texts(&json!({"log": path, "writes": true}));
    std::fs::remove_file(path).unwrap();
    assert_eq!(run, ["begin", "update t set a = 1", "commit", "begin", "rollback"]);
}

#[test]
fn autocommit_is_kept_of_a_set_that_is_left_out() {
    let rows = [
        (1, "Query", "set autocommit=0, sql_mode=concat(@@sql_mode,',STRICT_TRANS_TABLES')"),
        (1, "Query", "set sql_mode = ''"),
        (1, "Query", "set global autocommit = 0"),
        (1, "Query", "rollback"),
        (1, "Execute", "insert into t values (?, '?')"),
        (1, "Query", "insert into t values ('?')"),
    ];
    let path = general("autocommit", &rows);
    let select = json!({"log": path, "writes": true});
    let (run, found) = (texts(&select), scanned(&select));
    std::fs::remove_file(path).unwrap();
    assert_eq!(run, ["set autocommit = 0", "rollback", "insert into t values ('?')"]);
    assert_eq!(found.left_out[&chosen::Reason::Parameters], (1, 5));
    assert_eq!(found.left_out[&chosen::Reason::Pinned], (1, 2));
}

#[test]
fn settings_of_the_application_are_set() {
    let rows = [
        (0.0, "a.1", "shop", "statement: select set_config('app.tenant_id', '7', true)"),
        (0.1, "a.1", "shop", "statement: select set_config('client_encoding', 'LATIN1', false)"),
        (
            0.2,
            "a.1",
            "shop",
            "statement: select set_config('a.b', '1', true), set_config(x, '', true)",
        ),
        (0.3, "a.1", "shop", "statement: select set_config('a.b' || 'c', '1', true)"),
        (0.4, "a.1", "shop", "statement: select SET_CONFIG( 'a.b', '1', true); select 1"),
    ];
    let path = said("config", &rows);
    let run = lines(&json!({"log": path, "writes": true}));
    std::fs::remove_file(path).unwrap();
    assert_eq!(run, [1, 5]);
}
