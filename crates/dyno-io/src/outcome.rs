//! What a profile found.

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
    /// Engine that did the I/O.
    pub engine: Name,
    /// Whether all I/O bypassed the page cache; if not, the figures do not describe the devices.
    pub direct: bool,
    /// Every target, in the order of the plan.
    pub targets: Vec<Subject>,
    /// Time to create and fill what was to be created and filled.
    pub prepare_seconds: f64,
    /// Every step in the order in which it ran.
    pub steps: Vec<Step>,
    /// For each curve, by name, the index in `steps` of its best step inside the ceiling, of all
    /// stages; curves without one are absent. Of a search it is what was found, of a curve that was
    /// to settle the last window.
    pub best: BTreeMap<String, usize>,
    /// For each curve that searched, by name, what it found in each stage.
    pub searches: BTreeMap<String, BTreeMap<usize, Found>>,
    /// For each curve that was to settle, by name, whether it has, in every stage.
    pub settled: BTreeMap<String, bool>,
    /// Fallbacks and whatever else limits the meaning of the figures.
    pub notes: Notes,
}

/// A target as it was found.
#[derive(Debug, Clone, Serialize)]
pub struct Subject {
    /// Its name.
    pub name: String,
    /// File or device that was read and written; the directory with the null engine.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// Bytes used, from the start.
    pub bytes: u64,
    /// Whether I/O bypassed the page cache, as far as it is known.
    pub direct: bool,
    /// Whether all of it was on written extents before the first step; `None` if unknown.
    pub extents_written: Option<bool>,
    /// What a sample of it held before the first step; `None` of what Dyno has made.
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

/// One step: a level of load of a curve.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// Start of the measured part, ns since the Unix epoch.
    pub t_ns: i64,
    /// Length of the measured part.
    pub seconds: f64,
    /// Name of the curve.
    pub phase: String,
    /// Stage of the targets that grow, from 0.
    pub stage: usize,
    /// Place of the step in its curve and stage in the order in which they ran, from 0.
    pub level: usize,
    /// Why it was run.
    pub purpose: Purpose,
    /// Threads that did the I/O, each with its own engine.
    pub threads: usize,
    /// Share of the buffers in huge pages, of the thread with the least; `None` if it is not known.
    pub huge_percent: Option<f64>,
    /// Time to set up threads, engines and buffers, until all of them started at once.
    pub start_seconds: f64,
    /// All jobs and targets together.
    #[serde(flatten)]
    pub figures: Figures,
    /// Each target with all jobs (no `job`), each job on all its targets (no `target`), and each
    /// job on each of its targets.
    pub parts: Vec<Part>,
}

/// Some of a step.
#[derive(Debug, Clone, Serialize)]
pub struct Part {
    /// Name of the target; `None` for all targets of the job.
    pub target: Option<String>,
    /// Name of the job; `None` for all jobs on the target.
    pub job: Option<String>,
    /// What was seen.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Figures of one or several jobs on one or several targets.
#[derive(Debug, Clone, Serialize)]
pub struct Figures {
    /// I/Os in flight asked for, of all jobs and targets concerned; with a rate the most of them.
    pub queue_depth: u32,
    /// I/Os due per second, of those jobs that have a rate; `None` if none has.
    pub rate: Option<f64>,
    /// I/Os in flight seen, the mean over time.
    pub in_flight_mean: f64,
    /// Reads that ended in the measured part.
    pub reads: u64,
    /// Writes that ended in the measured part.
    pub writes: u64,
    /// Syncs that ended in the measured part.
    pub syncs: u64,
    /// Reads and writes per second.
    pub iops: f64,
    /// 10^6 bytes per second, both ways.
    pub mb_per_s: f64,
    /// Service time of reads; `None` if none ended.
    pub read: Option<Percentiles>,
    /// Service time of writes; `None` if none ended.
    pub write: Option<Percentiles>,
    /// Service time of syncs; `None` if none ended.
    pub sync: Option<Percentiles>,
    /// Response time of reads, from when each was due; `None` without a rate.
    pub read_response: Option<Percentiles>,
    /// Response time of writes, from when each was due; `None` without a rate.
    pub write_response: Option<Percentiles>,
    /// I/Os that were issued more than 1 ms after they were due.
    pub late: u64,
    /// I/Os that were due in the measured part and never issued, as all slots were busy.
    pub unissued: u64,
    /// Whether every job on every target kept its ceiling: reads, writes and syncs, each on its
    /// own; response times where there is a rate. A job of which nothing was due keeps it.
    pub inside_ceiling: bool,
    /// Failed I/Os by class, those of the warm-up included.
    pub errors: BTreeMap<Fault, u64>,
}

impl Figures {
    /// Figures of `counts` over `seconds`; the rest is the caller's to say.
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

    /// Whether a job's figures on one target keep its ceiling.
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

/// The distribution in brief, unless nothing ended.
fn brief(latency: Option<&Latency>) -> Option<Percentiles> {
    latency.filter(|latency| latency.count() > 0).map(Percentiles::from)
}
