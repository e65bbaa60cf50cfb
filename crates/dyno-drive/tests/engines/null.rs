//! The whole driver with the simulated target, whose results are known.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use dyno_drive::{DrivePlan, Outcome, drive};
use dyno_record::{Control, ErrorKind, Latency};
use serde_json::{Value, json};

/// The spool of a run in the temporary directory, removed at the end.
struct Spool(PathBuf);

impl Spool {
    fn new(name: &str) -> Self {
        let name = format!("dyno-drive-{}-{name}.jsonl", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.0).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn plan(spool: &Spool, changes: &Value) -> DrivePlan {
    let mut plan = json!({
        "wire": {"kind": "null"}, "seed": 7,
        "workload": {"kind": "tpcc", "params": {"warehouses": 3, "c_load": 100}},
        "users": 4, "loop": {"kind": "closed"}, "warmup_s": 0, "duration_s": 1,
        "clock": {"unix_ns": 1_700_000_000_000_000_000i64, "monotonic_ns": 0},
        "spool": spool.0, "threads": 1, "interval_s": 0.25
    });
    for (field, value) in changes.as_object().unwrap() {
        let of_workload = ["warehouses", "home", "mode"].contains(&field.as_str());
        let at = if of_workload { &mut plan["workload"]["params"] } else { &mut plan };
        at[field] = value.clone();
    }
    serde_json::from_value(plan).unwrap()
}

fn run(name: &str, changes: &Value) -> Outcome {
    drive(&plan(&Spool::new(name), changes), &Control::new()).unwrap()
}

fn ended(outcome: &Outcome) -> u64 {
    outcome.ops.values().map(|op| op.done + op.rolled_back).sum()
}

/// Every transaction that was due has ended or is counted as unfinished or unsent.
fn assert_accounted_for(outcome: &Outcome) {
    let failed: u64 = outcome.ops.values().flat_map(|op| op.errors.values()).sum();
    let due = outcome.scheduled.unwrap() + outcome.carried_over;
    let seen = ended(outcome) + failed + outcome.unfinished + outcome.unsent;
    assert_eq!(due, seen, "{outcome:?}");
}

/// Mean response time over all operations.
fn mean_response_s(outcome: &Outcome) -> f64 {
    let sum: f64 = outcome
        .ops
        .values()
        .map(|op| op.response_ms.mean / 1e3 * (op.done + op.rolled_back) as f64)
        .sum();
    sum / ended(outcome) as f64
}

/// Repeats until `good`: a stalled machine spoils one run, a fault of the driver spoils all.
fn undisturbed(name: &str, changes: &Value, good: impl Fn(&Outcome) -> bool) -> Outcome {
    let mut outcome = run(name, changes);
    for _ in 0..20 {
        if good(&outcome) {
            break;
        }
        outcome = run(name, changes);
    }
    outcome
}

#[test]
fn users_responses_and_throughput_obey_littles_law() {
    // Two servers of 5 ms each serve 400/s; eight users keep them busy: N = X·R.
    let changes =
        json!({"users": 8, "threads": 2, "wire": {"kind": "null", "mean_ms": 5, "servers": 2}});
    let in_flight = |outcome: &Outcome| outcome.tps * mean_response_s(outcome);
    let outcome = undisturbed("little", &changes, |outcome| {
        assert!(outcome.tps <= 401.0, "{}", outcome.tps);
        assert!(in_flight(outcome) <= 8.3, "{}", in_flight(outcome));
        outcome.tps >= 200.0 && in_flight(outcome) >= 7.4
    });
    assert!(outcome.tps >= 200.0, "{}", outcome.tps);
    assert!(in_flight(&outcome) >= 7.4, "{}", in_flight(&outcome));
    assert_eq!((outcome.late, outcome.unsent, outcome.scheduled), (0, 0, None));
}

#[test]
fn without_limit_users_add_up() {
    let changes = json!({"users": 10, "wire": {"kind": "null", "mean_ms": 20}});
    let outcome = undisturbed("infinite", &changes, |outcome| {
        // 10 users of 20 ms each: at most 500/s. Timers may be late, never early.
        assert!(outcome.tps <= 500.0, "{}", outcome.tps);
        outcome.tps >= 200.0
    });
    assert!(outcome.tps >= 200.0, "{}", outcome.tps);
    for op in outcome.ops.values() {
        assert!(op.service_ms.p50 >= 19.9, "{}", op.service_ms.p50);
        assert!(op.response_ms.max < 1_000.0, "{}", op.response_ms.max);
    }
}

#[test]
fn the_mix_is_the_decks() {
    let outcome = run("mix", &json!({"duration_s": 0.5}));
    let all = ended(&outcome) as f64;
    // Four users: whole decks are exact. Each has started one and has a transaction in progress.
    for (op, cards) in [("new_order", 10), ("payment", 10), ("order_status", 1), ("delivery", 1)] {
        let count = outcome.ops[op].done + outcome.ops[op].rolled_back;
        let expected = all * f64::from(cards) / 23.0;
        let slack = 4.0 * f64::from(cards) + 4.0;
        assert!((count as f64 - expected).abs() <= slack, "{op}: {count} of {all}");
    }
    assert!(all > 4.0 * 23.0, "{all}");
    // One in a hundred, within six standard deviations.
    let new_orders = &outcome.ops["new_order"];
    let expected = (new_orders.done + new_orders.rolled_back) as f64 / 100.0;
    let off = (new_orders.rolled_back as f64 - expected).abs();
    assert!(off <= 6.0 * expected.sqrt() + 1.0, "{new_orders:?}");
}

#[test]
fn a_procedure_is_a_transaction_in_one_statement() {
    let changes = json!({
        "mode": "procedure", "users": 10, "duration_s": 2,
        "wire": {"kind": "null", "mean_ms": 2}
    });
    let outcome = run("procedures", &changes);
    assert!(outcome.tps <= 5000.0, "{}", outcome.tps);
    assert_eq!(outcome.ops.len(), 5);
    assert!(outcome.errors_first.is_empty(), "{:?}", outcome.errors_first);
    for op in outcome.ops.values() {
        assert!(op.service_ms.p50 >= 1.99, "{}", op.service_ms.p50);
    }
    let instant = run("instant", &json!({"mode": "procedure"}));
    assert!(instant.ops["new_order"].rolled_back > 0);
}

#[test]
fn an_open_loop_shows_stalls_that_service_times_hide() {
    let outcome = run(
        "stall",
        &json!({
            "duration_s": 2.3, "loop": {"kind": "open", "rate_per_s": 500},
            "wire": {"kind": "null", "mean_ms": 0.2, "stall": {"every_ms": 1000, "for_ms": 300}}
        }),
    );
    // Three of ten starts hit a stall; in service time only the four in progress see it.
    let new_orders = &outcome.ops["new_order"];
    assert!(new_orders.response_ms.p95 > 100.0, "{}", new_orders.response_ms.p95);
    assert!(new_orders.service_ms.p95 < new_orders.response_ms.p95 / 2.0, "{new_orders:?}");
    assert!(outcome.late + outcome.unsent >= 250, "{}", outcome.late);
    assert_eq!(outcome.scheduled, Some(1150));
}

#[test]
fn what_cannot_be_sent_is_counted() {
    for poisson in [false, true] {
        // One server of 1 ms serves half of 2,000/s.
        let outcome = undisturbed(
            if poisson { "overload-poisson" } else { "overload" },
            &json!({
                "loop": {"kind": "open", "rate_per_s": 2000, "poisson": poisson}, "threads": 2,
                "wire": {"kind": "null", "mean_ms": 1, "servers": 1}
            }),
            |outcome| {
                assert!(outcome.tps <= 1001.0, "{}", outcome.tps);
                outcome.tps >= 400.0
            },
        );
        let scheduled = outcome.scheduled.unwrap();
        assert!((1800..=2200).contains(&scheduled), "{scheduled}");
        assert!(outcome.tps >= 400.0, "{}", outcome.tps);
        assert_accounted_for(&outcome);
        assert!(outcome.late as f64 > 0.5 * ended(&outcome) as f64);
    }
}

#[test]
fn a_rate_that_is_too_high_only_at_the_end_is_seen_there() {
    // One server of 5 ms serves 200/s.
    let rate = json!([[0, 50], [0.75, 50], [0.75, 1000]]);
    let outcome = run(
        "end",
        &json!({
            "interval_s": 0.05, "threads": 2, "loop": {"kind": "open", "rate_per_s": rate},
            "wire": {"kind": "null", "mean_ms": 5, "servers": 1}
        }),
    );
    assert_accounted_for(&outcome);
    // Four parts of five intervals each.
    let late = outcome.worst.late.unwrap();
    assert!((late.at_s - 0.75).abs() < 1e-3 && (late.seconds - 0.25).abs() < 1e-3, "{late:?}");
    assert!(late.value > 0.5 && late.value <= 1.0, "{late:?}");
    let busiest = outcome.worst.thread_utilisation.unwrap();
    assert!(busiest.value >= outcome.worst.client_cpu.unwrap().value, "{outcome:?}");
    let lag = outcome.worst.lag_p99_ms.unwrap();
    assert!(lag.value > 0.0 && lag.seconds > 0.2, "{lag:?}");
    assert_eq!(run("closed-parts", &json!({"duration_s": 0.1})).worst.late, None);
}

#[test]
fn what_is_due_while_the_rate_changes_is_accounted_for() {
    // 1,600/s on average for half a second, nothing for 0.3 s, then 1,500/s.
    let rate = json!([[0, 3000], [0.5, 200], [0.5, 0], [0.8, 0], [0.8, 1500]]);
    let due: f64 = 800.0 + 300.0;
    for (poisson, mean_ms) in [(false, 0.1), (false, 2.0), (true, 0.1), (true, 2.0)] {
        let outcome = run(
            &format!("ramp-{poisson}-{mean_ms}"),
            &json!({
                "warmup_s": 0.2, "threads": 2,
                "loop": {"kind": "open", "rate_per_s": rate, "poisson": poisson},
                "wire": {"kind": "null", "mean_ms": mean_ms, "servers": 1}
            }),
        );
        assert_accounted_for(&outcome);
        let off = (outcome.scheduled.unwrap() as f64 - due).abs();
        assert!(off <= if poisson { 6.0 * due.sqrt() } else { 1.0 }, "{outcome:?}");
        if mean_ms > 1.0 {
            // One server serves 100 of 600 in the warm-up, and 500 in the window.
            assert!(outcome.carried_over > 0, "{outcome:?}");
            assert!(outcome.unsent >= 500, "{outcome:?}");
        }
    }
}

#[test]
fn one_statement_without_a_transaction_is_one() {
    let outcome = run(
        "point",
        &json!({
            "workload": {
                "kind": "point_select",
                "params": {"sql": "select c from points where id = $1", "keys": 9}
            },
            "wire": {"kind": "null", "mean_ms": 5}
        }),
    );
    // Four users of 5 ms each: at most 800/s.
    assert!(outcome.tps <= 800.0, "{}", outcome.tps);
    assert!(outcome.ops["point_select"].service_ms.p50 >= 4.9);
    assert_eq!(outcome.ops.len(), 1);
}

#[test]
fn a_row_is_decoded_and_compared_with_what_it_must_hold() {
    // The simulated server returns a zero or an empty text.
    for (select, wrong) in [
        (json!({"holds": {"int": 0}}), None),
        (json!({"holds": {"int": 7}}), Some("has a row that holds 0")),
        (json!({"holds": "key"}), Some("has a row that holds 0")),
        (json!({"returns": "text", "holds": {"bytes": 0}}), None),
        (json!({"returns": "text", "holds": {"bytes": 9}}), Some("another text of 0 bytes")),
        (json!({"returns": "text", "holds": "key"}), Some("another text of 0 bytes")),
    ] {
        let mut plan = json!({"sql": "select c from points where id = $1", "keys": 9});
        plan.as_object_mut().unwrap().extend(select.as_object().unwrap().clone());
        let changes = json!({
            "workload": {"kind": "point_select", "params": plan}, "wire": {"kind": "null", "mean_ms": 1},
            "duration_s": 0.2, "warmup_s": 0
        });
        let outcome = run("decoded", &changes);
        let op = &outcome.ops["point_select"];
        match wrong {
            None => assert!(op.done > 0 && op.errors.is_empty(), "{select} {op:?}"),
            Some(words) => {
                assert_eq!((op.done, op.errors.len()), (0, 1), "{select} {op:?}");
                let told = &outcome.errors_first[&ErrorKind::Database];
                assert!(told.contains(words), "{select} {told}");
            }
        }
    }
}

#[test]
fn an_open_loop_keeps_its_rate_and_its_time() {
    let outcome = undisturbed(
        "rate",
        &json!({"users": 16, "loop": {"kind": "open", "rate_per_s": 1000}, "wire": {"kind": "null", "mean_ms": 1}}),
        |outcome| outcome.tps > 400.0,
    );
    assert_eq!(outcome.scheduled, Some(1000));
    assert_accounted_for(&outcome);
    assert!(outcome.tps > 400.0, "{}", outcome.tps);
    assert!(outcome.lag_p99_ms > 0.0);
}

#[test]
fn thinking_users_pause_as_the_workload_says() {
    // Keying alone takes at least 2 s: nothing can end in the first second.
    let outcome = run("think", &json!({"loop": {"kind": "closed", "think": true}}));
    assert_eq!(ended(&outcome), 0);
}

#[test]
fn an_interval_in_which_nothing_ended_has_a_row_of_zeros() {
    let spool = Spool::new("silent");
    let think = json!({"kind": "closed", "think": true});
    let changes = json!({"warmup_s": 0.25, "threads": 2, "loop": think});
    let outcome = drive(&plan(&spool, &changes), &Control::new()).unwrap();
    let lines = spool.lines();
    let phases: Vec<_> = lines.iter().map(|line| line["phase"].as_str().unwrap()).collect();
    assert_eq!(phases, ["warmup", "measure", "measure", "measure", "measure"]);
    assert!(lines.iter().all(|line| line["done"] == 0 && line["op"] == "new_order"));
    let starts: Vec<_> = lines.iter().map(|line| line["t_ns"].as_i64().unwrap()).collect();
    assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == 250_000_000));
    assert!(outcome.ops.is_empty(), "zeros are no operations");
}

