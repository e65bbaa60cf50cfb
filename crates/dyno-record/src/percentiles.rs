//! Summary of a latency distribution.

use serde::Serialize;

use crate::Latency;

/// Summary of a latency distribution, milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percentiles {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Largest.
    pub max: f64,
}

impl From<&Latency> for Percentiles {
    /// All values are 0 for an empty distribution.
    fn from(latency: &Latency) -> Self {
        let at = |quantile| latency.quantile_ns(quantile) as f64 / 1e6;
        Self {
            mean: latency.mean_ns() / 1e6,
            p50: at(0.5),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            max: latency.max_ns() as f64 / 1e6,
        }
    }
}
