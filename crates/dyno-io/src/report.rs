//! Converts what a step measured to results and lines of the spools.

use dyno_record::{Result, Spool};

use crate::Plan;
use crate::lane::Lane;
use crate::outcome::{Figures, Part, Purpose, Step};
use crate::plan::{Curve, Job, Level};
use crate::record::Line;
use crate::step::{Interval, Seen};
use crate::tally::Counts;
use crate::window::Window;

/// A step to report.
pub(crate) struct Report<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) curve: &'a Curve,
    pub(crate) level: &'a Level,
    pub(crate) stage: usize,
    /// Index of the step in its curve and stage.
    pub(crate) index: usize,
    pub(crate) purpose: Purpose,
}

/// The output files.
pub(crate) struct Spools {
    steps: Spool,
    parts: Option<Spool>,
    intervals: Option<Spool>,
}

impl Spools {
    /// Opens the files of the plan.
    ///
    /// # Errors
    /// `io` or `disk_full`, like all spools.
    pub(crate) fn open(plan: &Plan) -> Result<Self> {
        Ok(Self {
            steps: Spool::open(&plan.spool)?,
            parts: plan.parts.as_ref().map(Spool::open).transpose()?,
            intervals: plan.intervals.as_ref().map(Spool::open).transpose()?,
        })
    }

    /// Syncs all lines.
    pub(crate) fn sync(&self) -> Result<()> {
        let spools = [Some(&self.steps), self.parts.as_ref(), self.intervals.as_ref()];
        spools.into_iter().flatten().try_for_each(Spool::sync)
    }

    /// Records an interval: one line per job.
    pub(crate) fn interval(&mut self, report: &Report<'_>, interval: &Interval) -> Result<()> {
        let Some(spool) = &mut self.intervals else { return Ok(()) };
        let jobs = report.curve.jobs.iter().zip(&report.level.jobs);
        for ((job, (depth, rate)), counts) in jobs.zip(&interval.jobs) {
            let mut line = report.line(&[job], counts, interval.window)?;
            line.job = Some(job.name.clone());
            line.queue_depth = depth * job.on.len() as u32;
            line.rate = *rate;
            spool.write(&line)?;
        }
        Ok(())
    }

    /// Records a step as a whole and by parts.
    pub(crate) fn step(&mut self, report: &Report<'_>, seen: &Seen) -> Result<Step> {
        let mut parts = Vec::new();
        let (mut targets, mut jobs) = (Vec::new(), Vec::new());
        for lane in &seen.lanes {
            if !targets.contains(&lane.target) {
                targets.push(lane.target);
            }
            if !jobs.contains(&lane.job) {
                jobs.push(lane.job);
            }
        }
        targets.sort_unstable();
        let mut groups: Vec<(Option<usize>, Option<usize>)> = Vec::new();
        groups.extend(targets.iter().map(|target| (Some(*target), None)));
        groups.extend(jobs.iter().map(|job| (None, Some(*job))));
        groups.extend(seen.lanes.iter().map(|lane| (Some(lane.target), Some(lane.job))));
        for (target, job) in groups {
            let group = report.group(seen, |lane| {
                target.is_none_or(|target| target == lane.target)
                    && job.is_none_or(|job| job == lane.job)
            });
            let part = Part {
                target: target.map(|target| report.plan.targets[target].name().to_owned()),
                job: job.map(|job| report.curve.jobs[job].name.clone()),
                figures: group.figures,
            };
            if let Some(spool) = &mut self.parts {
                let mut line = report.line(&group.jobs, &group.counts, seen.window)?;
                if let Some(target) = &part.target {
                    line.volume.clone_from(target);
                }
                line.job.clone_from(&part.job);
                spool.write(&line.with(&part.figures))?;
            }
            parts.push(part);
        }
        let whole = report.group(seen, |_| true);
        let mut line = report.line(&whole.jobs, &whole.counts, seen.window)?;
        line.thread_percent = seen.busiest.map(|share| 100.0 * share);
        self.steps.write(&line.with(&whole.figures))?;
        Ok(Step {
            t_ns: line_start(report, seen.window),
            seconds: seconds(seen.window),
            phase: report.curve.name.clone(),
            stage: report.stage,
            level: report.index,
            purpose: report.purpose,
            threads: seen.threads,
            huge_percent: seen.huge_share.map(|share| 100.0 * share),
            start_seconds: seen.start_seconds,
            figures: whole.figures,
            parts,
        })
    }
}

/// The sum of several lanes.
struct Group<'a> {
    counts: Counts,
    figures: Figures,
    jobs: Vec<&'a Job>,
}

impl<'a> Report<'a> {
    fn line(&self, jobs: &[&Job], counts: &Counts, window: Window) -> Result<Line> {
        let mut line = Line::new(self.curve, jobs, counts)?;
        line.t_ns = line_start(self, window);
        line.seconds = seconds(window);
        line.volume = self.plan.label();
        line.arm.clone_from(&line.volume);
        line.stage = self.stage;
        line.repeat = self.plan.repeat;
        line.level = self.index;
        line.purpose = self.purpose.as_str();
        Ok(line)
    }

    fn group(&self, seen: &Seen, wanted: impl Fn(&Lane) -> bool) -> Group<'a> {
        let seconds = seconds(seen.window);
        let mut counts = Counts::default();
        let mut jobs = Vec::new();
        let (mut depth, mut rate, mut in_flight_ns, mut inside) = (0, None, 0, true);
        for lane in seen.lanes.iter().filter(|lane| wanted(lane)) {
            counts.merge(&lane.counts);
            let job = &self.curve.jobs[lane.job];
            let (lane_depth, job_rate) = self.level.jobs[lane.job];
            depth += lane_depth;
            if let Some(job_rate) = job_rate {
                *rate.get_or_insert(0.0) += job_rate / job.on.len() as f64;
            }
            in_flight_ns += lane.in_flight_ns;
            let ceiling_ms = job.ceiling_ms.unwrap_or(self.plan.ceiling_ms);
            let figures = Figures::of(&lane.counts, seconds);
            inside &= lane.had_nothing_due() || figures.keeps(ceiling_ms, self.plan.ceiling_of);
            if !jobs.iter().any(|other: &&Job| other.name == job.name) {
                jobs.push(job);
            }
        }
        let mut figures = Figures::of(&counts, seconds);
        figures.queue_depth = depth;
        figures.rate = rate;
        figures.inside_ceiling = inside;
        if seconds > 0.0 {
            figures.in_flight_mean = in_flight_ns as f64 / 1e9 / seconds;
        }
        Group { counts, figures, jobs }
    }
}

fn seconds(window: Window) -> f64 {
    window.end_ns.saturating_sub(window.start_ns) as f64 / 1e9
}

fn line_start(report: &Report<'_>, window: Window) -> i64 {
    report.plan.clock.unix_ns_at(window.start_ns)
}
