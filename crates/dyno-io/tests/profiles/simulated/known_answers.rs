//! Whole profiles: laws, ceilings, failures.

use crate::plans::{self, curve, run};
use dyno_io::{Fault, Outcome};
use dyno_record::{Control, ErrorKind, Latency, Result};
use serde_json::{Value, json};

fn simulate(model: Value, steps: Value) -> (Result<Outcome>, Vec<Value>) {
    let mut plan = plans::plan(std::path::Path::new("/nowhere"), &Value::Null);
    plan["steps"] = steps;
    plan["engine"] = json!("null");
    plan["null"] = model;
    run(plan, &Control::new())
}

fn random(depths: &[u32], change: Value) -> Value {
    curve("r", json!({"pattern": "random", "block_bytes": 8192, "queue_depths": depths}), change)
}

fn close(seen: f64, expected: f64) -> bool {
    (seen / expected - 1.0).abs() < 0.01
}

#[test]
fn rate_and_latency_follow_littles_law() {
    let (outcome, spool) = simulate(
        json!({"read_us": 1000, "channels": 4}),
        json!([random(&[1, 2, 4, 8, 16], json!({"seconds": 5}))]),
    );
    let outcome = outcome.unwrap();
    for (step, line) in outcome.steps.iter().zip(&spool) {
        let depth = f64::from(step.figures.queue_depth);
        let latency_ms = (depth / 4.0).max(1.0);
        let read = step.figures.read.unwrap();
        assert!(close(step.figures.iops, depth.min(4.0) * 1000.0), "{step:?}");
        assert!(close(step.figures.mb_per_s, step.figures.iops * 8192.0 / 1e6), "{step:?}");
        assert!(close(step.figures.in_flight_mean, depth), "{step:?}");
        for percentile in [read.p50, read.p95, read.p99, read.max, read.mean] {
            assert!(close(percentile, latency_ms), "{step:?}");
        }
        let latency = Latency::decode(line["read_latency"].as_str().unwrap()).unwrap();
        assert_eq!(latency.count(), step.figures.reads, "latencies counted = I/Os");
        assert_eq!(line["reads"], step.figures.reads);
        assert_eq!(line["write_bytes"], 0);
    }
    assert_eq!((spool.len(), outcome.best["r"]), (5, 2), "least depth of the fastest");
}

#[test]
fn percentiles_find_the_slow_share() {
    let (outcome, _) = simulate(
        json!({"read_us": 1000, "slow_every": 10, "slow_us": 5000}),
        json!([random(&[1], json!({"seconds": 14}))]),
    );
    let step = &outcome.unwrap().steps[0];
    let read = step.figures.read.unwrap();
    // Ten I/Os take 9 × 1 ms + 5 ms.
    assert!(close(step.figures.iops, 10.0 / 0.014), "{step:?}");
    assert!(close(read.mean, 1.4) && close(read.p50, 1.0), "{step:?}");
    assert!(close(read.p95, 5.0) && close(read.max, 5.0), "{step:?}");
}

#[test]
fn the_ceiling_ends_a_curve_and_counts_writes_on_their_own() {
    let model = json!({"read_us": 500, "write_us": 5000, "channels": 2});
    let depths = [1, 2, 4, 8, 16, 32, 64];
    let job = json!({"pattern": "random", "block_bytes": 8192, "read_percent": 70,
                     "queue_depths": depths});
    let mixed = |name: &str, stop: bool| {
        curve(name, job.clone(), json!({"seconds": 5, "stop_at_ceiling": stop}))
    };
    let (outcome, spool) = simulate(model, json!([mixed("stop", true), mixed("go", false)]));
    let outcome = outcome.unwrap();
    let steps: Vec<_> = outcome.steps.iter().filter(|step| step.phase == "stop").collect();
    let (last, inside) = steps.split_last().unwrap();
    assert!(!last.figures.inside_ceiling && inside.iter().all(|step| step.figures.inside_ceiling));
    assert!(last.figures.queue_depth < 64 && steps.len() + 7 == spool.len());
    assert!(outcome.steps[outcome.best["go"]].figures.inside_ceiling);
    let share = last.figures.reads as f64 / (last.figures.reads + last.figures.writes) as f64;
    assert!((share - 0.7).abs() < 0.05, "{share}");
}

#[test]
fn writes_alone_can_pass_the_ceiling() {
    let (outcome, _) = simulate(
        json!({"read_us": 500, "write_us": 25_000, "channels": 2}),
        json!([curve(
            "m",
            json!({"pattern": "random", "block_bytes": 8192, "read_percent": 99,
                   "queue_depths": [1]}),
            json!({"seconds": 5}),
        )]),
    );
    let outcome = outcome.unwrap();
    let step = &outcome.steps[0];
    assert!(step.figures.read.unwrap().p95 < 1.0 && step.figures.write.unwrap().p95 > 20.0);
    assert!(!step.figures.inside_ceiling && outcome.best.is_empty());
}

#[test]
fn steps_follow_each_other_in_time() {
    let (_, spool) = simulate(
        json!({}),
        json!([curve(
            "r",
            json!({"pattern": "sequential", "block_bytes": 262_144, "queue_depths": [4, 1, 2]}),
            json!({"seconds": 0.5, "warmup_seconds": 0.25}),
        )]),
    );
    let starts: Vec<i64> = spool.iter().map(|line| line["t_ns"].as_i64().unwrap()).collect();
    let depths: Vec<_> = spool.iter().map(|line| line["queue_depth"].as_i64().unwrap()).collect();
    assert_eq!(depths, [1, 2, 4], "rising, whatever the order in the plan");
    assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= 750_000_000), "{starts:?}");
}

#[test]
fn a_few_failed_ios_are_counted() {
    let (outcome, spool) = simulate(
        json!({"fail_every": 1000, "channels": 1}),
        json!([random(&[1], json!({"seconds": 1, "warmup_seconds": 0}))]),
    );
    let outcome = outcome.unwrap();
    assert_eq!(outcome.steps[0].figures.errors[&Fault::Io], 10);
    assert_eq!(outcome.steps[0].figures.reads, 9990);
    assert_eq!(spool[0]["errors"], r#"{"io":10}"#);
}

#[test]
fn many_failed_ios_end_the_step_and_leave_its_record() {
    for (every, failed) in [(1, 10), (2, 101)] {
        let (outcome, spool) = simulate(
            json!({"fail_every": every, "channels": 1}),
            json!([random(&[1], json!({"seconds": 1}))]),
        );
        let error = outcome.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Io);
        let text = error.to_string();
        assert!(text.contains(&format!("{failed} of")) && text.contains("depth 1"), "{text}");
        assert_eq!(spool[0]["errors"], format!(r#"{{"io":{failed}}}"#));
    }
}
