//! The access patterns of a plan.

use dyno_record::{Error, ErrorKind, Result};
use serde::Deserialize;

/// The order of accesses.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Order {
    /// Uniformly random.
    Random,
    /// The n-th most popular position gets a share proportional to n^-theta. Popular positions are
    /// scattered over the space.
    Zipf {
        /// Exponent, from 0.01 to 10. Many key-value stores see 0.99.
        theta: f64,
    },
    /// Uniformly random in each of two parts: the start of the space, and the rest.
    HotSpot {
        /// Share of the accesses to the first part, percent.
        access_percent: f64,
        /// Size of the first part, percent of the space.
        space_percent: f64,
    },
    /// One block after another, starting over at the end. Mixed reads and writes are two streams,
    /// each in one half.
    Sequential,
    /// Several sequential streams in turn, each in its own part.
    Streams {
        /// Number of streams.
        count: u32,
    },
}

impl Order {
    /// The name in bundles.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Zipf { .. } => "zipf",
            Self::HotSpot { .. } => "hot_spot",
            Self::Sequential => "sequential",
            Self::Streams { .. } => "streams",
        }
    }

    /// Refuses invalid values.
    pub(crate) fn check(self) -> Result<()> {
        let inside = |percent: f64| percent > 0.0 && percent < 100.0;
        let message = match self {
            Self::Zipf { theta } if !(0.01..=10.0).contains(&theta) => {
                "pattern: theta of zipf must be 0.01 to 10"
            }
            Self::HotSpot { access_percent, space_percent }
                if !(inside(access_percent) && inside(space_percent)) =>
            {
                "pattern: access_percent and space_percent of hot_spot must be between 0 and 100"
            }
            Self::Streams { count } if !(1..=4096).contains(&count) => {
                "pattern: count of streams must be 1 to 4096"
            }
            _ => return Ok(()),
        };
        Err(Error::new(ErrorKind::Usage, message))
    }
}
