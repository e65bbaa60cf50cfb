//! Short queries: contents of the compiled half, schemas, row counts, reference answers.

use dyno_gen::schema::ColumnType;
use dyno_gen::{Dataset, Workload};
use dyno_record::{Error, ErrorKind};
use pyo3::prelude::*;

use crate::control::{PyControl, raise};

/// The names in the compiled half: workloads, file formats, wires, I/O engines, and the version of
/// the compiled-in `SQLite`. A test requires that each is covered.
#[pyfunction]
pub fn parts() -> String {
    serde_json::json!({
        "workloads": Workload::NAMES,
        "formats": dyno_gen::FileFormat::NAMES,
        "wires": dyno_drive::WIRES,
        "io_engines": dyno_io::ENGINES,
        "sqlite": dyno_drive::sqlite_version(),
        "errors": dyno_record::ErrorKind::ALL,
    })
    .to_string()
}

/// Declares a workload that has no generator of its own; `tables` is JSON.
#[pyfunction]
pub fn declare(tables: &str) -> PyResult<()> {
    dyno_gen::declare(tables).map_err(|error| raise(&error))
}

/// The first `count` transactions of a script's first user with their drawn values, as JSON.
#[pyfunction]
pub fn preview(script: &str, seed: u64, count: u32) -> PyResult<String> {
    let script: dyno_drive::Script = serde_json::from_str(script)
        .map_err(|error| raise(&Error::new(ErrorKind::Usage, format!("unusable plan: {error}"))))?;
    let found = dyno_drive::preview(&script, seed, count).map_err(|error| raise(&error))?;
    Ok(serde_json::to_string(&found).expect("names and values are plain data"))
}

/// Tables, columns and keys of a workload, as JSON.
#[pyfunction]
pub fn schema(workload: &str) -> PyResult<String> {
    let workload = Workload::parse(workload).map_err(|error| raise(&error))?;
    Ok(serde_json::to_string(workload.tables()).expect("schemas are plain data"))
}

/// The workload in whose database the tables of `workload` belong: itself, unless they extend the
/// tables of another one. Names without a generator are their own.
#[pyfunction]
pub fn home(workload: &str) -> String {
    Workload::parse(workload).map_or(workload, |known| known.home().as_str()).to_owned()
}

/// Row count of a table at a scale with a seed and initial days, and whether it is exact.
#[pyfunction]
#[pyo3(signature = (workload, table, scale, seed, days=None))]
pub fn rows(
    py: Python<'_>,
    workload: &str,
    table: &str,
    scale: f64,
    seed: u64,
    days: Option<u32>,
) -> PyResult<(u64, bool)> {
    // An exact count can take a while: let other threads run.
    let count = py.detach(|| {
        let dataset = Dataset::new(Workload::parse(workload)?, scale, seed)?.with_days(days)?;
        dataset.row_count(table)
    });
    count.map(|rows| (rows.count, rows.exact)).map_err(|error| raise(&error))
}

/// What update set `set` (from 0) inserts, or with `loaded` deletes: orders, lines, lowest and
/// highest order key, and the lowest remainder of the keys modulo 32 (they have eight consecutive
/// ones).
#[pyfunction]
pub fn refresh_set(
    py: Python<'_>,
    scale: f64,
    set: u64,
    loaded: bool,
) -> PyResult<(u64, u64, i64, i64, i64)> {
    let facts = py.detach(|| {
        let data = Dataset::refresh(scale, set, crate::arrow::orders_of(loaded))?;
        let (orders, lines) = (data.row_count("orders")?, data.row_count("lineitem")?);
        let keys = data.refresh_keys().expect("it is the data of a refresh function");
        Ok((orders.count, lines.count, keys.first, keys.last, keys.slot))
    });
    facts.map_err(|error| raise(&error))
}

/// What the generator writes to a table, as JSON: its `rows`, and for each column the exact `sum`
/// of its values as text (for text columns, of their lengths in characters), null for dates and
/// times.
#[pyfunction]
#[pyo3(signature = (workload, table, scale, seed, threads, control, days=None))]
#[expect(clippy::too_many_arguments, reason = "a Python signature")]
pub fn sums(
    py: Python<'_>,
    workload: &str,
    table: &str,
    scale: f64,
    seed: u64,
    threads: usize,
    control: &PyControl,
    days: Option<u32>,
) -> PyResult<String> {
    let control = control.0.clone();
    py.detach(|| {
        let data = Dataset::new(Workload::parse(workload)?, scale, seed)?.with_days(days)?;
        let columns = data.table(table)?.columns;
        let found = dyno_gen::sums(&data, table, threads, &control)?;
        let shown = |(column, sum): (&dyno_gen::schema::Column, &i128)| match column.kind {
            ColumnType::Date | ColumnType::Timestamp => None,
            ColumnType::Decimal { scale, .. } => Some(decimal_text(*sum, scale)),
            _ => Some(sum.to_string()),
        };
        let sums: Vec<_> = columns.iter().zip(found.sums()).map(shown).collect();
        Ok(serde_json::json!({"rows": found.rows(), "sums": sums}).to_string())
    })
    .map_err(|error: Error| raise(&error))
}

/// `unscaled / 10^scale`, exactly.
fn decimal_text(unscaled: i128, scale: u8) -> String {
    let divisor = 10_u128.pow(u32::from(scale));
    let (whole, part) = (unscaled.unsigned_abs() / divisor, unscaled.unsigned_abs() % divisor);
    let sign = if unscaled < 0 { "-" } else { "" };
    format!("{sign}{whole}.{part:0width$}", width = usize::from(scale))
}

/// The seed of the stream that `user` of `workload` uses for `purpose`.
#[pyfunction]
pub fn derive_seed(seed: u64, workload: &str, user: u64, purpose: &str) -> u64 {
    dyno_record::derive_seed(seed, workload, user, purpose)
}

/// The constant C of the non-uniform last names in data generated with `seed`.
#[pyfunction]
pub fn load_constant(seed: u64) -> u64 {
    dyno_gen::tpcc::c_load(seed)
}

/// The published answer of TPC-H query `number` at scale 1 with validation parameters, as text: a
/// header line, then rows with padded fields separated by `|`.
#[pyfunction]
pub fn tpch_answer(number: i32) -> PyResult<&'static str> {
    tpchgen::q_and_a::answers_sf1::answer(number).ok_or_else(|| {
        raise(&Error::new(ErrorKind::Usage, format!("no query {number}: choose 1 to 22")))
    })
}
