//! Several targets, several jobs and open loops on the null engine, whose answers can be worked out
//! by hand.

// Plans are put together from temporaries.
#![allow(clippy::needless_pass_by_value)]

mod common;

use std::path::{Path, PathBuf};

use common::{curve, lines, run, with};
use dyno_io::{Fault, Figures, Outcome, Part};
use dyno_record::{Control, Latency};
use serde_json::{Value, json};

/// A plan of `targets` targets on the null engine with all spools.
fn plan(targets: usize, model: Value, steps: Value) -> Value {
    let names = (0..targets).map(|n| json!({"name": format!("t{n}"), "directory": "/nowhere"}));
    let plan = common::plan(Path::new("/nowhere"), &steps);
    let spool = plan["spool"].as_str().unwrap().to_owned();
    with(
        plan,
        json!({
            "targets": names.collect::<Vec<_>>(), "engine": "null", "null": model,
            "parts": format!("{spool}.parts"), "intervals": format!("{spool}.intervals"),
        }),
    )
}

struct Simulated {
    outcome: Outcome,
    steps: Vec<Value>,
    parts: Vec<Value>,
    intervals: Vec<Value>,
}

fn simulate(plan: Value) -> Simulated {
    let path = |key: &str| PathBuf::from(plan[key].as_str().unwrap());
    let (parts, intervals) = (path("parts"), path("intervals"));
    let (outcome, steps) = run(plan, &Control::new());
    let (parts, intervals) = (lines(&parts), lines(&intervals));
    Simulated { outcome: outcome.unwrap(), steps, parts, intervals }
}

fn part<'a>(parts: &'a [Part], target: Option<&str>, job: Option<&str>) -> &'a Figures {
    let found = parts.iter().find(|p| p.target.as_deref() == target && p.job.as_deref() == job);
    &found.unwrap_or_else(|| panic!("no part {target:?} {job:?}")).figures
}

fn close(seen: f64, expected: f64, share: f64) -> bool {
    (seen / expected - 1.0).abs() < share
}

