//! A server that is killed under load.

use std::time::{Duration, Instant};

use dyno_drive::drive;
use dyno_record::{Control, ErrorKind};
use serde_json::{Value, json};

use super::conditions::violations;
use super::server::Server;
use super::{drive_plan, load_tpcc, spool};

#[test]
fn a_server_that_crashes_and_comes_back() {
    let Some(mut server) = Server::start(&[]) else { return };
    load_tpcc(&server, 1);
    let changes = json!({"warehouses": 1, "duration_s": 3600, "reconnect_s": 600});
    let plan = drive_plan(&server, "crash", &changes);
    let control = Control::new();
    let handle = control.clone();
    let running = std::thread::spawn(move || drive(&plan, &control));
    while handle.progress().done < 700 && !running.is_finished() {
        std::thread::sleep(Duration::from_millis(10));
    }
    server.kill();
    server.launch();
    // All four are working again.
    let users = "select count(*) from pg_stat_activity where datname = 'tpcc' and xact_start is not null \
                 and backend_type = 'client backend' and pid <> pg_backend_pid()";
    while server.psql("postgres", users) != "4" {
        assert!(!running.is_finished(), "the run ended without its users");
        std::thread::sleep(Duration::from_millis(10));
    }
    handle.finish();
    let outcome = running.join().unwrap().unwrap();
    assert_eq!(outcome.reconnects, 4);
    assert!(outcome.errors_first.contains_key(&ErrorKind::ConnectionLost));
    let failed: u64 = outcome.ops.values().flat_map(|op| op.errors.values()).sum();
    assert_eq!(failed, 4, "each user loses one transaction: {:?}", outcome.errors_first);
    assert!(violations(&server).is_empty(), "{:?}", violations(&server));
}

#[test]
fn a_server_that_is_gone_for_good() {
    let Some(mut server) = Server::start(&[]) else { return };
    load_tpcc(&server, 1);
    let changes = json!({"warehouses": 1, "duration_s": 3600, "reconnect_s": 0.5, "threads": 2});
    let plan = drive_plan(&server, "gone", &changes);
    let control = Control::new();
    let handle = control.clone();
    let running = std::thread::spawn(move || drive(&plan, &control));
    while handle.progress().done < 1_000 && !running.is_finished() {
        std::thread::sleep(Duration::from_millis(10));
    }
    server.kill();
    let killed = Instant::now();
    let error = running.join().unwrap().unwrap_err();
    assert_eq!(error.kind, ErrorKind::ConnectionLost, "{error}");
    assert!(killed.elapsed() < Duration::from_secs(600), "{:?}", killed.elapsed());
    let text = std::fs::read_to_string(spool(&server, "gone")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let done: u64 = lines.iter().map(|line| line["done"].as_u64().unwrap()).sum();
    assert!(done > 0);
    assert!(lines.iter().any(|line| line["errors"]["connection_lost"].is_u64()));
}
