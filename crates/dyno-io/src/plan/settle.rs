//! The definition of a steady load.

use dyno_record::Result;
use serde::Deserialize;

use super::wrong;

/// Repeats windows at one load until the last ones are steady. The rule and the default values are
/// those of the steady state in SNIA's Solid State Storage Performance Test Specification.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settle {
    /// Number of last windows to examine.
    pub rounds: usize,
    /// Maximum range between their fastest and slowest, percent of their mean.
    pub within_percent: f64,
    /// Maximum rise or fall of a straight line fitted to them, percent of their mean.
    pub slope_percent: f64,
    /// Windows before giving up.
    pub most: usize,
}

impl Default for Settle {
    fn default() -> Self {
        Self { rounds: 5, within_percent: 20.0, slope_percent: 10.0, most: 60 }
    }
}

impl Settle {
    pub(super) fn check(&self) -> Result<()> {
        if !(2..=1000).contains(&self.rounds) {
            return wrong("settle: rounds must be 2 to 1000");
        }
        if !(self.rounds..=10_000).contains(&self.most) {
            return wrong("settle: most must be at least rounds, and at most 10000");
        }
        let sane = |percent: f64| (0.1..=1000.0).contains(&percent);
        if !sane(self.within_percent) || !sane(self.slope_percent) {
            return wrong("settle: within_percent and slope_percent must be 0.1 to 1000");
        }
        Ok(())
    }
}