fn count(line: &Value, key: &str) -> u64 {
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
        // Each step: 8 targets, 1 job, 8 jobs on targets; and 2 intervals of 1 job.
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
    // Four writes at once take 1 ms, their sync 3 ms.
    let log = of("log");
    assert!(close(log.iops, 1000.0, 0.01), "{log:?}");
    assert!(log.syncs * 4 == log.writes || log.syncs * 4 + 4 == log.writes, "{log:?}");
    assert!(close(log.sync.unwrap().p50, 3.0, 0.01));
    assert_eq!(log.reads, 0);
    let whole = &step.figures;
    let all: u64 = ["data", "temp", "log"].iter().map(|job| of(job).reads + of(job).writes).sum();
    assert_eq!(whole.reads + whole.writes, all);
    assert_eq!((whole.syncs, whole.queue_depth), (log.syncs, 14));
    // What the jobs do not share has no value in the line of the whole step.
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
    // A pair takes 4 ms, four are under way.
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
    // A stall of 400 ms leaves whole intervals empty: they are recorded all the same.
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
fn a_rate_is_kept_and_both_latencies_are_told() {
    for arrivals in ["fixed", "poisson"] {
        let job = json!({"pattern": "random", "block_bytes": 8192, "queue_depths": [64],
                         "rate": {"per_second": [1000, 2000], "arrivals": arrivals}});
        let steps = json!([curve("r", job, json!({"seconds": 10}))]);
        let seen = simulate(plan(2, json!({"read_us": 200, "channels": 64}), steps));
        for (step, rate) in seen.outcome.steps.iter().zip([1000.0, 2000.0]) {
            let whole = &step.figures;
            assert_eq!(whole.rate, Some(rate));
            assert!(close(whole.iops, rate, 0.07), "{arrivals}: {whole:?}");
            assert_eq!((whole.late, whole.unissued), (0, 0));
            let (service, response) = (whole.read.unwrap(), whole.read_response.unwrap());
            assert!(close(service.p50, 0.2, 0.01) && close(response.p50, 0.2, 0.01));
            // Little's law.
            assert!(close(whole.in_flight_mean, whole.iops * 0.0002, 0.01));
        }
        let line = &seen.steps[0];
        let latency = |key: &str| Latency::decode(line[key].as_str().unwrap()).unwrap().count();
        assert_eq!(latency("read_response"), count(line, "reads"));
        assert_eq!(latency("read_latency"), count(line, "reads"));
    }
}

#[test]
fn stalls_are_in_the_response_time_and_not_hidden_by_waiting() {
    // Every second no I/O starts for 100 ms, so a tenth of all arrivals meets a stall, and waits
    // for what is left of it: evenly 0 to 100 ms, and 0.2 ms more for the device.
    let job = json!({"pattern": "random", "block_bytes": 8192, "queue_depths": [1],
                     "rate": {"per_second": [1000], "arrivals": "fixed"}});
    let steps = json!([curve("r", job, json!({"seconds": 20.5, "warmup_seconds": 0}))]);
    let model = json!({"read_us": 200, "channels": 1, "stall_every_ms": 1000, "stall_ms": 100});
    let seen = simulate(plan(1, model, steps));
    let whole = &seen.outcome.steps[0].figures;
    let (service, response) = (whole.read.unwrap(), whole.read_response.unwrap());
    // With one slot the backlog of a stall, 100 I/Os, is worked off at 5,000 less 1,000 a second,
    // in 25 ms. The last of the stall's own waits 100 × 0.2 ms: of 1,000 arrivals the 10th worst
    // waits (100 − 9 × 0.8) ms.
    assert!(close(response.max, 100.2, 0.05), "{response:?}");
    assert!(close(response.p99, 100.2 - 9.0 * 0.8, 0.05), "{response:?}");
    assert!(close(service.p99, 0.2, 0.01), "only one I/O in a stall was in flight: {service:?}");
    assert!(close(whole.iops, 1000.0, 0.01));
    // All that waited more than 1 ms: 99 of the stall's and 24 of those queued behind them.
    assert_eq!((whole.late, whole.unissued), (20 * (99 + 24), 0), "{whole:?}");
}

#[test]
fn what_could_not_be_issued_is_counted() {
    let job = json!({"pattern": "random", "block_bytes": 8192, "queue_depths": [2],
                     "rate": {"per_second": [1000], "arrivals": "fixed"}});
    let steps = json!([curve("r", job, json!({"seconds": 10, "warmup_seconds": 0}))]);
    let seen = simulate(plan(1, json!({"read_us": 10_000, "channels": 2}), steps));
    let whole = &seen.outcome.steps[0].figures;
    // 200 a second are possible: 1000 by the slot that starts at once, one less by the one that
    // starts 1 ms later, and one in flight at the end.
    assert_eq!((whole.reads, whole.unissued), (1999, 10_000 - 1999 - 1));
    assert_eq!(count(&seen.steps[0], "unissued"), whole.unissued);
    assert!(whole.late > 1900 && !whole.inside_ceiling, "{whole:?}");
    assert!(close(whole.read_response.unwrap().max, 8000.0, 0.01), "{whole:?}");
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
fn a_job_of_which_nothing_was_due_is_inside_and_one_that_hangs_is_not() {
    // The job's first I/O is due at the very start, in the warm-up, and the next in 100 s.
    let rare = json!({"name": "rare", "pattern": "random", "block_bytes": 8192,
                      "queue_depths": [1], "rate": {"per_second": [0.01], "arrivals": "fixed"}});
    let busy = json!({"name": "busy", "pattern": "random", "block_bytes": 8192, "read_percent": 0,
                      "queue_depths": [1]});
    for (read_us, inside) in [(1000.0, true), (3.6e9, false)] {
        let steps = json!([{"name": "c", "jobs": [rare, busy], "seconds": 1}]);
        let seen = simulate(plan(1, json!({"read_us": read_us}), steps));
        let step = &seen.outcome.steps[0];
        assert_eq!(step.figures.reads, 0);
        assert_eq!(part(&step.parts, None, Some("rare")).inside_ceiling, inside);
        assert_eq!(step.figures.inside_ceiling, inside);
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

#[test]
fn intervals_tell_what_was_due_in_them_and_still_waits() {
    // In the last 400 ms of each second nothing starts, of 100 I/Os due every 100 ms.
    let job = json!({"pattern": "random", "block_bytes": 8192, "queue_depths": [4],
                     "rate": {"per_second": [1000], "arrivals": "fixed"}});
    let steps = json!([curve("r", job, json!({"seconds": 2, "warmup_seconds": 0}))]);
    let model = json!({"read_us": 200, "channels": 4, "stall_every_ms": 1000, "stall_ms": 400});
    let seen = simulate(with(plan(1, model, steps), json!({"interval_seconds": 0.1})));
    let waits: Vec<u64> = seen.intervals.iter().map(|line| count(line, "unissued")).collect();
    assert_eq!(waits.len(), 20);
    // Four are in flight throughout, of which one or two had begun before.
    for second in [0, 10] {
        let busy = &waits[second..second + 6];
        assert!(busy.iter().all(|waiting| *waiting == 0), "{waits:?}");
        let stalled = &waits[second + 6..second + 10];
        assert!((95..=98).contains(&stalled[0]), "{waits:?}");
        assert_eq!(stalled[1..], [100; 3], "{waits:?}");
    }
    assert!(count(&seen.steps[0], "unissued") >= 395, "those of the last stall never were");
}
