use serde_json::{Value, json};

use super::*;

fn plan(change: impl FnOnce(&mut Value)) -> Result<Plan, String> {
    let mut value = json!({
        "file_id": "a", "spool": "/tmp/io.jsonl", "clock": {"unix_ns": 0, "monotonic_ns": 0},
        "targets": [{"directory": "/tmp"}],
        "steps": [{"name": "c", "jobs": [
            {"name": "j", "pattern": "random", "block_bytes": 8192, "queue_depths": [8, 1, 8]},
        ]}],
    });
    change(&mut value);
    let plan: Plan = serde_json::from_value(value).map_err(|error| error.to_string())?;
    plan.normalised().map_err(|error| error.to_string())
}

#[test]
fn depths_rise_and_defaults_are_sensible() {
    let plan = plan(|value| value["targets"][0]["bytes"] = json!(100_000)).unwrap();
    let curve = &plan.steps[0];
    assert_eq!(curve.jobs[0].queue_depths, [1, 8]);
    assert_eq!(curve.levels(), 2);
    assert_eq!(curve.level(1), Level { jobs: vec![(8, None)], queue_depth: 8 });
    assert_eq!(plan.targets[0].bytes, Some(98_304));
    assert_eq!((plan.targets[0].name(), plan.label()), ("/tmp", "/tmp".to_owned()));
    assert_eq!(curve.jobs[0].ceiling_ms, Some(20.0));
    assert_eq!(curve.jobs[0].title(), "random read 8 KiB");
    assert!(plan.writer(0).is_none());
}

#[test]
fn a_database_in_one_plan() {
    let plan = plan(|value| {
        value["targets"] = json!([
            {"name": "data", "directory": "/tmp"},
            {"name": "fast", "path": "/dev/null", "destroy": true},
        ]);
        value["steps"][0]["jobs"] = json!([
            {"name": "pages", "targets": ["data"], "pattern": {"zipf": {"theta": 0.9}},
             "block_bytes": 8192, "read_percent": 70, "queue_depths": [4, 8, 16], "to_percent": 80},
            {"name": "temp", "targets": ["data"], "pattern": {"streams": {"count": 4}},
             "blocks": [{"bytes": 8192, "percent": 70}, {"bytes": 65536, "percent": 30}],
             "read_percent": 50, "queue_depths": [2], "from_percent": 80},
            {"name": "log", "targets": ["fast"], "pattern": "sequential", "block_bytes": 4096,
             "read_percent": 0, "sync": {"every": 8}, "queue_depths": [8], "ceiling_ms": 5,
             "rate": {"per_second": [100, 200, 400], "arrivals": "fixed"}},
        ]);
    })
    .unwrap();
    let curve = &plan.steps[0];
    assert_eq!(curve.level(2).jobs, [(16, None), (2, None), (8, Some(400.0))]);
    assert_eq!(curve.level(2).queue_depth, 26);
    assert_eq!(
        curve.level(1).title(curve),
        "zipf 70/30 8 KiB, depth 8 + streams 50/50 8 KiB/64 KiB, depth 2 + \
         sequential write 4 KiB, each 8 synced, 200 a second, depth 8"
    );
    assert_eq!(plan.writer(1).map(|job| job.name.as_str()), Some("log"));
    assert_eq!(plan.label(), "2 targets");
    assert_eq!(curve.jobs[2].sync, Some(Sync { call: SyncCall::Fdatasync, every: 8 }));
}

#[test]
fn a_search_is_about_what_can_vary() {
    let jobs = |jobs: Value, search: Value| {
        plan(|value| {
            value["steps"][0]["jobs"] = jobs;
            value["steps"][0]["search"] = search;
        })
        .map(|plan| plan.steps[0].search.clone().unwrap())
    };
    let job = |name: &str, change: Value| {
        let mut job = json!({"name": name, "pattern": "random", "block_bytes": 8192,
                             "queue_depths": [2]});
        job.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        job
    };
    let log = job("log", json!({"read_percent": 0, "sync": {}}));
    let rate = job("rate", json!({"rate": {"per_second": [100]}}));
    let of = |search: Search| (search.on, search.by_rate);
    let plain = jobs(json!([job("a", json!({})), log, job("b", json!({}))]), json!({})).unwrap();
    assert_eq!((plain.most, of(plain)), (Some(256.0), (vec![0, 2], false)));
    let alone = jobs(json!([log]), json!({})).unwrap();
    assert_eq!(of(alone), (vec![0], false), "a log alone is what it is about");
    let paced = jobs(json!([job("a", json!({})), rate]), json!({"most": 1000})).unwrap();
    assert_eq!(of(paced), (vec![1], true));
    let named = jobs(json!([job("a", json!({})), rate, log]), json!({"jobs": ["log", "a"]}));
    assert_eq!(of(named.unwrap()), (vec![2, 0], false));
    let both = jobs(json!([job("a", json!({})), rate]), json!({"jobs": ["a", "rate"]}));
    assert!(both.unwrap_err().contains("all of its jobs or none"));
}

type Change = fn(&mut Value);

fn job(value: &mut Value) -> &mut Value {
    &mut value["steps"][0]["jobs"][0]
}

fn refused(cases: &[(&str, Change)]) {
    for (word, change) in cases {
        let message = plan(change).unwrap_err();
        assert!(message.contains(word), "{word}: {message}");
    }
}

