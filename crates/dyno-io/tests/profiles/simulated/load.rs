//! Several targets and jobs.

use std::path::{Path, PathBuf};

use dyno_io::{Fault, Figures, Outcome, Part};
use dyno_record::{Control, Latency};
use serde_json::{Value, json};

use crate::plans::{self, curve, lines, run, with};

/// A plan with `targets` targets on the null engine and all spools.
pub fn plan(targets: usize, model: Value, steps: Value) -> Value {
    let names = (0..targets).map(|n| json!({"name": format!("t{n}"), "directory": "/nowhere"}));
    let plan = plans::plan(Path::new("/nowhere"), &steps);
    let spool = plan["spool"].as_str().unwrap().to_owned();
    with(
        plan,
        json!({
            "targets": names.collect::<Vec<_>>(), "engine": "null", "null": model,
            "parts": format!("{spool}.parts"), "intervals": format!("{spool}.intervals"),
        }),
    )
}

pub struct Simulated {
    pub outcome: Outcome,
    pub steps: Vec<Value>,
    pub parts: Vec<Value>,
    pub intervals: Vec<Value>,
}

pub fn simulate(plan: Value) -> Simulated {
    let path = |key: &str| PathBuf::from(plan[key].as_str().unwrap());
    let (parts, intervals) = (path("parts"), path("intervals"));
    let (outcome, steps) = run(plan, &Control::new());
    let (parts, intervals) = (lines(&parts), lines(&intervals));
    Simulated { outcome: outcome.unwrap(), steps, parts, intervals }
}

pub fn part<'a>(parts: &'a [Part], target: Option<&str>, job: Option<&str>) -> &'a Figures {
    let found = parts.iter().find(|p| p.target.as_deref() == target && p.job.as_deref() == job);
    &found.unwrap_or_else(|| panic!("no part {target:?} {job:?}")).figures
}

pub fn close(seen: f64, expected: f64, share: f64) -> bool {
    (seen / expected - 1.0).abs() < share
}

pub fn count(line: &Value, key: &str) -> u64 {
    line[key].as_u64().unwrap_or_else(|| panic!("{key} of {line}"))
}

#[test]
fn many_targets_add_up_whatever_the_number_of_threads() {
    for threads in [1, 3] {
        let job = json!({"pattern": "random", "block_bytes": 8192, "queue_depths": [2, 4]});
        let steps = json!([curve("r", job, json!({"seconds": 2}))]);
        let plan = plan(8, json!({"read_us": 1000, "channels": 4}), steps);
        let seen = simulate(with(plan, json!({"threads": threads})));
        assert_eq!(seen.outcome.targets.len(), 8);
        for (step, depth) in seen.outcome.steps.iter().zip([2_u32, 4]) {
            assert_eq!(step.threads, threads);
            assert_eq!(step.figures.queue_depth, 8 * depth);
            assert!(close(step.figures.iops, 8000.0 * f64::from(depth), 0.01), "{step:?}");
            let rates = (0..8).map(|n| part(&step.parts, Some(&format!("t{n}")), None).iops);
            let rates: Vec<f64> = rates.collect();
            assert!(rates.iter().all(|rate| close(*rate, 1000.0 * f64::from(depth), 0.01)));
            assert!(close(rates.iter().sum(), step.figures.iops, 1e-9));
            assert!(close(part(&step.parts, None, Some("r")).iops, step.figures.iops, 1e-9));
        }
        // Per step: 8 targets, 1 job, 8 jobs on targets; and 2 intervals of 1 job.
        assert_eq!((seen.steps.len(), seen.parts.len(), seen.intervals.len()), (2, 34, 4));
    }
}

