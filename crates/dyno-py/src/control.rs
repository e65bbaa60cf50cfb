//! The control handle and the error class in Python.

use dyno_record::{Control, Error};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;

create_exception!(
    dyno._core,
    EngineError,
    PyException,
    "An error of an engine: args are its kind (snake case) and a one-line message."
);

/// Converts an engine's error to the Python exception.
pub fn raise(error: &Error) -> PyErr {
    EngineError::new_err((error.kind.as_str(), error.to_string()))
}

/// A handle to watch and cancel a long call from another thread.
#[pyclass(name = "Control", module = "dyno._core", frozen)]
#[derive(Default)]
pub struct PyControl(pub Control);

#[pymethods]
impl PyControl {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Asks the call to stop.
    fn cancel(&self) {
        self.0.cancel();
    }

    /// Asks a call that runs for a set time to end early and return its outcome.
    fn finish(&self) {
        self.0.finish();
    }

    /// Holds back an engine that can be ready before it begins. Call it before the engine.
    fn hold(&self) {
        self.0.hold();
    }

    /// Lets a held engine begin.
    fn release(&self) {
        self.0.release();
    }

    /// Whether the engine is ready to begin, or has begun.
    #[getter]
    fn ready(&self) -> bool {
        self.0.is_ready()
    }

    /// Whether `cancel` was called.
    #[getter]
    fn cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Sets the total amount of work, for calls of which an engine sees only a part.
    fn set_total(&self, total: u64) {
        self.0.set_total(total);
    }

    /// Names the current step.
    fn set_step(&self, step: &str) {
        self.0.set_step(step);
    }

    /// Work done: `done`, `total` (0 while unknown), `bytes`, `step`.
    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let progress = self.0.progress();
        let dict = PyDict::new(py);
        dict.set_item("done", progress.done)?;
        dict.set_item("total", progress.total)?;
        dict.set_item("bytes", progress.bytes)?;
        dict.set_item("step", progress.step)?;
        Ok(dict)
    }
}
