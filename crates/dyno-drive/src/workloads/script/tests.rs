use serde_json::json;

use super::*;
use crate::wire::mysql;

fn script(changes: &serde_json::Value) -> Script {
    let mut operation = json!({
        "name": "pay", "weight": 3, "keying_s": 1,
        "inputs": [
            {"name": "account", "least": 1, "greatest": 9},
            {"name": "cents", "least": 5, "greatest": 5},
        ],
        "steps": [{
            "name": "debit", "sql": "update a set b = b || $1 where c = $2",
            "own": {"mysql": ["update a set b = concat(b, $1)", "select b from a where c = $2"]},
            "given": ["cents", "account"], "rows": 1,
        }, {
            "name": "note", "sql": "insert into n values ($1, $2)", "given": ["now", "account"],
        }],
    });
    for (field, value) in changes.as_object().unwrap() {
        operation[field] = value.clone();
    }
    let look = json!({
        "name": "look", "weight": 1, "thinking_s": 2,
        "steps": [{"name": "all", "sql": "select b from a", "returns": ["int", {"decimal": 2}]}],
    });
    serde_json::from_value(json!({"name": "shop", "operations": [operation, look]})).unwrap()
}

#[test]
fn statements_are_in_the_words_of_the_dialect() {
    let workload = script(&json!({})).workload(1).unwrap();
    let neutral = workload.statements(Dialect::Sqlite);
    let names: Vec<&str> = neutral.iter().map(|statement| statement.name).collect();
    assert_eq!(names, ["debit", "note", "all"]);
    assert_eq!(neutral[0].sql, "update a set b = b || $1 where c = $2");
    assert_eq!(neutral[1].params, [Type::Timestamp, Type::Int]);
    assert_eq!(neutral[2].returns, [Type::Int, Type::Decimal(2)]);
    let own = workload.statements(Dialect::Mysql);
    assert_eq!(mysql::commands(&own[0]).unwrap().len(), 2);
    assert_eq!(own[1].sql, neutral[1].sql);
}

#[test]
fn the_mix_follows_the_weights_and_inputs_their_range() {
    let workload = script(&json!({})).workload(7).unwrap();
    assert_eq!(workload.operations(), ["pay", "look"]);
    let mut terminal = workload.terminal(0);
    let (mut pays, mut seen) = (0, [false; 10]);
    for _ in 0..8_000 {
        if terminal.draw() == 0 {
            pays += 1;
            let Cell::Number(account) = terminal.cells[0] else { panic!("{terminal:?}") };
            seen[account as usize] = true;
            assert_eq!(terminal.cells[1], Cell::Number(5));
        }
        let keyed = if terminal.drawn == Some(0) { 1_000_000_000 } else { 0 };
        assert!((keyed..=keyed + 20_000_000_000).contains(&terminal.pause_ns()));
    }
    // Three in four, within six standard deviations.
    assert!((5_768..=6_232).contains(&pays), "{pays}");
    assert_eq!(seen, [false, true, true, true, true, true, true, true, true, true]);
}

#[test]
fn a_script_is_kept_once() {
    let [one, two] = [1, 2].map(|seed| script(&json!({})).workload(seed).unwrap().known);
    assert!(std::ptr::eq(one, two));
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let step = |given: &[&str]| json!([{"name": "s", "sql": "select $1", "given": given}]);
    for (changes, named) in [
        (json!({"weight": 0}), "shop"),
        (json!({"name": "look"}), "look is there twice"),
        (json!({"keying_s": -1}), "pay has a pause"),
        (json!({"steps": []}), "pay needs 1 to 256 steps"),
        (json!({"inputs": [{"name": "x", "least": 2, "greatest": 1}], "steps": step(&["x"])}), "x"),
        (json!({"steps": step(&["cent"])}), "s has no input \"cent\""),
    ] {
        let error = script(&changes).workload(1).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
        assert!(error.message.contains(named), "{error}");
    }
}
