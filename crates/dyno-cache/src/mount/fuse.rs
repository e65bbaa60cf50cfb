//! The mount as FUSE's library wants it: requests in, replies out.

use super::attributes::{Wanted, entry_number, file_type};
use super::content::BUFFER;
use super::kinds::Action;
use super::names::{self, Caller};
use super::nodes::{Node, ROOT};
use super::volume::Volume;
use crate::flash::Pages;
use fuser::{
    BackingId, BsdFileFlags, CopyFileRangeFlags, Errno, FileHandle, Filesystem, FopenFlags,
    Generation, INodeNo, IoctlFlags, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate,
    ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyIoctl, ReplyLseek, ReplyOpen,
    ReplyStatfs, ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use rustix::fs::{OFlags, RawDir, SeekFrom, XattrFlags};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// Nobody else changes the files, so the kernel may remember them.
const TTL: Duration = Duration::from_secs(3600);
const GENERATION: Generation = Generation(0);
/// A request that an earlier daemon received too has this bit in its number.
const AGAIN: u64 = 1 << 63;
const FOLDER_BYTES: usize = 1 << 15;

thread_local! {
    static BUFFERS: RefCell<Pages> = RefCell::new(Pages::new(BUFFER));
}

/// A volume as a file system of FUSE.
pub struct Fuse {
    volume: Arc<Volume>,
    next_handle: AtomicU64,
    /// Open files: how many failed syncs each was told of.
    files: Mutex<HashMap<u64, u32>>,
    /// Open folders.
    folders: Mutex<HashMap<u64, Arc<Mutex<OwnedFd>>>>,
    /// Files that the kernel reads and writes itself, and how often they are open. It wants the same
    /// number for all.
    backings: Mutex<HashMap<u64, (BackingId, u64)>>,
    /// Those of an earlier daemon, until they are asked for.
    earlier: Mutex<HashMap<u64, u32>>,
    /// Whether the kernel can do that.
    passthrough: bool,
}

impl Fuse {
    /// A volume, with what an earlier daemon let the kernel read and write.
    pub fn new(volume: Arc<Volume>, earlier: Vec<(u64, u32)>, passthrough: bool) -> Self {
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        Self {
            volume,
            // Handles of an earlier daemon are not known, and must not be given again.
            next_handle: AtomicU64::new(now.as_nanos() as u64),
            files: Mutex::default(),
            folders: Mutex::default(),
            backings: Mutex::default(),
            earlier: Mutex::new(earlier.into_iter().collect()),
            passthrough,
        }
    }

    fn node(&self, id: INodeNo) -> io::Result<Arc<Node>> {
        self.volume.nodes.get(id.0)
    }

    fn entry(&self, made: io::Result<Arc<Node>>, reply: ReplyEntry) {
        let found = made.and_then(|node| {
            // A name whose attributes cannot be read is not told, so it is not kept.
            node.attributes().inspect_err(|_| self.volume.nodes.forget(node.id, 1))
        });
        match found {
            Ok(attributes) => reply.entry(&TTL, &attributes, GENERATION),
            Err(error) => reply.error(error.into()),
        }
    }

    fn handle(&self, node: &Node) -> FileHandle {
        let handle = self.next_handle.fetch_add(1, Relaxed);
        lock(&self.files).insert(handle, node.failures.0.load(Relaxed));
        FileHandle(handle)
    }

    /// Lets the kernel read and write a file itself, if its kind is not cached and the kernel can;
    /// `open` registers a descriptor, `wrap` takes a number that is registered.
    fn pass(
        &self,
        node: &Node,
        open: impl FnOnce(&OwnedFd) -> io::Result<BackingId>,
        wrap: impl FnOnce(u32) -> BackingId,
    ) -> bool {
        if !self.passthrough || self.volume.kind(node).action != Action::Pass {
            return false;
        }
        let mut backings = lock(&self.backings);
        if let Some((_, count)) = backings.get_mut(&node.id) {
            *count += 1;
            return true;
        }
        if let Some(id) = lock(&self.earlier).remove(&node.id) {
            // How often the earlier daemon opened it is not known, so it stays.
            backings.insert(node.id, (wrap(id), u64::MAX / 2));
            return true;
        }
        let Ok(backing) = node.open(false).and_then(|file| open(&file)) else { return false };
        let id = backing.into_raw();
        self.volume.nodes.keeper().backing(node.id, id);
        backings.insert(node.id, (wrap(id), 1));
        true
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn caller(request: &Request) -> Caller {
    Caller { uid: request.uid(), gid: request.gid(), again: request.unique().0 & AGAIN != 0 }
}

fn empty(done: io::Result<()>, reply: ReplyEmpty) {
    match done {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error.into()),
    }
}

fn written(done: io::Result<usize>, reply: ReplyWrite) {
    match done {
        Ok(count) => reply.written(count as u32),
        Err(error) => reply.error(error.into()),
    }
}

fn attributes(size: u32, found: rustix::io::Result<Vec<u8>>, reply: ReplyXattr) {
    match found {
        Ok(value) if size == 0 => reply.size(value.len() as u32),
        Ok(value) if value.len() > size as usize => reply.error(Errno::ERANGE),
        Ok(value) => reply.data(&value),
        Err(error) => reply.error(Errno::from_i32(error.raw_os_error())),
    }
}

#[expect(unsafe_code, reason = "the library cannot check that a number of the kernel is right")]
impl Filesystem for Fuse {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.entry(self.node(parent).and_then(|parent| self.volume.lookup(&parent, name)), reply);
    }

    fn forget(&self, _: &Request, id: INodeNo, times: u64) {
        if id.0 != ROOT {
            self.volume.nodes.forget(id.0, times);
        }
    }

    fn getattr(&self, _: &Request, id: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.node(id).and_then(|node| node.attributes()) {
            Ok(attributes) => reply.attr(&TTL, &attributes),
            Err(error) => reply.error(error.into()),
        }
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
        match set {
            Ok(attributes) => reply.attr(&TTL, &attributes),
            Err(error) => reply.error(error.into()),
        }
    }

    fn readlink(&self, _: &Request, id: INodeNo, reply: ReplyData) {
        let read =
            self.node(id).and_then(|node| Ok(rustix::fs::readlinkat(node.path(), "", Vec::new())?));
        match read {
            Ok(target) => reply.data(target.as_bytes()),
            Err(error) => reply.error(error.into()),
        }
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
        let found = self.node(parent).and_then(|parent| {
            self.volume.make_node(&parent, name, mode & !umask, device, caller(request))
        });
        self.entry(found, reply);
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
        let found = self.node(parent).and_then(|parent| {
            self.volume.make_folder(&parent, name, mode & !umask, caller(request))
        });
        self.entry(found, reply);
    }

    fn unlink(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let done = self
            .node(parent)
            .and_then(|parent| names::remove(&parent, name, false, caller(request)));
        empty(done, reply);
    }

    fn rmdir(&self, request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let done = self
            .node(parent)
            .and_then(|parent| names::remove(&parent, name, true, caller(request)));
        empty(done, reply);
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let found = self
            .node(parent)
            .and_then(|parent| self.volume.make_link(&parent, name, target, caller(request)));
        self.entry(found, reply);
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
        let found = self.node(id).and_then(|node| {
            let parent = self.node(parent)?;
            self.volume.link(&node, &parent, name, caller(request))
        });
        self.entry(found, reply);
    }

    fn open(&self, _: &Request, id: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let writes =
            OFlags::from_bits_retain(flags.0 as u32).intersects(OFlags::WRONLY | OFlags::RDWR);
        let node = match self.node(id).and_then(|node| node.open(writes).map(|_| node)) {
            Ok(node) => node,
            Err(error) => return reply.error(error.into()),
        };
        let handle = self.handle(&node);
        let passed = self.pass(
            &node,
            |file| reply.open_backing(file),
            // SAFETY: the number was registered by this mount, and is owned by nobody else.
            |id| unsafe { reply.wrap_backing(id) },
        );
        let backings = lock(&self.backings);
        match backings.get(&node.id) {
            Some((backing, _)) if passed => {
                reply.opened_passthrough(handle, FopenFlags::empty(), backing);
            }
            _ => reply.opened(handle, KEEP),
        }
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
        let found = self.node(parent).and_then(|parent| {
            let caller = caller(request);
            let node = self.volume.create(&parent, name, mode & !umask, flags, caller)?;
            let attributes = node.attributes()?;
            Ok((node, attributes))
        });
        let (node, attributes) = match found {
            Ok(created) => created,
            Err(error) => return reply.error(error.into()),
        };
        let handle = self.handle(&node);
        let passed = self.pass(
            &node,
            |file| reply.open_backing(file),
            // SAFETY: the number was registered by this mount, and is owned by nobody else.
            |id| unsafe { reply.wrap_backing(id) },
        );
        let backings = lock(&self.backings);
        match backings.get(&node.id) {
            Some((backing, _)) if passed => reply.created_passthrough(
                &TTL,
                &attributes,
                GENERATION,
                handle,
                FopenFlags::empty(),
                backing,
            ),
            _ => reply.created(&TTL, &attributes, GENERATION, handle, KEEP),
        }
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
            match read {
                Ok(range) => reply.data(&buffer[range]),
                Err(error) => reply.error(error.into()),
            }
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
        id: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        if lock(&self.files).remove(&handle.0).is_some() {
            let mut backings = lock(&self.backings);
            if let Some((_, count)) = backings.get_mut(&id.0) {
                *count -= 1;
                if *count == 0 {
                    backings.remove(&id.0);
                    self.volume.nodes.keeper().backing(id.0, 0);
                }
            }
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
        // A file that was opened before this daemon began was told of nothing.
        let mut seen = lock(&self.files).get(&handle.0).copied().unwrap_or_default();
        let done = self.node(id).and_then(|node| self.volume.sync(&node, data_only, &mut seen));
        if let Some(known) = lock(&self.files).get_mut(&handle.0) {
            *known = seen;
        }
        empty(done, reply);
    }

    fn opendir(&self, _: &Request, id: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let handle = self.next_handle.fetch_add(1, Relaxed);
        match self.node(id).and_then(|node| open_folder(&node)) {
            Ok(folder) => {
                lock(&self.folders).insert(handle, folder);
                reply.opened(FileHandle(handle), FopenFlags::empty());
            }
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
        let known = lock(&self.folders).get(&handle.0).cloned();
        let list = |reply: &mut ReplyDirectory| {
            let folder = match known {
                Some(folder) => folder,
                None => open_folder(&*self.node(id)?)?,
            };
            let folder = lock(&folder);
            rustix::fs::seek(folder.as_fd(), SeekFrom::Start(offset))?;
            let mut bytes = vec![MaybeUninit::uninit(); FOLDER_BYTES];
            let mut entries = RawDir::new(folder.as_fd(), &mut bytes);
            while let Some(entry) = entries.next() {
                let entry = entry?;
                let number = entry_number(self.volume.nodes.root(), entry.ino());
                let name = OsStr::from_bytes(entry.file_name().to_bytes());
                let kind = file_type(entry.file_type());
                if reply.add(number, entry.next_entry_cookie(), kind, name) {
                    break;
                }
            }
            Ok::<(), io::Error>(())
        };
        match list(&mut reply) {
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
        lock(&self.folders).remove(&handle.0);
        reply.ok();
    }

    fn fsyncdir(&self, _: &Request, id: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let done = self
            .node(id)
            .and_then(|node| open_folder(&node))
            .and_then(|folder| Ok(rustix::fs::fsync(lock(&folder).as_fd())?));
        empty(done, reply);
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
        let node = match self.node(id) {
            Ok(node) => node,
            Err(error) => return reply.error(error.into()),
        };
        let mut value = vec![0; 1 << 16];
        let found = rustix::fs::getxattr(node.link(), name, &mut value[..]);
        attributes(size, found.map(|length| value[..length].to_vec()), reply);
    }

    fn listxattr(&self, _: &Request, id: INodeNo, size: u32, reply: ReplyXattr) {
        let node = match self.node(id) {
            Ok(node) => node,
            Err(error) => return reply.error(error.into()),
        };
        let mut names = vec![0; 1 << 16];
        let found = rustix::fs::listxattr(node.link(), &mut names[..]);
        attributes(size, found.map(|length| names[..length].to_vec()), reply);
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
        let node = self.node(id);
        empty(node.and_then(|node| self.volume.allocate(&node, offset, size, mode as u32)), reply);
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
        _: &Request,
        id: INodeNo,
        _: FileHandle,
        _: IoctlFlags,
        command: u32,
        data: &[u8],
        _: u32,
        reply: ReplyIoctl,
    ) {
        let (PREWARM, Some((offset, size))) = (command, range(data)) else {
            return reply.error(Errno::ENOTTY);
        };
        let done = BUFFERS.with_borrow_mut(|buffer| {
            self.node(id).and_then(|node| self.volume.prewarm(&node, offset, size, buffer))
        });
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

/// Asks to cache a range of an open file: `_IOW('D', 1, [u64; 2])` with its offset and size.
const PREWARM: u32 = 0x4010_4401;

fn range(data: &[u8]) -> Option<(u64, usize)> {
    let (offset, size) = (data.get(..8)?.try_into().ok()?, data.get(8..16)?.try_into().ok()?);
    let (offset, size) = (u64::from_le_bytes(offset), u64::from_le_bytes(size));
    (offset < 1 << 50).then_some((offset, size.min(1 << 20) as usize))
}

/// The kernel keeps what it read of a file that is opened again.
const KEEP: FopenFlags =
    FopenFlags::FOPEN_KEEP_CACHE.union(FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES);

fn open_folder(node: &Node) -> io::Result<Arc<Mutex<OwnedFd>>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(node.path(), ".", flags, rustix::fs::Mode::empty())?;
    Ok(Arc::new(Mutex::new(folder)))
}
