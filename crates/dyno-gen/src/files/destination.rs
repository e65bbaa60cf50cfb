//! Destinations of files, which get their names only when they are complete.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use dyno_record::Result;

use crate::usage::usage;

/// Where to write a file.
#[derive(Debug, Clone)]
pub(super) struct Destination {
    path: PathBuf,
    /// Path until the file is complete; `None` for a device.
    partial: Option<PathBuf>,
    replace: bool,
}

impl Destination {
    /// A device, which discards the bytes.
    pub(super) fn device(path: &Path) -> Self {
        Self { path: path.to_owned(), partial: None, replace: true }
    }

    /// The file called `name`.
    ///
    /// # Errors
    /// `usage` if the name is taken: only regular files are replaced, and only with `replace`.
    pub(super) fn new(folder: &Path, name: &str, replace: bool) -> Result<Self> {
        let partial = Some(folder.join(format!(".{name}.partial")));
        let place = Self { path: folder.join(name), partial, replace };
        place.check()?;
        Ok(place)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn check(&self) -> Result<()> {
        let Ok(found) = fs::symlink_metadata(&self.path) else { return Ok(()) };
        let path = self.path.display();
        if self.partial.is_some() && !found.is_file() {
            return Err(usage(format!(
                "{path} is not a regular file; remove it or name another folder"
            )));
        }
        if !self.replace {
            return Err(usage(format!("{path} exists; use --replace to overwrite it")));
        }
        Ok(())
    }

    /// Creates an empty file. Removes an existing partial file first, so that a killed run does not
    /// leave gigabytes behind. Removes a link, never follows it.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub(super) fn open(&self) -> io::Result<PartialFile> {
        let file = match &self.partial {
            None => File::options().write(true).open(&self.path)?,
            Some(partial) => match fs::remove_file(partial) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => File::create_new(partial)?,
            },
        };
        Ok(PartialFile { file, partial: self.partial.clone(), bytes: 0 })
    }

    /// Renames a complete file to its final name; returns its size in bytes. Does not sync: the
    /// file can be generated again after a power cut.
    ///
    /// # Errors
    /// `usage` if the name has been taken meanwhile. The inner result has the error of renaming.
    pub(super) fn put(&self, file: &mut PartialFile) -> Result<io::Result<u64>> {
        self.check()?;
        if let Some(partial) = &file.partial
            && let Err(error) = fs::rename(partial, &self.path)
        {
            return Ok(Err(error));
        }
        file.partial = None;
        Ok(Ok(file.bytes))
    }
}

/// An incomplete file, removed unless [`put`](Destination::put) renames it.
#[derive(Debug)]
pub(super) struct PartialFile {
    file: File,
    partial: Option<PathBuf>,
    bytes: u64,
}

impl Write for PartialFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            let _ = fs::remove_file(partial); // the first error matters
        }
    }
}
