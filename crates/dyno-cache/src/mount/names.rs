//! Operations on names: each returns the file that the kernel is told of.
//!
//! A daemon that replaces one that died gets again what that one did not answer, though it may have
//! done it. Operations that are sent `again` therefore succeed where they find their own work.

use super::nodes::Node;
use super::volume::Volume;
use rustix::fs::{AtFlags, CWD, Gid, Mode, OFlags, RenameFlags, Uid, openat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

/// Who asks.
#[derive(Clone, Copy)]
pub struct Caller {
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Whether an earlier daemon may have done it.
    pub again: bool,
}

type Result<T> = std::result::Result<T, io::Error>;

impl Volume {
    /// A file by name.
    ///
    /// # Errors
    /// Of the origin, as for all operations here.
    pub fn lookup(&self, parent: &Node, name: &OsStr) -> Result<Arc<Node>> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        self.nodes.learn(openat(parent.path(), name, flags, Mode::empty())?)
    }

    /// Creates a file and opens it.
    pub fn create(
        &self,
        parent: &Node,
        name: &OsStr,
        mode: u32,
        flags: i32,
        caller: Caller,
    ) -> Result<Arc<Node>> {
        let exclusive = flags & OFlags::EXCL.bits() as i32 != 0 && !caller.again;
        let open = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let create = open | OFlags::CREATE | OFlags::EXCL;
        match openat(parent.path(), name, create, Mode::from_raw_mode(mode)) {
            Ok(file) => {
                own(parent, &file, caller)?;
                let node = self.lookup(parent, name)?;
                node.created(file);
                Ok(node)
            }
            Err(Errno::EXIST) if !exclusive => self.lookup(parent, name),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes a folder.
    pub fn make_folder(
        &self,
        parent: &Node,
        name: &OsStr,
        mode: u32,
        caller: Caller,
    ) -> Result<Arc<Node>> {
        let done = rustix::fs::mkdirat(parent.path(), name, Mode::from_raw_mode(mode));
        self.made(done, parent, name, caller)
    }

    /// Makes a pipe, socket or empty file.
    pub fn make_node(
        &self,
        parent: &Node,
        name: &OsStr,
        mode: u32,
        device: u32,
        caller: Caller,
    ) -> Result<Arc<Node>> {
        let file_type = rustix::fs::FileType::from_raw_mode(mode);
        let mode = Mode::from_raw_mode(mode);
        let done = rustix::fs::mknodat(parent.path(), name, file_type, mode, u64::from(device));
        self.made(done, parent, name, caller)
    }

    /// Makes a symbolic link.
    pub fn make_link(
        &self,
        parent: &Node,
        name: &OsStr,
        target: &Path,
        caller: Caller,
    ) -> Result<Arc<Node>> {
        let done = rustix::fs::symlinkat(target, parent.path(), name);
        self.made(done, parent, name, caller)
    }

    /// Gives a file another name.
    pub fn link(
        &self,
        node: &Node,
        parent: &Node,
        name: &OsStr,
        caller: Caller,
    ) -> Result<Arc<Node>> {
        let follow = AtFlags::SYMLINK_FOLLOW;
        let done = rustix::fs::linkat(CWD, node.link(), parent.path(), name, follow);
        match done {
            Err(Errno::EXIST) if caller.again => {}
            done => done?,
        }
        self.lookup(parent, name)
    }

    fn made(
        &self,
        done: rustix::io::Result<()>,
        parent: &Node,
        name: &OsStr,
        caller: Caller,
    ) -> Result<Arc<Node>> {
        match done {
            Err(Errno::EXIST) if caller.again => return self.lookup(parent, name),
            done => done?,
        }
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(parent.path(), name, flags, Mode::empty())?;
        own(parent, &file, caller)?;
        self.nodes.learn(file)
    }
}

/// Removes a name.
///
/// # Errors
/// Of the origin.
pub fn remove(parent: &Node, name: &OsStr, folder: bool, caller: Caller) -> Result<()> {
    let flags = if folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    match rustix::fs::unlinkat(parent.path(), name, flags) {
        Err(Errno::NOENT) if caller.again => Ok(()),
        removed => Ok(removed?),
    }
}

/// Moves a file to another name.
///
/// # Errors
/// Of the origin; `EINVAL` for an exchange of two names: done twice, as after the death of a daemon, it
/// is undone.
pub fn rename(
    (parent, name): (&Node, &OsStr),
    (to_parent, to_name): (&Node, &OsStr),
    flags: u32,
    caller: Caller,
) -> Result<()> {
    let flags = RenameFlags::from_bits_retain(flags);
    if flags.contains(RenameFlags::EXCHANGE) {
        return Err(Errno::INVAL.into());
    }
    let moved = rustix::fs::renameat_with(parent.path(), name, to_parent.path(), to_name, flags);
    match moved {
        Err(Errno::NOENT) if caller.again => {
            rustix::fs::statat(to_parent.path(), to_name, AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(())
        }
        moved => Ok(moved?),
    }
}

/// What root creates for others is theirs.
fn own(parent: &Node, file: &OwnedFd, caller: Caller) -> Result<()> {
    if !rustix::process::geteuid().is_root() || caller.uid == 0 && caller.gid == 0 {
        return Ok(());
    }
    let folder = rustix::fs::fstat(parent.path())?;
    let inherits = Mode::from_raw_mode(folder.st_mode).contains(Mode::SGID);
    let group = (!inherits).then(|| Gid::from_raw(caller.gid));
    let owner = Some(Uid::from_raw(caller.uid));
    rustix::fs::chownat(file.as_fd(), "", owner, group, AtFlags::EMPTY_PATH)?;
    Ok(())
}
