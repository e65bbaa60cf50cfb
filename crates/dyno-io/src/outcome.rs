//! The result of a profile.

mod course;

use std::collections::BTreeMap;
use std::path::PathBuf;

use dyno_record::{Latency, Percentiles};
use serde::Serialize;

use crate::Notes;
use crate::ceiling::{Point, inside};
use crate::engine::Name;
use crate::fault::Fault;
use crate::plan::CeilingOf;
use crate::tally::Counts;
use crate::targets::{Content, Kind, OpenTarget};

pub use course::{Found, Purpose};

/// The result of a profile.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// Engine that performed the I/O.
    pub engine: Name,
    /// Whether all I/O bypassed the page cache; if not, the results do not describe the devices.
    pub direct: bool,
    /// All targets in the order of the plan.
    pub targets: Vec<Subject>,
    /// Time to create and fill the targets.
    pub prepare_seconds: f64,
    /// All steps in the order in which they ran.
    pub steps: Vec<Step>,
    /// For each curve, by name, the index in `steps` of its best step within the ceiling, across
    /// all stages; curves without such a step are absent. For a search it is the load found, for a
    /// settling curve the last window.
    pub best: BTreeMap<String, usize>,
    /// For each search, by name, its result in each stage.
    pub searches: BTreeMap<String, BTreeMap<usize, Found>>,
    /// For each settling curve, by name, whether it settled in all stages.
    pub settled: BTreeMap<String, bool>,
    /// Fallbacks and other limits of the results.
    pub notes: Notes,
}

/// A target's properties.
#[derive(Debug, Clone, Serialize)]
pub struct Subject {
    /// Its name.
    pub name: String,
    /// File or device; the directory with the null engine.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// Bytes used, from the start.
    pub bytes: u64,
    /// Whether I/O bypassed the page cache, as far as known.
    pub direct: bool,
    /// Whether all of it was on written extents before the first step; `None` if unknown.
    pub extents_written: Option<bool>,
    /// A sample of its content before the first step; `None` for a file that Dyno created.
    pub content: Option<Content>,
}

impl Subject {
    pub(crate) fn of(place: &OpenTarget) -> Self {
        Self {
            name: place.name.clone(),
            path: place.path.clone(),
            kind: place.kind,
            bytes: place.bytes,
            direct: place.direct,
            extents_written: place.extents_written,
            content: place.content,
        }
    }
}

/// One step: one load level of a curve.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// Start of the measured part, ns since the Unix epoch.
    pub t_ns: i64,
    /// Length of the measured part, seconds.
    pub seconds: f64,
    /// Name of the curve.
    pub phase: String,
    /// Stage of growing targets, from 0.
    pub stage: usize,
    /// Index of the step in its curve and stage, in the order in which steps ran, from 0.
    pub level: usize,
    /// Why the step ran.
    pub purpose: Purpose,
    /// Threads that performed the I/O, each with its own engine.
    pub threads: usize,
    /// Share of the buffers in huge pages, for the thread with the lowest; `None` if unknown.
    pub huge_percent: Option<f64>,
    /// Time to set up threads, engines and buffers, until all started together.
    pub start_seconds: f64,
    /// All jobs and targets together.
    #[serde(flatten)]
    pub figures: Figures,
    /// Each target with all jobs (no `job`), each job on all its targets (no `target`), and each
    /// job on each of its targets.
    pub parts: Vec<Part>,
}

/// A part of a step.
#[derive(Debug, Clone, Serialize)]
pub struct Part {
    /// Name of the target; `None` for all targets of the job.
    pub target: Option<String>,
    /// Name of the job; `None` for all jobs on the target.
    pub job: Option<String>,
    /// The results.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Results of one or several jobs on one or several targets.
#[derive(Debug, Clone, Serialize)]
pub struct Figures {
    /// Requested I/Os in flight, total of these jobs and targets; with a rate, the maximum.
    pub queue_depth: u32,
    /// I/Os due per second of the jobs with a rate; `None` without any.
    pub rate: Option<f64>,
    /// Mean number of I/Os in flight over time.
    pub in_flight_mean: f64,
    /// Reads that ended in the measured part.
    pub reads: u64,
    /// Writes that ended in the measured part.
    pub writes: u64,
    /// Syncs that ended in the measured part.
    pub syncs: u64,
    /// Reads and writes per second.
    pub iops: f64,
    /// 10^6 bytes per second, reads and writes together.
    pub mb_per_s: f64,
    /// Service time of reads; `None` if none ended.
    pub read: Option<Percentiles>,
    /// Service time of writes; `None` if none ended.
    pub write: Option<Percentiles>,
    /// Service time of syncs; `None` if none ended.
    pub sync: Option<Percentiles>,
    /// Response time of reads, from when they were due; `None` without a rate.
    pub read_response: Option<Percentiles>,
    /// Response time of writes, from when they were due; `None` without a rate.
    pub write_response: Option<Percentiles>,
    /// I/Os issued more than 1 ms after they were due.
    pub late: u64,
    /// I/Os due in the measured part and never issued, because all slots were busy.
    pub unissued: u64,
    /// Whether each job is within its ceiling on each target: reads, writes and syncs separately,
    /// by response time if there is a rate. A job with nothing due is within it.
    pub inside_ceiling: bool,
    /// Failed I/Os by class, including the warm-up.
    pub errors: BTreeMap<Fault, u64>,
}

impl Figures {
    /// Results of `counts` over `seconds`; the caller adds the rest.
    pub(crate) fn of(counts: &Counts, seconds: f64) -> Self {
        let per_second = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
        Self {
            queue_depth: 0,
            rate: None,
            in_flight_mean: 0.0,
            reads: counts.reads,
            writes: counts.writes,
            syncs: counts.syncs,
            iops: per_second(counts.reads + counts.writes),
            mb_per_s: per_second(counts.read_bytes + counts.write_bytes) / 1e6,
            read: brief(counts.read.as_ref()),
            write: brief(counts.write.as_ref()),
            sync: brief(counts.sync.as_ref()),
            read_response: brief(counts.read_response.as_ref()),
            write_response: brief(counts.write_response.as_ref()),
            late: counts.late,
            unissued: counts.unissued,
            inside_ceiling: false,
            errors: counts.errors.clone(),
        }
    }

    /// Whether a job's results on one target are within its ceiling.
    pub(crate) fn keeps(&self, ceiling_ms: f64, of: CeilingOf) -> bool {
        let read = self.read_response.or(self.read);
        let write = self.write_response.or(self.write);
        inside([read, write, self.sync].map(|side| side.map(|side| of.of(&side))), ceiling_ms)
    }
}

impl Step {
    pub(crate) fn point(&self) -> Point {
        let Figures { iops, inside_ceiling, errors, .. } = &self.figures;
        Point { iops: *iops, counts: *inside_ceiling && errors.is_empty() }
    }
}

/// The percentiles, unless nothing ended.
fn brief(latency: Option<&Latency>) -> Option<Percentiles> {
    latency.filter(|latency| latency.count() > 0).map(Percentiles::from)
}
