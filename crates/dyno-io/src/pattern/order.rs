//! The patterns that a plan can name.

use dyno_record::{Error, ErrorKind, Result};
use serde::Deserialize;

/// Where accesses go.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Order {
    /// Uniformly random.
    Random,
    /// The n-th most popular place with a share proportional to n^-theta; popular places lie
    /// scattered over the space.
    Zipf {
        /// Exponent, from 0.01 to 10: 0.99 is what many key-value stores see.
        theta: f64,
    },
    /// Uniformly random in each of two parts: the start of the space, and the rest.
    HotSpot {
        /// Share of the accesses that go to the first part, percent.
        access_percent: f64,
        /// Size of the first part, percent of the space.
        space_percent: f64,
    },
    /// One block after another, from the start again at the end. Mixed reads and writes are two
    /// such series, in a half each.
    Sequential,
    /// Several sequential series side by side, each in a part of its own, in turn.
    Streams {
        /// Number of series.
        count: u32,
    },
}

impl Order {
    /// The name used in bundles.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Zipf { .. } => "zipf",
            Self::HotSpot { .. } => "hot_spot",
            Self::Sequential => "sequential",
            Self::Streams { .. } => "streams",
        }
    }

    /// Refuses values that make no sense.
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
