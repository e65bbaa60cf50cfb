//! The test file: created, filled, proved, and removed whatever happens.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use dyno_record::{Control, Error, ErrorKind, Result};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{FallocateFlags, fallocate, fstatvfs};

use crate::arena::stamp;
use crate::engine::{Engine, Request};
use crate::evidence::{cached_share, unwritten_bytes};
use crate::{Notes, leftover};

/// I/Os in flight while the file is filled, and their size: large enough for full speed.
pub(crate) const FILL_SLOTS: u32 = 8;
/// See [`FILL_SLOTS`].
pub(crate) const FILL_BLOCK: u32 = 512 << 10;
/// Space left to others on the volume.
const SPARE_BYTES: u64 = 64 << 20;
/// Without `O_DIRECT`, data written between two syncs: bounds dirty memory and the last sync.
const SYNC_BYTES: u64 = 64 << 20;
const TICK: Duration = Duration::from_millis(50);

/// A file of incompressible data under `<volume>/.dyno-io-<id>.dat`, locked while in use and
/// removed on drop.
#[derive(Debug)]
pub(crate) struct TestFile {
    handle: [File; 1],
    /// Holds the lock, and is never given to an engine: the kernel closes the files of a killed
    /// ring late, and their locks would make a dead file look alive.
    _lock: File,
    path: PathBuf,
    bytes: u64,
    direct: bool,
}

impl TestFile {
    /// Creates the file with all of its space reserved, after removing what killed runs left.
    ///
    /// # Errors
    /// `denied` without permission, `disk_full` with the space needed, `usage` if the file of this
    /// id is in use, else `io`.
    pub(crate) fn create(volume: &Path, id: &str, bytes: u64, notes: &mut Notes) -> Result<Self> {
        if !volume.is_dir() {
            let text =
                format!("{} is not a directory: create it or choose another", volume.display());
            return Err(Error::new(ErrorKind::Io, text));
        }
        leftover::remove(volume, notes);
        let path = volume.join(leftover::file_name(id));
        let (handle, lock) = create_locked(&path, notes)?;
        // From here on an early return removes the file.
        let mut file = Self { handle: [handle], _lock: lock, path, bytes, direct: false };
        file.reserve(volume)?;
        file.direct = set_direct(&file.handle[0]).map_or_else(
            |error| {
                notes.add(format!(
                    "no O_DIRECT on {} ({error}): page cache in play",
                    volume.display()
                ));
                false
            },
            |()| true,
        );
        Ok(file)
    }

    /// The file, as engines take it.
    pub(crate) fn as_files(&self) -> &[File] {
        &self.handle
    }

    /// Whether I/O bypasses the page cache, as far as it is known.
    pub(crate) fn is_direct(&self) -> bool {
        self.direct
    }

    /// Writes the whole file in order and makes it durable; `written` hears of bytes done.
    ///
    /// # Errors
    /// `cancelled`, `disk_full` or `io`.
    pub(crate) fn fill(
        &self,
        engine: &mut dyn Engine,
        data: &mut Xoshiro256PlusPlus,
        control: &Control,
        mut written: impl FnMut(u64),
    ) -> Result<()> {
        let mut idle: Vec<u32> = (0..FILL_SLOTS).collect();
        let mut lengths = [0; FILL_SLOTS as usize];
        let (mut batch, mut done) = (Vec::new(), Vec::new());
        let (mut next, mut ended, mut synced) = (0, 0, 0);
        while ended < self.bytes {
            control.check()?;
            batch.clear();
            while next < self.bytes
                && let Some(slot) = idle.pop()
            {
                let bytes = u64::from(FILL_BLOCK).min(self.bytes - next) as u32;
                stamp(engine.buffer_mut(slot), data);
                batch.push(Request { slot, file: 0, write: true, offset: next, bytes });
                lengths[slot as usize] = bytes;
                next += u64::from(bytes);
            }
            engine.turn(&batch, TICK, &mut done)?;
            for completion in done.drain(..) {
                let bytes = lengths[completion.slot as usize];
                self.written_whole(completion.result, bytes)?;
                idle.push(completion.slot);
                ended += u64::from(bytes);
            }
            if !self.direct && ended - synced >= SYNC_BYTES {
                self.sync()?;
                synced = ended;
            }
            written(ended);
        }
        self.sync()
    }

    /// Checks that reads will reach the device: all extents written, none cached. Returns whether
    /// the extents are written, `None` if the file system does not tell.
    ///
    /// # Errors
    /// `io`.
    pub(crate) fn prove(&mut self, notes: &mut Notes) -> Result<Option<bool>> {
        if self.direct {
            let share = cached_share(&self.handle[0], self.bytes)
                .map_err(|error| self.error(&error, "looking for cached pages of"))?;
            if share > 0.01 {
                self.direct = false;
                notes.add(format!(
                    "{:.0} % of the test file is in memory although O_DIRECT was accepted: page \
                     cache in play",
                    share * 100.0
                ));
            }
        }
        match unwritten_bytes(&self.handle[0], self.bytes) {
            Ok(0) => Ok(Some(true)),
            Ok(bytes) => {
                notes.add(format!(
                    "{bytes} bytes of the test file have no written extent: reads of them do not \
                     reach the device"
                ));
                Ok(Some(false))
            }
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                notes.add("the file system does not tell its extents (no FIEMAP): not checked");
                Ok(None)
            }
            Err(error) => Err(self.error(&error, "mapping the extents of")),
        }
    }

    fn reserve(&self, volume: &Path) -> Result<()> {
        let stat = fstatvfs(&self.handle[0])
            .map_err(|error| self.error(&error.into(), "asking for the free space under"))?;
        let free = stat.f_bavail.saturating_mul(stat.f_frsize);
        let needed = self.bytes.saturating_add(SPARE_BYTES);
        // Some network file systems report no size at all.
        if stat.f_blocks > 0 && free < needed {
            return Err(Error::new(
                ErrorKind::DiskFull,
                format!(
                    "the test file needs {} free in {}, there are {}: free some or choose a \
                     smaller file",
                    mib(needed),
                    volume.display(),
                    mib(free)
                ),
            ));
        }
        let whole = || fallocate(&self.handle[0], FallocateFlags::empty(), 0, self.bytes);
        match rustix::io::retry_on_intr(whole) {
            Ok(()) => Ok(()),
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::INVAL) => self.handle[0]
                .set_len(self.bytes)
                .map_err(|error| self.error(&error, "setting the length of")),
            Err(error) => Err(self.error(&error.into(), "reserving the space of")),
        }
    }

    fn written_whole(&self, result: i32, bytes: u32) -> Result<()> {
        if result == bytes as i32 {
            return Ok(());
        }
        let error = if result < 0 {
            io::Error::from_raw_os_error(-result)
        } else {
            // A short write says that the next one would fail for want of room.
            io::Error::from_raw_os_error(libc::ENOSPC)
        };
        Err(self.error(&error, "filling"))
    }

    fn sync(&self) -> Result<()> {
        self.handle[0].sync_all().map_err(|error| self.error(&error, "syncing"))
    }

    fn error(&self, error: &io::Error, what: &str) -> Error {
        Error::from_io(error, format!("{what} {}", self.path.display()))
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        // A file that can not be removed now is found and removed by the next run.
        let _ = std::fs::remove_file(&self.path);
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

#[cfg(target_os = "linux")]
fn set_direct(file: &File) -> io::Result<()> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    Ok(fcntl_setfl(file, fcntl_getfl(file)? | OFlags::DIRECT)?)
}

#[cfg(not(target_os = "linux"))]
fn set_direct(_: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn mib(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}
