//! Runs a plan: prepare the file, drive the curves, record each step.

use std::collections::BTreeMap;
use std::fs::File;
use std::time::Instant;

use dyno_record::{Control, Result, Spool, monotonic_ns};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

use crate::ceiling::best;
use crate::engine::{self, Choice, Engine, Name, Setup};
use crate::file::{FILL_BLOCK, FILL_SLOTS, TestFile};
use crate::outcome::{Record, Step};
use crate::pattern::Pattern;
use crate::plan::Curve;
use crate::step::{self, Spec};
use crate::{Notes, Outcome, Plan};

/// Speed assumed for the progress bar until the file is there, bytes per millisecond.
const ASSUMED_FILL_SPEED: u64 = 400_000;
/// An I/O that ends this long after its step is worth a note.
const LONG_DRAIN_NS: u64 = 1_000_000_000;

/// Profiles a volume as `plan` says. Progress is in milliseconds; each step is one line of the
/// plan's spool as soon as it ends. The test file is gone when this returns.
///
/// # Errors
/// `usage` for a plan that makes no sense; `cancelled`; `disk_full` with the space needed;
/// `denied` or `io` for a directory that can not be used; the kind of the I/O errors if more than
/// 100 I/Os of a step failed, or all.
pub fn profile(plan: Plan, control: &Control) -> Result<Outcome> {
    let plan = plan.normalised()?;
    let mut spool = Spool::open(&plan.spool)?;
    let mut run = Run::prepare(&plan, control)?;
    for (index, curve) in plan.steps.iter().enumerate() {
        run.drive(index, curve, &mut spool)?;
    }
    spool.sync()?;
    Ok(run.outcome())
}

struct Run<'a> {
    plan: &'a Plan,
    progress: Progress<'a>,
    /// `None` with the null engine, which touches no storage.
    file: Option<TestFile>,
    engines: Engines<'a>,
    extents_written: Option<bool>,
    prepare_seconds: f64,
    data: Xoshiro256PlusPlus,
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
            file: None,
            engines: Engines::new(plan),
            extents_written: None,
            prepare_seconds: 0.0,
            data: Xoshiro256PlusPlus::seed_from_u64(plan.seed),
            steps: Vec::new(),
            best: BTreeMap::new(),
            notes: Notes::default(),
        };
        if plan.engine != Choice::Null {
            run.create_file()?;
            run.prepare_seconds = begin.elapsed().as_secs_f64();
        }
        Ok(run)
    }

    fn create_file(&mut self) -> Result<()> {
        let (plan, control) = (self.plan, self.progress.control);
        control.set_step("creating the test file");
        let file = TestFile::create(&plan.volume, &plan.file_id, plan.file_bytes, &mut self.notes)?;
        let file = self.file.insert(file);
        let mut engine =
            self.engines.open(file.as_files(), FILL_SLOTS, FILL_BLOCK, &mut self.notes)?;
        let (mut told, planned_ms) = (0, prepare_ms(plan));
        file.fill(engine.as_mut(), &mut self.data, control, |written| {
            let share = written as f64 / plan.file_bytes as f64;
            self.progress.tell((planned_ms as f64 * share) as u64, written - told);
            told = written;
        })?;
        self.extents_written = file.prove(&mut self.notes)?;
        self.progress.pass(planned_ms);
        Ok(())
    }

    fn drive(&mut self, index: usize, curve: &Curve, spool: &mut Spool) -> Result<()> {
        let seed = self.plan.seed.wrapping_add(index as u64);
        let (block, bytes) = (u64::from(curve.block_bytes), self.plan.file_bytes);
        let mut pattern = Pattern::new(curve.pattern, block, bytes, curve.read_percent, seed);
        let first = self.steps.len();
        let mut depths = curve.queue_depths.iter().copied();
        for queue_depth in depths.by_ref() {
            let step = self.step(curve, queue_depth, &mut pattern, spool)?;
            let outside = !step.inside_ceiling;
            self.steps.push(step);
            self.progress.pass(curve.step_ms());
            if outside && curve.stop_at_ceiling {
                break;
            }
        }
        self.progress.pass(curve.step_ms() * depths.len() as u64);
        let points = self.steps[first..].iter().map(Step::point);
        if let Some(at) = best(points, self.plan.ceiling_ms) {
            self.best.insert(curve.name.clone(), first + at);
        }
        Ok(())
    }

    fn step(
        &mut self,
        curve: &Curve,
        queue_depth: u32,
        pattern: &mut Pattern,
        spool: &mut Spool,
    ) -> Result<Step> {
        let title = format!("{}, depth {queue_depth}", curve.title());
        self.progress.control.set_step(title.as_str());
        let files = self.file.as_ref().map_or(&[][..], TestFile::as_files);
        let before = self.engines.name;
        let mut engine =
            self.engines.open(files, queue_depth, curve.block_bytes, &mut self.notes)?;
        if engine.name() != before {
            self.notes.add(format!("psync did the I/O from '{title}' on"));
        }
        let spec = Spec {
            queue_depth,
            block_bytes: curve.block_bytes,
            warmup_ns: (curve.warmup_seconds * 1e9) as u64,
            measured_ns: (curve.seconds * 1e9) as u64,
        };
        let progress = &self.progress;
        let control = progress.control;
        let tally =
            step::run(engine.as_mut(), pattern, &mut self.data, spec, control, |ns, bytes| {
                progress.tell(ns / 1_000_000, bytes);
            })
            .map_err(|error| error.context(title.clone()))?;
        self.engines.now_ns = engine.now_ns();
        let step = Step::new(self.plan, curve, queue_depth, &tally);
        spool.write(&Record::new(self.plan, &step, &tally)?)?;
        if tally.drain_ns > LONG_DRAIN_NS {
            let seconds = tally.drain_ns as f64 / 1e9;
            self.notes.add(format!("{title}: the last I/O ended {seconds:.1} s after the step"));
        }
        match tally.failure {
            Some(error) => Err(error.context(title)),
            None => Ok(step),
        }
    }

    fn outcome(self) -> Outcome {
        Outcome {
            engine: self.engines.name,
            direct: self.file.as_ref().is_none_or(TestFile::is_direct),
            extents_written: self.extents_written,
            file_bytes: self.plan.file_bytes,
            prepare_seconds: self.prepare_seconds,
            steps: self.steps,
            best: self.best,
            notes: self.notes,
        }
    }
}

