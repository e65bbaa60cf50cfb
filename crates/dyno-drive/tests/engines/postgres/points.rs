//! Point selects: stalls of the server, checks of the row, locks.

use std::time::Duration;

use dyno_drive::{DrivePlan, Outcome, drive};
use dyno_record::{Control, ErrorKind};
use serde_json::{Value, json};

use super::server::Server;
use super::stopped::Stopped;
use super::{drive_plan, run};

#[test]
fn a_server_that_stands_still_shows_in_responses_and_hides_from_service_times() {
    let Some(server) = Server::start(&[]) else { return };
    server.psql(
        "postgres",
        "create table points as select generate_series(1, 1000) as id, 7 as c;
         alter table points add primary key (id); vacuum analyze points;",
    );
    let changes = json!({
        "wire": server.wire("postgres"), "users": 2, "duration_s": 3,
        "workload": {
            "kind": "point_select",
            "params": {"sql": "select c from points where id = $1", "keys": 1000}
        },
        "loop": {"kind": "open", "rate_per_s": 500}
    });
    // A stalled machine spoils one run, a fault of the driver spoils all.
    let mut hidden = false;
    for attempt in 0..20 {
        let plan = drive_plan(&server, &format!("stall-{attempt}"), &changes);
        let outcome = with_stalls(&server, plan);
        let selects = &outcome.ops["point_select"];
        // Of 50 due in a stall, two are in progress and wait for the server, the others wait for
        // them: one in ten responses, one in 250 service times.
        assert!(selects.response_ms.p99 >= 50.0, "{selects:?}");
        assert!(outcome.late >= 40, "{outcome:?}");
        hidden = selects.service_ms.p99 < selects.response_ms.p99 / 4.0;
        if hidden {
            break;
        }
    }
    assert!(hidden);
}

/// Drives while the server's sessions are stopped for 100 ms of each second.
fn with_stalls(server: &Server, plan: DrivePlan) -> Outcome {
    let users = plan.users as usize;
    let control = Control::new();
    let handle = control.clone();
    let running = std::thread::spawn(move || drive(&plan, &control));
    let reached = |done_ms: u64| {
        while handle.progress().done < done_ms && !running.is_finished() {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    reached(200);
    let sessions = server.psql(
        "postgres",
        "select pid from pg_stat_activity
         where backend_type = 'client backend' and pid <> pg_backend_pid()",
    );
    assert_eq!(sessions.lines().count(), users);
    for second in 0..3 {
        reached(second * 1_000 + 500);
        let _stopped = Stopped::now(&sessions);
        std::thread::sleep(Duration::from_millis(100));
    }
    running.join().unwrap().unwrap()
}

#[test]
fn a_point_that_is_wrong_missing_or_null_is_an_error_of_its_operation() {
    let Some(server) = Server::start(&[]) else { return };
    server.psql(
        "postgres",
        "create table points as select id, id as c, repeat('x', 20) as t
         from generate_series(1, 10) as id where id <> 4;
         update points set c = case when id = 2 then null else -1 end where id in (2, 3);
         insert into points values (5, 5, 'twice');",
    );
    let points = |select: Value| {
        let mut plan = json!({"sql": "select c from points where id = $1", "keys": 10});
        plan.as_object_mut().unwrap().extend(select.as_object().unwrap().clone());
        let changes = json!({
            "wire": server.wire("postgres"), "workload": {"kind": "point_select", "params": plan}, "duration_s": 0.5
        });
        run(&server, "points", &changes).unwrap()
    };
    let outcome = points(json!({"holds": "key"}));
    let op = &outcome.ops["point_select"];
    // Of ten keys one is null, one wrong, one missing, one duplicate; each is drawn.
    assert_eq!(
        op.errors.keys().copied().collect::<Vec<_>>(),
        [ErrorKind::Protocol, ErrorKind::Database]
    );
    let (null, others) = (op.errors[&ErrorKind::Protocol], op.errors[&ErrorKind::Database]);
    assert!(null > 0 && others > null && op.done > others, "{op:?}");
    let told = &outcome.errors_first[&ErrorKind::Protocol];
    assert!(told.contains("not an integer") && told.contains("point_select"), "{told}");

    // Unchecked, any value is accepted, but not one of another type.
    let third = "select c from points where id = $1 + 2";
    let outcome = points(json!({"sql": third, "keys": 1}));
    assert!(outcome.errors_first.is_empty(), "{:?}", outcome.errors_first);
    let text = json!({
        "sql": "select t from points where id = $1", "keys": 3, "returns": "text",
        "holds": {"bytes": 20}
    });
    let outcome = points(text);
    assert!(outcome.errors_first.is_empty(), "{:?}", outcome.errors_first);
}

#[test]
fn a_lock_that_is_not_had_in_time_is_tried_again_and_counted_apart() {
    let settings = ["lock_timeout = '20ms'", "max_prepared_transactions = 1"];
    let Some(server) = Server::start(&settings) else { return };
    // A prepared transaction holds its lock independently of sessions.
    server.psql(
        "postgres",
        "create table points as select id, id as c from generate_series(1, 2) as id;
         begin; select c from points where id = 1 for update; prepare transaction 'holder';",
    );
    let sql = "select c from points where id = $1 for update";
    let changes = json!({
        "wire": server.wire("postgres"), "users": 2, "max_retries": 1,
        "workload": {
            "kind": "point_select", "params": {"sql": sql, "keys": 2, "holds": "key"}
        }
    });
    let outcome = run(&server, "locked", &changes).unwrap();
    server.psql("postgres", "rollback prepared 'holder'");
    let op = &outcome.ops["point_select"];
    // On a busy machine the server's signal to itself may be so late that it ends the statement
    // after the one that waited: "canceling statement due to user request", seen once.
    let late = op.errors.get(&ErrorKind::Timeout).copied().unwrap_or(0);
    assert_eq!(op.errors.values().sum::<u64>(), op.errors[&ErrorKind::LockTimeout] + late);
    assert!(10 * late < op.errors[&ErrorKind::LockTimeout], "{op:?}");
    assert!(op.done > 0 && op.retries[&ErrorKind::LockTimeout] > 0, "{op:?}");
    let told = &outcome.errors_first[&ErrorKind::LockTimeout];
    assert!(told.contains("another session held the lock"), "{told}");
}
