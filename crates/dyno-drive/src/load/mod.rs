//! Bulk loading: parallel streams from the generator into the database.

mod config;
mod journal;
mod mssql;
mod mysql;
mod plan;
mod postgres;
mod sqlite;
mod streams;
mod units;

use dyno_gen::Dataset;
use dyno_record::{Control, Error, ErrorKind, Result};

pub use config::{LoadWire, SqliteFile};
pub use plan::{DonePart, Journal, LoadOutcome, LoadPlan, LoadedTable};

/// Loads a workload's data into existing, empty tables. On `control`, `done` and `total` count
/// rows, `bytes` counts bytes sent.
///
/// # Errors
/// `usage` for an invalid plan, such as a journal for a database that does not support one, or if
/// tables are missing; connection errors; the server's errors, such as `disk_full`; `cancelled`.
///
/// After an error, the parts in progress are rolled back, or complete if their commit was in
/// progress; earlier parts stay. A journal records each part in the transaction that loads it. A
/// later load with the same plan and that journal loads only the rest: wherever the first was
/// interrupted, no row is lost or duplicated.
pub fn load(plan: &LoadPlan, control: &Control) -> Result<LoadOutcome> {
    match &plan.wire {
        LoadWire::Postgres(config) => postgres::load(plan, config, control),
        LoadWire::Mysql(config) => mysql::load(plan, config, control),
        LoadWire::Mssql(config) => mssql::load(plan, config, control),
        LoadWire::Sqlite(_) if plan.journal.is_some() => {
            Err(Error::new(ErrorKind::Usage, "SQLite loads have no journal"))
        }
        LoadWire::Sqlite(file) => sqlite::load(plan, file, control),
    }
}

/// The tables to load: `wanted`, or all.
fn tables(data: &Dataset, wanted: Option<&[String]>) -> Result<Vec<&'static str>> {
    match wanted {
        None => Ok(data.tables().iter().map(|table| table.name).collect()),
        Some(names) => names.iter().map(|name| Ok(data.table(name)?.name)).collect(),
    }
}