#[test]
fn intervals_add_up_to_the_outcome() {
    let spool = Spool::new("intervals");
    let changes = json!({"warmup_s": 0.3, "threads": 2, "wire": {"kind": "null", "mean_ms": 1}});
    let outcome = drive(&plan(&spool, &changes), &Control::new()).unwrap();
    let lines = spool.lines();
    for phase in ["warmup", "measure"] {
        assert!(lines.iter().any(|line| line["phase"] == phase), "{phase}");
    }
    let mut starts: Vec<i64> = Vec::new();
    for (name, op) in &outcome.ops {
        let measured =
            lines.iter().filter(|line| line["op"] == *name && line["phase"] == "measure");
        let (mut done, mut histogram) = (0, Latency::new());
        for line in measured {
            done += line["done"].as_u64().unwrap();
            histogram.merge(&Latency::decode(line["response"].as_str().unwrap()).unwrap());
            starts.push(line["t_ns"].as_i64().unwrap());
            assert!((line["seconds"].as_f64().unwrap() - 0.25).abs() < 1e-6);
        }
        assert_eq!(done, op.done);
        assert_eq!(histogram.count(), op.done + op.rolled_back);
        assert!((histogram.quantile_ns(0.99) as f64 / 1e6 - op.response_ms.p99).abs() < 1e-9);
    }
    starts.sort_unstable();
    starts.dedup();
    assert_eq!(starts.len(), 4);
    assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == 250_000_000));
    // The first interval of the warm-up is the remainder of 0.3 s after one of 0.25 s.
    let first = lines.iter().map(|line| line["t_ns"].as_i64().unwrap()).min().unwrap();
    assert!((starts[0] - first - 300_000_000).abs() < 10);
}

