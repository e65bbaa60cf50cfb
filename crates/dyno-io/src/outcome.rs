//! What a profile found.

use std::collections::BTreeMap;

use dyno_record::{ErrorKind, Latency, Result};
use serde::Serialize;

use crate::ceiling::Point;
use crate::engine::Name;
use crate::pattern::Order;
use crate::plan::Curve;
use crate::step::Tally;
use crate::{Notes, Plan};

/// The result of a profile.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// Engine that did the I/O.
    pub engine: Name,
    /// Whether I/O bypassed the page cache; if not, the figures do not describe the device.
    pub direct: bool,
    /// Whether the whole file was on written extents before the first step; `None` if unknown.
    pub extents_written: Option<bool>,
    /// Size of the test file.
    pub file_bytes: u64,
    /// Time to create and fill the test file.
    pub prepare_seconds: f64,
    /// Every step in the order in which it ran.
    pub steps: Vec<Step>,
    /// For each curve, by name, the index in `steps` of its best step inside the ceiling; curves
    /// without one are absent.
    pub best: BTreeMap<String, usize>,
    /// Fallbacks and whatever else limits the meaning of the figures.
    pub notes: Notes,
}

/// One step: a queue depth of a curve.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// Start of the measured part, ns since the Unix epoch.
    pub t_ns: i64,
    /// Length of the measured part.
    pub seconds: f64,
    /// Name of the curve.
    pub phase: String,
    /// Order of the blocks.
    pub pattern: Order,
    /// Block size.
    pub block_bytes: u32,
    /// Share of reads asked for.
    pub read_percent: u8,
    /// I/Os in flight asked for.
    pub queue_depth: u32,
    /// I/Os in flight seen, the mean over time.
    pub in_flight_mean: f64,
    /// Reads that ended in the measured part.
    pub reads: u64,
    /// Writes that ended in the measured part.
    pub writes: u64,
    /// Reads and writes per second.
    pub iops: f64,
    /// 10^6 bytes per second, both ways.
    pub mb_per_s: f64,
    /// Latency of reads; `None` if none ended.
    pub read: Option<Percentiles>,
    /// Latency of writes; `None` if none ended.
    pub write: Option<Percentiles>,
    /// Whether both p95 are within the plan's ceiling.
    pub inside_ceiling: bool,
    /// Failed I/Os by kind, those of the warm-up included.
    pub errors: BTreeMap<ErrorKind, u64>,
}

/// A latency distribution in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percentiles {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest.
    pub max: f64,
}

impl Percentiles {
    fn of(latency: &Latency) -> Option<Self> {
        let at = |quantile| latency.quantile_ns(quantile) as f64 / 1e6;
        (latency.count() > 0).then(|| Self {
            mean: latency.mean_ns() / 1e6,
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            max: latency.max_ns() as f64 / 1e6,
        })
    }
}

impl Step {
    pub(crate) fn new(plan: &Plan, curve: &Curve, queue_depth: u32, tally: &Tally) -> Self {
        let seconds = tally.seconds();
        let per_second = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
        let mut step = Self {
            t_ns: plan.clock.unix_ns_at(tally.start_ns),
            seconds,
            phase: curve.name.clone(),
            pattern: curve.pattern,
            block_bytes: curve.block_bytes,
            read_percent: curve.read_percent,
            queue_depth,
            in_flight_mean: tally.in_flight_mean(),
            reads: tally.reads,
            writes: tally.writes,
            iops: per_second(tally.reads + tally.writes),
            mb_per_s: per_second(tally.read_bytes + tally.write_bytes) / 1e6,
            read: Percentiles::of(&tally.read),
            write: Percentiles::of(&tally.write),
            inside_ceiling: false,
            errors: tally.errors.clone(),
        };
        step.inside_ceiling = step.point().inside(plan.ceiling_ms);
        step
    }

    pub(crate) fn point(&self) -> Point {
        Point {
            iops: self.iops,
            read_p95_ms: self.read.map(|latency| latency.p95),
            write_p95_ms: self.write.map(|latency| latency.p95),
        }
    }
}

/// One line of `io.jsonl`: the columns of the bundle's `io` table.
#[derive(Debug, Serialize)]
pub(crate) struct Record {
    t_ns: i64,
    seconds: f64,
    volume: String,
    pattern: Order,
    block_bytes: u32,
    read_percent: u8,
    queue_depth: u32,
    reads: u64,
    writes: u64,
    read_bytes: u64,
    write_bytes: u64,
    /// A JSON object: error kind → count.
    errors: String,
    /// Encoded histograms, ns.
    read_latency: String,
    write_latency: String,
    in_flight_mean: f64,
    inside_ceiling: bool,
    phase: String,
}

impl Record {
    pub(crate) fn new(plan: &Plan, step: &Step, tally: &Tally) -> Result<Self> {
        Ok(Self {
            t_ns: step.t_ns,
            seconds: step.seconds,
            volume: plan.volume.display().to_string(),
            pattern: step.pattern,
            block_bytes: step.block_bytes,
            read_percent: step.read_percent,
            queue_depth: step.queue_depth,
            reads: step.reads,
            writes: step.writes,
            read_bytes: tally.read_bytes,
            write_bytes: tally.write_bytes,
            errors: errors_json(&step.errors),
            read_latency: tally.read.encode()?,
            write_latency: tally.write.encode()?,
            in_flight_mean: step.in_flight_mean,
            inside_ceiling: step.inside_ceiling,
            phase: step.phase.clone(),
        })
    }
}

fn errors_json(errors: &BTreeMap<ErrorKind, u64>) -> String {
    let named: serde_json::Map<_, _> =
        errors.iter().map(|(kind, count)| (kind.as_str().to_owned(), (*count).into())).collect();
    serde_json::Value::Object(named).to_string()
}
