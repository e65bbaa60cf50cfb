//! Loads into servers that accept a connection and never respond: they stop when cancelled.

use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use dyno_drive::{LoadPlan, load};
use dyno_record::{Control, ErrorKind};
use serde_json::{Value, json};

/// Cancels a load that waits for the first message of the server behind `wire`.
fn is_given_up(mut wire: Value) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    wire["host"] = json!("127.0.0.1");
    wire["port"] = json!(listener.local_addr().unwrap().port());
    wire["connect_timeout_s"] = json!(86_400);
    let plan: LoadPlan = serde_json::from_value(json!({
        "wire": wire, "workload": "tpch", "scale": 0.01, "seed": 1, "streams": 2
    }))
    .unwrap();
    let control = Control::new();
    let handle = control.clone();
    let (ended, result) = mpsc::channel();
    thread::spawn(move || ended.send(load(&plan, &control)));
    let _client = listener.accept().unwrap();
    handle.cancel();
    let result = result.recv_timeout(Duration::from_secs(300));
    let error = result.expect("the load goes on though it was cancelled").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled, "{error}");
}

#[test]
fn a_silent_postgresql() {
    is_given_up(json!({"kind": "postgres", "user": "u", "database": "d"}));
}

#[test]
fn a_silent_postgresql_that_was_asked_for_tls() {
    is_given_up(json!({"kind": "postgres", "user": "u", "database": "d", "tls": {}}));
}

#[test]
fn a_silent_mysql() {
    is_given_up(json!({"kind": "mysql", "user": "u", "database": "d"}));
}
