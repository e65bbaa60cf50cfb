//! I/Os due at a rate.

use dyno_record::Latency;
use serde_json::json;

use super::load::{close, count, part, plan, simulate};
use crate::plans::{curve, with};

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
    // Once per second no I/O starts for 100 ms, so a tenth of all arrivals meets a stall. Each
    // waits for the rest of it, uniformly 0 to 100 ms, plus 0.2 ms for the device.
    let job = json!({"pattern": "random", "block_bytes": 8192, "queue_depths": [1],
                     "rate": {"per_second": [1000], "arrivals": "fixed"}});
    let steps = json!([curve("r", job, json!({"seconds": 20.5, "warmup_seconds": 0}))]);
    let model = json!({"read_us": 200, "channels": 1, "stall_every_ms": 1000, "stall_ms": 100});
    let seen = simulate(plan(1, model, steps));
    let whole = &seen.outcome.steps[0].figures;
    let (service, response) = (whole.read.unwrap(), whole.read_response.unwrap());
    // With one slot, the backlog of a stall (100 I/Os) takes 25 ms, at 5,000 less 1,000 per second.
    // The last I/O of the stall waits 100 × 0.2 ms. Of 1,000 arrivals the 10th slowest waits (100 −
    // 9 × 0.8) ms.
    assert!(close(response.max, 100.2, 0.05), "{response:?}");
    assert!(close(response.p99, 100.2 - 9.0 * 0.8, 0.05), "{response:?}");
    assert!(close(service.p99, 0.2, 0.01), "only one I/O in a stall was in flight: {service:?}");
    assert!(close(whole.iops, 1000.0, 0.01));
    // All I/Os that waited more than 1 ms: 99 of the stall and 24 queued behind them.
    assert_eq!((whole.late, whole.unissued), (20 * (99 + 24), 0), "{whole:?}");
}

#[test]
fn what_could_not_be_issued_is_counted() {
    let job = json!({"pattern": "random", "block_bytes": 8192, "queue_depths": [2],
                     "rate": {"per_second": [1000], "arrivals": "fixed"}});
    let steps = json!([curve("r", job, json!({"seconds": 10, "warmup_seconds": 0}))]);
    let seen = simulate(plan(1, json!({"read_us": 10_000, "channels": 2}), steps));
    let whole = &seen.outcome.steps[0].figures;
    // 200 per second are possible: 1000 by the slot that starts at once, one less by the one that
    // starts 1 ms later, and one in flight at the end.
    assert_eq!((whole.reads, whole.unissued), (1999, 10_000 - 1999 - 1));
    assert_eq!(count(&seen.steps[0], "unissued"), whole.unissued);
    assert!(whole.late > 1900 && !whole.inside_ceiling, "{whole:?}");
    assert!(close(whole.read_response.unwrap().max, 8000.0, 0.01), "{whole:?}");
}

#[test]
fn a_job_of_which_nothing_was_due_is_inside_and_one_that_hangs_is_not() {
    // The job's first I/O is due at the start, in the warm-up, and the next after 100 s.
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
fn intervals_tell_what_was_due_in_them_and_still_waits() {
    // Nothing starts in the last 400 ms of each second; 100 I/Os are due every 100 ms.
    let job = json!({"pattern": "random", "block_bytes": 8192, "queue_depths": [4],
                     "rate": {"per_second": [1000], "arrivals": "fixed"}});
    let steps = json!([curve("r", job, json!({"seconds": 2, "warmup_seconds": 0}))]);
    let model = json!({"read_us": 200, "channels": 4, "stall_every_ms": 1000, "stall_ms": 400});
    let seen = simulate(with(plan(1, model, steps), json!({"interval_seconds": 0.1})));
    let waits: Vec<u64> = seen.intervals.iter().map(|line| count(line, "unissued")).collect();
    assert_eq!(waits.len(), 20);
    // Four are in flight throughout; one or two of them had started before.
    for second in [0, 10] {
        let busy = &waits[second..second + 6];
        assert!(busy.iter().all(|waiting| *waiting == 0), "{waits:?}");
        let stalled = &waits[second + 6..second + 10];
        assert!((95..=98).contains(&stalled[0]), "{waits:?}");
        assert_eq!(stalled[1..], [100; 3], "{waits:?}");
    }
    assert!(count(&seen.steps[0], "unissued") >= 395, "those of the last stall never were");
}
