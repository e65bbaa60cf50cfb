//! Kinds of files, by rules on their paths, and what was done for each kind.

use globset::{Glob, GlobMatcher};
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// What happens to files of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Blocks that are read are cached.
    Cache,
    /// The origin is read and written, by the kernel itself if it can.
    Pass,
}

/// A rule; the first that matches a file counts.
#[derive(Clone, Debug, Deserialize)]
pub struct Rule {
    /// A pattern for paths relative to the mount; `*` and `**` as in a shell.
    pub glob: String,
    /// The name of the kind.
    pub kind: String,
    /// What happens.
    pub action: Action,
    /// The most of the cache that files of the kind may have, in percent.
    #[serde(default)]
    pub quota: Option<f64>,
}

/// What is wrong with a pattern for paths, if it is not valid.
pub fn glob_fault(glob: &str) -> Option<String> {
    Glob::new(glob).err().map(|error| error.kind().to_string())
}

/// A kind of files, and what was done for its files.
pub struct Kind {
    /// Its name.
    pub name: String,
    /// What happens.
    pub action: Action,
    /// The most of the cache that its files may have, in percent.
    pub quota: Option<f64>,
    /// The same in blocks, once the cache is known.
    pub most: AtomicU64,
    /// Blocks of its files, if it has a quota: at least those that are cached.
    pub blocks: AtomicU64,
    /// What was done.
    pub done: Done,
}

impl Kind {
    /// Room for one more block; none if its files have all that they may have.
    pub fn room(&self) -> Option<Room<'_>> {
        let before = self.blocks.fetch_add(1, Relaxed);
        let room = Room(&self.blocks);
        (before < self.most.load(Relaxed)).then_some(room)
    }
}

/// Room for a block, which is given back when it is dropped.
pub struct Room<'a>(&'a AtomicU64);

impl Room<'_> {
    /// The block was put there, if `used`.
    pub fn end(self, used: bool) -> bool {
        if used {
            std::mem::forget(self);
        }
        used
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        // Blocks may have been counted anew without it.
        let _ = self.0.fetch_update(Relaxed, Relaxed, |blocks| Some(blocks.saturating_sub(1)));
    }
}

/// What was done for the files of a kind. Blocks have 8 KiB.
#[derive(Default)]
pub struct Done {
    /// Blocks read from flash.
    pub hits: AtomicU64,
    /// Blocks read from the origin.
    pub misses: AtomicU64,
    /// Of these, blocks that a long sequential read did not put into the cache.
    pub scanned: AtomicU64,
    /// Of these, blocks that were not put into the cache because the kind has its quota.
    pub over: AtomicU64,
    /// Of these, blocks that were not put into the cache for another reason.
    pub left: AtomicU64,
    /// Of these, blocks for which flash was not asked, because the origin is faster.
    pub aside: AtomicU64,
    /// Bytes written.
    pub written: AtomicU64,
    /// Requests that flash served alone.
    pub flash: Served,
    /// Requests that the origin served, at least in part.
    pub origin: Served,
}

/// Number and total duration of requests.
#[derive(Default)]
pub struct Served {
    count: AtomicU64,
    ns: AtomicU64,
}

impl Served {
    /// Adds a request.
    pub fn add(&self, took: Duration) {
        self.count.fetch_add(1, Relaxed);
        self.ns.fetch_add(took.as_nanos() as u64, Relaxed);
    }
}

/// What was done for a kind, to be shown.
#[derive(Serialize)]
pub struct Shown {
    kind: String,
    cached: bool,
    hits: u64,
    misses: u64,
    scanned: u64,
    over_quota: u64,
    left: u64,
    aside: u64,
    written_bytes: u64,
    flash_requests: u64,
    flash_ns: u64,
    origin_requests: u64,
    origin_ns: u64,
}

/// The kinds of the files of a mount.
pub struct Kinds {
    /// Patterns with the number of their kind.
    rules: Vec<(GlobMatcher, usize)>,
    kinds: Vec<Kind>,
}

impl Kinds {
    /// Kinds by rules; what no rule matches is cached, as `other`.
    ///
    /// # Errors
    /// `InvalidInput` if a pattern is not valid.
    pub fn new(rules: &[Rule]) -> io::Result<Self> {
        let mut found = Self { rules: Vec::new(), kinds: Vec::new() };
        let (glob, kind) = ("**".into(), "other".into());
        let other = Rule { glob, kind, action: Action::Cache, quota: None };
        for Rule { glob, kind, action, quota } in rules.iter().chain([&other]) {
            let glob = Glob::new(glob)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error.to_string()))?;
            let same =
                |one: &Kind| one.name == *kind && one.action == *action && one.quota == *quota;
            let number = found.kinds.iter().position(same).unwrap_or_else(|| {
                found.kinds.push(Kind {
                    name: kind.clone(),
                    action: *action,
                    quota: *quota,
                    most: AtomicU64::new(u64::MAX),
                    blocks: AtomicU64::new(0),
                    done: Done::default(),
                });
                found.kinds.len() - 1
            });
            found.rules.push((glob.compile_matcher(), number));
        }
        Ok(found)
    }

    /// The number of the kind of a file.
    pub fn of(&self, path: &str) -> usize {
        let matching = self.rules.iter().find(|(glob, _)| glob.is_match(path));
        matching.map_or(self.kinds.len() - 1, |(_, number)| *number)
    }

    /// A kind by number.
    pub fn get(&self, number: usize) -> &Kind {
        &self.kinds[number]
    }

    /// All kinds.
    pub fn all(&self) -> &[Kind] {
        &self.kinds
    }

    /// What was done for each kind.
    pub fn shown(&self) -> Vec<Shown> {
        let get = |number: &AtomicU64| number.load(Relaxed);
        let one = |kind: &Kind| Shown {
            kind: kind.name.clone(),
            cached: kind.action == Action::Cache,
            hits: get(&kind.done.hits),
            misses: get(&kind.done.misses),
            scanned: get(&kind.done.scanned),
            over_quota: get(&kind.done.over),
            left: get(&kind.done.left),
            aside: get(&kind.done.aside),
            written_bytes: get(&kind.done.written),
            flash_requests: get(&kind.done.flash.count),
            flash_ns: get(&kind.done.flash.ns),
            origin_requests: get(&kind.done.origin.count),
            origin_ns: get(&kind.done.origin.ns),
        };
        self.kinds.iter().map(one).collect()
    }
}
