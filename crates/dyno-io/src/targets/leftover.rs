//! Test files left by a killed run.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use super::identity::Identity;
use crate::{Notes, Topic};

const PREFIX: &str = ".dyno-io-";
const SUFFIX: &str = ".dat";

/// The name of test file `id`.
pub(crate) fn file_name(id: &str) -> String {
    format!("{PREFIX}{id}{SUFFIX}")
}

/// Marks `file` as in use while it is open. The kernel removes the mark when its owner dies,
/// however it dies.
pub(crate) fn lock(file: &File) -> io::Result<()> {
    lock_as(file, true)
}

/// Locks `file`, exclusively or shared with other readers.
pub(crate) fn lock_as(file: &File, alone: bool) -> io::Result<()> {
    let operation = if alone {
        FlockOperation::NonBlockingLockExclusive
    } else {
        FlockOperation::NonBlockingLockShared
    };
    Ok(flock(file, operation)?)
}

/// Removes all test files in `volume` that no process has locked, and adds notes.
pub(crate) fn remove(volume: &Path, notes: &mut Notes) {
    // Without permission to list the directory there is nothing to remove. Creating the file will
    // report what is wrong with the directory.
    let Ok(entries) = volume.read_dir() else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|n| n.starts_with(PREFIX) && n.ends_with(SUFFIX));
        if !ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path();
        match remove_unless_locked(&path) {
            Ok(true) => {
                notes.add(Topic::Leftover, format!("removed {} of a killed run", path.display()));
            }
            Ok(false) => {}
            Err(error) => notes.add(
                Topic::Leftover,
                format!("cannot remove {}, possibly of a killed run: {error}", path.display()),
            ),
        }
    }
}

fn remove_unless_locked(path: &Path) -> io::Result<bool> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(path)?;
    match lock(&file) {
        // A run that just ended has removed it, and another may have created one with that name.
        Ok(()) => match Identity::of(&file)?.remove(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        },
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_files_go_and_live_or_foreign_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let live = File::create(path(&file_name("live"))).unwrap();
        lock(&live).unwrap();
        for name in [&file_name("dead"), ".dyno-io-notes.txt", "x.dat"] {
            File::create(path(name)).unwrap();
        }
        let mut notes = Notes::default();
        remove(folder.path(), &mut notes);
        assert!(!path(&file_name("dead")).exists());
        for name in [&file_name("live"), ".dyno-io-notes.txt", "x.dat"] {
            assert!(path(name).exists(), "{name}");
        }
        assert_eq!(notes.as_slice().len(), 1, "{notes:?}");
    }
}