#[test]
fn a_run_is_cancelled_long_before_its_end_and_leaves_its_spool() {
    let spool = Spool::new("cancel");
    let changes = json!({"duration_s": 3600, "wire": {"kind": "null", "mean_ms": 2}});
    let (plan, control) = (plan(&spool, &changes), Control::new());
    let handle = control.clone();
    let running = std::thread::spawn(move || (drive(&plan, &control), Instant::now()));
    while handle.progress().done < 600 && !running.is_finished() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let cancelled = Instant::now();
    handle.cancel();
    let (result, ended) = running.join().unwrap();
    assert_eq!(result.unwrap_err().kind, ErrorKind::Cancelled);
    let took = ended - cancelled;
    assert!(took < Duration::from_secs(600), "{took:?}");
    let lines = spool.lines();
    let recorded: f64 = lines
        .iter()
        .filter(|line| line["op"] == "new_order")
        .map(|line| line["seconds"].as_f64().unwrap())
        .sum();
    assert!(recorded > 0.55, "{recorded}");
}

#[test]
fn a_cancelled_transaction_that_hangs_is_abandoned() {
    let spool = Spool::new("hang");
    let changes = json!({"duration_s": 3600, "wire": {"kind": "null", "mean_ms": 3_600_000}});
    let (plan, control) = (plan(&spool, &changes), Control::new());
    let handle = control.clone();
    let started = Instant::now();
    let running = std::thread::spawn(move || drive(&plan, &control));
    while handle.progress().done < 100 && !running.is_finished() {
        std::thread::sleep(Duration::from_millis(5));
    }
    handle.cancel();
    assert_eq!(running.join().unwrap().unwrap_err().kind, ErrorKind::Cancelled);
    assert!(started.elapsed() < Duration::from_secs(600));
}

