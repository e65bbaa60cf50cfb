//! What to replay, and how.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dyno_record::{Clock, Error, ErrorKind, Result};
use serde::Deserialize;

use super::chosen::Chosen;
use super::log::{Entries, FileId};
use crate::plan::{WirePlan, within};
use crate::rate::LONGEST_S;

/// Which statements of a log to replay.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Selection {
    /// The log.
    pub log: PathBuf,
    /// Only statements of this database of the log; None: of all.
    #[serde(default)]
    pub database: Option<String>,
    /// Whether statements of sessions whose database the log does not show count as its.
    #[serde(default)]
    pub unknown: bool,
    /// Whether statements that may change or lock rows are replayed.
    #[serde(default)]
    pub writes: bool,
    /// Whether statements that change tables are replayed.
    #[serde(default)]
    pub ddl: bool,
    /// Only statements within this time after the first one to replay, in s of the log.
    #[serde(default)]
    pub span_s: Option<f64>,
    /// The log's time at its first statement to replay, ns; from a scan.
    #[serde(default)]
    pub first_ns: Option<i64>,
    /// Most sessions at once; statements of further ones are left out.
    #[serde(default)]
    pub most: Option<u32>,
    /// The line of the last statement of sessions whose end is not in the log; from a scan.
    #[serde(default)]
    pub ends: BTreeMap<u64, u64>,
    /// Only this much of the log, bytes: what a scan has read. The log may still grow.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// The log's file; from a scan.
    #[serde(default)]
    pub file: Option<FileId>,
    /// Whether statements count that change a setting which a replay keeps.
    #[serde(skip)]
    pub pinned: bool,
}

/// The plan of a scan.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScanPlan {
    /// What is counted as to be replayed.
    pub select: Selection,
}

/// The plan of a replay.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayPlan {
    /// What to replay; `first_ns`, `ends`, `bytes` and `file` are from a scan.
    pub select: Selection,
    /// Protocol and address of the target.
    pub wire: WirePlan,
    /// How much faster than in the log.
    pub speed: f64,
    /// Time from the first to the last statement, at that speed.
    pub duration_s: f64,
    /// Statements to replay; from a scan.
    pub statements: u64,
    /// Sessions in the log, and how long its longest statement took.
    pub sessions: u32,
    /// See `sessions`.
    #[serde(default)]
    pub longest_s: f64,
    /// Names of the operations; the last one is for all other classes.
    pub operations: Vec<String>,
    /// The operation of a class, by the class's hash.
    pub classes: Classes,
    /// Driver threads. Default: one per two CPUs.
    #[serde(default)]
    pub threads: Option<u32>,
    /// The run's clock.
    pub clock: Clock,
    /// The spool of intervals to append to.
    pub spool: PathBuf,
    /// Length of an interval, seconds.
    pub interval_s: f64,
    /// How long a session tries to reconnect.
    pub reconnect_s: f64,
}

/// Operations by class: the hash of a class in hexadecimal digits, and the operation's number.
pub type Classes = BTreeMap<String, usize>;

impl Selection {
    /// Opens the log.
    ///
    /// # Errors
    /// Those of [`Entries::open`].
    pub(super) fn chosen(&self) -> Result<Chosen> {
        Ok(Chosen::new(Entries::open(&self.log, self.bytes, self.file)?, self.clone()))
    }
}

impl ReplayPlan {
    /// Checks the values.
    ///
    /// # Errors
    /// `usage`, with the name of the field.
    pub fn validate(&self) -> Result<()> {
        within("speed", self.speed, 0.001, 1000.0)?;
        within("duration_s", self.duration_s, 0.0, LONGEST_S)?;
        within("longest_s", self.longest_s, 0.0, f64::MAX)?;
        within("interval_s", self.interval_s, 0.01, 3600.0)?;
        within("reconnect_s", self.reconnect_s, 0.0, 86_400.0)?;
        within("operations", self.operations.len() as f64, 1.0, 1000.0)?;
        if let Some(threads) = self.threads {
            within("threads", f64::from(threads), 1.0, 1024.0)?;
        }
        let last = self.operations.len() - 1;
        if self.classes.values().any(|place| *place > last) {
            return Err(Error::new(ErrorKind::Usage, "classes has a number without operation"));
        }
        Ok(())
    }

    /// Number of driver threads, at most the number of sessions.
    pub(super) fn thread_count(&self) -> u32 {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.threads.unwrap_or((processors as u32 / 2).max(1)).min(self.sessions.max(1))
    }
}
