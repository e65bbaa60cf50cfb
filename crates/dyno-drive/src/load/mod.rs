//! Bulk loading: rows go from the generator straight into the database, in parallel streams.

mod config;
mod journal;
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

/// Loads a workload's data into tables that exist and are empty. On `control`, `done` and `total`
/// count rows, `bytes` what was sent.
///
/// # Errors
/// `usage` for a plan that makes no sense, such as one with a journal for a database whose loads
/// keep none, or tables that are missing; what connecting meets; the
/// server's, such as `disk_full`; `cancelled`. Each part of a table that was under way then is
/// rolled back, or whole if its commit was under way; those before it stay. With a journal they are recorded there, each in the
/// transaction that loads it, and a later load with the same plan and what the journal says does
/// only the rest: no row is lost or doubled, whenever the first was cut off.
pub fn load(plan: &LoadPlan, control: &Control) -> Result<LoadOutcome> {
    match &plan.wire {
        LoadWire::Postgres(config) => postgres::load(plan, config, control),
        LoadWire::Mysql(config) => mysql::load(plan, config, control),
        LoadWire::Sqlite(_) if plan.journal.is_some() => {
            Err(Error::new(ErrorKind::Usage, "SQLite loads have no journal"))
        }
        LoadWire::Sqlite(file) => sqlite::load(plan, file, control),
    }
}

/// The tables to load: those `wanted`, or all.
fn tables(data: &Dataset, wanted: Option<&[String]>) -> Result<Vec<&'static str>> {
    match wanted {
        None => Ok(data.tables().iter().map(|table| table.name).collect()),
        Some(names) => names.iter().map(|name| Ok(data.table(name)?.name)).collect(),
    }
}
