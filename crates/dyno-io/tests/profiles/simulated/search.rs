//! Searches, steady state and stages.

use std::path::Path;

use dyno_io::{Outcome, Step, Topic};
use dyno_record::Control;
use serde_json::{Value, json};

use crate::plans::{self, curve, run, with};

fn plan(model: Value, steps: Value) -> Value {
    let plan = plans::plan(Path::new("/nowhere"), &steps);
    with(plan, json!({"engine": "null", "null": model}))
}

fn simulate(plan: Value) -> (Outcome, Vec<Value>) {
    let control = Control::new();
    let (outcome, lines) = run(plan, &control);
    let progress = control.progress();
    assert!(outcome.is_err() || progress.done == progress.total, "{progress:?}");
    (outcome.unwrap(), lines)
}

fn random(change: Value) -> Value {
    with(json!({"pattern": "random", "block_bytes": 8192, "queue_depths": [1]}), change)
}

fn searched(job: Value, search: Value) -> Value {
    json!([curve("r", job, json!({"seconds": 1, "search": search}))])
}

fn loads(lines: &[Value], purpose: &str) -> Vec<u64> {
    let of = lines.iter().filter(|line| line["purpose"] == purpose);
    of.map(|line| line["queue_depth"].as_u64().unwrap()).collect()
}

#[test]
fn the_search_stops_where_the_device_is_saturated() {
    let model = json!({"read_us": 1000, "channels": 4});
    let (outcome, lines) = simulate(plan(model, searched(random(json!({})), json!({}))));
    let found = serde_json::to_value(&outcome.searches).unwrap();
    let expected = json!({"best": 4.0, "outside": null, "confirmed": true, "windows": 8,
                          "stopped": "saturated"});
    assert_eq!(found, json!({"r": {"0": expected}}));
    assert_eq!(loads(&lines, "grow"), [1, 2, 4, 8, 16, 32]);
    assert_eq!(loads(&lines, "confirm"), [4, 4]);
    // Levels count windows, and the best step is the first one at the best load.
    let levels: Vec<_> = lines.iter().map(|line| line["level"].as_u64().unwrap()).collect();
    assert_eq!(levels, (0..8).collect::<Vec<_>>());
    assert_eq!(outcome.best["r"], 2);
}

#[test]
fn the_search_finds_the_edge_of_the_ceiling_of_all_targets_and_jobs() {
    // Each of two targets serves 40 at once in 1 ms, so a depth of up to 80 takes 2 ms.
    let model = json!({"read_us": 1000, "write_us": 1000, "sync_us": 1000, "channels": 40});
    let jobs = json!([
        with(random(json!({"queue_depths": [2]})), json!({"name": "data"})),
        {"name": "log", "pattern": "sequential", "block_bytes": 4096, "read_percent": 0,
         "queue_depths": [1], "sync": {}, "targets": ["a"]},
    ]);
    let steps = json!([{"name": "oltp", "jobs": jobs, "seconds": 1, "search": {"most": 500}}]);
    let targets = json!([{"name": "a", "directory": "/a"}, {"name": "b", "directory": "/b"}]);
    let plan = with(plan(model, steps), json!({"targets": targets, "ceiling_ms": 2.001}));
    let (outcome, lines) = simulate(with(plan, json!({"ceiling_of": "p99"})));
    let found = outcome.searches["oltp"][&0];
    // 40 on each target yield 80,000 per second, the maximum; 80 on one take 2 ms.
    let best = found.best.unwrap();
    assert!(found.confirmed && found.outside.is_some_and(|outside| outside > 150.0), "{found:?}");
    assert!(loads(&lines, "grow").iter().all(|depth| depth % 2 == 1), "2 × data and 1 × log");
    let step = &outcome.steps[outcome.best["oltp"]];
    assert_eq!(step.figures.queue_depth, best as u32);
    assert!(step.figures.iops > 0.95 * 80_000.0 && step.figures.inside_ceiling, "{step:?}");
}

