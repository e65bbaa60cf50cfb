//! Test files that Dyno creates: locked while in use, grown stage by stage, removed in all cases.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use dyno_record::{Error, ErrorKind, Result};
use rustix::fs::{FallocateFlags, fallocate};

use super::identity::Identity;
use super::{Kind, OpenTarget, dsync, leftover, set_direct};
use crate::{Notes, Plan, Topic};

/// A file that Dyno created, by name and identity: removed on drop, unless the name now refers to
/// another file.
#[derive(Debug)]
pub(super) struct Made {
    path: PathBuf,
    identity: Identity,
}

/// Creates the empty file of target `index` in `directory`.
///
/// # Errors
/// `denied` without permission, `usage` if the file with this id is in use, else `io`.
pub(super) fn open(
    plan: &Plan,
    index: usize,
    directory: &Path,
    notes: &mut Notes,
) -> Result<OpenTarget> {
    let target = &plan.targets[index];
    if !directory.is_dir() {
        let text =
            format!("{} is not a directory: create it or choose another", directory.display());
        return Err(Error::new(ErrorKind::Io, text));
    }
    let path = directory.join(leftover::file_name(&format!("{}-{index}", plan.file_id)));
    let (file, lock) = create_locked(&path, plan.durable, notes)?;
    // From here on, an early return removes the file.
    let made = Made::new(&path, &file)?;
    let direct = set_direct(&file, &directory.display().to_string(), notes);
    Ok(OpenTarget {
        name: target.name().to_owned(),
        path,
        kind: Kind::Made,
        bytes: 0,
        to_fill: 0..0,
        file,
        direct,
        extents_written: None,
        content: None,
        fill: true,
        _made: Some(made),
        _lock: Some(lock),
    })
}

/// Extends a created file to `bytes` bytes and reserves its space.
///
/// # Errors
/// `disk_full` or `io`.
pub(super) fn grow(place: &mut OpenTarget, bytes: u64) -> Result<()> {
    let from = place.bytes;
    let rest = || fallocate(&place.file, FallocateFlags::empty(), from, bytes - from);
    let reserved = match rustix::io::retry_on_intr(rest) {
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::INVAL) => place.file.set_len(bytes),
        reserved => reserved.map_err(Into::into),
    };
    reserved.map_err(|error| place.error(&error, "reserving space for"))?;
    place.bytes = bytes;
    place.to_fill = from..bytes;
    Ok(())
}

impl Made {
    fn new(path: &Path, file: &File) -> Result<Self> {
        // Without its identity the file stays; the next run finds it unlocked and removes it.
        let identity = Identity::of(file)
            .map_err(|error| Error::from_io(&error, format!("looking at {}", path.display())))?;
        Ok(Self { path: path.to_owned(), identity })
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        // If removal fails, the next run removes the file.
        let _ = self.identity.remove(&self.path);
    }
}

/// Creates `path` and opens it twice: for I/O and for the lock. A run that cleans up may remove the
/// file before it is locked; then creates it again.
fn create_locked(path: &Path, durable: bool, notes: &mut Notes) -> Result<(File, File)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    for _ in 0..10 {
        options.custom_flags(libc::O_NOFOLLOW);
        let lock =
            options.create_new(true).open(path).map_err(|error| creation_error(&error, path))?;
        match leftover::lock(&lock) {
            Ok(()) if lock.metadata().is_ok_and(|meta| meta.nlink() == 0) => continue,
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(error) => {
                notes.add(
                    Topic::Fallback,
                    format!(
                        "the file system does not support locks ({error}): do not start two \
                     runs at once"
                    ),
                );
            }
        }
        let identity = Identity::of(&lock).map_err(|error| creation_error(&error, path))?;
        options.create_new(false).custom_flags(libc::O_NOFOLLOW | dsync(durable));
        match options.open(path) {
            Ok(handle) if Identity::of(&handle).is_ok_and(|found| found == identity) => {
                return Ok((handle, lock));
            }
            // Someone has put another file there.
            Ok(_) => {}
            Err(error) => {
                let _ = identity.remove(path);
                return Err(creation_error(&error, path));
            }
        }
    }
    Err(Error::new(ErrorKind::Io, format!("another process keeps removing {}", path.display())))
}

fn creation_error(error: &io::Error, path: &Path) -> Error {
    let context = format!("creating {}", path.display());
    let (kind, message) = match error.kind() {
        io::ErrorKind::PermissionDenied => (
            ErrorKind::Denied,
            format!(
                "no permission to write in {}: use a directory of your own",
                path.parent().unwrap_or(path).display()
            ),
        ),
        io::ErrorKind::ReadOnlyFilesystem => {
            (ErrorKind::Io, "the file system is read-only: use another directory".to_owned())
        }
        io::ErrorKind::AlreadyExists => (
            ErrorKind::Usage,
            "another run uses the test file of this id: wait for it or use another id".to_owned(),
        ),
        _ => return Error::from_io(error, context),
    };
    Error::new(kind, message).context(context)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::fcntl_getfl;

    #[test]
    fn writes_are_durable_where_they_are_to_be() {
        let folder = tempfile::tempdir().unwrap();
        for (name, durable) in [("through", true), ("cached", false)] {
            let mut notes = Notes::default();
            let (file, _lock) =
                create_locked(&folder.path().join(name), durable, &mut notes).unwrap();
            let flags = fcntl_getfl(&file).unwrap().bits();
            assert_eq!(flags & libc::O_DSYNC as u32 != 0, durable, "{name}");
        }
    }

    #[test]
    fn only_the_file_itself_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let made = Made::new(&path, &File::create(&path).unwrap()).unwrap();
        drop(made);
        assert!(!path.exists());

        let file = File::create(&path).unwrap();
        let made = Made::new(&path, &file).unwrap();
        // The first file stays open, so the second cannot have its inode number.
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "of someone else").unwrap();
        drop(made);
        assert!(path.exists());
    }
}
