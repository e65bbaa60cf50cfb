//! The outcome of a run.

use std::collections::BTreeMap;

use dyno_record::{ErrorKind, OpTotals, Percentiles};
use serde::Serialize;

use crate::parts::Worst;

/// Results of the measured window.
///
/// Identity in an open loop: `scheduled` + `carried_over` = Σ over operations (`done` +
/// `rolled_back` + `errors`) + `unfinished` + `unsent`.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// Length of the window, seconds.
    pub seconds: f64,
    /// Results of each operation that occurred.
    pub ops: BTreeMap<&'static str, OpOutcome>,
    /// Transactions per second: committed and prescribed rollbacks.
    pub tps: f64,
    /// CPU time of the driver threads and the aggregating thread. Connecting and preparing are
    /// outside the window.
    pub client_cpu_s: f64,
    /// CPU time in milliseconds per 1,000 transactions; 0 without transactions.
    pub client_cpu_ms_per_1000: f64,
    /// Share of the window for which the busiest driver thread used a CPU.
    pub thread_utilisation_max: f64,
    /// Lateness of the driver itself, 99th percentile: of starts with a free session, of starts
    /// that became due while the driver was stalled, and of a probe every 10 ms.
    pub lag_p99_ms: f64,
    /// Transactions due in the window; None in a closed loop, which has no schedule.
    pub scheduled: Option<u64>,
    /// Transactions without a free session when due; sent as soon as one was free.
    pub late: u64,
    /// Transactions due in the window and never sent.
    pub unsent: u64,
    /// Transactions due in the warm-up that did not end in it; 0 in a closed loop.
    pub carried_over: u64,
    /// Transactions in progress at the end of the window; counted nowhere else.
    pub unfinished: u64,
    /// Those of them that had not ended when the driver stopped waiting.
    pub stuck: u64,
    /// Connections re-established after a loss.
    pub reconnects: u64,
    /// Users without a connection at the end.
    pub gone: u64,
    /// The first message of each error class, including the warm-up.
    pub errors_first: BTreeMap<ErrorKind, String>,
    /// Driver threads.
    pub threads: u32,
    /// The driver's values in the worst parts of the window.
    pub worst: Worst,
    /// Largest delay in the window of work that the workload schedules itself, also of work that was
    /// due and not begun at its end; None if it schedules none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind_ms: Option<f64>,
    /// Pieces of the workload's work that were lost in the window, such as orders whose result is
    /// never recorded; None if it cannot lose any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    /// How much later than scheduled the statements of a log were sent, for any reason; None unless a
    /// log was replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_late_ms: Option<Percentiles>,
    /// Statistics of the write lock, for databases with a single writer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer: Option<Writer>,
    /// The page caches of an embedded database's sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_cache: Option<PageCache>,
}

impl Outcome {
    /// Counts as never sent what nobody got to know: of the `most` transactions of a schedule, those
    /// behind one that did not end.
    pub fn never_due(&mut self, most: u64) {
        let known = self.scheduled.unwrap_or(0) + self.carried_over;
        let missing = most.saturating_sub(known);
        self.scheduled = self.scheduled.map(|scheduled| scheduled + missing);
        self.unsent += missing;
    }
}

/// What a database inside this process has counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Embedded {
    /// See [`Outcome::writer`].
    pub writer: Writer,
    /// See [`Outcome::page_cache`].
    pub page_cache: PageCache,
}

/// The page caches of all sessions in the measured window, in pages. What a transaction did counts
/// when the session answers, usually at its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PageCache {
    /// Pages that were in the cache of their session.
    pub hits: u64,
    /// Pages that were not, and were read.
    pub misses: u64,
    /// Pages written to the log or the file.
    pub writes: u64,
    /// Those of them written before their transaction ended, because the cache was full.
    pub spills: u64,
    /// Largest memory of all caches together, bytes.
    pub bytes_max: u64,
}

/// Use of the single write lock in the measured window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Writer {
    /// Share of the window in which a transaction held it, from the end of BEGIN to the end of
    /// COMMIT.
    pub busy_share: f64,
    /// How long transactions waited for it, including those that gave up.
    pub wait_ms: Percentiles,
}

/// Results of one operation.
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
    /// From the intended start to the end; of what the workload schedules itself, from when it was
    /// due.
    pub response_ms: Percentiles,
    /// From sending to the end, including retries.
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
