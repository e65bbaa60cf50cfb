//! Targets: test files that Dyno creates, and existing files and devices.

use std::fmt;
use std::path::{Path, PathBuf};

use dyno_record::Result;
use serde::Deserialize;

use super::wrong;

const PAGE: u64 = 4096;
const SECTOR: u64 = 512;

/// A storage target. Either `directory`, where Dyno creates a file, fills it, and removes it at the
/// end, or `path`, an existing file or block device, which Dyno never removes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Name in results; default: the directory or path.
    pub name: Option<String>,
    /// Directory for a test file.
    pub directory: Option<PathBuf>,
    /// Existing file or block device.
    pub path: Option<PathBuf>,
    /// Bytes used, from the start. For a created file its size, in whole pages (default 1 GiB); for
    /// an existing one at most its size, which is the default.
    pub bytes: Option<u64>,
    /// Instead of `bytes`, sizes to which a created file grows, one after another. All curves run
    /// at each size.
    #[serde(default)]
    pub stages: Vec<u64>,
    /// Allow overwriting the content of `path`.
    #[serde(default)]
    pub destroy: bool,
    /// Write all of `path` before the first step, so that reads find data.
    #[serde(default)]
    pub fill: bool,
}

impl Target {
    /// Its name, once the plan is normalised.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    /// The directory or path.
    pub fn place(&self) -> &Path {
        self.directory.as_deref().or(self.path.as_deref()).unwrap_or(Path::new(""))
    }

    /// Planned bytes used in `stage`.
    pub(crate) fn bytes_at(&self, stage: usize) -> Option<u64> {
        self.stages.get(stage).copied().or(self.bytes)
    }

    /// Planned maximum of bytes used.
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

/// Fails unless all growing targets have the same number of stages.
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
