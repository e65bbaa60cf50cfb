//! Drives a curve: a list of levels, a search, or one level until it is steady.

use std::fs::File;

use dyno_record::Result;
use rand_xoshiro::rand_core::RngCore as _;

use super::Run;
use crate::Topic;
use crate::ceiling::best;
use crate::outcome::{Found, Purpose, Step};
use crate::pattern::Pattern;
use crate::plan::{Curve, Level, Search, Settle};
use crate::report::{Report, Spools};
use crate::search::{Next, Rules, Tried, next};
use crate::seeds::derived;
use crate::settle::settled;
use crate::step::{self, Spec};
use crate::targets::OpenTarget;

/// Add a note if an I/O ends this long after its step.
const LONG_DRAIN_NS: u64 = 1_000_000_000;

/// A curve that is running.
struct Drive<'a, 'b> {
    curve: &'a Curve,
    patterns: Vec<Pattern>,
    spools: &'b mut Spools,
    /// Steps of this curve so far in this stage.
    count: usize,
}

impl Run<'_> {
    /// Runs the whole curve `index` of the plan in this stage.
    ///
    /// # Errors
    /// Those of a step.
    pub(super) fn drive(&mut self, index: usize, curve: &Curve, spools: &mut Spools) -> Result<()> {
        let mut drive = Drive { curve, patterns: self.patterns(index, curve)?, spools, count: 0 };
        let best = match (&curve.search, curve.rules(), &curve.settle) {
            (Some(search), Some(rules), _) => self.search(&mut drive, search, &rules)?,
            (_, _, Some(settle)) => self.settle(&mut drive, settle)?,
            _ => self.list(&mut drive)?,
        };
        self.progress.pass(curve.step_ms() * (curve.most_windows() - drive.count) as u64);
        if let Some(best) = best {
            let known = self.best.entry(curve.name.clone()).or_insert(best);
            if self.steps[best].figures.iops > self.steps[*known].figures.iops {
                *known = best;
            }
        }
        Ok(())
    }

    /// Runs one level after another, if so planned until one exceeds the ceiling; returns the best
    /// step.
    fn list(&mut self, drive: &mut Drive<'_, '_>) -> Result<Option<usize>> {
        let first = self.steps.len();
        for index in 0..drive.curve.levels() {
            let step = self.step(drive, &drive.curve.level(index), Purpose::List)?;
            if !step.figures.inside_ceiling && drive.curve.stop_at_ceiling {
                break;
            }
        }
        Ok(best(self.steps[first..].iter().map(Step::point)).map(|at| first + at))
    }

    /// Searches for the best load; returns the first step at it.
    fn search(
        &mut self,
        drive: &mut Drive<'_, '_>,
        search: &Search,
        rules: &Rules,
    ) -> Result<Option<usize>> {
        let first = self.steps.len();
        let mut tried: Vec<Tried> = Vec::new();
        let found = loop {
            match next(rules, &tried) {
                Next::End(found) => break found,
                Next::Try(load, purpose) => {
                    let level = drive.curve.searched(search, load);
                    let point = self.step(drive, &level, purpose)?.point();
                    tried.push(Tried { load, purpose, iops: point.iops, inside: point.counts });
                }
            }
        };
        let told = |load: f64| {
            let level = drive.curve.searched(search, load);
            let rate = search.by_rate.then(|| level.rate()).flatten();
            rate.unwrap_or(f64::from(level.queue_depth))
        };
        let result = Found {
            best: found.best.map(told),
            outside: found.outside.map(told),
            confirmed: found.confirmed,
            windows: tried.len(),
            stopped: found.stopped,
        };
        self.searches.entry(drive.curve.name.clone()).or_default().insert(self.stage, result);
        let at = |load: f64| tried.iter().position(|window| window.load.total_cmp(&load).is_eq());
        Ok(found.best.and_then(at).map(|at| first + at))
    }

    /// Repeats the single level until it is steady; returns the last step if it counts.
    fn settle(&mut self, drive: &mut Drive<'_, '_>, rules: &Settle) -> Result<Option<usize>> {
        let level = drive.curve.level(0);
        let (mut iops, mut steady, mut counts) = (Vec::new(), false, false);
        while !steady && iops.len() < rules.most {
            let point = self.step(drive, &level, Purpose::Settle)?.point();
            iops.push(point.iops);
            (steady, counts) = (settled(&iops, rules), point.counts);
        }
        *self.settled.entry(drive.curve.name.clone()).or_insert(true) &= steady;
        if !steady {
            self.notes.add(
                Topic::Unsettled,
                format!(
                    "{}: not steady after {} windows: the device was still changing",
                    drive.curve.name,
                    iops.len()
                ),
            );
        }
        Ok(counts.then(|| self.steps.len() - 1))
    }

    /// The patterns of all lanes of a curve: by job, then by target of the job.
    fn patterns(&self, index: usize, curve: &Curve) -> Result<Vec<Pattern>> {
        let mut patterns = Vec::new();
        for job in &curve.jobs {
            for target in &job.on {
                let (shape, space) = job.space(self.bytes(*target))?;
                let lane = index << 32 | patterns.len();
                let seed = derived(self.plan.seed, lane, "pattern");
                patterns.push(Pattern::new(&shape, space, seed));
            }
        }
        Ok(patterns)
    }

    /// Runs and records one step.
    fn step(
        &mut self,
        drive: &mut Drive<'_, '_>,
        level: &Level,
        purpose: Purpose,
    ) -> Result<&Step> {
        let curve = drive.curve;
        let title = self.title(curve, level, purpose);
        self.progress.control.set_step(title.as_str());
        let files: Vec<&File> = self.places.iter().map(|place| &place.file).collect();
        let foreign: Vec<bool> = self.places.iter().map(OpenTarget::foreign).collect();
        let spec = Spec {
            plan: self.plan,
            curve,
            level,
            files: &files,
            foreign: &foreign,
            engine: self.choice,
            start_ns: self.now_ns,
            seed: self.seeds.next_u64(),
        };
        let (plan, stage, index) = (self.plan, self.stage, drive.count);
        let report = Report { plan, curve, level, stage, index, purpose };
        let (progress, control) = (&self.progress, self.progress.control);
        let seen = step::run(
            &spec,
            std::mem::take(&mut drive.patterns),
            control,
            &mut self.notes,
            |ns| progress.tell(ns / 1_000_000),
            |interval| drive.spools.interval(&report, &interval),
        )
        .map_err(|error| error.context(title.clone()))?;
        self.now_ns = seen.now_ns.max(self.now_ns);
        self.took(seen.engine, &title);
        let step = drive.spools.step(&report, &seen)?;
        for place in &self.places {
            place.look_again(&title, &mut self.notes);
        }
        if seen.drain_ns > LONG_DRAIN_NS {
            let seconds = seen.drain_ns as f64 / 1e9;
            self.notes.add(
                Topic::LongDrain,
                format!("{title}: the last I/O completed {seconds:.1} s after the step"),
            );
        }
        if let Some((target, error)) = seen.failure {
            let target = self.plan.targets[target].to_string();
            return Err(error.context(target).context(title));
        }
        drive.patterns.extend(seen.lanes.into_iter().map(|lane| lane.pattern));
        drive.count += 1;
        self.progress.pass(curve.step_ms());
        self.steps.push(step);
        Ok(&self.steps[self.steps.len() - 1])
    }

    /// A short description of a step.
    fn title(&self, curve: &Curve, level: &Level, purpose: Purpose) -> String {
        let title = level.title(curve);
        let again = if purpose == Purpose::Confirm { ", once more" } else { "" };
        match self.plan.stages() {
            1 => format!("{title}{again}"),
            stages => format!("{title}{again}, stage {} of {stages}", self.stage + 1),
        }
    }
}
