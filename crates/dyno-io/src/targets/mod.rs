//! Opens and checks targets: created files, existing files, block devices.

mod content;
mod evidence;
mod existing;
mod fill;
mod identity;
mod leftover;
mod made;
mod proof;
mod room;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use dyno_record::{Error, ErrorKind, Result};
use serde::Serialize;

use crate::plan::Target;
use crate::{Notes, Plan, Topic};

pub use content::Content;
pub(crate) use fill::fill_all;

/// The kind of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A file that Dyno creates and removes.
    Made,
    /// An existing file.
    File,
    /// A block device.
    Device,
    /// Nothing: for the null engine.
    Null,
}

/// An open target.
#[derive(Debug)]
pub(crate) struct OpenTarget {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    /// Bytes used, from the start; for a created file its current length.
    pub(crate) bytes: u64,
    /// The part that is not filled yet.
    pub(crate) to_fill: Range<u64>,
    pub(crate) file: File,
    /// Whether I/O bypasses the page cache, as far as known.
    pub(crate) direct: bool,
    /// Whether all of it was on written extents before the first step; `None` if unknown.
    pub(crate) extents_written: Option<bool>,
    /// A sample of its content before the first step.
    pub(crate) content: Option<Content>,
    /// Whether Dyno fills it before the measurement.
    pub(crate) fill: bool,
    /// Removes a created file on drop.
    _made: Option<made::Made>,
    /// Holds the lock, and is never passed to an engine: the kernel closes the files of a killed
    /// ring late, so their locks would make a leftover file look in use.
    _lock: Option<File>,
}

/// Opens all targets of the plan; created files are empty. Checks all existing targets before it
/// removes, creates or writes anything. On failure, no created file stays behind.
///
/// # Errors
/// `usage` if the plan does not permit this use of a target, `denied` without permission,
/// `disk_full` with the space that all stages need, else `io`.
pub(crate) fn open_all(plan: &Plan, notes: &mut Notes) -> Result<Vec<OpenTarget>> {
    no_target_twice(&plan.targets)?;
    let mut places: Vec<(usize, OpenTarget)> = Vec::with_capacity(plan.targets.len());
    for (index, target) in plan.targets.iter().enumerate() {
        if target.path.is_some() {
            let place = existing::open(plan, index, notes);
            let place = place.map_err(|error| error.context(target.to_string()))?;
            plan.fits(index, place.bytes)?;
            places.push((index, place));
        } else if let Some(bytes) = target.bytes {
            plan.fits(index, bytes)?;
        }
    }
    let directories: BTreeSet<_> =
        plan.targets.iter().filter_map(|t| t.directory.as_ref()).collect();
    for directory in directories {
        leftover::remove(directory, notes);
    }
    for (index, target) in plan.targets.iter().enumerate() {
        let Some(directory) = &target.directory else { continue };
        let place = made::open(plan, index, directory, notes);
        places.push((index, place.map_err(|error| error.context(target.to_string()))?));
    }
    places.sort_unstable_by_key(|(index, _)| *index);
    let places: Vec<OpenTarget> = places.into_iter().map(|(_, place)| place).collect();
    room::check(plan, &places)?;
    Ok(places)
}

/// Extends all created files to their length in `stage`.
///
/// # Errors
/// `disk_full` or `io`.
pub(crate) fn grow_all(plan: &Plan, stage: usize, places: &mut [OpenTarget]) -> Result<()> {
    for (target, place) in plan.targets.iter().zip(places) {
        let bytes = target.bytes_at(stage).unwrap_or(place.bytes);
        if place.kind == Kind::Made && bytes > place.bytes {
            made::grow(place, bytes).map_err(|error| error.context(target.to_string()))?;
        }
    }
    Ok(())
}

/// Fails if two targets are the same file or device.
fn no_target_twice(targets: &[Target]) -> Result<()> {
    let mut seen: BTreeMap<(bool, u64, u64), &str> = BTreeMap::new();
    for target in targets {
        // If metadata cannot be read, opening the target reports it.
        let Some(Ok(meta)) = target.path.as_ref().map(|path| path.metadata()) else { continue };
        let identity = match meta.rdev() {
            0 => (false, meta.dev(), meta.ino()),
            device => (true, device, 0),
        };
        if let Some(other) = seen.insert(identity, target.name()) {
            let text = format!(
                "targets: '{other}' and '{}' are the same; use several jobs on one target \
                 instead",
                target.name()
            );
            return Err(Error::new(ErrorKind::Usage, text));
        }
    }
    Ok(())
}

impl OpenTarget {
    /// The file system or device of the target; targets on it share its speed.
    pub(crate) fn device(&self) -> u64 {
        self.file.metadata().map_or(0, |meta| match self.kind {
            Kind::Device => meta.rdev(),
            _ => meta.dev(),
        })
    }

    /// Whether it has data that is not Dyno's.
    pub(crate) fn foreign(&self) -> bool {
        !self.fill
    }

    fn error(&self, error: &io::Error, what: &str) -> Error {
        Error::from_io(error, format!("{what} {}", self.path.display()))
    }
}

/// The open flag for durable writes.
const fn dsync(durable: bool) -> i32 {
    if durable { libc::O_DSYNC } else { 0 }
}

/// Disables the page cache for `file`; adds a note on failure.
fn set_direct(file: &File, name: &str, notes: &mut Notes) -> bool {
    match try_direct(file) {
        Ok(()) => true,
        Err(error) => {
            notes.add(
                Topic::PageCache,
                format!("no O_DIRECT on {name} ({error}): reads and writes use the page cache"),
            );
            false
        }
    }
}

#[cfg(target_os = "linux")]
fn try_direct(file: &File) -> io::Result<()> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    Ok(fcntl_setfl(file, fcntl_getfl(file)? | OFlags::DIRECT)?)
}

#[cfg(not(target_os = "linux"))]
fn try_direct(_: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
