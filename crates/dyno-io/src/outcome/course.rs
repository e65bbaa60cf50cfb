//! How a curve was run.

use serde::Serialize;

use crate::search::Stopped;

/// What a search has found. Loads are `queue_depth` of whole steps, or `rate` if rates vary.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Found {
    /// The load with the most I/Os per second inside the ceiling; of those that give less than 1 %
    /// less the least. `None` if none was inside.
    pub best: Option<f64>,
    /// The smallest load that was outside the ceiling, or had failures.
    pub outside: Option<f64>,
    /// Whether as many further windows as asked for found `best` inside.
    pub confirmed: bool,
    /// Windows that it took.
    pub windows: usize,
    /// Why no larger load was tried.
    pub stopped: Stopped,
}

/// Why a step was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// It is in the plan's list.
    List,
    /// A search makes the load larger.
    Grow,
    /// A search looks between two loads.
    Narrow,
    /// A search tries its best load once more.
    Confirm,
    /// One load is repeated until it is steady.
    Settle,
}

impl Purpose {
    /// The name used in bundles.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Grow => "grow",
            Self::Narrow => "narrow",
            Self::Confirm => "confirm",
            Self::Settle => "settle",
        }
    }
}