#[test]
fn a_rate_can_be_searched_for() {
    let job = random(json!({"queue_depths": [64],
                            "rate": {"per_second": [100], "arrivals": "fixed"}}));
    let model = json!({"read_us": 1000, "channels": 4});
    let (outcome, lines) = simulate(plan(model, searched(job, json!({"most": 100_000}))));
    let found = outcome.searches["r"][&0];
    let (best, outside) = (found.best.unwrap(), found.outside.unwrap());
    // 4,000 per second are possible; slightly more stays below 20 ms for a second.
    assert!((3800.0..4150.0).contains(&best) && outside > best && found.confirmed, "{found:?}");
    let step = &outcome.steps[outcome.best["r"]];
    assert_eq!(step.figures.rate, Some(best));
    assert!(lines.iter().all(|line| line["queue_depth"] == 64));
}

#[test]
fn a_search_never_asks_for_more_than_a_step_can_have() {
    let job = random(json!({"block_bytes": 1 << 20}));
    let model = json!({"read_us": 1000, "channels": 4096});
    let plan = plan(model, searched(job, json!({"most": 4096})));
    let targets = json!([{"directory": "/nowhere", "bytes": 1 << 30}]);
    let (outcome, lines) = simulate(with(plan, json!({"targets": targets})));
    assert_eq!(loads(&lines, "grow").last(), Some(&1024), "1 GiB of buffers");
    assert_eq!(outcome.searches["r"][&0].best, Some(1024.0));
}

#[test]
fn windows_are_repeated_until_they_are_steady() {
    let settle = |job: Value, rules: Value| {
        let change = json!({"seconds": 0.5, "warmup_seconds": 0, "settle": rules});
        simulate(plan(json!({}), json!([curve("s", random(job), change)])))
    };
    let (outcome, lines) = settle(json!({}), json!({}));
    assert_eq!((lines.len(), outcome.settled["s"], outcome.best["s"]), (5, true, 4));
    assert_eq!(loads(&lines, "settle"), [1; 5]);
    // 50 random arrivals per window: five windows with almost the same number are rare.
    let (outcome, lines) = settle(
        json!({"rate": {"per_second": [100]}}),
        json!({"within_percent": 0.1, "slope_percent": 0.1, "most": 7}),
    );
    assert_eq!((lines.len(), outcome.settled["s"]), (7, false));
    let notes = outcome.notes.as_slice();
    assert!(notes[0].text.contains("not steady after 7 windows"), "{notes:?}");
    assert_eq!((notes.len(), notes[0].code), (1, Topic::Unsettled));
}

#[test]
fn every_stage_runs_every_curve_and_is_told() {
    let steps = json!([
        curve("list", random(json!({"queue_depths": [1, 2]})), json!({"seconds": 0.5})),
        curve("find", random(json!({})), json!({"seconds": 0.5, "search": {"most": 8}})),
    ]);
    let targets = json!([
        {"name": "grows", "directory": "/a", "stages": [1 << 20, 1 << 21, 1 << 22]},
        {"name": "stays", "directory": "/b", "bytes": 1 << 20},
    ]);
    let parts = std::env::temp_dir().join(format!("dyno-io-parts-{}", std::process::id()));
    let change = json!({"targets": targets, "repeat": 3, "volume": "a+b", "parts": parts});
    let (outcome, lines) = simulate(with(plan(json!({"channels": 2}), steps), change));
    assert_eq!(outcome.targets[0].bytes, 1 << 22);
    let of = |stage: usize, name: &str| {
        let wanted = |step: &&Step| step.stage == stage && step.phase == name;
        outcome.steps.iter().filter(wanted).map(|step| step.level).collect::<Vec<_>>()
    };
    for stage in 0..3 {
        assert_eq!(of(stage, "list"), [0, 1]);
        assert_eq!(of(stage, "find").len(), outcome.searches["find"][&stage].windows);
    }
    for (line, step) in lines.iter().zip(&outcome.steps) {
        assert_eq!((&line["stage"], &line["repeat"]), (&json!(step.stage), &json!(3)));
        assert_eq!((&line["volume"], &line["arm"]), (&json!("a+b"), &json!("a+b")));
        assert_eq!(line["purpose"], step.purpose.as_str());
    }
    for line in plans::lines(&parts) {
        assert_eq!(line["arm"], "a+b");
        let of_target = ["grows", "stays"].iter().any(|name| line["volume"] == *name);
        assert!(of_target || line["volume"] == "a+b" && !line["job"].is_null(), "{line}");
    }
}
