//! Runs a JSON plan from a file and prints its outcome as JSON:
//! `cargo run --release -p dyno-io --example profile -- plan.json`
//!
//! `clock` is optional in the plan; the default is now.

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use dyno_io::{Plan, profile};
use dyno_record::{Clock, Control, monotonic_ns};
use serde_json::Value;

fn main() -> ExitCode {
    match run() {
        Ok(outcome) => {
            println!("{outcome}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: profile PLAN.json")?;
    let mut plan: Value = serde_json::from_slice(&std::fs::read(path)?)?;
    if plan.get("clock").is_none() {
        let unix_ns = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as i64;
        plan["clock"] = serde_json::to_value(Clock { unix_ns, monotonic_ns: monotonic_ns() })?;
    }
    let plan: Plan = serde_json::from_value(plan)?;
    Ok(serde_json::to_string_pretty(&profile(plan, &Control::new())?)?)
}
