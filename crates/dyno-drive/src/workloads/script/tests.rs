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
        let place = terminal.draw();
        terminal.draw_inputs(place);
        if place == 0 {
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

#[test]
fn a_statement_takes_as_many_parameters_as_an_operation_has_inputs() {
    let made = |count: usize| {
        let marks: Vec<String> = (1..=count).map(|number| format!("${number}")).collect();
        let step = json!({"name": "s", "sql": format!("select {}", marks.join(", ")),
                          "given": vec!["x"; count]});
        let input = json!({"name": "x", "least": 1, "greatest": 9});
        operation(&json!({"name": "o", "weight": 1, "inputs": [input], "steps": [step]}))
    };
    assert!(made(256).is_ok());
    let error = made(257).unwrap_err();
    assert!(error.message.contains("s has more than 256 parameters"), "{error}");
}

fn operation(operation: &serde_json::Value) -> Result<Scripted> {
    let script = json!({"name": "one", "operations": [operation]});
    serde_json::from_value::<Script>(script).unwrap().workload(1)
}

/// A transfer that needs the row of its first statement in the third.
fn transfer() -> serde_json::Value {
    json!({
        "name": "transfer", "weight": 1,
        "inputs": [{"name": "account", "least": 1, "greatest": 9}],
        "steps": [
            {"name": "ask", "sql": "select b from a where c = $1", "given": ["account"],
             "returns": ["big_int", "rest"], "keeps": ["balance"], "rows": 1},
            {"name": "note", "sql": "insert into n values ($1)", "given": ["account"]},
            {"name": "pay", "sql": "update a set b = $1", "given": ["balance"]},
            {"name": "again", "sql": "insert into n values ($1)", "given": ["account"]},
        ],
    })
}

#[test]
fn a_statement_waits_only_for_the_rows_that_it_needs() {
    let known = operation(&transfer()).unwrap().known;
    let waits = |known: &Known| -> Vec<bool> {
        known.operations[0].steps.iter().map(|step| step.waits).collect()
    };
    assert_eq!(waits(known), [false, false, true, false]);
    let mut alone = transfer();
    alone["waits"] = json!(true);
    assert_eq!(waits(operation(&alone).unwrap().known), [false, true, true, true]);
}

#[test]
fn steps_with_the_same_text_share_a_statement() {
    let workload = operation(&transfer()).unwrap();
    assert_eq!(workload.statements(Dialect::Postgres).len(), 3);
    let known = workload.known;
    assert_eq!(known.operations[0].steps[1].id, known.operations[0].steps[3].id);
    assert_eq!(known.variables, 2);
}

#[test]
fn values_that_are_not_there_are_refused() {
    let mut late = transfer();
    late["steps"].as_array_mut().unwrap().reverse();
    let mut twice = transfer();
    twice["steps"][1]["returns"] = json!(["int"]);
    twice["steps"][1]["keeps"] = json!(["balance"]);
    let mut undeclared = transfer();
    undeclared["steps"][0]["returns"] = json!(["rest"]);
    for (wrong, named) in [(late, "no input \"balance\""), (twice, "twice"), (undeclared, "ask")] {
        let error = operation(&wrong).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
        assert!(error.message.contains(named), "{error}");
    }
}

#[test]
fn sequences_go_on_across_operations_and_latest_stays_below() {
    let sequence = json!({"sequence": {"name": "s", "first": 5}});
    let latest = json!({"latest": {"sequence": "s", "first": 5, "least": 1, "exponent": 0.99}});
    let made = |name: &str| {
        json!({
            "name": name, "weight": 1,
            "inputs": [
                {"name": "new", "draw": sequence, "kind": "big_int"},
                {"name": "old", "draw": latest, "kind": "big_int"},
            ],
            "steps": [{"name": name, "sql": "select $1, $2", "given": ["new", "old"],
                       "returns": ["rest"]}],
        })
    };
    let script = json!({"name": "sequences", "operations": [made("a"), made("b")]});
    let script: Script = serde_json::from_value(script).unwrap();
    let found = preview(&script, 1, 200).unwrap();
    for (number, each) in found.iter().enumerate() {
        let values: Vec<i64> = each
            .values
            .iter()
            .map(|(_, value)| match value {
                preview::Drawn::Number(number) => *number,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(values[0], 5 + number as i64);
        assert!((1..=values[0]).contains(&values[1]), "{values:?}");
    }
    assert!(found.iter().any(|each| each.operation == "b"));
}

/// The next numbers of a kept sequence and of one that begins anew, in a level.
fn numbers(key: Option<&str>, first: i64) -> [Cell; 2] {
    let sequence = |name: &str, first: i64| {
        let draw = json!({"sequence": {"name": name, "first": first}});
        json!({"name": name, "draw": draw, "kind": "big_int"})
    };
    let operation = json!({
        "name": "add", "weight": 1, "inputs": [sequence("kept", 1), sequence("anew", first)],
        "steps": [{"name": "add", "sql": "insert into n values ($1, $2)",
                   "given": ["kept", "anew"]}],
    });
    let lasting = key.map_or(json!({}), |key| json!({"kept": key}));
    let script = json!({"name": "counted", "operations": [operation], "lasting": lasting});
    let script: Script = serde_json::from_value(script).unwrap();
    let mut terminal = script.workload(1).unwrap().terminal(0);
    terminal.draw();
    terminal.draw_inputs(0);
    [terminal.cells[0], terminal.cells[1]]
}

#[test]
fn a_sequence_goes_on_under_its_key_only() {
    let drawn = [
        numbers(Some("run 1, a"), 1),
        numbers(Some("run 1, a"), 8),
        numbers(Some("run 1, a"), 8),
        numbers(Some("run 1, b"), 8),
        numbers(Some("run 2, a"), 8),
        numbers(None, 8),
        numbers(None, 8),
    ];
    let expected = [[1, 1], [2, 8], [3, 8], [1, 8], [1, 8], [1, 8], [1, 8]];
    assert_eq!(drawn, expected.map(|pair| pair.map(Cell::Number)));
}

/// Inserts the numbers of a sequence.
fn adding(sequence: &str) -> Scripted {
    let draw = json!({"sequence": {"name": sequence, "first": 1}});
    operation(&json!({
        "name": "add", "weight": 1, "inputs": [{"name": "id", "draw": draw, "kind": "big_int"}],
        "steps": [{"name": "add", "sql": "insert into n values ($1)", "given": ["id"]}],
    }))
    .unwrap()
}

#[test]
fn users_of_a_level_share_its_sequences() {
    let workload = adding("shared");
    let drawn = [0, 1].map(|user| {
        let mut terminal = workload.terminal(user);
        terminal.draw();
        terminal.draw_inputs(0);
        terminal.cells[0]
    });
    assert_eq!(drawn, [1, 2].map(Cell::Number));
}

#[test]
fn a_user_who_thinks_holds_no_number() {
    let workload = adding("held");
    let [mut thinks, mut runs] = [0, 1].map(|user| workload.terminal(user));
    thinks.draw();
    runs.draw();
    runs.draw_inputs(0);
    assert_eq!(runs.cells[0], Cell::Number(1));
}

#[test]
fn statements_that_were_committed_alone_do_not_run_again() {
    let steps = |count: usize| {
        let step = |name| json!({"name": name, "sql": "update n set n = n + 1"});
        let steps: Vec<_> = ["add", "again"].into_iter().take(count).map(step).collect();
        let one = json!({"name": "add", "weight": 1, "bare": true, "steps": steps});
        let mut terminal = operation(&one).unwrap().terminal(0);
        terminal.draw();
        terminal.can_repeat()
    };
    assert!(steps(1));
    assert!(!steps(2));
}

#[test]
fn the_latest_number_is_one_that_nobody_still_inserts() {
    let sequence = json!({"sequence": {"name": "ids", "first": 101}});
    let latest = json!({"latest": {"sequence": "ids", "first": 101, "least": 1, "exponent": 9.0}});
    let workload = operation(&json!({
        "name": "read", "weight": 1,
        "inputs": [{"name": "new", "draw": sequence, "kind": "big_int"},
                   {"name": "id", "draw": latest, "kind": "big_int"}],
        "steps": [{"name": "read", "sql": "select 1 where $1 > $2", "given": ["new", "id"]}],
    }))
    .unwrap();
    let mut users: Vec<_> = (0..5).map(|user| workload.terminal(user)).collect();
    for user in &mut users {
        user.draw();
        user.draw_inputs(0);
    }
    // 101 to 105 are drawn, and none of them is inserted.
    let Cell::Number(id) = users[4].cells[1] else { panic!("no number") };
    assert!((90..=100).contains(&id), "{id}");
}

#[test]
fn the_latest_number_is_below_all_that_other_users_draw_at_once() {
    let sequence = json!({"sequence": {"name": "ids", "first": 101}});
    let latest = json!({"latest": {"sequence": "ids", "first": 101, "least": 1, "exponent": 9.0}});
    let workload = operation(&json!({
        "name": "read", "weight": 1,
        "inputs": [{"name": "one", "draw": sequence, "kind": "big_int"},
                   {"name": "two", "draw": sequence, "kind": "big_int"},
                   {"name": "id", "draw": latest, "kind": "big_int"}],
        "steps": [{"name": "read", "sql": "select 1 where $1 > $2 + $3",
                   "given": ["one", "two", "id"]}],
    }))
    .unwrap();
    let mut users: Vec<_> = (0..5).map(|user| workload.terminal(user)).collect();
    for user in &mut users {
        user.draw();
        user.draw_inputs(0);
    }
    // 101 to 110 are drawn, two by each user, and none of them is inserted.
    let Cell::Number(id) = users[4].cells[2] else { panic!("no number") };
    assert!((90..=100).contains(&id), "{id}");
}

#[test]
fn draws_outside_of_what_is_possible_are_refused() {
    for draw in [
        json!({"uniform": {"least": 2, "greatest": 1}}),
        json!({"uniform": {"least": i64::MIN, "greatest": i64::MAX}}),
        json!({"zipf": {"least": 1, "greatest": 9, "exponent": 0.0}}),
        json!({"zipf": {"least": 0, "greatest": i64::MAX, "exponent": 1.0}}),
        json!({"nurand": {"least": 1, "greatest": 9, "a": 3, "c": 4}}),
        json!({"latest": {"sequence": "s", "first": 1, "least": 1, "exponent": 1.0}}),
        json!({"pool": "none"}),
        json!({"letters": {"least": 2, "greatest": 1}}),
    ] {
        let input = json!({"name": "x", "draw": draw});
        let step = json!({"name": "s", "sql": "select $1", "given": ["x"]});
        let one = json!({"name": "o", "weight": 1, "inputs": [input], "steps": [step]});
        let error = operation(&one).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
        assert!(error.message.contains("input x"), "{error}");
    }
}

#[test]
fn values_fit_their_type_or_are_refused() {
    for (cell, kind, expected) in [
        (Cell::Number(7), Type::Int, Some(Value::Int(7))),
        (Cell::Number(1 << 40), Type::Int, None),
        (Cell::Number(1 << 40), Type::BigInt, Some(Value::BigInt(1 << 40))),
        (Cell::Number(125), Type::Decimal(2), Some(Value::cents(125))),
        (Cell::Text, Type::Text, Some(Value::Text("x"))),
        (Cell::Text, Type::Int, None),
        (Cell::Number(7), Type::Text, None),
        (Cell::Null, Type::Text, Some(Value::Null)),
    ] {
        assert_eq!(cell.value(kind, "x"), expected);
    }
}

#[test]
fn expected_rows_are_a_number_or_a_range() {
    let rows = |value| serde_json::from_value::<Rows>(value).unwrap();
    assert!(rows(json!(1)).contains(1) && !rows(json!(1)).contains(0));
    let range = rows(json!([0, 2]));
    assert!(range.contains(0) && range.contains(2) && !range.contains(3));
    assert_eq!(range.to_string(), "0 to 2");
}
