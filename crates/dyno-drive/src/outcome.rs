//! What a run came to.

use std::collections::BTreeMap;

use dyno_record::{ErrorKind, OpTotals, Percentiles};
use serde::Serialize;

use crate::parts::Worst;

/// Figures of the measured window.
///
/// Identity in an open loop: `scheduled` + `carried_over` = Σ over operations (`done` +
/// `rolled_back` + `errors`) + `unfinished` + `unsent`.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// Length of the window.
    pub seconds: f64,
    /// Figures of each operation that occurred.
    pub ops: BTreeMap<&'static str, OpOutcome>,
    /// Transactions a second: committed and prescribed rollbacks.
    pub tps: f64,
    /// CPU time of the driver threads and of the thread that gathers their figures; connecting
    /// and preparing lie outside the window.
    pub client_cpu_s: f64,
    /// The same in milliseconds per 1,000 transactions; 0 if there were none.
    pub client_cpu_ms_per_1000: f64,
    /// Share of the window that the busiest driver thread was on a processor.
    pub thread_utilisation_max: f64,
    /// How late the driver itself was, 99th percentile: starts with a session free, starts that
    /// fell due while the driver stood still, and a probe every 10 ms.
    pub lag_p99_ms: f64,
    /// Transactions due in the window; None in a closed loop, which has no schedule.
    pub scheduled: Option<u64>,
    /// Transactions that found no free session when they were due; sent as soon as there was one.
    pub late: u64,
    /// Transactions due in the window and never sent.
    pub unsent: u64,
    /// Transactions due in the warm-up and not ended in it; 0 in a closed loop.
    pub carried_over: u64,
    /// Transactions under way when the window closed; not counted anywhere else.
    pub unfinished: u64,
    /// Of these, the ones that had not ended when the driver stopped waiting for them.
    pub stuck: u64,
    /// Connections made again after a loss.
    pub reconnects: u64,
    /// Users who had no connection at the end.
    pub gone: u64,
    /// The first message seen of each class of error, warm-up included.
    pub errors_first: BTreeMap<ErrorKind, String>,
    /// Driver threads.
    pub threads: u32,
    /// The driver in the parts of the window in which it had most to do.
    pub worst: Worst,
    /// Statistics of the write lock, for systems with one writer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer: Option<Writer>,
}

/// The one right to write of a system, in the measured window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Writer {
    /// Share of the window that some transaction had it, from the end of its BEGIN to that of its
    /// COMMIT.
    pub busy_share: f64,
    /// How long transactions waited for it, those that gave up included.
    pub wait_ms: Percentiles,
}

/// Figures of one operation.
#[derive(Debug, Clone, Serialize)]
pub struct OpOutcome {
    /// See [`OpTotals::done`].
    pub done: u64,
    /// See [`OpTotals::rolled_back`].
    pub rolled_back: u64,
    /// See [`OpTotals::errors`].
    pub errors: BTreeMap<ErrorKind, u64>,
    /// See [`OpTotals::retries`].
    pub retries: BTreeMap<ErrorKind, u64>,
    /// From the intended start to the end.
    pub response_ms: Percentiles,
    /// From the send to the end, retries included.
    pub service_ms: Percentiles,
}

impl From<&OpTotals> for OpOutcome {
    fn from(totals: &OpTotals) -> Self {
        Self {
            done: totals.done,
            rolled_back: totals.rolled_back,
            errors: totals.errors.clone(),
            retries: totals.retries.clone(),
            response_ms: (&totals.response).into(),
            service_ms: (&totals.service).into(),
        }
    }
}