#[test]
fn wrong_searches_and_stages_are_named() {
    fn search(value: &mut Value, search: Value) {
        job(value)["queue_depths"] = json!([1]);
        value["steps"][0]["search"] = search;
    }
    fn settle(value: &mut Value, settle: Value) {
        job(value)["queue_depths"] = json!([1]);
        value["steps"][0]["settle"] = settle;
    }
    refused(&[
        ("`p50`", |v| v["ceiling_of"] = json!("p50")),
        ("increase", |v| v["targets"][0]["stages"] = json!([8192, 8192])),
        ("bytes, stages", |v| {
            v["targets"][0]["bytes"] = json!(1 << 30);
            v["targets"][0]["stages"] = json!([1 << 30]);
        }),
        ("'directory'", |v| v["targets"] = json!([{"path": "/dev/sda", "stages": [8192]}])),
        ("same number", |v| {
            v["targets"] = json!([
                {"name": "a", "directory": "/tmp", "stages": [1 << 20]},
                {"name": "b", "directory": "/tmp", "stages": [1 << 20, 1 << 21]},
            ]);
        }),
        ("single value", |v| v["steps"][0]["search"] = json!({})),
        ("single value", |v| v["steps"][0]["settle"] = json!({})),
        ("only one of", |v| {
            job(v)["queue_depths"] = json!([1]);
            v["steps"][0]["settle"] = json!({});
            v["steps"][0]["search"] = json!({});
        }),
        ("no job named 'x'", |v| search(v, json!({"jobs": ["x"]}))),
        ("at least one", |v| search(v, json!({"jobs": []}))),
        ("confirm", |v| search(v, json!({"confirm": 100}))),
        ("resolution_percent", |v| search(v, json!({"resolution_percent": 0}))),
        ("most must be 1", |v| search(v, json!({"most": 5000}))),
        ("most must be 1", |v| search(v, json!({"most": 0.5}))),
        ("most is needed", |v| {
            job(v)["rate"] = json!({"per_second": [100]});
            search(v, json!({}));
        }),
        ("rounds", |v| settle(v, json!({"rounds": 1}))),
        ("most must be", |v| settle(v, json!({"most": 4}))),
        ("within_percent", |v| settle(v, json!({"within_percent": 0}))),
    ]);
}

#[test]
fn wrong_values_are_named() {
    let cases: &[(&str, Change)] = &[
        ("file_id", |v| v["file_id"] = json!("../x")),
        ("ceiling_ms", |v| v["ceiling_ms"] = json!(0)),
        ("ceiling_ms", |v| job(v)["ceiling_ms"] = json!(-1)),
        ("threads", |v| v["threads"] = json!(0)),
        ("interval_seconds", |v| v["interval_seconds"] = json!(0)),
        ("`continue`", |v| v["on_error"] = json!("ignore")),
        ("targets", |v| v["targets"] = json!([])),
        ("targets", |v| v["targets"] = json!([{}])),
        ("targets", |v| v["targets"][0]["path"] = json!("/dev/sda")),
        ("twice", |v| v["targets"] = json!([{"directory": "/tmp"}, {"directory": "/tmp"}])),
        ("destroy", |v| v["targets"][0]["destroy"] = json!(true)),
        ("fill", |v| v["targets"] = json!([{"path": "/dev/sda", "fill": true}])),
        ("bytes", |v| v["targets"][0]["bytes"] = json!(100)),
        ("steps", |v| v["steps"] = json!([])),
        ("jobs", |v| v["steps"][0]["jobs"] = json!([])),
        ("seconds", |v| v["steps"][0]["seconds"] = json!(0)),
        ("'nowhere'", |v| job(v)["targets"] = json!(["nowhere"])),
        ("block_bytes", |v| job(v)["block_bytes"] = json!(1000)),
        ("block_bytes", |v| job(v)["block_bytes"] = Value::Null),
        ("blocks", |v| job(v)["blocks"] = json!([{"bytes": 8192, "percent": 100}])),
        ("percentages", |v| {
            job(v)["block_bytes"] = Value::Null;
            job(v)["blocks"] = json!([{"bytes": 8192, "percent": 60}]);
        }),
        ("align_bytes", |v| job(v)["align_bytes"] = json!(100)),
        ("bytes", |v| v["targets"][0]["bytes"] = json!(4096)),
        ("read_percent", |v| job(v)["read_percent"] = json!(101)),
        ("modify", |v| {
            job(v)["modify"] = json!(true);
            job(v)["read_percent"] = json!(50);
        }),
        ("sync", |v| job(v)["sync"] = json!({"every": 1})),
        ("from_percent", |v| job(v)["from_percent"] = json!(100)),
        ("theta", |v| job(v)["pattern"] = json!({"zipf": {"theta": 0}})),
        ("hot_spot", |v| {
            let spot = json!({"access_percent": 100, "space_percent": 10});
            job(v)["pattern"] = json!({"hot_spot": spot});
        }),
        ("streams", |v| job(v)["pattern"] = json!({"streams": {"count": 0}})),
        ("queue_depths", |v| job(v)["queue_depths"] = json!([0])),
        ("queue_depths", |v| job(v)["queue_depths"] = json!([])),
        ("1 GiB", |v| {
            job(v)["queue_depths"] = json!([4096]);
            job(v)["block_bytes"] = json!(1 << 20);
        }),
        ("rate", |v| job(v)["rate"] = json!({"per_second": []})),
        ("one value per level", |v| job(v)["rate"] = json!({"per_second": [1, 2]})),
        ("null", |v| v["null"] = json!({"channels": 0})),
        ("null", |v| v["null"] = json!({"stall_every_ms": 10, "stall_ms": 10})),
        ("deepth", |v| job(v)["deepth"] = json!(1)),
    ];
    refused(cases);
}
