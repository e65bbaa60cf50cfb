//! A curve: jobs that run together at rising load.

use dyno_record::Result;
use serde::Deserialize;

use super::job::{DEEPEST as DEEPEST_JOB, Job, Rate};
use super::{MOST_BUFFERS, Search, Settle, Target, unique, wrong};
use crate::search::Rules;

/// Maximum I/Os in flight of all jobs on all targets: the largest ring that every kernel supports.
const DEEPEST: u64 = 32_768;

/// A series of steps that differ only in load (queue depths or rates of the jobs): a list of
/// levels, a search, or one load repeated.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Name, recorded as the `phase` of each step.
    pub name: String,
    /// Jobs that run together. Each list of queue depths or rates has one value for all levels, or
    /// one per level.
    pub jobs: Vec<Job>,
    /// Length of the measured part of each step, seconds.
    #[serde(default = "default_seconds")]
    pub seconds: f64,
    /// Unmeasured time before it, seconds.
    #[serde(default = "default_warmup_seconds")]
    pub warmup_seconds: f64,
    /// Skip the remaining levels once one exceeds the ceiling.
    #[serde(default = "default_stop_at_ceiling")]
    pub stop_at_ceiling: bool,
    /// Searches for the best load instead of running a list.
    pub search: Option<Search>,
    /// Repeats the single level until it is steady.
    pub settle: Option<Settle>,
}

const fn default_seconds() -> f64 {
    3.0
}
const fn default_warmup_seconds() -> f64 {
    0.5
}
const fn default_stop_at_ceiling() -> bool {
    true
}

/// The load of one step: for each job, the queue depth on each target and the rate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Level {
    pub(crate) jobs: Vec<(u32, Option<f64>)>,
    /// Requested I/Os in flight of all jobs on all targets.
    pub(crate) queue_depth: u32,
}

impl Level {
    /// I/Os due per second of the jobs with a rate; `None` without any.
    pub(crate) fn rate(&self) -> Option<f64> {
        self.jobs.iter().filter_map(|(_, rate)| *rate).reduce(|sum, rate| sum + rate)
    }

    /// A short description of a step at this level: `random read 8 KiB, depth 8`.
    pub(crate) fn title(&self, curve: &Curve) -> String {
        let parts = curve.jobs.iter().zip(&self.jobs).map(|(job, (depth, rate))| {
            let rate = rate.map_or_else(String::new, |rate| format!(", {rate} a second"));
            format!("{}{rate}, depth {depth}", job.title())
        });
        parts.collect::<Vec<_>>().join(" + ")
    }
}

impl Curve {
    /// Planned duration of one step in milliseconds, including the warm-up.
    pub(crate) fn step_ms(&self) -> u64 {
        ((self.warmup_seconds + self.seconds) * 1e3).round() as u64
    }

    /// Number of steps.
    pub(crate) fn levels(&self) -> usize {
        self.jobs.iter().map(Job::levels).max().unwrap_or(0)
    }

    /// Maximum number of windows.
    pub(crate) fn most_windows(&self) -> usize {
        match (self.rules(), &self.settle) {
            (Some(rules), _) => rules.most_windows(),
            (None, Some(settle)) => settle.most,
            (None, None) => self.levels(),
        }
    }

    /// The load of step `index` of the list.
    pub(crate) fn level(&self, index: usize) -> Level {
        self.with(self.jobs.iter().map(|job| (job.queue_depth(index), job.rate(index))).collect())
    }

    /// The load at which the largest of the searched jobs has `load`.
    pub(crate) fn searched(&self, search: &Search, load: f64) -> Level {
        let factor = load / self.start(search);
        let of = |(index, job): (usize, &Job)| {
            let (depth, rate) = (job.queue_depth(0), job.rate(0));
            match search.on.contains(&index) {
                false => (depth, rate),
                true if search.by_rate => (depth, rate.map(|rate| rate * factor)),
                true => (((f64::from(depth) * factor).round() as u32).max(1), rate),
            }
        };
        self.with(self.jobs.iter().enumerate().map(of).collect())
    }

