//! Files that Dyno makes: locked while in use, removed whatever happens.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use dyno_record::{Error, ErrorKind, Result};
use rustix::fs::{FallocateFlags, fallocate, fstatvfs};

use super::{Kind, Place, leftover, mib, set_direct};
use crate::{Notes, Plan};

/// Space left to others on the volume.
const SPARE_BYTES: u64 = 64 << 20;

/// A file of Dyno's own, by name and identity: removed on drop, unless something else has its name
/// by then.
#[derive(Debug)]
pub(super) struct Made {
    path: PathBuf,
    identity: (u64, u64),
}

/// Makes the file of the target at `index` of the plan in `directory`, with all of its space
/// reserved.
///
/// # Errors
/// `denied` without permission, `disk_full` with the space needed, `usage` if the file of this id
/// is in use, else `io`.
pub(super) fn open(
    plan: &Plan,
    index: usize,
    directory: &Path,
    notes: &mut Notes,
) -> Result<Place> {
    let target = &plan.targets[index];
    if !directory.is_dir() {
        let text =
            format!("{} is not a directory: create it or choose another", directory.display());
        return Err(Error::new(ErrorKind::Io, text));
    }
    let path = directory.join(leftover::file_name(&format!("{}-{index}", plan.file_id)));
    let (file, lock) = create_locked(&path, notes)?;
    // From here on an early return removes the file.
    let made = Made::new(&path, &file)?;
    let mut place = Place {
        name: target.name().to_owned(),
        path,
        kind: Kind::Made,
        bytes: target.bytes.unwrap_or_default(),
        file,
        direct: false,
        extents_written: None,
        fill: true,
        _made: Some(made),
        _lock: Some(lock),
    };
    reserve(&place, directory)?;
    place.direct = set_direct(&place.file, &directory.display().to_string(), notes);
    Ok(place)
}

fn reserve(place: &Place, directory: &Path) -> Result<()> {
    let stat = fstatvfs(&place.file)
        .map_err(|error| place.error(&error.into(), "asking for the free space under"))?;
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    let needed = place.bytes.saturating_add(SPARE_BYTES);
    // Some network file systems report no size at all.
    if stat.f_blocks > 0 && free < needed {
        return Err(Error::new(
            ErrorKind::DiskFull,
            format!(
                "the test file needs {} free in {}, there are {}: free some or choose a smaller \
                 file",
                mib(needed),
                directory.display(),
                mib(free)
            ),
        ));
    }
    let whole = || fallocate(&place.file, FallocateFlags::empty(), 0, place.bytes);
    match rustix::io::retry_on_intr(whole) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::INVAL) => place
            .file
            .set_len(place.bytes)
            .map_err(|error| place.error(&error, "setting the length of")),
        Err(error) => Err(place.error(&error.into(), "reserving the space of")),
    }
}

impl Made {
    fn new(path: &Path, file: &File) -> Result<Self> {
        let meta = file.metadata().map_err(|error| {
            let _ = std::fs::remove_file(path);
            Error::from_io(&error, format!("looking at {}", path.display()))
        })?;
        Ok(Self { path: path.to_owned(), identity: (meta.dev(), meta.ino()) })
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let found = std::fs::symlink_metadata(&self.path);
        if found.is_ok_and(|meta| (meta.dev(), meta.ino()) == self.identity) {
            // A file that can not be removed now is found and removed by the next run.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Creates `path`, opened twice: for I/O, and with the lock. Another run that tidies up may remove
/// the file before it is locked; then a new one is made.
fn create_locked(path: &Path, notes: &mut Notes) -> Result<(File, File)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    for _ in 0..10 {
        let lock =
            options.create_new(true).open(path).map_err(|error| creation_error(&error, path))?;
        match leftover::lock(&lock) {
            Ok(()) if lock.metadata().is_ok_and(|meta| meta.nlink() == 0) => continue,
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(error) => {
                notes
                    .add(format!("the file system has no locks ({error}): do not run two at once"));
            }
        }
        return match options.create_new(false).open(path) {
            Ok(handle) => Ok((handle, lock)),
            Err(error) => {
                let _ = std::fs::remove_file(path);
                Err(creation_error(&error, path))
            }
        };
    }
    Err(Error::new(ErrorKind::Io, format!("another process keeps removing {}", path.display())))
}

fn creation_error(error: &io::Error, path: &Path) -> Error {
    let context = format!("creating {}", path.display());
    let (kind, message) = match error.kind() {
        io::ErrorKind::PermissionDenied => (
            ErrorKind::Denied,
            "no permission to write there: choose a directory of your own".to_owned(),
        ),
        io::ErrorKind::ReadOnlyFilesystem => {
            (ErrorKind::Io, "the file system is read-only: choose another directory".to_owned())
        }
        io::ErrorKind::AlreadyExists => (
            ErrorKind::Usage,
            "another run uses the test file of this id: wait for it or take another id".to_owned(),
        ),
        _ => return Error::from_io(error, context),
    };
    Error::new(kind, message).context(context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_itself_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let made = Made::new(&path, &File::create(&path).unwrap()).unwrap();
        drop(made);
        assert!(!path.exists());

        let file = File::create(&path).unwrap();
        let made = Made::new(&path, &file).unwrap();
        // The first file stays open, so that the second cannot have its number.
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "of someone else").unwrap();
        drop(made);
        assert!(path.exists());
    }
}
