//! What to measure.

use std::collections::BTreeSet;
use std::path::PathBuf;

use dyno_record::{Clock, Error, ErrorKind, Result};
use serde::Deserialize;

use crate::engine::{Choice, null};
use crate::pattern::Order;

/// Most I/Os in flight: a power of two that every kernel's ring takes.
const DEEPEST: u32 = 4096;
/// Largest block: larger ones are split by the kernel anyway.
const LARGEST_BLOCK: u32 = 16 << 20;
/// Most buffer memory of one step: also the kernel's limit for one registered buffer.
const MOST_BUFFERS: u64 = 1 << 30;

/// A profile of one volume.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Directory in which the test file is created.
    pub volume: PathBuf,
    /// Makes the name of the test file, `.dyno-io-<file_id>.dat`: letters, digits, `-`, `_`, `.`.
    pub file_id: String,
    /// Size of the test file in bytes, rounded down to 4 KiB.
    #[serde(default = "default_file_bytes")]
    pub file_bytes: u64,
    /// Latency ceiling for the p95 of reads and of writes, milliseconds.
    #[serde(default = "default_ceiling_ms")]
    pub ceiling_ms: f64,
    /// Seed of offsets, read/write choice and data.
    #[serde(default)]
    pub seed: u64,
    /// The run's clock.
    pub clock: Clock,
    /// JSON lines to append to, one for each step.
    pub spool: PathBuf,
    /// Engine; `auto` takes the fastest that works and notes why another did not.
    #[serde(default)]
    pub engine: Choice,
    /// Behaviour of the `null` engine.
    #[serde(default)]
    pub null: null::Model,
    /// The curves, in the order in which they are run.
    pub steps: Vec<Curve>,
}

/// A series of steps that differ in queue depth only.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Name, recorded as the `phase` of each step.
    pub name: String,
    /// Order of the blocks.
    pub pattern: Order,
    /// Block size in bytes, a multiple of 512.
    pub block_bytes: u32,
    /// Share of reads in percent.
    #[serde(default = "default_read_percent")]
    pub read_percent: u8,
    /// I/Os kept in flight; run in rising order.
    pub queue_depths: Vec<u32>,
    /// Length of the measured part of each step.
    #[serde(default = "default_seconds")]
    pub seconds: f64,
    /// Unmeasured time before it.
    #[serde(default = "default_warmup_seconds")]
    pub warmup_seconds: f64,
    /// Leave out the deeper steps once one is outside the ceiling.
    #[serde(default = "default_stop_at_ceiling")]
    pub stop_at_ceiling: bool,
}

const fn default_file_bytes() -> u64 {
    1 << 30
}
const fn default_ceiling_ms() -> f64 {
    20.0
}
const fn default_read_percent() -> u8 {
    100
}
const fn default_seconds() -> f64 {
    3.0
}
const fn default_warmup_seconds() -> f64 {
    0.5
}
const fn default_stop_at_ceiling() -> bool {
    true
}

impl Plan {
    /// Checks every value and brings the plan into normal form: depths rising and unique, the file
    /// in whole pages.
    ///
    /// # Errors
    /// `usage`, naming the value.
    pub(crate) fn normalised(mut self) -> Result<Self> {
        let name_fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if self.file_id.is_empty()
            || self.file_id.len() > 100
            || !self.file_id.chars().all(name_fits)
        {
            return wrong("file_id: use 1 to 100 letters, digits, '-', '_' and '.'");
        }
        if !(self.ceiling_ms.is_finite() && self.ceiling_ms > 0.0) {
            return wrong("ceiling_ms: a number of milliseconds above 0 is needed");
        }
        if self.steps.is_empty() {
            return wrong("steps: at least one curve is needed");
        }
        let names: BTreeSet<_> = self.steps.iter().map(|curve| &curve.name).collect();
        if names.len() < self.steps.len() {
            return wrong("steps: each curve needs a name of its own");
        }
        self.null.check()?;
        self.file_bytes = self.file_bytes / 4096 * 4096;
        for curve in &mut self.steps {
            curve.normalise(self.file_bytes).map_err(|error| error.context(curve.name.clone()))?;
        }
        Ok(self)
    }
}

