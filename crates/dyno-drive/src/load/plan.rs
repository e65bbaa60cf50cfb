//! Plan and outcome of a load.

use dyno_gen::Workload;
use serde::{Deserialize, Serialize};

use super::config::LoadWire;

/// The plan of a load.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadPlan {
    /// The database.
    pub wire: LoadWire,
    /// The workload.
    pub workload: Workload,
    /// Scale factor, number of warehouses, or thousands of customers.
    pub scale: f64,
    /// Initial days of the data; default: the workload's usual number, if it has any.
    #[serde(default)]
    pub days: Option<u32>,
    /// Seed of the data.
    pub seed: u64,
    /// Parallel connections.
    pub streams: u32,
    /// Tables to load; default: all of the workload.
    #[serde(default)]
    pub tables: Option<Vec<String>>,
    /// Where to record parts, so that an interrupted load can resume; default: nowhere.
    #[serde(default)]
    pub journal: Option<Journal>,
}

/// A table of loaded parts. It must exist with the columns `part_table`, `part` (from 1), `parts`
/// and `part_rows`. Each part adds its row in the transaction that loads it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Journal {
    /// Its name, in the schema of the workload's tables.
    pub table: String,
    /// Its current rows: parts that need no loading.
    #[serde(default)]
    pub done: Vec<DonePart>,
}

/// A part of an earlier load.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DonePart {
    /// The table.
    pub table: String,
    /// Part number, from 1.
    pub part: u64,
    /// Number of parts of the table.
    pub parts: u64,
    /// Its rows.
    pub rows: u64,
}

/// The outcome of a load.
#[derive(Debug, Clone, Serialize)]
pub struct LoadOutcome {
    /// In the order of the plan.
    pub tables: Vec<LoadedTable>,
    /// From the first row to the last commit, without connecting.
    pub seconds: f64,
    /// Total rows.
    pub rows: u64,
    /// Total bytes sent.
    pub bytes: u64,
}

/// The outcome for one table.
#[derive(Debug, Clone, Serialize)]
pub struct LoadedTable {
    /// Its name.
    pub table: &'static str,
    /// Rows that the database reports as loaded.
    pub rows: u64,
    /// Bytes sent.
    pub bytes: u64,
    /// From the start of its first part to the end of its last; tables overlap in time.
    pub seconds: f64,
}
