//! What is read and written: files that Dyno makes, files and devices that are there.

use std::fmt;
use std::path::{Path, PathBuf};

use dyno_record::Result;
use serde::Deserialize;

use super::wrong;

const PAGE: u64 = 4096;
const SECTOR: u64 = 512;

/// A place on storage. Either `directory` (a file is made there, filled, and removed at the end) or
/// `path` (an existing file or block device, which is never removed).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Name in figures; left out, the directory or path.
    pub name: Option<String>,
    /// Directory in which a test file is made.
    pub directory: Option<PathBuf>,
    /// Existing file or block device.
    pub path: Option<PathBuf>,
    /// Bytes used, from the start. Of a made file its size, 1 GiB if left out, in whole pages. Of
    /// an existing one at most its size, and all of it if left out.
    pub bytes: Option<u64>,
    /// Instead of `bytes`, sizes that a made file grows to, one after another: all curves are run
    /// at each of them.
    #[serde(default)]
    pub stages: Vec<u64>,
    /// The content of `path` may be overwritten.
    #[serde(default)]
    pub destroy: bool,
    /// Write all of `path` before the first step, so that reads find data.
    #[serde(default)]
    pub fill: bool,
}

impl Target {
    /// Its name, once the plan is in normal form.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    /// The directory or path.
    pub fn place(&self) -> &Path {
        self.directory.as_deref().or(self.path.as_deref()).unwrap_or(Path::new(""))
    }

    /// Bytes that the plan says are used in `stage`.
    pub(crate) fn bytes_at(&self, stage: usize) -> Option<u64> {
        self.stages.get(stage).copied().or(self.bytes)
    }

    /// The most bytes that the plan says are used.
    pub(crate) fn most_bytes(&self) -> Option<u64> {
        self.stages.last().copied().or(self.bytes)
    }

    pub(super) fn normalise(&mut self) -> Result<()> {
        if self.directory.is_some() == self.path.is_some() {
            return wrong("targets: set either 'directory' or 'path'");
        }
        if self.directory.is_some() {
            if self.destroy || self.fill {
                return wrong(
                    "destroy, fill: these are for 'path'; a created file is always \
                 filled",
                );
            }
            self.normalise_stages()?;
            let first = self.stages.first().copied().or(self.bytes);
            let bytes = first.unwrap_or(1 << 30) / PAGE * PAGE;
            if bytes == 0 {
                return wrong("bytes: at least 4096 are needed");
            }
            self.bytes = Some(bytes);
        } else {
            if !self.stages.is_empty() {
                return wrong("stages: these are for 'directory', where Dyno creates the file");
            }
            self.bytes = self.bytes.map(|bytes| bytes / SECTOR * SECTOR);
            if self.bytes == Some(0) {
                return wrong("bytes: at least 512 are needed");
            }
            if self.fill && !self.destroy {
                return wrong("fill: this overwrites the target, so 'destroy: true' is needed");
            }
        }
        let place = self.place().display().to_string();
        self.name.get_or_insert(place);
        Ok(())
    }

    fn normalise_stages(&mut self) -> Result<()> {
        if self.bytes.is_some() && !self.stages.is_empty() {
            return wrong("bytes, stages: set one of them");
        }
        for bytes in &mut self.stages {
            *bytes = *bytes / PAGE * PAGE;
        }
        if self.stages.first() == Some(&0) || !self.stages.is_sorted_by(|a, b| a < b) {
            return wrong("stages: sizes must increase, each by at least 4096 bytes");
        }
        Ok(())
    }
}

/// Fails unless all targets that grow do so in as many stages.
pub(super) fn same_stages(targets: &[Target]) -> Result<()> {
    let mut counts = targets.iter().map(|target| target.stages.len()).filter(|count| *count > 0);
    let first = counts.next();
    if counts.any(|count| Some(count) != first) {
        return wrong("stages: all targets that grow need the same number of them");
    }
    Ok(())
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "target '{}'", self.name.as_deref().unwrap_or(&self.place().to_string_lossy()))
    }
}
