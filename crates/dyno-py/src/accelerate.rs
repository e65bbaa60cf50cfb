//! The accelerator: its simulator, with traces in as arrays and results out as JSON, and its daemon.

use dyno_cache::{mount, replay, shards::Shards};
use dyno_record::{Error, ErrorKind};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

use crate::control::{PyControl, raise};

/// Replays a trace over caches.
///
/// `blocks` are numbers of 64 bits, `kinds` bytes, one an access.
#[pyfunction]
#[pyo3(name = "replay")]
#[expect(clippy::needless_pass_by_value, reason = "a Python signature")]
pub fn replay_trace(
    py: Python<'_>,
    blocks: PyBuffer<u64>,
    kinds: PyBuffer<u8>,
    plan: &str,
    control: &PyControl,
) -> PyResult<String> {
    let (blocks, kinds) = (blocks.to_vec(py)?, kinds.to_vec(py)?);
    let control = control.0.clone();
    py.detach(|| {
        let plan: replay::Plan = serde_json::from_str(plan)
            .map_err(|error| Error::new(ErrorKind::Usage, format!("unusable plan: {error}")))?;
        let trace = replay::Trace { blocks: &blocks, kinds: &kinds };
        let found = replay::replay(trace, &plan, &control)?;
        serde_json::to_string(&found)
            .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))
    })
    .map_err(|error| raise(&error))
}

/// Miss ratios of LRU caches of these sizes, and the number of different blocks, both estimated
/// from a sample of at most `sampled` blocks.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "a Python signature")]
pub fn miss_ratios(
    py: Python<'_>,
    blocks: PyBuffer<u64>,
    sizes: Vec<u64>,
    sampled: usize,
) -> PyResult<(Vec<f64>, f64)> {
    let blocks = blocks.to_vec(py)?;
    Ok(py.detach(|| {
        let mut shards = Shards::new(sampled);
        for &block in &blocks {
            shards.access(block);
        }
        (sizes.iter().map(|&size| shards.miss_ratio(size)).collect(), shards.footprint())
    }))
}

/// What is wrong with a pattern for paths; None if it is valid.
#[pyfunction]
pub fn glob_fault(glob: &str) -> Option<String> {
    mount::glob_fault(glob)
}

/// Serves a mount with a cache in front until it ends.
///
/// Raises `OSError` if the cache, the supervisor or FUSE fails.
#[pyfunction]
pub fn serve_mount(py: Python<'_>, plan: &str) -> PyResult<()> {
    let plan: mount::Plan = serde_json::from_str(plan)
        .map_err(|error| raise(&Error::new(ErrorKind::Usage, format!("unusable plan: {error}"))))?;
    Ok(py.detach(|| mount::serve(&plan))?)
}
