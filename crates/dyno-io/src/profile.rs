//! Runs a plan: open the targets, drive the curves, record each step.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use dyno_record::{Control, Result, monotonic_ns};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore as _, SeedableRng as _};

use crate::ceiling::best;
use crate::engine::{Choice, Name};
use crate::outcome::{Step, Subject};
use crate::pattern::Pattern;
use crate::place::{self, Kind, Place};
use crate::plan::Curve;
use crate::report::{Report, Spools};
use crate::step::{self, Spec};
use crate::{Notes, Outcome, Plan};

/// Speed assumed for the progress bar until the targets are filled, bytes per millisecond.
const ASSUMED_FILL_SPEED: u64 = 400_000;
/// An I/O that ends this long after its step is worth a note.
const LONG_DRAIN_NS: u64 = 1_000_000_000;

/// Profiles targets as `plan` says. Progress is in milliseconds; each step is in the plan's spools
/// as soon as it ends, each interval as soon as that does. Made files are gone when this returns,
/// others are never removed.
///
/// # Errors
/// `usage` for a plan that makes no sense, or would write where it may not; `cancelled`;
/// `disk_full` with the space needed; `denied` or `io` for a target that can not be used; unless
/// `on_error` is `continue`, the kind of the I/O errors if more than 100 I/Os of a step failed, or
/// all.
pub fn profile(plan: Plan, control: &Control) -> Result<Outcome> {
    let plan = plan.normalised()?;
    let mut spools = Spools::open(&plan)?;
    let mut run = Run::prepare(&plan, control)?;
    for (index, curve) in plan.steps.iter().enumerate() {
        run.drive(index, curve, &mut spools)?;
    }
    spools.sync()?;
    run.look_back()?;
    Ok(run.outcome())
}

struct Run<'a> {
    plan: &'a Plan,
    progress: Progress<'a>,
    /// Empty with the null engine, which touches no storage.
    places: Vec<Place>,
    /// What to open next; `auto` turns to `psync` for good once that had to take over.
    choice: Choice,
    /// What was opened last.
    engine: Name,
    /// End of the last step: simulated time goes on from there.
    now_ns: u64,
    prepare_seconds: f64,
    seeds: Xoshiro256PlusPlus,
    steps: Vec<Step>,
    best: BTreeMap<String, usize>,
    notes: Notes,
}

impl<'a> Run<'a> {
    fn prepare(plan: &'a Plan, control: &'a Control) -> Result<Self> {
        let begin = Instant::now();
        let mut run = Self {
            plan,
            progress: Progress::new(plan, control),
            places: Vec::new(),
            choice: plan.engine,
            engine: Name::Null,
            now_ns: monotonic_ns(),
            prepare_seconds: 0.0,
            seeds: Xoshiro256PlusPlus::seed_from_u64(plan.seed),
            steps: Vec::new(),
            best: BTreeMap::new(),
            notes: Notes::default(),
        };
        if plan.engine == Choice::Null {
            for (index, target) in plan.targets.iter().enumerate() {
                plan.fits(index, target.bytes.unwrap_or(1 << 30))?;
            }
        } else {
            run.open_targets()?;
            run.prepare_seconds = begin.elapsed().as_secs_f64();
        }
        Ok(run)
    }

    fn open_targets(&mut self) -> Result<()> {
        let (plan, control) = (self.plan, self.progress.control);
        control.set_step("opening the targets");
        self.places = place::open_all(plan, &mut self.notes)?;
        control.set_step("filling the targets");
        let all: u64 = self.places.iter().filter(|place| place.fill).map(|place| place.bytes).sum();
        let (done, planned_ms) = (AtomicU64::new(0), prepare_ms(plan));
        let progress = &self.progress;
        let name = place::fill_all(plan, &self.places, control, &mut self.notes, |written| {
            let done = done.fetch_add(written, Relaxed) + written;
            let share = done as f64 / all.max(1) as f64;
            progress.tell((planned_ms as f64 * share) as u64);
            control.add(0, written);
        })?;
        if let Some(name) = name {
            self.took(name, "the start");
        }
        for place in &mut self.places {
            place.prove(&mut self.notes)?;
        }
        self.progress.pass(planned_ms);
        Ok(())
    }

    /// Goes on with the engine that had to be taken.
    fn took(&mut self, name: Name, when: &str) {
        if name == Name::Psync && self.choice == Choice::Auto {
            self.choice = Choice::Psync;
            if self.engine == Name::IoUring {
                self.notes.add(format!("psync did the I/O from '{when}' on"));
            }
        }
        self.engine = name;
    }

    fn drive(&mut self, index: usize, curve: &Curve, spools: &mut Spools) -> Result<()> {
        let mut patterns = self.patterns(index, curve)?;
        let first = self.steps.len();
        let mut levels = 0..curve.levels();
        for level in levels.by_ref() {
            let step = self.step(curve, level, &mut patterns, spools)?;
            let outside = !step.figures.inside_ceiling;
            self.steps.push(step);
            self.progress.pass(curve.step_ms());
            if outside && curve.stop_at_ceiling {
                break;
            }
        }
        self.progress.pass(curve.step_ms() * levels.len() as u64);
        if let Some(at) = best(self.steps[first..].iter().map(Step::point)) {
            self.best.insert(curve.name.clone(), first + at);
        }
        Ok(())
    }

