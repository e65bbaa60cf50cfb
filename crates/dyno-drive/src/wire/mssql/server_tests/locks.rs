//! Sessions that wait for each other.

use super::driving_tests::driven;
use super::*;

#[test]
fn a_deadlock_has_one_victim() {
    with_place(async |place| {
        let (mut mine, mut other) = (place.session().await, place.session().await);
        put(&mut mine, 1, 0);
        put(&mut mine, 2, 0);
        mine.flush().await.unwrap();
        let add = |session: &mut MssqlSession, key| {
            session.queue(ADD, &[Value::Int(1), Value::Int(key)]);
        };
        mine.queue_begin(Access::Write);
        add(&mut mine, 1);
        mine.flush().await.unwrap();
        other.queue_begin(Access::Write);
        add(&mut other, 2);
        other.flush().await.unwrap();
        for (session, key) in [(&mut mine, 2), (&mut other, 1)] {
            add(session, key);
            // If this one is the victim, this must not stay.
            put(session, 10 + key, 0);
            session.queue_commit();
        }
        let (first, second) = tokio::join!(mine.flush(), other.flush());
        let (victim, failed, survivor) = match (first, second) {
            (Err(error), Ok(())) => (&mut mine, error, &mut other),
            (Ok(()), Err(error)) => (&mut other, error, &mut mine),
            both => panic!("{both:?}"),
        };
        assert_eq!(failed.kind, ErrorKind::Deadlock, "{failed}");
        victim.recover().await.unwrap();
        let rows = all(survivor).await;
        assert_eq!((rows.len(), rows[0], rows[1]), (3, (1, 1), (2, 1)));
        assert_eq!(all(victim).await, rows);
    });
}

#[test]
fn a_lock_is_waited_for_as_long_as_the_session_says() {
    with_place(async |place| {
        let mut holder = place.session().await;
        put(&mut holder, 1, 0);
        holder.flush().await.unwrap();
        holder.queue_begin(Access::Write);
        holder.queue(ADD, &[Value::Int(1), Value::Int(1)]);
        holder.flush().await.unwrap();
        let wire = place.wire(&json!({"lock_wait_s": 1}));
        let mut waiter = wire.connect(&statements(), &alarm()).await.unwrap();
        waiter.queue_begin(Access::Write);
        waiter.queue(ADD, &[Value::Int(1), Value::Int(1)]);
        waiter.queue_commit();
        let error = waiter.flush().await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::LockTimeout, "{error}");
        assert!(error.kind.is_retryable());
        waiter.recover().await.unwrap();
        holder.queue_commit();
        holder.flush().await.unwrap();
        assert_eq!(all(&mut waiter).await, [(1, 1)]);
    });
}

#[test]
fn a_snapshot_that_is_too_old_is_a_serialisation_failure() {
    with_place(async |place| {
        let wire = place.wire(&json!({"isolation": "snapshot"}));
        let mut session = wire.connect(&statements(), &alarm()).await.unwrap();
        let mut other = place.session().await;
        put(&mut other, 1, 0);
        other.flush().await.unwrap();
        session.queue_begin(Access::Write);
        session.queue(ALL, &[]);
        session.flush().await.unwrap();
        other.queue(ADD, &[Value::Int(1), Value::Int(1)]);
        other.flush().await.unwrap();
        session.queue(ADD, &[Value::Int(1), Value::Int(1)]);
        session.queue_commit();
        let error = session.flush().await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Serialization, "{error}");
        session.recover().await.unwrap();
        assert_eq!(all(&mut session).await, [(1, 1)]);
    });
}

/// Users move units between two rows, in both directions, so that they lock them in opposite order.
#[test]
#[ignore = "long"]
fn deadlocks_under_load_end_and_lose_nothing() {
    with_place(async |place| {
        let mut session = place.session().await;
        put(&mut session, 1, 1000);
        put(&mut session, 2, 1000);
        session.flush().await.unwrap();
        let operation = |name: &str, keys: [u8; 2]| {
            let step = |change: &str, key| {
                let sql = format!("update t set v = v {change} where k = {key}");
                json!({"name": format!("{name}_{key}"), "sql": sql, "rows": 1})
            };
            let steps = [step("- 1", keys[0]), step("+ 1", keys[1])];
            json!({"name": name, "weight": 1, "waits": true, "steps": steps})
        };
        let script = json!({
            "name": "transfers", "operations": [operation("forth", [1, 2]), operation("back", [2, 1])]
        });
        let mut wire = place.endpoint.clone();
        wire["kind"] = json!("mssql");
        let spool = std::env::temp_dir().join(format!("{}.jsonl", place.database));
        let plan = json!({
            "wire": wire, "seed": 3, "users": 8, "threads": 2, "loop": {"kind": "closed"},
            "workload": {"kind": "script", "params": script}, "max_retries": 1000,
            "warmup_s": 0, "duration_s": 6, "interval_s": 0.25,
            "clock": {"unix_ns": 1_700_000_000_000_000_000i64, "monotonic_ns": 0}, "spool": spool
        });
        let outcome = driven(serde_json::from_value(plan).unwrap()).unwrap();
        std::fs::remove_file(&spool).unwrap();
        let of = |name| &outcome.ops[name];
        let errors: u64 = outcome.ops.values().flat_map(|op| op.errors.values()).sum();
        assert_eq!((errors, outcome.stuck, outcome.gone), (0, 0, 0), "{:?}", outcome.errors_first);
        let retries = outcome.ops.values().filter_map(|op| op.retries.get(&ErrorKind::Deadlock));
        assert!(retries.sum::<u64>() > 0, "{:?}", outcome.ops);
        let rows = all(&mut session).await;
        let [(1, first), (2, second)] = rows[..] else { panic!("{rows:?}") };
        assert_eq!(first + second, 2000);
        // What was counted as done was done once. What ended after the window may be there, too.
        let counted = of("forth").done as i64 - of("back").done as i64;
        assert!((second - 1000).abs_diff(counted) <= outcome.unfinished, "{rows:?} {counted}");
    });
}
