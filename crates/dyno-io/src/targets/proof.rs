//! Checks of a target before and after it is measured.

use std::io;
use std::os::unix::fs::MetadataExt as _;

use dyno_record::{Control, Result};

use super::evidence::{cached_share, sees_cache, uncache, unwritten_bytes};
use super::{Kind, OpenTarget, content};
use crate::{Notes, Topic};

impl OpenTarget {
    /// Samples its content, unless Dyno created it; `targets` is the number of targets that are
    /// sampled.
    ///
    /// # Errors
    /// `cancelled`, `out_of_memory`.
    pub(crate) fn sample(
        &mut self,
        targets: usize,
        seed: u64,
        control: &Control,
        notes: &mut Notes,
    ) -> Result<()> {
        if self.kind != Kind::Made {
            let extent = (self.bytes, content::share(targets));
            self.content = content::sample(&self.file, extent, seed, control)?;
        }
        if let Some(content) = &self.content {
            content.note(&self.name, notes);
        }
        Ok(())
    }

    /// Checks that reads will reach the device: all extents are written, none is cached.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn prove(&mut self, notes: &mut Notes) -> Result<()> {
        if self.kind == Kind::Device {
            if !self.fill {
                notes.add(
                    Topic::Unchecked,
                    format!(
                        "{} was measured as it is: reads of unwritten blocks do not reach its \
                         media",
                        self.name
                    ),
                );
            }
            return Ok(());
        }
        if self.kind == Kind::File {
            // Others may have just read or written it.
            uncache(&self.file);
        }
        self.prove_uncached(notes)?;
        match unwritten_bytes(&self.file, self.bytes) {
            Ok(0) => self.extents_written = Some(true),
            Ok(bytes) => {
                self.extents_written = Some(false);
                notes.add(
                    Topic::Unwritten,
                    format!(
                        "{:.0} % of {} is unwritten: reads there do not reach the device",
                        (100.0 * bytes as f64 / self.bytes as f64).max(1.0),
                        self.name
                    ),
                );
            }
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                notes.add(
                    Topic::Unchecked,
                    "the file system does not report extents (no FIEMAP): not checked",
                );
            }
            Err(error) => return Err(self.error(&error, "mapping the extents of")),
        }
        Ok(())
    }

    /// Clears `direct` and adds a note if pages of the file are in memory: it then ignores
    /// `O_DIRECT`.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn prove_uncached(&mut self, notes: &mut Notes) -> Result<()> {
        if !self.direct || self.kind == Kind::Device {
            return Ok(());
        }
        let cached = cached_share(&self.file, self.bytes);
        let share = cached.map_err(|error| self.error(&error, "looking for cached pages of"))?;
        if share > 0.01 && !sees_cache(&self.file, &self.path) {
            notes.add(
                Topic::Unchecked,
                format!(
                    "{}: the kernel shows its cached pages only to its owner and to those who may \
                     write it, so O_DIRECT was not verified",
                    self.name
                ),
            );
        } else if share > 0.01 {
            self.direct = false;
            notes.add(
                Topic::PageCache,
                format!(
                    "{:.0} % of {} is in memory although O_DIRECT was accepted: reads and \
                     writes use the page cache",
                    share * 100.0,
                    self.name
                ),
            );
        }
        Ok(())
    }

    /// Adds a note on changes to a file while `step` measured it.
    pub(crate) fn look_again(&self, step: &str, notes: &mut Notes) {
        if self.kind == Kind::Device {
            return;
        }
        let Ok(meta) = self.file.metadata() else { return };
        if meta.nlink() == 0 {
            notes.add(
                Topic::Disturbed,
                format!(
                    "another process removed {} during '{step}': the rest of the run measured \
                     an unlinked file",
                    self.path.display()
                ),
            );
        }
        if meta.len() < self.bytes {
            notes.add(
                Topic::Disturbed,
                format!(
                    "another process truncated {} to {:.0} % of its size during '{step}'",
                    self.path.display(),
                    100.0 * meta.len() as f64 / self.bytes as f64
                ),
            );
        }
    }
}