    /// The patterns of all lanes of a curve: by job, then by target of the job.
    fn patterns(&self, index: usize, curve: &Curve) -> Result<Vec<Pattern>> {
        let mut patterns = Vec::new();
        for job in &curve.jobs {
            for target in &job.on {
                let planned = self.plan.targets[*target].bytes.unwrap_or(1 << 30);
                let bytes = self.places.get(*target).map_or(planned, |place| place.bytes);
                let (shape, space) = job.space(bytes)?;
                let lane = (index as u64) << 32 | patterns.len() as u64;
                patterns.push(Pattern::new(&shape, space, self.plan.seed.wrapping_add(lane)));
            }
        }
        Ok(patterns)
    }

    fn step(
        &mut self,
        curve: &Curve,
        index: usize,
        patterns: &mut Vec<Pattern>,
        spools: &mut Spools,
    ) -> Result<Step> {
        let level = curve.level(index);
        let title = level.title(curve);
        self.progress.control.set_step(title.as_str());
        let files: Vec<&File> = self.places.iter().map(|place| &place.file).collect();
        let spec = Spec {
            plan: self.plan,
            curve,
            level: &level,
            files: &files,
            engine: self.choice,
            start_ns: self.now_ns,
            seed: self.seeds.next_u64(),
        };
        let report = Report { plan: self.plan, curve, level: &level, index };
        let (progress, control) = (&self.progress, self.progress.control);
        let seen = step::run(
            &spec,
            std::mem::take(patterns),
            control,
            &mut self.notes,
            |ns| progress.tell(ns / 1_000_000),
            |interval| spools.interval(&report, &interval),
        )
        .map_err(|error| error.context(title.clone()))?;
        self.now_ns = seen.now_ns.max(self.now_ns);
        self.took(seen.engine, &title);
        let step = spools.step(&report, &seen)?;
        for place in &self.places {
            place.look_again(&title, &mut self.notes);
        }
        if seen.drain_ns > LONG_DRAIN_NS {
            let seconds = seen.drain_ns as f64 / 1e9;
            self.notes.add(format!("{title}: the last I/O ended {seconds:.1} s after the step"));
        }
        if let Some((target, error)) = seen.failure {
            let target = self.plan.targets[target].to_string();
            return Err(error.context(target).context(title));
        }
        patterns.extend(seen.lanes.into_iter().map(|lane| lane.pattern));
        Ok(step)
    }

    /// Looks whether files that were there before went through the page cache after all. Of made
    /// ones it is known since they were filled.
    fn look_back(&mut self) -> Result<()> {
        for place in self.places.iter_mut().filter(|place| place.kind == Kind::File) {
            place.prove_uncached(&mut self.notes)?;
        }
        Ok(())
    }

    fn outcome(self) -> Outcome {
        let planned = self.plan.targets.iter().map(|target| Subject {
            name: target.name().to_owned(),
            path: target.place().to_owned(),
            kind: Kind::Null,
            bytes: target.bytes.unwrap_or(1 << 30),
            direct: true,
            extents_written: None,
        });
        Outcome {
            engine: self.engine,
            direct: self.places.iter().all(|place| place.direct),
            targets: if self.places.is_empty() {
                planned.collect()
            } else {
                self.places.iter().map(Subject::of).collect()
            },
            prepare_seconds: self.prepare_seconds,
            steps: self.steps,
            best: self.best,
            notes: self.notes,
        }
    }
}

/// Counts planned milliseconds; what is left out counts as done.
struct Progress<'a> {
    control: &'a Control,
    passed_ms: u64,
}

impl<'a> Progress<'a> {
    fn new(plan: &Plan, control: &'a Control) -> Self {
        let curve_ms = |curve: &Curve| curve.step_ms() * curve.levels() as u64;
        control.set_total(prepare_ms(plan) + plan.steps.iter().map(curve_ms).sum::<u64>());
        control.set_done(0);
        Self { control, passed_ms: 0 }
    }

    /// Reports `ms` within the current part.
    fn tell(&self, ms: u64) {
        self.control.set_done(self.passed_ms + ms);
    }

    /// Leaves a part that was planned to take `ms`.
    fn pass(&mut self, ms: u64) {
        self.passed_ms += ms;
        self.control.set_done(self.passed_ms);
    }
}

fn prepare_ms(plan: &Plan) -> u64 {
    if plan.engine == Choice::Null {
        return 0;
    }
    let filled = plan.targets.iter().filter(|target| target.directory.is_some() || target.fill);
    filled.filter_map(|target| target.bytes).sum::<u64>() / ASSUMED_FILL_SPEED
}
