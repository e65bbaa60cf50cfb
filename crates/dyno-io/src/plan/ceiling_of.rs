//! The latency statistic that a ceiling limits.

use dyno_record::Percentiles;
use serde::Deserialize;

/// A statistic of a latency distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CeilingOf {
    /// The 95th percentile.
    #[default]
    P95,
    /// The mean.
    Mean,
    /// The 99th percentile.
    P99,
}

impl CeilingOf {
    /// This statistic of `latency`, milliseconds.
    pub(crate) fn of(self, latency: &Percentiles) -> f64 {
        match self {
            Self::P95 => latency.p95,
            Self::Mean => latency.mean,
            Self::P99 => latency.p99,
        }
    }
}
