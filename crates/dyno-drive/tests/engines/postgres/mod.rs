//! The driver and the loader with a real PostgreSQL 18.

#![allow(clippy::doc_markdown, reason = "product names such as PostgreSQL are not code")]

mod conditions;
mod crashes;
mod door;
mod loads;
mod points;
mod server;
mod stopped;
mod tpcc;

use std::path::PathBuf;

use dyno_drive::{DrivePlan, LoadOutcome, LoadPlan, Outcome, drive, load};
use dyno_gen::Workload;
use dyno_record::{Control, Result};
use serde_json::{Value, json};
use server::{Server, keys};

const SEED: u64 = 11;

fn load_plan(server: &Server, workload: Workload, scale: f64) -> LoadPlan {
    serde_json::from_value(json!({
        "wire": server.wire(workload.as_str()), "workload": workload, "scale": scale,
        "seed": SEED, "streams": 2
    }))
    .unwrap()
}

/// Loads TPC-C-derived data with its keys and indexes.
fn load_tpcc(server: &Server, warehouses: u32) -> LoadOutcome {
    server.create(Workload::Tpcc);
    let plan = load_plan(server, Workload::Tpcc, f64::from(warehouses));
    let outcome = load(&plan, &Control::new()).unwrap();
    server.psql("tpcc", &keys(Workload::Tpcc));
    server.psql(
        "tpcc",
        "create index on customer (c_w_id, c_d_id, c_last, c_first);
         create index on orders (o_w_id, o_d_id, o_c_id, o_id);
         vacuum analyze;",
    );
    outcome
}

fn spool(server: &Server, name: &str) -> PathBuf {
    server.dir.join(format!("{name}.jsonl"))
}

fn drive_plan(server: &Server, name: &str, changes: &Value) -> DrivePlan {
    let mut plan = json!({
        "wire": server.wire("tpcc"), "seed": 5,
        "workload": {"kind": "tpcc", "params": {"warehouses": 2, "c_load": dyno_gen::tpcc::c_load(SEED)}}, "users": 4, "loop": {"kind": "closed"},
        "warmup_s": 0, "duration_s": 2, "interval_s": 0.25,
        "clock": {"unix_ns": 1_700_000_000_000_000_000i64, "monotonic_ns": 0},
        "spool": spool(server, name)
    });
    for (field, value) in changes.as_object().unwrap() {
        let of_workload = ["warehouses", "home", "mode"].contains(&field.as_str());
        let at = if of_workload { &mut plan["workload"]["params"] } else { &mut plan };
        at[field] = value.clone();
    }
    serde_json::from_value(plan).unwrap()
}

fn run(server: &Server, name: &str, changes: &Value) -> Result<Outcome> {
    drive(&drive_plan(server, name, changes), &Control::new())
}

fn number(server: &Server, sql: &str) -> u64 {
    server.psql("tpcc", sql).parse().unwrap()
}
