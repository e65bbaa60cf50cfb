//! Existing files and block devices: written only if the plan allows it, never removed.

use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use dyno_record::{Error, ErrorKind, Result};

use super::{Kind, OpenTarget, dsync, leftover, set_direct};
use crate::{Notes, Plan};

/// Opens target `index` of the plan.
///
/// # Errors
/// `usage` if the plan would write without `destroy`, requests more bytes than exist, or names
/// neither a file nor a block device; `denied` without permission; `io` if the target is in use, or
/// for other errors.
pub(super) fn open(plan: &Plan, index: usize, notes: &mut Notes) -> Result<OpenTarget> {
    let target = &plan.targets[index];
    let path = target.place();
    let meta = path.metadata().map_err(|error| told(&error, path))?;
    let kind = kind(meta.file_type(), path)?;
    let writes = target.fill || plan.writer(index).is_some();
    if let (Some(job), false) = (plan.writer(index), target.destroy) {
        let text = format!(
            "destroy: job '{}' would overwrite {}; set 'destroy: true' if its content may be \
             lost, or make all jobs on it read only",
            job.name,
            path.display()
        );
        return Err(Error::new(ErrorKind::Usage, text));
    }
    let mut file = open_as(kind, path, writes, plan.durable)?;
    let meta = file.metadata().map_err(|error| told(&error, path))?;
    if self::kind(meta.file_type(), path)? != kind {
        let text = format!("{} was replaced while it was opened", path.display());
        return Err(Error::new(ErrorKind::Io, text));
    }
    let lock = lock(kind, writes, path)?;
    let size = size(&mut file, kind, &meta).map_err(|error| told(&error, path))?;
    let bytes = target.bytes.unwrap_or(size / 512 * 512);
    if bytes > size || bytes == 0 {
        let path = path.display();
        let text = match target.bytes {
            Some(asked) => {
                format!("bytes: {asked} requested, but {path} has {size}; omit 'bytes' to use all")
            }
            None => format!("{path} has {size} bytes: there is nothing to measure"),
        };
        return Err(Error::new(ErrorKind::Usage, text));
    }
    let direct = set_direct(&file, target.name(), notes);
    Ok(OpenTarget {
        name: target.name().to_owned(),
        path: path.to_owned(),
        kind,
        bytes,
        to_fill: if target.fill { 0..bytes } else { 0..0 },
        file,
        direct,
        extents_written: None,
        content: None,
        fill: target.fill,
        _made: None,
        _lock: lock,
    })
}

fn kind(kind: FileType, path: &Path) -> Result<Kind> {
    let what = match () {
        () if kind.is_file() => return Ok(Kind::File),
        () if kind.is_block_device() => return Ok(Kind::Device),
        () if kind.is_dir() => "is a directory: use 'directory' to create a file in it",
        () => "is neither a file nor a block device",
    };
    Err(Error::new(ErrorKind::Usage, format!("path: {} {what}", path.display())))
}

/// How long a device may seem in use after its last user closed it: a process that another thread
/// starts has a copy of every open file until its `exec`.
const RELEASE: Duration = Duration::from_millis(500);

fn open_as(kind: Kind, path: &Path, writes: bool, durable: bool) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(writes);
    // The kernel refuses exclusive access to a device if it or one of its partitions is mounted,
    // used for swap, or part of a volume or array.
    let alone = if cfg!(target_os = "linux") && kind == Kind::Device { libc::O_EXCL } else { 0 };
    options.custom_flags(alone | dsync(durable));
    let start = Instant::now();
    loop {
        match options.open(path) {
            Err(error)
                if error.kind() == io::ErrorKind::ResourceBusy && start.elapsed() < RELEASE =>
            {
                thread::sleep(RELEASE / 50);
            }
            opened => return opened.map_err(|error| told(&error, path)),
        }
    }
}

/// Locks out other runs: a writing run locks the file exclusively, reading runs share the lock. For
/// a device, `O_EXCL` does this.
fn lock(kind: Kind, writes: bool, path: &Path) -> Result<Option<File>> {
    if kind != Kind::File {
        return Ok(None);
    }
    let lock = File::open(path).map_err(|error| told(&error, path))?;
    match leftover::lock_as(&lock, writes) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            let text = format!("{} is in use: another process has locked it", path.display());
            Err(Error::new(ErrorKind::Io, text))
        }
        // On file systems without locks, measure anyway.
        _ => Ok(Some(lock)),
    }
}

fn size(file: &mut File, kind: Kind, meta: &Metadata) -> io::Result<u64> {
    if kind == Kind::File { Ok(meta.len()) } else { file.seek(SeekFrom::End(0)) }
}

fn told(error: &io::Error, path: &Path) -> Error {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => {
            let text = format!("{path} does not exist: use an existing file or block device");
            Error::new(ErrorKind::Io, text)
        }
        io::ErrorKind::PermissionDenied => {
            let text = format!("no permission to open {path}: grant it to this user, or use sudo");
            Error::new(ErrorKind::Denied, text)
        }
        io::ErrorKind::ResourceBusy => Error::new(
            ErrorKind::Io,
            format!("{path} is in use: unmount it, or remove it from its volume or array"),
        ),
        _ => Error::from_io(error, format!("opening {path}")),
    }
}