#[test]
fn jobs_on_one_target_have_figures_of_their_own() {
    let jobs = json!([
        {"name": "data", "pattern": "random", "block_bytes": 8192, "read_percent": 70,
         "queue_depths": [4, 8], "to_percent": 80},
        {"name": "temp", "pattern": {"streams": {"count": 2}}, "block_bytes": 65536,
         "read_percent": 50, "queue_depths": [2], "from_percent": 80, "to_percent": 90},
        {"name": "log", "pattern": "sequential", "block_bytes": 4096, "read_percent": 0,
         "queue_depths": [4], "sync": {"every": 4, "call": "fsync"}, "from_percent": 90},
    ]);
    let steps = json!([{"name": "oltp", "jobs": jobs, "seconds": 2}]);
    let model = json!({"read_us": 1000, "write_us": 1000, "sync_us": 3000, "channels": 64});
    let seen = simulate(plan(1, model, steps));
    let step = &seen.outcome.steps[1];
    let of = |job| part(&step.parts, None, Some(job));
    assert!(close(of("data").iops, 8000.0, 0.01), "{:?}", of("data"));
    assert!(close(of("temp").iops, 2000.0, 0.01));
    assert!(close(of("temp").mb_per_s, 2000.0 * 65536.0 / 1e6, 0.01));
    // Four parallel writes take 1 ms, their sync 3 ms.
    let log = of("log");
    assert!(close(log.iops, 1000.0, 0.01), "{log:?}");
    assert!(log.syncs * 4 == log.writes || log.syncs * 4 + 4 == log.writes, "{log:?}");
    assert!(close(log.sync.unwrap().p50, 3.0, 0.01));
    assert_eq!(log.reads, 0);
    let whole = &step.figures;
    let all: u64 = ["data", "temp", "log"].iter().map(|job| of(job).reads + of(job).writes).sum();
    assert_eq!(whole.reads + whole.writes, all);
    assert_eq!((whole.syncs, whole.queue_depth), (log.syncs, 14));
    // The line of the whole step has no value where its jobs differ.
    assert!(seen.steps[1]["pattern"].is_null() && seen.steps[1]["block_bytes"].is_null());
    let line = seen.parts.iter().find(|line| line["job"] == "log" && line["level"] == 1).unwrap();
    assert_eq!((&line["pattern"], &line["block_bytes"]), (&json!("sequential"), &json!(4096)));
    assert_eq!(count(line, "syncs"), log.syncs);
}

#[test]
fn every_job_has_to_keep_its_own_ceiling() {
    let job = |name: &str, ceiling| {
        json!({"name": name, "pattern": "sequential", "block_bytes": 4096, "read_percent": 0,
               "queue_depths": [1], "ceiling_ms": ceiling})
    };
    for (ceiling, inside) in [(6, true), (4, false)] {
        let jobs = json!([job("data", 20), job("log", ceiling)]);
        let steps = json!([{"name": "c", "jobs": jobs, "seconds": 1}]);
        let seen = simulate(plan(1, json!({"write_us": 5000}), steps));
        assert_eq!(seen.outcome.steps[0].figures.inside_ceiling, inside);
        assert_eq!(part(&seen.outcome.steps[0].parts, None, Some("log")).inside_ceiling, inside);
        assert!(part(&seen.outcome.steps[0].parts, None, Some("data")).inside_ceiling);
        assert_eq!(seen.outcome.best.contains_key("c"), inside);
    }
}

#[test]
fn a_read_modify_write_reads_and_writes_each_block() {
    let job = json!({"pattern": "random", "block_bytes": 8192, "queue_depths": [4],
                     "modify": true});
    let steps = json!([curve("m", job, json!({"seconds": 2}))]);
    let seen = simulate(plan(1, json!({"read_us": 1000, "write_us": 3000}), steps));
    let whole = &seen.outcome.steps[0].figures;
    // A pair takes 4 ms; four are in flight.
    assert!(close(whole.reads as f64, 2000.0, 0.01), "{whole:?}");
    assert!(whole.reads.abs_diff(whole.writes) <= 4, "{whole:?}");
    assert_eq!(seen.steps[0]["read_percent"], 50);
}

