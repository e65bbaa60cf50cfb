//! `dyno._core`: the compiled half of the Python package, and the only crate with Python bindings.
//!
//! A few coarse calls take a plan as JSON, write files of the bundle and return an outcome as JSON.
//! They release the interpreter lock for the whole call. Python values are taken by `digest`, the
//! rows of a query's answer, and by the latency histograms of analysis and the live page.

mod accelerate;
mod answers;
mod arrow;
mod control;
mod engines;
mod facts;
mod latencies;

use pyo3::prelude::*;

/// The compiled half of Dyno.
#[pymodule]
#[pyo3(name = "_core")]
fn core_module(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("EngineError", module.py().get_type::<control::EngineError>())?;
    module.add_class::<control::PyControl>()?;
    module.add_class::<arrow::ArrowStream>()?;
    module.add_class::<latencies::PyLatency>()?;
    module.add_class::<latencies::PyHistograms>()?;
    module.add_class::<latencies::PyTimeline>()?;
    module.add_class::<latencies::PySums>()?;
    module.add_function(wrap_pyfunction!(accelerate::replay_trace, module)?)?;
    module.add_function(wrap_pyfunction!(accelerate::glob_fault, module)?)?;
    module.add_function(wrap_pyfunction!(accelerate::miss_ratios, module)?)?;
    module.add_function(wrap_pyfunction!(accelerate::serve_mount, module)?)?;
    module.add_function(wrap_pyfunction!(answers::digest, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::arrow_stream, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::refresh_stream, module)?)?;
    module.add_function(wrap_pyfunction!(engines::prepare, module)?)?;
    module.add_function(wrap_pyfunction!(engines::generate, module)?)?;
    module.add_function(wrap_pyfunction!(engines::load, module)?)?;
    module.add_function(wrap_pyfunction!(engines::drive, module)?)?;
    module.add_function(wrap_pyfunction!(engines::scan_log, module)?)?;
    module.add_function(wrap_pyfunction!(engines::shape_log, module)?)?;
    module.add_function(wrap_pyfunction!(engines::replay_log, module)?)?;
    module.add_function(wrap_pyfunction!(engines::profile, module)?)?;
    module.add_function(wrap_pyfunction!(facts::parts, module)?)?;
    module.add_function(wrap_pyfunction!(facts::declare, module)?)?;
    module.add_function(wrap_pyfunction!(facts::preview, module)?)?;
    module.add_function(wrap_pyfunction!(facts::schema, module)?)?;
    module.add_function(wrap_pyfunction!(facts::home, module)?)?;
    module.add_function(wrap_pyfunction!(facts::rows, module)?)?;
    module.add_function(wrap_pyfunction!(facts::refresh_set, module)?)?;
    module.add_function(wrap_pyfunction!(facts::sums, module)?)?;
    module.add_function(wrap_pyfunction!(facts::load_constant, module)?)?;
    module.add_function(wrap_pyfunction!(facts::derive_seed, module)?)?;
    module.add_function(wrap_pyfunction!(facts::tpch_answer, module)?)?;
    Ok(())
}
