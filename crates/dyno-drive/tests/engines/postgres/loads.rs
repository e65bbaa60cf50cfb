//! The loader: where it finds its tables, and how it stops.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use dyno_drive::load;
use dyno_gen::Workload;
use dyno_record::{Control, ErrorKind};
use serde_json::json;

use super::server::Server;
use super::stopped::Stopped;
use super::{SEED, load_plan};

#[test]
fn tables_elsewhere_are_found_by_schema() {
    let Some(server) = Server::start(&[]) else { return };
    server.create(Workload::Tpch);
    let missing = load(&load_plan(&server, Workload::Tpcc, 1.0), &Control::new()).unwrap_err();
    assert_eq!(missing.kind, ErrorKind::Unreachable, "{missing}");

    let moves: Vec<String> = Workload::Tpch
        .tables()
        .iter()
        .map(|table| format!("alter table {} set schema \"odd \"\"name\"", table.name))
        .collect();
    let moves = moves.join(";");
    server.psql("tpch", &format!("create schema \"odd \"\"name\"; {moves}"));
    let mut plan = json!({
        "wire": server.wire("tpch"), "workload": "tpch", "scale": 0.01, "seed": SEED, "streams": 3
    });
    let absent = load(&serde_json::from_value(plan.clone()).unwrap(), &Control::new()).unwrap_err();
    assert_eq!(absent.kind, ErrorKind::Usage, "{absent}");
    plan["wire"]["schema"] = json!("odd \"name");
    let control = Control::new();
    let outcome = load(&serde_json::from_value(plan).unwrap(), &control).unwrap();
    let count = server.psql("tpch", "select count(*) from \"odd \"\"name\".lineitem");
    let lineitem = outcome.tables.iter().find(|table| table.table == "lineitem").unwrap();
    assert_eq!(count, lineitem.rows.to_string());
    assert_eq!(control.progress().done, outcome.rows);
    assert!(lineitem.seconds > 0.0 && lineitem.seconds <= outcome.seconds);
}

#[test]
fn a_load_that_is_stopped_leaves_whole_parts_only() {
    let Some(mut server) = Server::start(&[]) else { return };
    server.create(Workload::Tpch);
    for crash in [false, true] {
        let plan = load_plan(&server, Workload::Tpch, 1.0);
        let control = Control::new();
        let handle = control.clone();
        let loading = std::thread::spawn(move || (load(&plan, &control), Instant::now()));
        while handle.progress().done < 100_000 && !loading.is_finished() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let stopped = Instant::now();
        if crash {
            server.kill();
        } else {
            handle.cancel();
        }
        let (result, ended) = loading.join().unwrap();
        let error = result.unwrap_err();
        if crash {
            assert_eq!(error.kind, ErrorKind::ConnectionLost, "{error}");
            server.launch();
        } else {
            assert_eq!(error.kind, ErrorKind::Cancelled, "{error}");
            assert!(ended - stopped < Duration::from_secs(300), "{:?}", ended - stopped);
        }
        // The first parts, of at least half a million lines, were in progress: nothing of them
        // remains.
        assert_eq!(server.psql("tpch", "select count(*) from lineitem"), "0");
        let copying =
            "select count(*) from pg_stat_activity where query like 'copy%' and state = 'active'";
        // The server takes a moment to notice the disconnect.
        let asked = Instant::now();
        while server.psql("tpch", copying) != "0" {
            assert!(
                asked.elapsed() < Duration::from_secs(300),
                "a COPY goes on without its client"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_load_is_stopped_while_the_server_stalls() {
    let Some(server) = Server::start(&[]) else { return };
    server.create(Workload::Tpch);
    let plan = load_plan(&server, Workload::Tpch, 1.0);
    let control = Control::new();
    let handle = control.clone();
    let (ended, result) = mpsc::channel();
    std::thread::spawn(move || ended.send(load(&plan, &control)));
    let copying = "select pid from pg_stat_activity where query like 'copy%' and state = 'active'";
    let copies = || server.psql("tpch", copying);
    while handle.progress().done < 100_000 || copies().lines().count() < 2 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let stalled = Stopped::now(&copies());
    // Until all buffers are full and no further row is sent.
    let (mut done, mut looks) = (0, 0);
    while looks < 20 {
        std::thread::sleep(Duration::from_millis(10));
        let now = handle.progress().done;
        looks = if now == done { looks + 1 } else { 0 };
        done = now;
    }
    handle.cancel();
    let result = result.recv_timeout(Duration::from_secs(300));
    drop(stalled);
    let error = result.expect("the load waits for the server").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled, "{error}");
    while !copies().is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(server.psql("tpch", "select count(*) from lineitem"), "0");
}
