//! `dyno._core`: the compiled half of the Python package, and the only crate that knows Python.
//!
//! Few coarse calls: a plan goes in as JSON, files of the bundle come out, and an outcome comes
//! back as JSON. The interpreter lock is released for the whole call. Only `digest` takes values
//! of Python's own: the rows of a query's answer.

mod answers;
mod arrow;
mod control;
mod engines;
mod facts;

use pyo3::prelude::*;

/// The compiled half of Dyno.
#[pymodule]
#[pyo3(name = "_core")]
fn core_module(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("EngineError", module.py().get_type::<control::EngineError>())?;
    module.add_class::<control::PyControl>()?;
    module.add_class::<arrow::ArrowStream>()?;
    module.add_function(wrap_pyfunction!(answers::digest, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::arrow_stream, module)?)?;
    module.add_function(wrap_pyfunction!(arrow::refresh_stream, module)?)?;
    module.add_function(wrap_pyfunction!(engines::prepare, module)?)?;
    module.add_function(wrap_pyfunction!(engines::generate, module)?)?;
    module.add_function(wrap_pyfunction!(engines::load, module)?)?;
    module.add_function(wrap_pyfunction!(engines::drive, module)?)?;
    module.add_function(wrap_pyfunction!(engines::profile, module)?)?;
    module.add_function(wrap_pyfunction!(facts::parts, module)?)?;
    module.add_function(wrap_pyfunction!(facts::declare, module)?)?;
    module.add_function(wrap_pyfunction!(facts::schema, module)?)?;
    module.add_function(wrap_pyfunction!(facts::rows, module)?)?;
    module.add_function(wrap_pyfunction!(facts::refresh_set, module)?)?;
    module.add_function(wrap_pyfunction!(facts::sums, module)?)?;
    module.add_function(wrap_pyfunction!(facts::load_constant, module)?)?;
    module.add_function(wrap_pyfunction!(facts::derive_seed, module)?)?;
    module.add_function(wrap_pyfunction!(facts::tpch_answer, module)?)?;
    Ok(())
}
