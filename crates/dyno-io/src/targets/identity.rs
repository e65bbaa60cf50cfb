//! Whether a path still refers to the open file.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Identity of a file, independent of its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity(u64, u64);

impl Identity {
    pub(super) fn of(file: &File) -> io::Result<Self> {
        Ok(Self::from(&file.metadata()?))
    }

    /// Whether `path` itself, not the target of a link, is this file.
    pub(super) fn is_at(self, path: &Path) -> bool {
        std::fs::symlink_metadata(path).is_ok_and(|meta| Self::from(&meta) == self)
    }

    /// Removes `path` if it is still this file.
    ///
    /// # Errors
    /// Of the operating system; `NotFound` if the path is another file by now.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_itself_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        // Both are open, so they cannot have the same inode number.
        let (first, second) = (File::create(&path).unwrap(), File::create(&other).unwrap());
        std::fs::rename(&other, &path).unwrap();
        let first = Identity::of(&first).unwrap();
        assert_eq!(first.remove(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
        std::os::unix::fs::symlink(&path, &other).unwrap();
        let second = Identity::of(&second).unwrap();
        assert!(second.is_at(&path) && !second.is_at(&other), "a link is another file");
        second.remove(&path).unwrap();
        assert!(!path.exists());
    }
}
