//! Whether a name still means the file that is open.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// A file, whatever its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity(u64, u64);

impl Identity {
    pub(super) fn of(file: &File) -> io::Result<Self> {
        Ok(Self::from(&file.metadata()?))
    }

    /// Whether `path` itself, not what a link there points to, is this file.
    pub(super) fn is_at(self, path: &Path) -> bool {
        std::fs::symlink_metadata(path).is_ok_and(|meta| Self::from(&meta) == self)
    }

    /// Removes `path` if it is still this file.
    ///
    /// # Errors
    /// Of the operating system; `NotFound` if it is another file by now.
    pub(super) fn remove(self, path: &Path) -> io::Result<()> {
        if self.is_at(path) {
            std::fs::remove_file(path)
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }
}

impl From<&Metadata> for Identity {
    fn from(meta: &Metadata) -> Self {
        Self(meta.dev(), meta.ino())
    }
}
