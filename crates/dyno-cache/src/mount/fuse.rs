//! The mount as FUSE's library wants it: requests in, replies out.

use super::attributes::Wanted;
use super::beginning::Beginning;
use super::content::BUFFER;
use super::handles::{self, Handles};
use super::kinds::Action;
use super::names;
use super::nodes::{Node, ROOT};
use super::passing::{self, Passing};
use super::replies::{
    CHECKPOINT, GENERATION, PREWARM, TTL, caller, data, empty, extended, found, own, range, written,
};
use super::volume::Volume;
use crate::flash::Pages;
use fuser::{
    BsdFileFlags, CopyFileRangeFlags, Errno, FileHandle, Filesystem, FopenFlags, INodeNo,
    IoctlFlags, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyIoctl, ReplyLseek, ReplyOpen, ReplyStatfs,
    ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::{OFlags, SeekFrom, XattrFlags, getxattr, listxattr};
use std::cell::RefCell;
use std::ffi::{CString, OsStr};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

thread_local! {
    static BUFFERS: RefCell<Pages> = RefCell::new(Pages::new(BUFFER));
}

/// A volume as a file system of FUSE.
pub struct Fuse {
    volume: Arc<Volume>,
    handles: Handles,
    /// None if the kernel cannot read and write files itself.
    passing: Option<Passing>,
    start: Arc<Beginning>,
}

impl Fuse {
    /// A volume.
    pub fn new(volume: Arc<Volume>, passing: Option<Passing>, start: Arc<Beginning>) -> Self {
        Self { volume, handles: Handles::new(), passing, start }
    }

    fn node(&self, id: INodeNo) -> io::Result<Arc<Node>> {
        self.volume.nodes.get(id.0)
    }

    fn entry(&self, made: io::Result<Arc<Node>>, reply: ReplyEntry) {
        let attributes = made.and_then(|node| {
            // A name whose attributes cannot be read is not told, so it is not kept.
            let forget = |_: &io::Error| {
                self.volume.nodes.forget(node.id, 1, || ());
            };
            node.attributes().inspect_err(forget)
        });
        match attributes {
            Ok(attributes) => reply.entry(&TTL, &attributes, GENERATION),
            Err(error) => reply.error(error.into()),
        }
    }

    fn remove(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        folder: bool,
        reply: ReplyEmpty,
    ) {
        let remove = |parent: Arc<Node>| names::remove(&parent, name, folder, caller(request));
        empty(self.node(parent).and_then(remove), reply);
    }

    /// Who lets the kernel read and write a file itself, if its kind is not cached.
    fn passing(&self, node: &Node) -> Option<&Passing> {
        self.passing.as_ref().filter(|_| self.volume.kind(node).action == Action::Pass)
    }
}

impl Filesystem for Fuse {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.entry(self.node(parent).and_then(|parent| self.volume.lookup(&parent, name)), reply);
    }

    fn forget(&self, _: &Request, id: INodeNo, times: u64) {
        if id.0 != ROOT {
            let nodes = &self.volume.nodes;
            nodes.forget(id.0, times, || {
                self.passing.iter().for_each(|passing| passing.forget(id.0, nodes.keeper()));
            });
        }
    }

    fn getattr(&self, _: &Request, id: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        found(self.node(id).and_then(|node| node.attributes()), reply);
    }

    fn setattr(
        &self,
        _: &Request,
        id: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let wanted = Wanted { mode, uid, gid, size, atime, mtime };
        let set = self.node(id).and_then(|node| {
            self.volume.set(&node, &wanted)?;
            node.attributes()
        });
        found(set, reply);
    }

    fn readlink(&self, _: &Request, id: INodeNo, reply: ReplyData) {
        let read =
            self.node(id).and_then(|node| Ok(rustix::fs::readlinkat(node.path(), "", Vec::new())?));
        data(read.map(CString::into_bytes), reply);
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        device: u32,
        reply: ReplyEntry,
    ) {
        let node = self.node(parent).and_then(|parent| {
            self.volume.make_node(&parent, name, mode & !umask, device, caller(request))
        });
        self.entry(node, reply);
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        reply: ReplyEntry,
    ) {
        let node = self.node(parent).and_then(|parent| {
            self.volume.make_folder(&parent, name, mode & !umask, caller(request))
        });
        self.entry(node, reply);
    }

    fn unlink(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.remove(request, parent, name, false, reply);
    }

    fn rmdir(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.remove(request, parent, name, true, reply);
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let node = self
            .node(parent)
            .and_then(|parent| self.volume.make_link(&parent, name, target, caller(request)));
        self.entry(node, reply);
    }

    fn rename(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        to_parent: INodeNo,
        to_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let done = self.node(parent).and_then(|from| {
            let to = self.node(to_parent)?;
            names::rename((&from, name), (&to, to_name), flags.bits(), caller(request))
        });
        empty(done, reply);
    }

    fn link(
        &self,
        request: &Request,
        id: INodeNo,
        parent: INodeNo,
        name: &OsStr,
        reply: ReplyEntry,
    ) {
        let node = self.node(id).and_then(|node| {
            let parent = self.node(parent)?;
            self.volume.link(&node, &parent, name, caller(request))
        });
        self.entry(node, reply);
    }

    fn open(&self, _: &Request, id: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let writes =
            OFlags::from_bits_retain(flags.0 as u32).intersects(OFlags::WRONLY | OFlags::RDWR);
        let node = match self.node(id).and_then(|node| node.open(writes).map(|_| node)) {
            Ok(node) => node,
            Err(error) => return reply.error(error.into()),
        };
        let handle = self.handles.open(&node);
        passing::opened(self.passing(&node), &node, self.volume.nodes.keeper(), handle, reply);
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let node = self.node(parent).and_then(|parent| {
            let caller = caller(request);
            let node = self.volume.create(&parent, name, mode & !umask, flags, caller)?;
            let attributes = node.attributes()?;
            Ok((node, attributes))
        });
        let (node, attributes) = match node {
            Ok(created) => created,
            Err(error) => return reply.error(error.into()),
        };
        let handle = self.handles.open(&node);
        let keeper = self.volume.nodes.keeper();
        passing::created(self.passing(&node), &node, &attributes, keeper, handle, reply);
    }

    fn read(
        &self,
        _: &Request,
        id: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        BUFFERS.with_borrow_mut(|buffer| {
            let read = self
                .node(id)
                .and_then(|node| self.volume.read(&node, offset, size as usize, buffer));
            data(read.map(|range| &buffer[range]), reply);
        });
    }

    fn write(
        &self,
        _: &Request,
        id: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        how: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        if Beginning::is(id) {
            return self.start.begin(data, reply);
        }
        let done = self.node(id).and_then(|node| {
            if how.contains(WriteFlags::FUSE_WRITE_KILL_SUIDGID) {
                node.kill_privileges()?;
            }
            self.volume.write(&node, offset, data, flags.0 as u32)
        });
        written(done, reply);
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        if let (Some(node), Some(passing)) = (self.handles.close(handle), &self.passing) {
            passing.close(&node, self.volume.nodes.keeper());
        }
        reply.ok();
    }

    fn fsync(
        &self,
        _: &Request,
        id: INodeNo,
        handle: FileHandle,
        data_only: bool,
        reply: ReplyEmpty,
    ) {
        let mut seen = self.handles.seen(handle);
        let done = self.node(id).and_then(|node| self.volume.sync(&node, data_only, &mut seen));
        self.handles.set_seen(handle, seen);
        empty(done, reply);
    }

    fn opendir(&self, _: &Request, id: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.node(id).and_then(|node| self.handles.open_folder(&node)) {
            Ok(handle) => reply.opened(handle, FopenFlags::empty()),
            Err(error) => reply.error(error.into()),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        id: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let listed = self.node(id).and_then(|node| {
            let folder = self.handles.folder(handle, &node)?;
            handles::list(&folder, offset, self.volume.nodes.root(), &mut reply)
        });
        match listed {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error.into()),
        }
    }

    fn releasedir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.handles.close_folder(handle);
        reply.ok();
    }

    fn fsyncdir(&self, _: &Request, id: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        empty(self.node(id).and_then(|node| handles::sync_folder(&node)), reply);
    }

    fn statfs(&self, _: &Request, id: INodeNo, reply: ReplyStatfs) {
        match self.node(id).and_then(|node| Ok(rustix::fs::fstatvfs(node.path())?)) {
            Ok(found) => reply.statfs(
                found.f_blocks,
                found.f_bfree,
                found.f_bavail,
                found.f_files,
                found.f_ffree,
                found.f_bsize as u32,
                found.f_namemax as u32,
                found.f_frsize as u32,
            ),
            Err(error) => reply.error(error.into()),
        }
    }

    fn setxattr(
        &self,
        _: &Request,
        id: INodeNo,
        name: &OsStr,
        value: &[u8],
        flags: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        let flags = XattrFlags::from_bits_retain(flags as u32);
        let done = self
            .node(id)
            .and_then(|node| Ok(rustix::fs::setxattr(node.link(), name, value, flags)?));
        empty(done, reply);
    }

    fn getxattr(&self, _: &Request, id: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        let read = |node: &Node, value: &mut [u8]| getxattr(node.link(), name, value);
        extended(size, self.node(id), read, reply);
    }

    fn listxattr(&self, _: &Request, id: INodeNo, size: u32, reply: ReplyXattr) {
        let read = |node: &Node, names: &mut [u8]| listxattr(node.link(), names);
        extended(size, self.node(id), read, reply);
    }

    fn removexattr(&self, _: &Request, id: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let done = self.node(id).and_then(|node| Ok(rustix::fs::removexattr(node.link(), name)?));
        empty(done, reply);
    }

    fn fallocate(
        &self,
        _: &Request,
        id: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let allocate = |node: Arc<Node>| self.volume.allocate(&node, offset, size, mode as u32);
        empty(self.node(id).and_then(allocate), reply);
    }

    fn lseek(
        &self,
        _: &Request,
        id: INodeNo,
        _: FileHandle,
        offset: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        let from = match whence {
            libc::SEEK_DATA => SeekFrom::Data(offset as u64),
            libc::SEEK_HOLE => SeekFrom::Hole(offset as u64),
            _ => return reply.error(Errno::EINVAL),
        };
        match self.node(id).and_then(|node| Ok(rustix::fs::seek(node.open(false)?, from)?)) {
            Ok(found) => reply.offset(found as i64),
            Err(error) => reply.error(error.into()),
        }
    }

    fn ioctl(
        &self,
        request: &Request,
        id: INodeNo,
        _: FileHandle,
        _: IoctlFlags,
        command: u32,
        data: &[u8],
        _: u32,
        reply: ReplyIoctl,
    ) {
        let done = match (command, range(data)) {
            (PREWARM, Some((offset, size))) => BUFFERS.with_borrow_mut(|buffer| {
                self.node(id).and_then(|node| self.volume.prewarm(&node, offset, size, buffer))
            }),
            (CHECKPOINT, _) if own(request) => self.volume.checkpoint().map(|()| 0),
            _ => return reply.error(Errno::ENOTTY),
        };
        match done {
            Ok(blocks) => reply.ioctl(blocks as i32, &[]),
            Err(error) => reply.error(error.into()),
        }
    }

    fn copy_file_range(
        &self,
        _: &Request,
        from: INodeNo,
        _: FileHandle,
        from_offset: u64,
        to: INodeNo,
        _: FileHandle,
        to_offset: u64,
        size: u64,
        _: CopyFileRangeFlags,
        reply: ReplyWrite,
    ) {
        let copied = self.node(from).and_then(|from| {
            let to = self.node(to)?;
            self.volume.copy((&from, from_offset), (&to, to_offset), size)
        });
        written(copied, reply);
    }
}
