//! The long calls: JSON plan in, JSON outcome out, interpreter lock released.

use dyno_gen::Workload;
use dyno_record::{Control, Error, ErrorKind, Result};
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::control::{PyControl, raise};

/// Prepares a workload's generator in a separate thread, while files are opened or a server starts
/// and CPUs are idle. Generating is correct without it, and before it ends.
#[pyfunction]
pub fn prepare(workload: &str) -> PyResult<()> {
    let workload = Workload::parse(workload).map_err(|error| raise(&error))?;
    let thread = std::thread::Builder::new().name("prepare".into());
    drop(thread.spawn(move || workload.prepare())); // on failure the first row waits
    Ok(())
}

/// Writes a workload's rows to files.
#[pyfunction]
pub fn generate(py: Python<'_>, plan: &str, control: &PyControl) -> PyResult<String> {
    call(py, plan, control, dyno_gen::generate)
}

/// Generates rows into a database.
#[pyfunction]
pub fn load(py: Python<'_>, plan: &str, control: &PyControl) -> PyResult<String> {
    call(py, plan, control, |plan: dyno_drive::LoadPlan, control| dyno_drive::load(&plan, control))
}

/// Drives transactions against a database.
#[pyfunction]
pub fn drive(py: Python<'_>, plan: &str, control: &PyControl) -> PyResult<String> {
    call(py, plan, control, |plan: dyno_drive::DrivePlan, control| {
        dyno_drive::drive(&plan, control)
    })
}

/// Reads a server's log once.
#[pyfunction]
pub fn scan_log(py: Python<'_>, plan: &str, control: &PyControl) -> PyResult<String> {
    call(py, plan, control, |plan: dyno_drive::ScanPlan, control| dyno_drive::scan(&plan, control))
}

/// Reads the transactions of a server's log.
#[pyfunction]
pub fn shape_log(py: Python<'_>, plan: &str, control: &PyControl) -> PyResult<String> {
    call(py, plan, control, |plan: dyno_drive::ScanPlan, control| {
        dyno_drive::shapes(&plan, control)
    })
}

/// Replays a server's log against a database.
#[pyfunction]
pub fn replay_log(py: Python<'_>, plan: &str, control: &PyControl) -> PyResult<String> {
    call(py, plan, control, |plan: dyno_drive::ReplayPlan, control| {
        dyno_drive::replay(&plan, control)
    })
}

/// Measures a volume.
#[pyfunction]
pub fn profile(py: Python<'_>, plan: &str, control: &PyControl) -> PyResult<String> {
    call(py, plan, control, dyno_io::profile)
}

fn call<P, O>(
    py: Python<'_>,
    plan: &str,
    control: &PyControl,
    engine: fn(P, &Control) -> Result<O>,
) -> PyResult<String>
where
    P: DeserializeOwned + Send,
    O: Serialize + Send,
{
    let control = control.0.clone();
    py.detach(move || {
        let plan: P = serde_json::from_str(plan)
            .map_err(|error| Error::new(ErrorKind::Usage, format!("unusable plan: {error}")))?;
        let outcome = engine(plan, &control)?;
        serde_json::to_string(&outcome)
            .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))
    })
    .map_err(|error| raise(&error))
}
