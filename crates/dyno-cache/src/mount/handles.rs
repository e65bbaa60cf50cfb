//! Files and folders that are open.
//!
//! A daemon that replaces another knows no handles, and needs none: files are read and written by what
//! the node has, and folders are opened again.

use super::attributes::{entry_number, file_type};
use super::nodes::Node;
use fuser::{FileHandle, ReplyDirectory};
use rustix::fs::{Mode, OFlags, RawDir, SeekFrom, fsync, openat, seek};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

const FOLDER_BYTES: usize = 1 << 15;

/// An open file. While it is known, no other file gets its number, even if the kernel forgot it.
struct File {
    node: Arc<Node>,
    /// Failed syncs that were reported to it.
    seen: u32,
}

/// A folder to be listed.
pub type Folder = Arc<Mutex<OwnedFd>>;

/// Files and folders that are open.
pub struct Handles {
    next: AtomicU64,
    files: Mutex<HashMap<u64, File>>,
    folders: Mutex<HashMap<u64, Folder>>,
}

impl Handles {
    /// None.
    pub fn new() -> Self {
        // Those of an earlier daemon must not be given again.
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        Self {
            next: AtomicU64::new(now.as_nanos() as u64),
            files: Mutex::default(),
            folders: Mutex::default(),
        }
    }

    /// A file is opened.
    pub fn open(&self, node: &Arc<Node>) -> FileHandle {
        let handle = self.next.fetch_add(1, Relaxed);
        let seen = node.failures.0.load(Relaxed);
        lock(&self.files).insert(handle, File { node: node.clone(), seen });
        FileHandle(handle)
    }

    /// A file is closed; returns which, if this daemon opened it.
    pub fn close(&self, handle: FileHandle) -> Option<Arc<Node>> {
        lock(&self.files).remove(&handle.0).map(|file| file.node)
    }

    /// The number of failed syncs that were reported to a file; 0 if this daemon did not open it.
    pub fn seen(&self, handle: FileHandle) -> u32 {
        lock(&self.files).get(&handle.0).map_or(0, |file| file.seen)
    }

    /// So many failed syncs were reported to a file.
    pub fn set_seen(&self, handle: FileHandle, seen: u32) {
        if let Some(known) = lock(&self.files).get_mut(&handle.0) {
            known.seen = seen;
        }
    }

    /// A folder is opened.
    ///
    /// # Errors
    /// Of the origin.
    pub fn open_folder(&self, node: &Node) -> io::Result<FileHandle> {
        let handle = self.next.fetch_add(1, Relaxed);
        lock(&self.folders).insert(handle, folder(node)?);
        Ok(FileHandle(handle))
    }

    /// A folder is closed.
    pub fn close_folder(&self, handle: FileHandle) {
        lock(&self.folders).remove(&handle.0);
    }

    /// An open folder.
    ///
    /// # Errors
    /// Of the origin.
    pub fn folder(&self, handle: FileHandle, node: &Node) -> io::Result<Folder> {
        let known = lock(&self.folders).get(&handle.0).cloned();
        known.map_or_else(|| folder(node), Ok)
    }
}

fn folder(node: &Node) -> io::Result<Folder> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = openat(node.path(), ".", flags, Mode::empty())?;
    Ok(Arc::new(Mutex::new(folder)))
}

/// Makes the names in a folder durable.
///
/// # Errors
/// Of the origin.
pub fn sync_folder(node: &Node) -> io::Result<()> {
    Ok(fsync(lock(&*folder(node)?).as_fd())?)
}

/// Adds a folder's entries from `offset` on to a reply, as many as it takes.
///
/// # Errors
/// Of the origin.
pub fn list(
    folder: &Folder,
    offset: u64,
    root: &Node,
    reply: &mut ReplyDirectory,
) -> io::Result<()> {
    let folder = lock(folder);
    seek(folder.as_fd(), SeekFrom::Start(offset))?;
    let mut bytes = vec![MaybeUninit::uninit(); FOLDER_BYTES];
    let mut entries = RawDir::new(folder.as_fd(), &mut bytes);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let number = entry_number(root, entry.ino());
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if reply.add(number, entry.next_entry_cookie(), file_type(entry.file_type()), name) {
            break;
        }
    }
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
