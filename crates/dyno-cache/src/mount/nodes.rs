//! The files that the kernel knows, by the numbers that it knows them by.

use super::keeper::Keeper;
use super::sequence::Sequence;
use rustix::fs::{CWD, Mode, OFlags, fstat, openat, readlinkat};
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

/// The number of the origin's folder.
pub const ROOT: u64 = 1;
/// Numbers of files on other devices than the folder have this bit; others are inodes.
const FOREIGN: u64 = 1 << 63;

/// A file that the kernel knows.
pub struct Node {
    /// Its number.
    pub id: u64,
    /// Device and inode.
    pub inode: (u64, u64),
    path: OwnedFd,
    open: RwLock<Option<(Arc<OwnedFd>, bool)>>,
    /// Its kind, once it was opened.
    pub kind: OnceLock<usize>,
    /// The number of its content in the cache. Whoever writes holds the lock.
    pub number: RwLock<Option<u32>>,
    /// The sequential read that goes on.
    pub sequence: Sequence,
    /// Failed syncs, and the last error.
    pub failures: (AtomicU32, AtomicI32),
    restored: AtomicBool,
}

impl Node {
    fn new(id: u64, path: OwnedFd, restored: bool) -> io::Result<Self> {
        let stat = fstat(&path)?;
        Ok(Self {
            id,
            inode: (stat.st_dev, stat.st_ino),
            path,
            open: RwLock::new(None),
            kind: OnceLock::new(),
            number: RwLock::new(None),
            sequence: Sequence::default(),
            failures: Default::default(),
            restored: AtomicBool::new(restored),
        })
    }

    /// A descriptor for its metadata, and for paths in it.
    pub fn path(&self) -> BorrowedFd<'_> {
        self.path.as_fd()
    }

    /// A path that leads to the file, whatever it is called now.
    pub fn link(&self) -> String {
        format!("/proc/self/fd/{}", self.path.as_raw_fd())
    }

    /// Its path relative to the root; none if it has none any more, or one that is not text.
    pub fn name(&self, root: &Node) -> Option<String> {
        let read = |node: &Node| readlinkat(CWD, node.link(), Vec::new());
        let (own, root) = (read(self).ok()?, read(root).ok()?);
        let own = own.to_str().ok()?.strip_prefix(root.to_str().ok()?)?.strip_prefix('/')?;
        Some(own.strip_suffix(" (deleted)").unwrap_or(own).to_owned())
    }

    /// A descriptor for its content, for writes too if `write`.
    ///
    /// # Errors
    /// Of the origin.
    pub fn open(&self, write: bool) -> io::Result<Arc<OwnedFd>> {
        let usable = |open: &Option<(Arc<OwnedFd>, bool)>| {
            open.as_ref().filter(|(_, writable)| *writable || !write).map(|(file, _)| file.clone())
        };
        if let Some(file) = usable(&self.open.read().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(file);
        }
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = usable(&open) {
            return Ok(file);
        }
        let try_as = |access| openat(CWD, self.link(), access | OFlags::CLOEXEC, Mode::empty());
        let (file, writable) = match try_as(OFlags::RDWR) {
            Ok(file) => (file, true),
            Err(error) if write => return Err(error.into()),
            Err(_) => (try_as(OFlags::RDONLY)?, false),
        };
        let file = Arc::new(file);
        *open = Some((file.clone(), writable));
        Ok(file)
    }

    /// Takes the descriptor with which the file was created, which may do more than a later one.
    pub fn created(&self, file: OwnedFd) {
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = Some((Arc::new(file), true));
    }

    /// Adds a failed sync.
    pub fn failed(&self, error: &io::Error) {
        self.failures
            .1
            .store(error.raw_os_error().unwrap_or(rustix::io::Errno::IO.raw_os_error()), SeqCst);
        self.failures.0.fetch_add(1, SeqCst);
    }
}

struct Entry {
    node: Arc<Node>,
    /// How often the kernel was told of it.
    lookups: u64,
}

#[derive(Default)]
struct Table {
    entries: HashMap<u64, Entry>,
    foreign: HashMap<(u64, u64), u64>,
    next: u64,
}

