//! Attributes of files.

use super::nodes::{Node, ROOT};
use super::volume::Volume;
use fuser::{FileAttr, INodeNo, TimeOrNow};
use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, Stat, Timespec, Timestamps, Uid};
use rustix::io::Errno;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What to set; what is none stays.
#[derive(Default)]
pub struct Wanted {
    /// Permissions.
    pub mode: Option<u32>,
    /// Owner.
    pub uid: Option<u32>,
    /// Group.
    pub gid: Option<u32>,
    /// Size in bytes.
    pub size: Option<u64>,
    /// Time of the last access.
    pub atime: Option<TimeOrNow>,
    /// Time of the last change of the content.
    pub mtime: Option<TimeOrNow>,
}

impl Volume {
    /// Sets attributes of a file.
    ///
    /// # Errors
    /// Of the origin; then some may be set.
    pub fn set(&self, node: &Node, wanted: &Wanted) -> io::Result<()> {
        if let Some(size) = wanted.size {
            self.truncate(node, size)?;
            node.kill_privileges()?;
        }
        if wanted.uid.is_some() || wanted.gid.is_some() {
            let (uid, gid) = (wanted.uid.map(Uid::from_raw), wanted.gid.map(Gid::from_raw));
            rustix::fs::chownat(node.path(), "", uid, gid, AtFlags::EMPTY_PATH)?;
        }
        if let Some(mode) = wanted.mode {
            let mode = Mode::from_raw_mode(mode);
            rustix::fs::chmodat(CWD, node.link(), mode, AtFlags::empty())?;
        }
        if wanted.atime.is_some() || wanted.mtime.is_some() {
            let times = Timestamps {
                last_access: time(wanted.atime),
                last_modification: time(wanted.mtime),
            };
            rustix::fs::utimensat(CWD, node.link(), &times, AtFlags::empty())?;
        }
        Ok(())
    }
}

impl Node {
    /// Its attributes.
    ///
    /// # Errors
    /// Of the origin.
    pub fn attributes(&self) -> io::Result<FileAttr> {
        Ok(shown(self.id, &rustix::fs::fstat(self.path())?))
    }

    /// Takes away what a changed program must not keep: set-ID bits and capabilities.
    ///
    /// # Errors
    /// Of the origin.
    pub fn kill_privileges(&self) -> io::Result<()> {
        let stat = rustix::fs::fstat(self.path())?;
        let mode = Mode::from_raw_mode(stat.st_mode);
        let mut kept = mode - Mode::SUID;
        if mode.contains(Mode::XGRP) {
            kept -= Mode::SGID;
        }
        if kept != mode {
            rustix::fs::chmodat(CWD, self.link(), kept, AtFlags::empty())?;
        }
        match rustix::fs::removexattr(self.link(), "security.capability") {
            Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::PERM) | Ok(()) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The file type in FUSE's terms.
pub fn file_type(found: FileType) -> fuser::FileType {
    match found {
        FileType::Directory => fuser::FileType::Directory,
        FileType::Symlink => fuser::FileType::Symlink,
        FileType::Fifo => fuser::FileType::NamedPipe,
        FileType::Socket => fuser::FileType::Socket,
        FileType::CharacterDevice => fuser::FileType::CharDevice,
        FileType::BlockDevice => fuser::FileType::BlockDevice,
        _ => fuser::FileType::RegularFile,
    }
}

/// The inode number of a directory entry as the kernel sees it.
pub fn entry_number(root: &Node, inode: u64) -> INodeNo {
    INodeNo(if inode == root.inode.1 { ROOT } else { inode.max(1) })
}

fn shown(id: u64, stat: &Stat) -> FileAttr {
    FileAttr {
        ino: INodeNo(id),
        size: stat.st_size as u64,
        blocks: stat.st_blocks as u64,
        atime: moment(stat.st_atime, stat.st_atime_nsec),
        mtime: moment(stat.st_mtime, stat.st_mtime_nsec),
        ctime: moment(stat.st_ctime, stat.st_ctime_nsec),
        crtime: UNIX_EPOCH,
        kind: file_type(FileType::from_raw_mode(stat.st_mode)),
        perm: (stat.st_mode & 0o7777) as u16,
        nlink: stat.st_nlink as u32,
        uid: stat.st_uid,
        gid: stat.st_gid,
        rdev: stat.st_rdev as u32,
        blksize: stat.st_blksize as u32,
        flags: 0,
    }
}

fn moment(seconds: i64, nanoseconds: u64) -> SystemTime {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let second = if seconds < 0 { UNIX_EPOCH - whole } else { UNIX_EPOCH + whole };
    second + Duration::from_nanos(nanoseconds)
}

fn time(wanted: Option<TimeOrNow>) -> Timespec {
    let special = |tv_nsec| Timespec { tv_sec: 0, tv_nsec };
    match wanted {
        None => special(rustix::fs::UTIME_OMIT),
        Some(TimeOrNow::Now) => special(rustix::fs::UTIME_NOW),
        Some(TimeOrNow::SpecificTime(moment)) => match moment.duration_since(UNIX_EPOCH) {
            Ok(since) => Timespec {
                tv_sec: since.as_secs() as i64,
                tv_nsec: i64::from(since.subsec_nanos()),
            },
            Err(before) => {
                let before = before.duration();
                let fraction = i64::from(before.subsec_nanos());
                let seconds = -(before.as_secs() as i64) - i64::from(fraction > 0);
                let tv_nsec = if fraction > 0 { 1_000_000_000 - fraction } else { 0 };
                Timespec { tv_sec: seconds, tv_nsec }
            }
        },
    }
}
