//! When a load counts as steady.

use dyno_record::Result;
use serde::Deserialize;

use super::wrong;

/// Windows at one load are repeated until the last of them are steady: the steady state of SNIA's
/// Solid State Storage Performance Test Specification, whose numbers are those by default.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settle {
    /// Windows that are looked at: the last so many.
    pub rounds: usize,
    /// How far their fastest and slowest may lie apart, percent of their mean.
    pub within_percent: f64,
    /// How far a straight line through them may rise or fall, percent of their mean.
    pub slope_percent: f64,
    /// Windows after which it is given up.
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
            return wrong("settle: most must be as many windows as rounds, at most 10000");
        }
        let sane = |percent: f64| (0.1..=1000.0).contains(&percent);
        if !sane(self.within_percent) || !sane(self.slope_percent) {
            return wrong("settle: within_percent and slope_percent must be 0.1 to 1000");
        }
        Ok(())
    }
}
