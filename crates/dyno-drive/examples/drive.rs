//! Runs a JSON plan, from the command line or a file, and prints its outcome as JSON:
//! `drive '{"wire": …, "workload": {"kind": "tpcc", …}, …}'`, or `drive load '{"wire": …, …}'`.

use std::process::ExitCode;

use dyno_drive::{drive, load};
use dyno_record::Control;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match &arguments[..] {
        [verb, plan] if verb == "load" => run(plan, load),
        [plan] => run(plan, drive),
        _ => Err("usage: drive [load] PLAN, a JSON text or a file of it".to_owned()),
    };
    match result {
        Ok(outcome) => {
            println!("{outcome}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn run<P: DeserializeOwned, O: Serialize>(
    plan: &str,
    engine: impl FnOnce(&P, &Control) -> dyno_record::Result<O>,
) -> Result<String, String> {
    let text = if plan.trim_start().starts_with('{') {
        plan.to_owned()
    } else {
        std::fs::read_to_string(plan).map_err(|error| format!("{plan}: {error}"))?
    };
    let plan: P = serde_json::from_str(&text).map_err(|error| format!("the plan: {error}"))?;
    let outcome = engine(&plan, &Control::new()).map_err(|error| error.to_string())?;
    serde_json::to_string_pretty(&outcome).map_err(|error| error.to_string())
}
