//! Runs a plan: opens the targets, then in each stage fills them and drives the curves.

mod drive;
mod progress;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use dyno_record::{Control, Result, monotonic_ns};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

use crate::engine::{Choice, Name};
use crate::outcome::{Found, Step, Subject};
use crate::report::Spools;
use crate::seeds::derived;
use crate::targets::{self, Kind, OpenTarget};
use crate::{Notes, Outcome, Plan, Topic};
use progress::{Progress, fill_ms};

/// Profiles targets according to `plan`. Progress is in milliseconds. Steps and intervals are
/// written to the plan's spools as soon as they end. Created files are gone when this returns;
/// others are never removed.
///
/// # Errors
/// `usage` for an invalid plan, or one that would write without permission; `cancelled`;
/// `disk_full` with the space needed; `denied` or `io` for an unusable target; unless `on_error` is
/// `continue`, the kind of the I/O errors if more than 100 I/Os of a step failed, or all.
pub fn profile(plan: Plan, control: &Control) -> Result<Outcome> {
    let plan = plan.normalised()?;
    let mut spools = Spools::open(&plan)?;
    let mut run = Run::open(&plan, control)?;
    for stage in 0..plan.stages() {
        run.begin(stage)?;
        for (index, curve) in plan.steps.iter().enumerate() {
            run.drive(index, curve, &mut spools)?;
        }
    }
    spools.sync()?;
    run.look_back()?;
    Ok(run.outcome())
}

struct Run<'a> {
    plan: &'a Plan,
    progress: Progress<'a>,
    /// Empty with the null engine, which uses no storage.
    places: Vec<OpenTarget>,
    stage: usize,
    /// Engine to open next; `auto` becomes `psync` permanently after a fallback.
    choice: Choice,
    /// Engine that was opened last.
    engine: Name,
    /// End of the last step: simulated time continues there.
    now_ns: u64,
    prepare_seconds: f64,
    seeds: Xoshiro256PlusPlus,
    steps: Vec<Step>,
    best: BTreeMap<String, usize>,
    searches: BTreeMap<String, BTreeMap<usize, Found>>,
    settled: BTreeMap<String, bool>,
    notes: Notes,
}

impl<'a> Run<'a> {
    fn open(plan: &'a Plan, control: &'a Control) -> Result<Self> {
        let begin = Instant::now();
        let mut run = Self {
            plan,
            progress: Progress::new(plan, control),
            places: Vec::new(),
            stage: 0,
            choice: plan.engine,
            engine: Name::Null,
            now_ns: monotonic_ns(),
            prepare_seconds: 0.0,
            seeds: Xoshiro256PlusPlus::seed_from_u64(derived(plan.seed, 0, "steps")),
            steps: Vec::new(),
            best: BTreeMap::new(),
            searches: BTreeMap::new(),
            settled: BTreeMap::new(),
            notes: Notes::default(),
        };
        if plan.engine == Choice::Null {
            for index in 0..plan.targets.len() {
                plan.fits(index, run.bytes(index))?;
            }
        } else {
            control.set_step("opening the targets");
            run.places = targets::open_all(plan, &mut run.notes)?;
            run.prepare_seconds = begin.elapsed().as_secs_f64();
        }
        Ok(run)
    }

    /// Prepares all targets for `stage`: grows, fills and checks them.
    fn begin(&mut self, stage: usize) -> Result<()> {
        let begin = Instant::now();
        self.stage = stage;
        if self.plan.engine == Choice::Null {
            return Ok(());
        }
        let (plan, control) = (self.plan, self.progress.control);
        targets::grow_all(plan, stage, &mut self.places)?;
        control.set_step("filling the targets");
        let length = |place: &OpenTarget| place.to_fill.end - place.to_fill.start;
        let all: u64 = self.places.iter().map(length).sum();
        let (done, planned_ms) = (AtomicU64::new(0), fill_ms(plan, stage));
        let progress = &self.progress;
        let places = (stage, self.places.as_slice());
        let name = targets::fill_all(plan, places, control, &mut self.notes, |written| {
            let done = done.fetch_add(written, Relaxed) + written;
            let share = done as f64 / all.max(1) as f64;
            progress.tell((planned_ms as f64 * share) as u64);
            control.add(0, written);
        })?;
        if let Some(name) = name {
            self.took(name, "the start");
        }
        let targets = self.places.len();
        for place in &mut self.places {
            place.to_fill.start = place.to_fill.end;
            place.prove(&mut self.notes)?;
            if stage == 0 {
                place.sample(targets, derived(plan.seed, 0, "sample"), control, &mut self.notes)?;
            }
        }
        self.progress.pass(planned_ms);
        self.prepare_seconds += begin.elapsed().as_secs_f64();
        Ok(())
    }

    /// Keeps using the fallback engine.
    fn took(&mut self, name: Name, when: &str) {
        if name == Name::Psync && self.choice == Choice::Auto {
            self.choice = Choice::Psync;
            if self.engine == Name::IoUring {
                self.notes.add(Topic::Fallback, format!("psync did the I/O from '{when}' on"));
            }
        }
        self.engine = name;
    }

    /// Bytes used on target `index` in this stage.
    fn bytes(&self, index: usize) -> u64 {
        let planned = || self.plan.targets[index].bytes_at(self.stage).unwrap_or(1 << 30);
        self.places.get(index).map_or_else(planned, |place| place.bytes)
    }

    /// Checks whether existing files went through the page cache after all. For created ones this
    /// is known since they were filled.
    fn look_back(&mut self) -> Result<()> {
        for place in self.places.iter_mut().filter(|place| place.kind == Kind::File) {
            place.prove_uncached(&mut self.notes)?;
        }
        Ok(())
    }

    fn outcome(self) -> Outcome {
        let planned = self.plan.targets.iter().enumerate().map(|(index, target)| Subject {
            name: target.name().to_owned(),
            path: target.place().to_owned(),
            kind: Kind::Null,
            bytes: self.bytes(index),
            direct: true,
            extents_written: None,
            content: None,
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
            searches: self.searches,
            settled: self.settled,
            notes: self.notes,
        }
    }
}
