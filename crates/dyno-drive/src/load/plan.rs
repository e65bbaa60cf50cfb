//! What to load, and what came of it.

use dyno_gen::Workload;
use serde::{Deserialize, Serialize};

use super::config::LoadWire;

/// The plan of a load.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadPlan {
    /// Where to.
    pub wire: LoadWire,
    /// Whose data.
    pub workload: Workload,
    /// Scale factor, or number of warehouses.
    pub scale: f64,
    /// Seed of the data.
    pub seed: u64,
    /// Connections that load at the same time.
    pub streams: u32,
    /// Tables to load; all of the workload's if absent.
    #[serde(default)]
    pub tables: Option<Vec<String>>,
    /// Where parts are recorded, so that a load which was cut off can go on; nowhere if absent.
    #[serde(default)]
    pub journal: Option<Journal>,
}

/// A table that says which parts are loaded. It exists, with the columns `part_table`, `part`
/// (from 1), `parts` and `part_rows`, and each part adds its row in the transaction that loads it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Journal {
    /// Its name, in the schema of the tables.
    pub table: String,
    /// What it says already: parts that are not loaded again.
    #[serde(default)]
    pub done: Vec<DonePart>,
}

/// A part of an earlier load.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DonePart {
    /// The table.
    pub table: String,
    /// Number of the part, from 1.
    pub part: u64,
    /// Parts that the table was cut into.
    pub parts: u64,
    /// Its rows.
    pub rows: u64,
}

/// What was loaded.
#[derive(Debug, Clone, Serialize)]
pub struct LoadOutcome {
    /// In the order of the plan.
    pub tables: Vec<LoadedTable>,
    /// From the first row to the last commit, connecting left out.
    pub seconds: f64,
    /// Rows in all.
    pub rows: u64,
    /// Bytes sent in all.
    pub bytes: u64,
}

/// One table.
#[derive(Debug, Clone, Serialize)]
pub struct LoadedTable {
    /// Its name.
    pub table: &'static str,
    /// Rows that the database says it took.
    pub rows: u64,
    /// Bytes sent.
    pub bytes: u64,
    /// From the start of its first part to the end of its last; tables overlap.
    pub seconds: f64,
}