impl Curve {
    /// What a step of this curve does, in a few words: `random read 8 KiB`.
    pub fn title(&self) -> String {
        let what = match self.read_percent {
            100 => "read".to_owned(),
            0 => "write".to_owned(),
            share => format!("{share}/{}", 100 - share),
        };
        let size = match self.block_bytes {
            bytes if bytes % (1 << 20) == 0 => format!("{} MiB", bytes >> 20),
            bytes if bytes % (1 << 10) == 0 => format!("{} KiB", bytes >> 10),
            bytes => format!("{bytes} B"),
        };
        format!("{} {what} {size}", self.pattern.as_str())
    }

    /// Planned length of one step in milliseconds, warm-up included.
    pub(crate) fn step_ms(&self) -> u64 {
        ((self.warmup_seconds + self.seconds) * 1e3).round() as u64
    }

    fn normalise(&mut self, file_bytes: u64) -> Result<()> {
        if self.name.is_empty() {
            return wrong("name: must not be empty");
        }
        if self.block_bytes == 0
            || !self.block_bytes.is_multiple_of(512)
            || self.block_bytes > LARGEST_BLOCK
        {
            return wrong("block_bytes: use a multiple of 512, at most 16 MiB");
        }
        if u64::from(self.block_bytes) > file_bytes {
            return wrong("file_bytes: the file must hold at least one block");
        }
        if self.read_percent > 100 {
            return wrong("read_percent: use 0 to 100");
        }
        if !(self.seconds > 0.0 && self.seconds <= 86_400.0) {
            return wrong("seconds: use more than 0, at most 86400");
        }
        if !(0.0..=86_400.0).contains(&self.warmup_seconds) {
            return wrong("warmup_seconds: use 0 to 86400");
        }
        self.queue_depths.sort_unstable();
        self.queue_depths.dedup();
        let (Some(&least), Some(&most)) = (self.queue_depths.first(), self.queue_depths.last())
        else {
            return wrong("queue_depths: at least one is needed");
        };
        if least == 0 || most > DEEPEST {
            return wrong("queue_depths: use 1 to 4096");
        }
        if u64::from(most) * u64::from(self.block_bytes.next_multiple_of(4096)) > MOST_BUFFERS {
            return wrong("queue_depths: depth × block size must be at most 1 GiB");
        }
        Ok(())
    }
}

fn wrong<T>(message: &str) -> Result<T> {
    Err(Error::new(ErrorKind::Usage, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn plan(change: impl FnOnce(&mut Value)) -> Result<Plan, String> {
        let mut value = json!({
            "volume": "/tmp", "file_id": "a", "spool": "/tmp/io.jsonl",
            "clock": {"unix_ns": 0, "monotonic_ns": 0},
            "steps": [{"name": "c", "pattern": "random", "block_bytes": 8192, "queue_depths": [8, 1, 8]}],
        });
        change(&mut value);
        let plan: Plan = serde_json::from_value(value).map_err(|error| error.to_string())?;
        plan.normalised().map_err(|error| error.to_string())
    }

    #[test]
    fn depths_rise_and_defaults_are_sensible() {
        let plan = plan(|value| value["file_bytes"] = json!(100_000)).unwrap();
        assert_eq!(plan.steps[0].queue_depths, [1, 8]);
        assert_eq!(plan.file_bytes, 98_304);
        assert!((plan.ceiling_ms - 20.0).abs() < f64::EPSILON);
        assert_eq!(plan.steps[0].title(), "random read 8 KiB");
    }

    #[test]
    fn wrong_values_are_named() {
        type Change = fn(&mut Value);
        let cases: [(&str, Change); 11] = [
            ("file_id", |v| v["file_id"] = json!("../x")),
            ("ceiling_ms", |v| v["ceiling_ms"] = json!(0)),
            ("steps", |v| v["steps"] = json!([])),
            ("block_bytes", |v| v["steps"][0]["block_bytes"] = json!(1000)),
            ("file_bytes", |v| v["file_bytes"] = json!(4096)),
            ("read_percent", |v| v["steps"][0]["read_percent"] = json!(101)),
            ("seconds", |v| v["steps"][0]["seconds"] = json!(0)),
            ("queue_depths", |v| v["steps"][0]["queue_depths"] = json!([0])),
            ("queue_depths", |v| v["steps"][0]["queue_depths"] = json!([])),
            ("null", |v| v["null"] = json!({"channels": 0})),
            ("deepth", |v| v["steps"][0]["deepth"] = json!(1)),
        ];
        for (word, change) in cases {
            let message = plan(change).unwrap_err();
            assert!(message.contains(word), "{word}: {message}");
        }
    }
}