/// All files that the kernel knows.
pub struct Nodes {
    root: Arc<Node>,
    keeper: Keeper,
    table: Mutex<Table>,
    /// The same as in the table, for those who only look.
    shared: RwLock<HashMap<u64, Arc<Node>>>,
}

impl Nodes {
    /// The root, and what an earlier daemon knew.
    ///
    /// # Errors
    /// Of the origin.
    pub fn new(root: OwnedFd, known: Vec<(u64, OwnedFd)>, keeper: Keeper) -> io::Result<Self> {
        let root = Arc::new(Node::new(ROOT, root, false)?);
        let mut table = Table::default();
        let mut shared = HashMap::from([(ROOT, root.clone())]);
        for (id, file) in known {
            let node = Arc::new(Node::new(id, file, true)?);
            if id & FOREIGN != 0 {
                table.foreign.insert(node.inode, id);
                table.next = table.next.max((id & !FOREIGN) + 1);
            }
            shared.insert(id, node.clone());
            table.entries.insert(id, Entry { node, lookups: 0 });
        }
        Ok(Self { root, keeper, table: Mutex::new(table), shared: RwLock::new(shared) })
    }

    /// The origin's folder.
    pub fn root(&self) -> &Arc<Node> {
        &self.root
    }

    /// The connection to the supervisor.
    pub fn keeper(&self) -> &Keeper {
        &self.keeper
    }

    /// A file by number.
    ///
    /// # Errors
    /// `ESTALE` if the kernel does not know it.
    pub fn get(&self, id: u64) -> io::Result<Arc<Node>> {
        let shared = self.shared.read().unwrap_or_else(PoisonError::into_inner);
        shared.get(&id).cloned().ok_or_else(|| rustix::io::Errno::STALE.into())
    }

    /// All files.
    pub fn all(&self) -> Vec<Arc<Node>> {
        let shared = self.shared.read().unwrap_or_else(PoisonError::into_inner);
        shared.values().cloned().collect()
    }

    /// The kernel will be told of a file.
    ///
    /// # Errors
    /// Of the origin.
    pub fn learn(&self, path: OwnedFd) -> io::Result<Arc<Node>> {
        let mut node = Node::new(0, path, false)?;
        if node.inode == self.root.inode {
            return Ok(self.root.clone());
        }
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        node.id = if node.inode.0 == self.root.inode.0 {
            // The root has another number than its inode, so no other file can have it.
            if node.inode.1 == ROOT { self.root.inode.1 } else { node.inode.1 }
        } else {
            let Table { foreign, next, .. } = &mut *table;
            *foreign.entry(node.inode).or_insert_with(|| {
                *next += 1;
                FOREIGN | *next
            })
        };
        if let Some(entry) = table.entries.get_mut(&node.id) {
            entry.lookups += 1;
            return Ok(entry.node.clone());
        }
        let node = Arc::new(node);
        self.keeper.keep(node.id, node.path());
        table.entries.insert(node.id, Entry { node: node.clone(), lookups: 1 });
        let mut shared = self.shared.write().unwrap_or_else(PoisonError::into_inner);
        shared.insert(node.id, node.clone());
        Ok(node)
    }

    /// The kernel drops so many of its lookups of a file. After the last one, `gone` is called before
    /// another file can get the number.
    pub fn forget(&self, id: u64, times: u64, gone: impl FnOnce()) {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(entry) = table.entries.get_mut(&id) else { return };
        entry.lookups = entry.lookups.saturating_sub(times);
        // How often an earlier daemon told the kernel is not known, so its files stay, unless
        // nothing can lead to them any more.
        let stays = entry.node.restored.load(SeqCst)
            && fstat(entry.node.path()).is_ok_and(|stat| stat.st_nlink > 0);
        if entry.lookups > 0 || stays {
            return;
        }
        gone();
        if let Some(entry) = table.entries.remove(&id) {
            table.foreign.remove(&entry.node.inode);
        }
        self.shared.write().unwrap_or_else(PoisonError::into_inner).remove(&id);
        self.keeper.forget(id);
    }
}
