//! A job: one kind of access to some of the targets.

use dyno_record::Result;
use serde::Deserialize;

use super::{Target, ceiling_fits, wrong};
use crate::pattern::{Order, Shape, Space};

/// Maximum I/Os in flight of a job on one target.
pub(super) const DEEPEST: u32 = 4096;
/// Maximum I/Os due per second of a job.
pub(super) const FASTEST: f64 = 10_000_000.0;
/// Maximum block size: the kernel splits larger ones anyway.
const LARGEST_BLOCK: u32 = 16 << 20;

/// An access pattern with a queue depth on each of its targets, in a closed loop or at a rate.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Name in results.
    pub name: String,
    /// Names of its targets; default: all.
    pub targets: Option<Vec<String>>,
    /// Order of accesses.
    pub pattern: Order,
    /// Block size in bytes, a multiple of 512; alternatively `blocks`.
    pub block_bytes: Option<u32>,
    /// A mix of block sizes, instead of `block_bytes`.
    pub blocks: Option<Vec<Block>>,
    /// Alignment of offsets, relative to the start of the job's space. Default: the block size; for
    /// a sequential mix, the greatest common divisor of all sizes.
    pub align_bytes: Option<u32>,
    /// Share of reads in percent.
    #[serde(default = "default_read_percent")]
    pub read_percent: u8,
    /// Each access reads a block and then writes it back modified.
    #[serde(default)]
    pub modify: bool,
    /// Syncs writes regularly, like a log.
    pub sync: Option<Sync>,
    /// Start of the job's space on each target, percent of its bytes.
    #[serde(default)]
    pub from_percent: f64,
    /// End of the job's space on each target, percent of its bytes.
    #[serde(default = "default_to_percent")]
    pub to_percent: f64,
    /// I/Os in flight on each target (with a rate: the maximum), one value per level.
    pub queue_depths: Vec<u32>,
    /// Open loop: I/Os are due at a rate, independent of their latency.
    pub rate: Option<Rate>,
    /// Latency ceiling of this job; default: the plan's.
    pub ceiling_ms: Option<f64>,
    /// Indexes of its targets, once the plan is normalised.
    #[serde(skip)]
    pub(crate) on: Vec<usize>,
}

/// One size in a mix of block sizes.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Size, a multiple of 512.
    pub bytes: u32,
    /// Share of the accesses.
    pub percent: f64,
}

/// When a job syncs its writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sync {
    /// The system call.
    #[serde(default)]
    pub call: SyncCall,
    /// Writes between two syncs, as in a group commit: the sync starts when all of them have ended,
    /// and the next write when the sync has ended.
    #[serde(default = "default_every")]
    pub every: u32,
}

/// A system call that syncs writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SyncCall {
    /// Data, and the metadata needed to read it.
    #[default]
    Fdatasync,
    /// Data and metadata.
    Fsync,
}

/// The rate of an open loop.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// I/Os due per second over all targets of the job, one value per level.
    pub per_second: Vec<f64>,
    /// Distribution of the I/Os over time.
    #[serde(default)]
    pub arrivals: Arrivals,
}

/// Distribution of an open loop's I/Os over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// Independent arrivals, like those of many users.
    #[default]
    Poisson,
    /// Equally spaced.
    Fixed,
}

const fn default_read_percent() -> u8 {
    100
}
const fn default_to_percent() -> f64 {
    100.0
}
const fn default_every() -> u32 {
    1
}

impl Job {
    /// A short description of the job: `random read 8 KiB`.
    pub fn title(&self) -> String {
        let what = match self.read_percent {
            _ if self.modify => "read-modify-write".to_owned(),
            100 => "read".to_owned(),
            0 => "write".to_owned(),
            share => format!("{share}/{}", 100 - share),
        };
        let sizes: Vec<_> = self.mix().iter().map(|block| size(block.bytes)).collect();
        let sync = match self.sync {
            None => String::new(),
            Some(Sync { every: 1, .. }) => ", each synced".to_owned(),
            Some(Sync { every, .. }) => format!(", each {every} synced"),
        };
        format!("{} {what} {}{sync}", self.pattern.as_str(), sizes.join("/"))
    }

    /// Block sizes with their shares in percent.
    pub(crate) fn mix(&self) -> Vec<Block> {
        match (&self.blocks, self.block_bytes) {
            (Some(blocks), _) => blocks.clone(),
            (None, Some(bytes)) => vec![Block { bytes, percent: 100.0 }],
            (None, None) => Vec::new(),
        }
    }

    pub(crate) fn largest_block(&self) -> u32 {
        self.mix().iter().map(|block| block.bytes).max().unwrap_or(0)
    }

    pub(crate) fn reads(&self) -> bool {
        self.read_percent > 0 || self.modify
    }

    pub(crate) fn writes(&self) -> bool {
        self.read_percent < 100 || self.modify
    }

    pub(crate) fn levels(&self) -> usize {
        let rates = self.rate.as_ref().map_or(0, |rate| rate.per_second.len());
        self.queue_depths.len().max(rates)
    }