#[test]
fn a_run_that_is_finished_early_is_whole_up_to_an_interval() {
    for pace in [json!({"kind": "closed"}), json!({"kind": "open", "rate_per_s": 400})] {
        let spool = Spool::new(&format!("early-{}", pace["kind"].as_str().unwrap()));
        let wire = json!({"kind": "null", "mean_ms": 5});
        let plan =
            plan(&spool, &json!({"duration_s": 600, "threads": 2, "wire": wire, "loop": pace}));
        let control = Control::new();
        let outcome = std::thread::scope(|scope| {
            let run = scope.spawn(|| drive(&plan, &control));
            while spool.0.metadata().map_or(0, |file| file.len()) == 0 && !run.is_finished() {
                std::thread::yield_now();
            }
            control.finish();
            run.join().unwrap().unwrap()
        });
        assert!(outcome.seconds < 300.0, "{}", outcome.seconds);
        let intervals = outcome.seconds / 0.25;
        assert!((intervals - intervals.round()).abs() < 1e-9, "{}", outcome.seconds);
        let lines = spool.lines();
        let end = lines.iter().map(|line| line["t_ns"].as_i64().unwrap()).max().unwrap();
        let start = lines.iter().map(|line| line["t_ns"].as_i64().unwrap()).min().unwrap();
        assert!(((end - start) as f64 / 1e9 + 0.25 - outcome.seconds).abs() < 1e-6);
        let recorded: u64 = lines
            .iter()
            .map(|line| line["done"].as_u64().unwrap() + line["rolled_back"].as_u64().unwrap())
            .sum();
        assert_eq!(recorded, ended(&outcome));
        let unsent = outcome.scheduled.is_some().then_some(outcome.unsent);
        assert_ne!(unsent, Some(600 * 400), "what was due after the early end is not counted");
    }
}
