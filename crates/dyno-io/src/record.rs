//! Lines of the spools: columns of the bundle's storage tables.

use dyno_record::{Latency, Result};
use serde::Serialize;

use crate::outcome::{Figures, Purpose};
use crate::plan::{Curve, Job};
use crate::tally::Counts;

/// A line of `io.jsonl` (whole steps), of the parts, or of the intervals.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    pub(crate) t_ns: i64,
    pub(crate) seconds: f64,
    pub(crate) volume: String,
    /// All targets of the call, independent of `volume`.
    pub(crate) arm: String,
    pub(crate) stage: usize,
    pub(crate) repeat: u32,
    pub(crate) phase: String,
    pub(crate) level: usize,
    pub(crate) purpose: &'static str,
    /// `None` for all jobs.
    pub(crate) job: Option<String>,
    /// The value that all these jobs share; `None` where they differ.
    pub(crate) pattern: Option<&'static str>,
    /// `None` for a mix, too.
    pub(crate) block_bytes: Option<u32>,
    pub(crate) read_percent: Option<u8>,
    pub(crate) queue_depth: u32,
    pub(crate) rate: Option<f64>,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) syncs: u64,
    pub(crate) read_bytes: u64,
    pub(crate) write_bytes: u64,
    pub(crate) late: u64,
    /// I/Os due in this time and not issued by its end.
    pub(crate) unissued: u64,
    /// JSON object: error class → count.
    pub(crate) errors: String,
    /// Encoded histograms of service time, ns; for syncs `None` if there are none.
    pub(crate) read_latency: String,
    pub(crate) write_latency: String,
    pub(crate) sync_latency: Option<String>,
    /// Encoded histograms of response time, ns; `None` without a rate.
    pub(crate) read_response: Option<String>,
    pub(crate) write_response: Option<String>,
    /// For a whole step or part; `None` for an interval.
    pub(crate) in_flight_mean: Option<f64>,
    pub(crate) inside_ceiling: Option<bool>,
    /// CPU use of the busiest I/O thread, percent of a CPU; only for a whole step.
    pub(crate) thread_percent: Option<f64>,
}

impl Line {
    /// The line of `counts`, those of `jobs`; the caller adds volume and time.
    ///
    /// # Errors
    /// Those of [`Latency::encode`].
    pub(crate) fn new(curve: &Curve, jobs: &[&Job], counts: &Counts) -> Result<Self> {
        let encode = |latency: &Option<Latency>| latency.as_ref().map(Latency::encode).transpose();
        let whole = |latency| match encode(latency)? {
            Some(text) => Ok(text),
            None => Latency::new().encode(),
        };
        Ok(Self {
            t_ns: 0,
            seconds: 0.0,
            volume: String::new(),
            arm: String::new(),
            stage: 0,
            repeat: 1,
            phase: curve.name.clone(),
            level: 0,
            purpose: Purpose::List.as_str(),
            job: None,
            pattern: common(jobs, |job| Some(job.pattern.as_str())),
            block_bytes: common(jobs, |job| job.block_bytes),
            read_percent: common(jobs, |job| Some(if job.modify { 50 } else { job.read_percent })),
            queue_depth: 0,
            rate: None,
            reads: counts.reads,
            writes: counts.writes,
            syncs: counts.syncs,
            read_bytes: counts.read_bytes,
            write_bytes: counts.write_bytes,
            late: counts.late,
            unissued: counts.unissued,
            errors: errors_json(counts),
            read_latency: whole(&counts.read)?,
            write_latency: whole(&counts.write)?,
            sync_latency: encode(&counts.sync)?,
            read_response: encode(&counts.read_response)?,
            write_response: encode(&counts.write_response)?,
            in_flight_mean: None,
            inside_ceiling: None,
            thread_percent: None,
        })
    }

    /// The same line with the results that are not counts.
    pub(crate) fn with(mut self, figures: &Figures) -> Self {
        self.queue_depth = figures.queue_depth;
        self.rate = figures.rate;
        self.in_flight_mean = Some(figures.in_flight_mean);
        self.inside_ceiling = Some(figures.inside_ceiling);
        self
    }
}

/// The value that all jobs share, if they do.
fn common<T: PartialEq>(jobs: &[&Job], value: impl Fn(&Job) -> Option<T>) -> Option<T> {
    let (first, rest) = jobs.split_first()?;
    let first = value(first);
    if rest.iter().all(|job| value(job) == first) { first } else { None }
}

fn errors_json(counts: &Counts) -> String {
    let errors = counts.errors.iter();
    let named: serde_json::Map<_, _> =
        errors.map(|(fault, count)| (fault.as_str().to_owned(), (*count).into())).collect();
    serde_json::Value::Object(named).to_string()
}
