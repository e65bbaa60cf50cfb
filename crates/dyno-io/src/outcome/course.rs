//! How a curve ran.

use serde::Serialize;

use crate::search::Stopped;

/// The result of a search. Loads are the `queue_depth` of whole steps, or `rate` if rates vary.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Found {
    /// The load with the most I/Os per second within the ceiling; among loads within 1 % of it, the
    /// smallest. `None` if none was within the ceiling.
    pub best: Option<f64>,
    /// The smallest load that exceeded the ceiling or had failures.
    pub outside: Option<f64>,
    /// Whether enough further windows found `best` within the ceiling.
    pub confirmed: bool,
    /// Number of windows.
    pub windows: usize,
    /// Why the search tried no larger load.
    pub stopped: Stopped,
}

/// Why a step ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// It is in the plan's list.
    List,
    /// A search increases the load.
    Grow,
    /// A search tries a load between two others.
    Narrow,
    /// A search repeats its best load.
    Confirm,
    /// A load repeats until it is steady.
    Settle,
}

impl Purpose {
    /// The name in bundles.
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
