//! Progress of a profile in planned milliseconds.

use dyno_record::Control;

use crate::Plan;
use crate::engine::Choice;
use crate::plan::{Curve, Target};

/// Assumed fill speed for the progress bar, bytes per millisecond.
const ASSUMED_FILL_SPEED: u64 = 400_000;

/// Counts planned milliseconds; for a search, those of the maximum number of windows. Skipped parts
/// count as done.
pub(super) struct Progress<'a> {
    pub(super) control: &'a Control,
    passed_ms: u64,
}

impl<'a> Progress<'a> {
    pub(super) fn new(plan: &Plan, control: &'a Control) -> Self {
        let curve_ms = |curve: &Curve| curve.step_ms() * curve.most_windows() as u64;
        let all_ms = plan.steps.iter().map(curve_ms).sum::<u64>();
        let stages = 0..plan.stages();
        control.set_total(stages.map(|stage| fill_ms(plan, stage) + all_ms).sum());
        control.set_done(0);
        Self { control, passed_ms: 0 }
    }

    /// Reports `ms` within the current part.
    pub(super) fn tell(&self, ms: u64) {
        self.control.set_done(self.passed_ms + ms);
    }

    /// Ends a part that was planned to take `ms`.
    pub(super) fn pass(&mut self, ms: u64) {
        self.passed_ms += ms;
        self.control.set_done(self.passed_ms);
    }
}

/// Assumed time to fill the new part in `stage`.
pub(super) fn fill_ms(plan: &Plan, stage: usize) -> u64 {
    let at = |target: &Target, stage: usize| target.bytes_at(stage).unwrap_or(0);
    let new = |target: &Target| match stage.checked_sub(1) {
        None => at(target, 0),
        Some(before) => at(target, stage) - at(target, before),
    };
    let filled = plan.targets.iter().filter(|target| target.directory.is_some() || target.fill);
    let none = plan.engine == Choice::Null;
    if none { 0 } else { filled.map(new).sum::<u64>() / ASSUMED_FILL_SPEED }
}
