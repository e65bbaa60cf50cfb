//! The plan: targets, and curves of jobs on them.

mod ceiling_of;
mod curve;
mod job;
mod search;
mod settle;
mod target;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::PathBuf;

use dyno_record::{Clock, Error, ErrorKind, Result};
use serde::Deserialize;

use crate::Pages;
use crate::engine::{Choice, null};

pub use ceiling_of::CeilingOf;
pub use curve::Curve;
pub(crate) use curve::Level;
pub use job::{Arrivals, Block, Job, Rate, Sync, SyncCall};
pub use search::Search;
pub use settle::Settle;
pub use target::Target;

/// Maximum buffer memory of one step, which is also the kernel's limit for one registered buffer.
const MOST_BUFFERS: u64 = 1 << 30;
/// Maximum threads.
const MOST_THREADS: u32 = 1024;

/// A profile of one or several targets.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The name of all targets together in the record. Default: the directory or path of
    /// the only target, or `N targets`.
    pub volume: Option<String>,
    /// Part of the names of test files, `.dyno-io-<file_id>-<n>.dat`: letters, digits, `-`, `_`,
    /// `.`.
    pub file_id: String,
    /// The targets, all used at once.
    pub targets: Vec<Target>,
    /// Latency ceiling in milliseconds, for reads, writes and syncs separately.
    #[serde(default = "default_ceiling_ms")]
    pub ceiling_ms: f64,
    /// The latency statistic that the ceilings limit.
    #[serde(default)]
    pub ceiling_of: CeilingOf,
    /// Number of this call among equal ones, from 1. Copied into every line.
    #[serde(default = "default_repeat")]
    pub repeat: u32,
    /// Writes end when they are on the media (`O_DSYNC`), not in a cache of the device.
    #[serde(default)]
    pub durable: bool,
    /// How to react to failed I/Os.
    #[serde(default)]
    pub on_error: OnError,
    /// Page size for buffers.
    #[serde(default)]
    pub pages: Pages,
    /// Threads, spread over the cores. Default: as many as there is work for, at most one per core.
    pub threads: Option<u32>,
    /// Seed of offsets, read/write choice, arrivals and data.
    #[serde(default)]
    pub seed: u64,
    /// The run's clock.
    pub clock: Clock,
    /// JSON lines file to append to, one line per step with all targets and jobs.
    pub spool: PathBuf,
    /// JSON lines file to append to; for each step one line per target, per job, and per job on a
    /// target.
    pub parts: Option<PathBuf>,
    /// JSON lines file to append to, one line per interval of a step and job.
    pub intervals: Option<PathBuf>,
    /// Length of an interval, seconds.
    #[serde(default = "default_interval_seconds")]
    pub interval_seconds: f64,
    /// Engine; `auto` takes the fastest that works and notes why a faster one did not.
    #[serde(default)]
    pub engine: Choice,
    /// Behaviour of the `null` engine.
    #[serde(default)]
    pub null: null::Model,
    /// The curves, in order.
    pub steps: Vec<Curve>,
}

/// How to react to failed I/Os. They are counted by class in both cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// More than 100 failures in a step, or nothing but failures, end the step and the profile.
    #[default]
    Stop,
    /// Every step runs to its end.
    Continue,
}

const fn default_ceiling_ms() -> f64 {
    20.0
}
const fn default_interval_seconds() -> f64 {
    1.0
}
const fn default_repeat() -> u32 {
    1
}

impl Plan {
    /// Checks all values and normalises the plan: sorts levels, rounds sizes to whole pages, fills
    /// in names.
    ///
    /// # Errors
    /// `usage`, with the name of the value.
    pub(crate) fn normalised(mut self) -> Result<Self> {
        let name_fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if self.file_id.is_empty()
            || self.file_id.len() > 100
            || !self.file_id.chars().all(name_fits)
        {
            return wrong("file_id: use 1 to 100 letters, digits, '-', '_' and '.'");
        }
        ceiling_fits(self.ceiling_ms)?;
        if !(0.01..=3600.0).contains(&self.interval_seconds) {
            return wrong("interval_seconds: use 0.01 to 3600");
        }
        if self.threads.is_some_and(|threads| threads == 0 || threads > MOST_THREADS) {
            return wrong("threads: use 1 to 1024");
        }
        self.null.check()?;
        if self.targets.is_empty() {
            return wrong("targets: at least one is needed");
        }
        for target in &mut self.targets {
            target.normalise().map_err(|error| error.context(target.to_string()))?;
        }
        unique("targets", self.targets.iter().map(Target::name))?;
        target::same_stages(&self.targets)?;
        if self.steps.is_empty() {
            return wrong("steps: at least one curve is needed");
        }
        unique("steps", self.steps.iter().map(|curve| curve.name.as_str()))?;
        for curve in &mut self.steps {
            curve
                .normalise(&self.targets, self.ceiling_ms)
                .map_err(|error| error.context(format!("step '{}'", curve.name)))?;
        }
        Ok(self)
    }

    /// The name of all targets together in the record.
    pub(crate) fn label(&self) -> String {
        match (&self.volume, self.targets.as_slice()) {
            (Some(label), _) => label.clone(),
            (None, [only]) => only.place().display().to_string(),
            (None, several) => format!("{} targets", several.len()),
        }
    }

    /// How often all curves run: once per stage of growing targets.
    pub(crate) fn stages(&self) -> usize {
        self.targets.iter().map(|target| target.stages.len()).max().unwrap_or(0).max(1)
    }

    /// The first job that writes to target `index`.
    pub(crate) fn writer(&self, index: usize) -> Option<&Job> {
        let jobs = self.steps.iter().flat_map(|curve| &curve.jobs);
        jobs.into_iter().find(|job| job.writes() && job.on.contains(&index))
    }

    /// Fails if a job does not fit on target `index`, which has `bytes` bytes.
    ///
    /// # Errors
    /// `usage`, with the names of target, step and job.
    pub(crate) fn fits(&self, index: usize, bytes: u64) -> Result<()> {
        for curve in &self.steps {
            for job in curve.jobs.iter().filter(|job| job.on.contains(&index)) {
                job.space(bytes).map_err(|error| {
                    error
                        .context(format!("job '{}'", job.name))
                        .context(format!("step '{}'", curve.name))
                        .context(self.targets[index].to_string())
                })?;
            }
        }
        Ok(())
    }
}

fn ceiling_fits(ms: f64) -> Result<()> {
    if ms.is_finite() && ms > 0.0 {
        return Ok(());
    }
    wrong("ceiling_ms: a number of milliseconds above 0 is needed")
}

/// Fails unless all names of `field` are distinct and not empty.
fn unique<'a>(field: &str, names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for name in names {
        if name.is_empty() {
            return wrong(format!("{field}: a name must not be empty"));
        }
        if !seen.insert(name) {
            return wrong(format!("{field}: the name '{name}' is used twice; names must differ"));
        }
    }
    Ok(())
}

fn wrong<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::new(ErrorKind::Usage, message))
}
