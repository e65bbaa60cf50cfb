//! The record of one operation in one interval.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{ErrorKind, Latency, Result};

/// Running totals of one operation in the current interval.
///
/// Identities: `attempted = done + rolled_back + Σ errors`; both histograms hold exactly
/// `done + rolled_back` latencies (a business rollback is a completed operation, an error is not).
#[derive(Debug, Clone, Default)]
pub struct OpTotals {
    /// Operations that committed.
    pub done: u64,
    /// Operations that ended in a rollback that the workload prescribes.
    pub rolled_back: u64,
    /// Failed operations by error class.
    pub errors: BTreeMap<ErrorKind, u64>,
    /// Attempts that were retried after a retryable error (not operations).
    pub retries: BTreeMap<ErrorKind, u64>,
    /// From the intended start to the end, ns.
    pub response: Latency,
    /// From the send to the end, ns.
    pub service: Latency,
}

impl OpTotals {
    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.done == 0 && self.rolled_back == 0 && self.errors.is_empty() && self.retries.is_empty()
    }

    /// Adds the totals of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.done += other.done;
        self.rolled_back += other.rolled_back;
        for (kind, count) in &other.errors {
            *self.errors.entry(*kind).or_default() += count;
        }
        for (kind, count) in &other.retries {
            *self.retries.entry(*kind).or_default() += count;
        }
        self.response.merge(&other.response);
        self.service.merge(&other.service);
    }
}

/// One line of an `ops/*.jsonl` spool: an operation in an interval. The bundle's Parquet files
/// have the same columns.
#[derive(Debug, Clone, Serialize)]
pub struct OpInterval {
    /// Start of the interval, ns since the Unix epoch.
    pub t_ns: i64,
    /// Length of the interval in seconds.
    pub seconds: f64,
    /// Name of the operation, such as `new_order`.
    pub op: String,
    /// See [`OpTotals::done`].
    pub done: u64,
    /// See [`OpTotals::rolled_back`].
    pub rolled_back: u64,
    /// See [`OpTotals::errors`].
    pub errors: BTreeMap<ErrorKind, u64>,
    /// See [`OpTotals::retries`].
    pub retries: BTreeMap<ErrorKind, u64>,
    /// Encoded histogram of response times, ns.
    pub response: String,
    /// Encoded histogram of service times, ns.
    pub service: String,
    /// `warmup` or `measure`: only the latter counts.
    pub phase: String,
}

impl OpInterval {
    /// The record of `totals` over an interval of the phase `measure`.
    ///
    /// # Errors
    /// Those of [`Latency::encode`].
    pub fn new(t_ns: i64, seconds: f64, op: &str, totals: &OpTotals) -> Result<Self> {
        Ok(Self {
            t_ns,
            seconds,
            op: op.to_owned(),
            done: totals.done,
            rolled_back: totals.rolled_back,
            errors: totals.errors.clone(),
            retries: totals.retries.clone(),
            response: totals.response.encode()?,
            service: totals.service.encode()?,
            phase: "measure".to_owned(),
        })
    }

    /// The same record with another phase.
    #[must_use]
    pub fn in_phase(mut self, phase: &str) -> Self {
        phase.clone_into(&mut self.phase);
        self
    }
}
