//! A curve's search for the most I/Os per second within the ceiling.

use dyno_record::Result;
use serde::Deserialize;

use super::job::{DEEPEST, FASTEST, Job};
use super::wrong;

/// Replaces a list of levels: starts from the jobs' single values, and tries the loads that
/// [`next`](crate::search::next) chooses.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// Maximum load of a job: the queue depth on each of its targets (default 256), or I/Os due per
    /// second for jobs with a rate (required).
    pub most: Option<f64>,
    /// Stop once the largest load within the ceiling and the smallest above it differ by at most
    /// this, in percent of the former.
    #[serde(default = "default_resolution_percent")]
    pub resolution_percent: f64,
    /// Windows that must confirm the best load.
    #[serde(default = "default_confirm")]
    pub confirm: u32,
    /// Names of the jobs whose load varies, all by the same factor. Default: those with a rate; if
    /// there are none, all without syncs.
    pub jobs: Option<Vec<String>>,
    /// Indexes of those jobs, once the plan is normalised.
    #[serde(skip)]
    pub(crate) on: Vec<usize>,
    /// Whether rates vary rather than queue depths.
    #[serde(skip)]
    pub(crate) by_rate: bool,
}

const fn default_resolution_percent() -> f64 {
    5.0
}
const fn default_confirm() -> u32 {
    2
}

impl Search {
    /// The load of a job that the search varies.
    pub(crate) fn load(&self, job: &Job) -> f64 {
        if self.by_rate { job.rate(0).unwrap_or(0.0) } else { f64::from(job.queue_depth(0)) }
    }

    pub(super) fn normalise(&mut self, jobs: &[Job]) -> Result<()> {
        if !(0.1..=100.0).contains(&self.resolution_percent) {
            return wrong("search: resolution_percent must be 0.1 to 100");
        }
        if self.confirm > 20 {
            return wrong("search: confirm must be 0 to 20 windows");
        }
        self.on = self.find(jobs)?;
        let paced = self.on.iter().filter(|job| jobs[**job].rate.is_some()).count();
        if paced > 0 && paced < self.on.len() {
            return wrong("search: either all of its jobs or none must have a rate");
        }
        self.by_rate = paced > 0;
        if self.on.iter().any(|job| jobs[*job].levels() != 1) {
            return wrong("search: queue_depths, rate: a search starts from a single value each");
        }
        let start = self.on.iter().map(|job| self.load(&jobs[*job])).fold(0.0, f64::max);
        let limit = if self.by_rate { FASTEST } else { f64::from(DEEPEST) };
        let most = match self.most {
            Some(most) => most,
            None if self.by_rate => return wrong("search: most is needed with a rate"),
            None => start.max(256.0),
        };
        if !(start..=limit).contains(&most) || !self.by_rate && most.fract() != 0.0 {
            return wrong(format!(
                "search: most must be {start} (where the search starts) to {limit}"
            ));
        }
        self.most = Some(most);
        Ok(())
    }

    fn find(&self, jobs: &[Job]) -> Result<Vec<usize>> {
        let all = || jobs.iter().enumerate();
        let Some(names) = &self.jobs else {
            let any_rate = jobs.iter().any(|job| job.rate.is_some());
            let wanted = |job: &Job| if any_rate { job.rate.is_some() } else { job.sync.is_none() };
            let on: Vec<_> = all().filter(|(_, job)| wanted(job)).map(|(at, _)| at).collect();
            // A plan with only a log: the search varies the log.
            return Ok(if on.is_empty() { (0..jobs.len()).collect() } else { on });
        };
        let mut on = Vec::with_capacity(names.len());
        for name in names {
            match all().find(|(_, job)| job.name == *name) {
                None => return wrong(format!("search: no job named '{name}'")),
                Some((at, _)) if on.contains(&at) => {
                    return wrong(format!("search: '{name}' is listed twice"));
                }
                Some((at, _)) => on.push(at),
            }
        }
        if on.is_empty() {
            return wrong("search: name at least one of the jobs, or omit 'jobs'");
        }
        Ok(on)
    }
}