    /// The rules of the search, if there is one. They limit loads to what a step supports.
    pub(crate) fn rules(&self) -> Option<Rules> {
        let search = self.search.as_ref()?;
        let (start, mut most) = (self.start(search), search.most.unwrap_or(0.0));
        if !search.by_rate {
            while most > start && self.check(&self.searched(search, most)).is_err() {
                most -= 1.0;
            }
        }
        Some(Rules {
            start,
            most: most.max(start),
            whole: !search.by_rate,
            resolution: search.resolution_percent / 100.0,
            confirm: search.confirm,
        })
    }

    /// The largest initial load among the searched jobs.
    fn start(&self, search: &Search) -> f64 {
        search.on.iter().map(|job| search.load(&self.jobs[*job])).fold(0.0, f64::max)
    }

    fn with(&self, jobs: Vec<(u32, Option<f64>)>) -> Level {
        let depth =
            self.jobs.iter().zip(&jobs).map(|(job, (depth, _))| depth * job.on.len() as u32);
        Level { queue_depth: depth.sum(), jobs }
    }

    pub(super) fn normalise(&mut self, targets: &[Target], ceiling_ms: f64) -> Result<()> {
        if !(self.seconds > 0.0 && self.seconds <= 86_400.0) {
            return wrong("seconds: use more than 0, at most 86400");
        }
        if !(0.0..=86_400.0).contains(&self.warmup_seconds) {
            return wrong("warmup_seconds: use 0 to 86400");
        }
        if self.jobs.is_empty() {
            return wrong("jobs: at least one is needed");
        }
        unique("jobs", self.jobs.iter().map(|job| job.name.as_str()))?;
        for job in &mut self.jobs {
            job.normalise(targets, ceiling_ms)
                .map_err(|error| error.context(format!("job '{}'", job.name)))?;
        }
        self.order_levels()?;
        for index in 0..self.levels() {
            self.check(&self.level(index))?;
        }
        let levels = self.levels();
        match (&mut self.search, &self.settle) {
            (Some(_), Some(_)) => wrong("search, settle: a curve can have only one of them"),
            (Some(search), None) => search.normalise(&self.jobs),
            (None, Some(_)) if levels > 1 => {
                wrong("settle: queue_depths, rate: settle needs a single value of each")
            }
            (None, Some(settle)) => settle.check(),
            (None, None) => Ok(()),
        }
    }

    /// Fails if a step does not support so many I/Os in flight.
    fn check(&self, level: &Level) -> Result<()> {
        let (mut all, mut buffers) = (0, 0);
        for (job, (depth, _)) in self.jobs.iter().zip(&level.jobs) {
            if *depth > DEEPEST_JOB {
                return wrong("queue_depths: use 1 to 4096");
            }
            let lanes = u64::from(*depth) * job.on.len() as u64;
            all += lanes;
            buffers += lanes * u64::from(job.largest_block().next_multiple_of(4096));
        }
        if all > DEEPEST {
            return wrong("queue_depths: depth × targets of all jobs must be at most 32768");
        }
        if buffers > MOST_BUFFERS {
            return wrong("queue_depths: depth × block size × targets must be at most 1 GiB");
        }
        Ok(())
    }

    /// Sorts the levels: a single list that varies rises; several lists stay as they are.
    fn order_levels(&mut self) -> Result<()> {
        let levels = self.levels();
        let lists = self.jobs.iter().flat_map(|job| {
            [job.queue_depths.len(), job.rate.as_ref().map_or(1, |rate| rate.per_second.len())]
        });
        let varying: Vec<usize> = lists.filter(|length| *length > 1).collect();
        if varying.iter().any(|length| *length != levels) {
            return wrong("queue_depths, rate: lists must have one value per level");
        }
        if let [_] = varying[..] {
            for job in &mut self.jobs {
                job.queue_depths.sort_unstable();
                job.queue_depths.dedup();
                if let Some(Rate { per_second, .. }) = &mut job.rate {
                    per_second.sort_by(f64::total_cmp);
                    per_second.dedup();
                }
            }
        }
        Ok(())
    }
}