/// Opens one engine after another, each as large as its step needs.
struct Engines<'a> {
    plan: &'a Plan,
    /// What to open next; `auto` turns to `psync` for good once that had to take over.
    choice: Choice,
    /// What was opened last.
    name: Name,
    /// End of the last step: simulated time goes on from there.
    now_ns: u64,
}

impl<'a> Engines<'a> {
    fn new(plan: &'a Plan) -> Self {
        Self { plan, choice: plan.engine, name: Name::Null, now_ns: monotonic_ns() }
    }

    fn open(
        &mut self,
        files: &[File],
        slots: u32,
        block_bytes: u32,
        notes: &mut Notes,
    ) -> Result<Box<dyn Engine>> {
        let (seed, null, start_ns) = (self.plan.seed, &self.plan.null, self.now_ns);
        let setup = Setup { files, slots, block_bytes, seed, null, start_ns };
        let engine = engine::open(self.choice, &setup, notes)?;
        self.name = engine.name();
        if self.name == Name::Psync {
            self.choice = Choice::Psync;
        }
        Ok(engine)
    }
}

/// Counts planned milliseconds; what is left out counts as done.
struct Progress<'a> {
    control: &'a Control,
    passed_ms: u64,
}

impl<'a> Progress<'a> {
    fn new(plan: &Plan, control: &'a Control) -> Self {
        let curve_ms = |curve: &Curve| curve.step_ms() * curve.queue_depths.len() as u64;
        control.set_total(prepare_ms(plan) + plan.steps.iter().map(curve_ms).sum::<u64>());
        control.set_done(0);
        Self { control, passed_ms: 0 }
    }

    /// Reports `ms` within the current part and `bytes` since the last report.
    fn tell(&self, ms: u64, bytes: u64) {
        self.control.set_done(self.passed_ms + ms);
        self.control.add(0, bytes);
    }

    /// Leaves a part that was planned to take `ms`.
    fn pass(&mut self, ms: u64) {
        self.passed_ms += ms;
        self.control.set_done(self.passed_ms);
    }
}

fn prepare_ms(plan: &Plan) -> u64 {
    if plan.engine == Choice::Null { 0 } else { plan.file_bytes / ASSUMED_FILL_SPEED }
}