#[test]
fn intervals_add_up_to_the_step() {
    let jobs = json!([
        {"name": "a", "pattern": "random", "block_bytes": 8192, "read_percent": 50,
         "queue_depths": [3]},
        {"name": "b", "pattern": "random", "block_bytes": 16384, "queue_depths": [5]},
    ]);
    let steps = json!([{"name": "c", "jobs": jobs, "seconds": 1.1, "warmup_seconds": 0.3}]);
    // A stall of 400 ms leaves whole intervals empty; they are recorded anyway.
    let model = json!({"read_us": 700, "write_us": 900, "channels": 2,
                       "stall_every_ms": 1000, "stall_ms": 400});
    let plan = with(plan(2, model, steps), json!({"interval_seconds": 0.1}));
    let seen = simulate(plan);
    for job in ["a", "b"] {
        let of_job: Vec<_> = seen.intervals.iter().filter(|line| line["job"] == job).collect();
        assert_eq!(of_job.len(), 11);
        let starts: Vec<_> = of_job.iter().map(|line| line["t_ns"].as_i64().unwrap()).collect();
        assert!(starts.windows(2).all(|two| two[1] - two[0] == 100_000_000), "{starts:?}");
        assert_eq!(starts[0], seen.outcome.steps[0].t_ns);
        assert!(of_job.iter().any(|line| count(line, "reads") == 0), "a stall");
        let figures = part(&seen.outcome.steps[0].parts, None, Some(job));
        let sum = |key| of_job.iter().map(|line| count(line, key)).sum::<u64>();
        assert_eq!((sum("reads"), sum("writes")), (figures.reads, figures.writes));
        for line in &of_job {
            let latency = Latency::decode(line["read_latency"].as_str().unwrap()).unwrap();
            assert_eq!(latency.count(), count(line, "reads"));
        }
    }
}

#[test]
fn faults_are_counted_by_class_and_the_step_goes_on_if_told() {
    let job = json!({"pattern": "random", "block_bytes": 8192, "read_percent": 50,
                     "queue_depths": [1]});
    let steps = json!([curve("r", job, json!({"seconds": 2, "warmup_seconds": 0}))]);
    let model = json!({"fail_every": 10, "short_every": 7, "full_after": 5000});
    let seen = simulate(with(plan(1, model, steps), json!({"on_error": "continue"})));
    let whole = &seen.outcome.steps[0].figures;
    let of = |fault| whole.errors.get(&fault).copied().unwrap_or(0);
    let failed: u64 = whole.errors.values().sum();
    assert_eq!(whole.reads + whole.writes + failed, 20_000);
    assert!(of(Fault::DiskFull) > 4000, "{whole:?}");
    assert!(of(Fault::Io) > 1000 && of(Fault::ShortRead) > 500 && of(Fault::ShortWrite) > 100);
    let told: Value = serde_json::from_str(seen.steps[0]["errors"].as_str().unwrap()).unwrap();
    assert_eq!(count(&told, "disk_full"), of(Fault::DiskFull));
    let sum = |line: &Value| {
        let errors: Value = serde_json::from_str(line["errors"].as_str().unwrap()).unwrap();
        errors.as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(seen.intervals.iter().map(sum).sum::<u64>(), failed);
    assert!(seen.outcome.best.is_empty(), "a step with failed I/Os is nobody's best");
}

#[test]
fn a_failure_names_the_target_and_ends_all_threads() {
    let job = json!({"pattern": "random", "block_bytes": 8192, "queue_depths": [1]});
    let steps = json!([curve("r", job, json!({"seconds": 1}))]);
    let value = with(plan(2, json!({"fail_every": 1}), steps), json!({"threads": 2}));
    let spools = ["parts", "intervals"].map(|key| PathBuf::from(value[key].as_str().unwrap()));
    let (outcome, _) = run(value, &Control::new());
    let text = outcome.unwrap_err().to_string();
    assert!(text.contains("target 't") && text.contains("I/Os failed"), "{text}");
    for spool in &spools {
        lines(spool);
    }
}

#[test]
fn the_ceiling_is_about_the_figure_asked_for() {
    // Every 20th I/O takes 50 ms: p95 is 1 ms, the mean 3.5 ms, p99 50 ms.
    let model = json!({"read_us": 1000, "slow_every": 20, "slow_us": 50_000});
    for (of, ceiling_ms, inside) in
        [("p95", 2, true), ("mean", 2, false), ("mean", 4, true), ("p99", 49, false)]
    {
        let job = json!({"pattern": "random", "block_bytes": 8192, "queue_depths": [1]});
        let steps = json!([curve("c", job, json!({"seconds": 7, "warmup_seconds": 0}))]);
        let change = json!({"ceiling_of": of, "ceiling_ms": ceiling_ms});
        let seen = simulate(with(plan(1, model.clone(), steps), change));
        assert_eq!(seen.outcome.steps[0].figures.inside_ceiling, inside, "{of} {ceiling_ms}");
    }
}
