//! Append-only JSON lines, which stay readable after a kill.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{Error, ErrorKind, Result};

/// A file of JSON lines. Each [`write`](Self::write) reaches the kernel before it returns, so a
/// SIGKILL of Dyno loses nothing; [`sync`](Self::sync) makes it survive a power cut as well.
#[derive(Debug)]
pub struct Spool {
    file: File,
    path: PathBuf,
}

impl Spool {
    /// Opens `path` for appending; creates it if needed. Does not follow a link.
    ///
    /// # Errors
    /// `io` or `disk_full`, with the path as context.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_owned();
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&path)
            .map_err(|error| Error::from_io(&error, format!("opening {}", path.display())))?;
        Ok(Self { file, path })
    }

    /// Appends one record as one line in one write.
    ///
    /// # Errors
    /// `io` or `disk_full`; `internal` if the record cannot be serialised.
    pub fn write<T: Serialize>(&mut self, record: &T) -> Result<()> {
        let mut line = serde_json::to_vec(record)
            .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(|error| self.wrap(&error))
    }

    /// Syncs everything written so far.
    ///
    /// # Errors
    /// `io` or `disk_full`.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|error| self.wrap(&error))
    }

    fn wrap(&self, error: &std::io::Error) -> Error {
        Error::from_io(error, format!("writing {}", self.path.display()))
    }
}