    pub(crate) fn queue_depth(&self, level: usize) -> u32 {
        at(&self.queue_depths, level)
    }

    pub(crate) fn rate(&self, level: usize) -> Option<f64> {
        self.rate.as_ref().map(|rate| at(&rate.per_second, level))
    }

    /// The job's pattern and space on a target of `bytes` bytes.
    ///
    /// # Errors
    /// `usage` if its blocks do not fit in the space.
    pub(crate) fn space(&self, bytes: u64) -> Result<(Shape, Space)> {
        let shape = Shape {
            order: self.pattern,
            blocks: self.mix(),
            align: self.align_bytes.map(u64::from),
            read_percent: if self.modify { 100 } else { self.read_percent },
        };
        let space = Space::part(bytes, self.from_percent, self.to_percent, self.largest_block());
        if shape.fits(space) {
            return Ok((shape, space));
        }
        wrong(format!("bytes: {bytes} is less than one block for each target of the job"))
    }

    pub(super) fn normalise(&mut self, targets: &[Target], ceiling_ms: f64) -> Result<()> {
        self.ceiling_ms.get_or_insert(ceiling_ms);
        ceiling_fits(self.ceiling_ms.unwrap_or(ceiling_ms))?;
        self.on = self.find(targets)?;
        self.check_blocks()?;
        self.pattern.check()?;
        if self.read_percent > 100 {
            return wrong("read_percent: use 0 to 100");
        }
        if self.modify && self.read_percent != 100 {
            return wrong("modify: every access reads first, so omit read_percent");
        }
        if let Some(sync) = self.sync {
            if self.read_percent != 0 {
                return wrong("sync: only for jobs that only write (read_percent 0)");
            }
            if sync.every == 0 || sync.every > 1_000_000 {
                return wrong("sync: every must be 1 to 1000000 writes");
            }
        }
        let span = 0.0..=100.0;
        if !(span.contains(&self.from_percent)
            && span.contains(&self.to_percent)
            && self.from_percent < self.to_percent)
        {
            return wrong("from_percent, to_percent: use 0 to 100, the start before the end");
        }
        if self.queue_depths.is_empty() {
            return wrong("queue_depths: at least one is needed");
        }
        if self.queue_depths.iter().any(|depth| !(1..=DEEPEST).contains(depth)) {
            return wrong("queue_depths: use 1 to 4096");
        }
        if let Some(rate) = &self.rate {
            let sane = |rate: &f64| (0.001..=FASTEST).contains(rate);
            if rate.per_second.is_empty() || !rate.per_second.iter().all(sane) {
                return wrong("rate: per_second needs numbers from 0.001 to 10000000");
            }
        }
        for index in &self.on {
            if let Some(bytes) = targets[*index].bytes {
                self.space(bytes)?;
            }
        }
        Ok(())
    }

    fn find(&self, targets: &[Target]) -> Result<Vec<usize>> {
        let Some(names) = &self.targets else { return Ok((0..targets.len()).collect()) };
        if names.is_empty() {
            return wrong("targets: name at least one, or omit this for all");
        }
        let mut on = Vec::with_capacity(names.len());
        for name in names {
            let Some(index) = targets.iter().position(|target| target.name() == name) else {
                return wrong(format!("targets: no target named '{name}'"));
            };
            if on.contains(&index) {
                return wrong(format!("targets: '{name}' is listed twice"));
            }
            on.push(index);
        }
        Ok(on)
    }

    fn check_blocks(&self) -> Result<()> {
        if self.blocks.is_some() == self.block_bytes.is_some() {
            return wrong("block_bytes: set either this or 'blocks'");
        }
        let mix = self.mix();
        let whole = |bytes: u32| bytes > 0 && bytes.is_multiple_of(512);
        if mix.is_empty()
            || mix.iter().any(|block| !whole(block.bytes) || block.bytes > LARGEST_BLOCK)
        {
            return wrong("block_bytes, blocks: use multiples of 512, at most 16 MiB");
        }
        let shares = mix.iter().map(|block| block.percent);
        if mix.iter().any(|block| block.percent.is_nan() || block.percent <= 0.0)
            || (shares.sum::<f64>() - 100.0).abs() > 0.01
        {
            return wrong("blocks: the percentages must be above 0 and add up to 100");
        }
        if self.align_bytes.is_some_and(|bytes| !whole(bytes) || bytes > LARGEST_BLOCK) {
            return wrong("align_bytes: use a multiple of 512, at most 16 MiB");
        }
        Ok(())
    }
}

/// The value for a level: the only one, or that of the level.
fn at<T: Copy>(values: &[T], level: usize) -> T {
    if let [only] = values { *only } else { values[level] }
}

fn size(bytes: u32) -> String {
    match bytes {
        bytes if bytes % (1 << 20) == 0 => format!("{} MiB", bytes >> 20),
        bytes if bytes % (1 << 10) == 0 => format!("{} KiB", bytes >> 10),
        bytes => format!("{bytes} B"),
    }
}
