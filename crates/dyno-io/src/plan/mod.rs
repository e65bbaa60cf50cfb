//! What to measure: targets, and curves of jobs on them.

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

/// Most buffer memory of one step: also the kernel's limit for one registered buffer.
const MOST_BUFFERS: u64 = 1 << 30;
/// Most threads.
const MOST_THREADS: u32 = 1024;

/// A profile of one or several targets.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What the figures of all targets together are recorded under; left out, the place of the
    /// only target, or `N targets`.
    pub volume: Option<String>,
    /// Makes the names of test files, `.dyno-io-<file_id>-<n>.dat`: letters, digits, `-`, `_`, `.`.
    pub file_id: String,
    /// What is read and written, all at once.
    pub targets: Vec<Target>,
    /// Latency ceiling for reads, for writes and for syncs, each on its own, milliseconds.
    #[serde(default = "default_ceiling_ms")]
    pub ceiling_ms: f64,
    /// Which figure of the latencies the ceilings are about.
    #[serde(default)]
    pub ceiling_of: CeilingOf,
    /// Which of several equal calls this is, from 1: copied into every line.
    #[serde(default = "default_repeat")]
    pub repeat: u32,
    /// A write ends once it is on the media (`O_DSYNC`), not when a cache of the device has it.
    #[serde(default)]
    pub durable: bool,
    /// What failed I/Os lead to.
    #[serde(default)]
    pub on_error: OnError,
    /// Which pages of memory the buffers are in.
    #[serde(default)]
    pub pages: Pages,
    /// Threads, spread over the cores where there are several; left out, as many as there is work
    /// for, at most one a core.
    pub threads: Option<u32>,
    /// Seed of offsets, read/write choice, arrivals and data.
    #[serde(default)]
    pub seed: u64,
    /// The run's clock.
    pub clock: Clock,
    /// JSON lines to append to, one for each step: all targets and jobs together.
    pub spool: PathBuf,
    /// JSON lines to append to, for each step one a target, one a job, and one a job on a target.
    pub parts: Option<PathBuf>,
    /// JSON lines to append to, one for each interval of a step and each of its jobs.
    pub intervals: Option<PathBuf>,
    /// Length of an interval.
    #[serde(default = "default_interval_seconds")]
    pub interval_seconds: f64,
    /// Engine; `auto` takes the fastest that works and notes why another did not.
    #[serde(default)]
    pub engine: Choice,
    /// Behaviour of the `null` engine.
    #[serde(default)]
    pub null: null::Model,
    /// The curves, in the order in which they are run.
    pub steps: Vec<Curve>,
}

/// What failed I/Os lead to. They are counted by class either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// More than 100 in a step, or nothing but failures, end the step and the profile.
    #[default]
    Stop,
    /// Every step goes on to its end.
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
    /// Checks every value and brings the plan into normal form: levels in order, sizes in whole
    /// pages, every name given.
    ///
    /// # Errors
    /// `usage`, naming the value.
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

    /// What the figures of all targets together are recorded under.
    pub(crate) fn label(&self) -> String {
        match (&self.volume, self.targets.as_slice()) {
            (Some(label), _) => label.clone(),
            (None, [only]) => only.place().display().to_string(),
            (None, several) => format!("{} targets", several.len()),
        }
    }

    /// How often all curves are run: once for each stage of the targets that grow.
    pub(crate) fn stages(&self) -> usize {
        self.targets.iter().map(|target| target.stages.len()).max().unwrap_or(0).max(1)
    }

    /// The first job that writes to the target at `index`.
    pub(crate) fn writer(&self, index: usize) -> Option<&Job> {
        let jobs = self.steps.iter().flat_map(|curve| &curve.jobs);
        jobs.into_iter().find(|job| job.writes() && job.on.contains(&index))
    }

    /// Fails if a job does not fit on the target at `index`, which holds `bytes`.
    ///
    /// # Errors
    /// `usage`, naming target, step and job.
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

/// Fails unless all names of `field` differ and none is empty.
fn unique<'a>(field: &str, names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for name in names {
        if name.is_empty() {
            return wrong(format!("{field}: a name must not be empty"));
        }
        if !seen.insert(name) {
            return wrong(format!("{field}: the name '{name}' is there twice, give each its own"));
        }
    }
    Ok(())
}

fn wrong<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::new(ErrorKind::Usage, message))
}
