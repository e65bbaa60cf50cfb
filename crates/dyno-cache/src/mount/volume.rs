//! The origin's folder with a cache in front: what all operations share.

use super::aside::Aside;
use super::files::{Files, Fingerprint};
use super::kinds::{Action, Kind, Kinds};
use super::nodes::{Node, Nodes};
use super::recording::Recording;
use crate::flash::{Cache, STEP};
use rustix::fs::{CWD, Mode, OFlags, openat, readlinkat, syncfs};
use std::collections::HashMap;
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLockReadGuard};

/// The origin's folder with a cache in front.
pub struct Volume {
    /// The files that the kernel knows.
    pub nodes: Nodes,
    /// Kinds of files.
    pub kinds: Kinds,
    /// The cache.
    pub cache: Cache,
    pub(super) files: Mutex<Files>,
    /// A sequential read of more bytes does not fill the cache.
    pub(super) scan_bytes: u64,
    /// Whether the cache is used: it is not after its device failed at a write.
    usable: AtomicBool,
    /// Whether the kernel can read files without leaving a copy in its page cache.
    pub(super) uncached_reads: AtomicBool,
    /// What is asked of files, if somebody wants to know.
    pub recording: Recording,
    /// Reads that are being served: prewarming lets them go first.
    pub(super) reading: AtomicU64,
    /// Whether reads leave flash out, because the origin is faster.
    pub aside: Aside,
}

impl Volume {
    /// A folder with a cache.
    pub fn new(
        nodes: Nodes,
        kinds: Kinds,
        cache: Cache,
        files: Files,
        recording: Recording,
        scan_bytes: u64,
    ) -> Self {
        Self {
            nodes,
            kinds,
            cache,
            files: Mutex::new(files),
            scan_bytes,
            usable: AtomicBool::new(true),
            uncached_reads: AtomicBool::new(true),
            recording,
            reading: AtomicU64::new(0),
            aside: Aside::default(),
        }
    }

    /// Whether the cache is used.
    pub fn usable(&self) -> bool {
        self.usable.load(SeqCst)
    }

    /// The kind of a file, by its path when it was first asked for.
    pub fn kind(&self, node: &Node) -> &Kind {
        let kind = node.kind.get_or_init(|| {
            let name = node.name(self.nodes.root());
            self.kinds.of(&name.unwrap_or_default())
        });
        self.kinds.get(*kind)
    }

    /// The number of a file's content in the cache, if it is cached.
    pub(super) fn number(&self, node: &Node) -> Option<u32> {
        if !self.usable() || !self.owns(node) || self.kind(node).action != Action::Cache {
            return None;
        }
        if let Some(number) = *node.number.read().unwrap_or_else(PoisonError::into_inner) {
            return Some(number);
        }
        let path = node.name(self.nodes.root())?;
        let mut number = node.number.write().unwrap_or_else(PoisonError::into_inner);
        if number.is_none() {
            let mut files = self.files();
            // Without a durable number the file is served uncached.
            *number = files.number(node.path(), &path).ok().flatten();
        }
        *number
    }

    /// Whether a file is on the folder's device: on others, inodes may be the same ones.
    fn owns(&self, node: &Node) -> bool {
        node.inode.0 == self.nodes.root().inode.0
    }

    /// The number of a file that may be written as long as the result is held; a file that has none
    /// gets none meanwhile.
    pub(super) fn number_to_write<'a>(&self, node: &'a Node) -> RwLockReadGuard<'a, Option<u32>> {
        let number = node.number.read().unwrap_or_else(PoisonError::into_inner);
        if number.is_some() || !self.files().may_know(node.inode.1) {
            return number;
        }
        // It has one of an earlier daemon.
        drop(number);
        self.number(node);
        node.number.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up the number of a file whose content changes other than by writes, before it does.
    ///
    /// Nobody writes while `change` runs, and nobody gets a new number.
    ///
    /// # Errors
    /// Of `change`.
    pub(super) fn change<T>(
        &self,
        node: &Node,
        change: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let mut number = node.number.write().unwrap_or_else(PoisonError::into_inner);
        let mut files = self.files();
        // A file that was not opened yet may have a number of an earlier daemon.
        let earlier = || self.owns(node).then(|| Fingerprint::of(node.path()).ok()).flatten();
        let known = number.take().or_else(|| files.number_of(&earlier()?));
        if let Some(known) = known
            && files.retire(node.inode.1, known).is_err()
        {
            drop(files);
            self.give_up();
        }
        change()
    }

    /// Stops using the cache, now and in a later daemon of this mount.
    pub(super) fn give_up(&self) {
        if self.usable.swap(false, SeqCst) {
            self.nodes.keeper().spoiled();
        }
    }

    /// Counts the blocks of kinds that have a quota. Those that are added meanwhile are added.
    pub fn keep_quotas(&self) {
        if self.kinds.all().iter().all(|kind| kind.quota.is_none()) {
            return;
        }
        let blocks = |kind: &Kind| kind.blocks.load(Relaxed);
        let before: Vec<u64> = self.kinds.all().iter().map(blocks).collect();
        let paths = self.files().paths();
        let of_file: HashMap<u32, usize> =
            paths.iter().map(|(&file, path)| (file, self.kinds.of(path))).collect();
        let mut counted = vec![0_u64; before.len()];
        for (file, count) in self.cache.tally(number_of) {
            if let Some(&kind) = of_file.get(&file) {
                counted[kind] += count;
            }
        }
        for ((kind, counted), before) in self.kinds.all().iter().zip(counted).zip(before) {
            let Some(quota) = kind.quota else { continue };
            let most = self.cache.capacity() as f64 * quota / 100.0;
            kind.most.store(most as u64, Relaxed);
            // Room that was given back meanwhile is counted again the next time.
            kind.blocks.store(counted + blocks(kind).saturating_sub(before), Relaxed);
        }
    }

    /// Makes what is cached survive the end of the mount: files that do not change afterwards keep it.
    ///
    /// # Errors
    /// Of the device, the origin, or the folder of the cache.
    pub fn checkpoint(&self) -> io::Result<()> {
        if !self.usable() {
            return Ok(());
        }
        let sync = || {
            // The origin reports a lost write once, and not whose: a later checkpoint would succeed.
            self.sync_origin().inspect_err(|_| self.give_up())
        };
        self.cache.checkpoint(sync)?;
        let root = self.nodes.root();
        let paths: HashMap<u64, String> = self
            .nodes
            .all()
            .iter()
            .filter(|node| node.inode.0 == root.inode.0)
            .filter_map(|node| Some((node.inode.1, node.name(root)?)))
            .collect();
        self.files().refresh(&paths, || mounted(root))
    }

    /// Writes out what is cached, after the mount has ended.
    ///
    /// # Errors
    /// Of the device or the origin.
    pub fn close(&self) -> io::Result<()> {
        if self.usable() { self.cache.close(|| self.sync_origin()) } else { Ok(()) }
    }

    fn sync_origin(&self) -> io::Result<()> {
        let folder = openat(
            CWD,
            self.nodes.root().link(),
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        Ok(syncfs(folder.as_fd())?)
    }
}

/// Whether the mount is still over the folder.
fn mounted(root: &Node) -> bool {
    let Ok(path) = readlinkat(CWD, root.link(), Vec::new()) else { return false };
    let escaped = escape(path.to_bytes());
    let Ok(mounts) = std::fs::read("/proc/self/mountinfo") else { return false };
    mounts.split(|&byte| byte == b'\n').any(|line| {
        let words: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
        words.get(4) == Some(&&escaped[..]) && words.contains(&&b"fuse.dyno"[..])
    })
}

/// A path as the kernel writes it in a list of mounts.
fn escape(path: &[u8]) -> Vec<u8> {
    let mut found = Vec::new();
    for &byte in path {
        match byte {
            b' ' | b'\t' | b'\n' | b'\\' => found.extend(format!("\\{byte:03o}").bytes()),
            _ => found.push(byte),
        }
    }
    found
}

/// The key of a block of a file.
pub fn key(number: u32, block: u64) -> u64 {
    (u64::from(number) << 40) | (block * STEP)
}

/// The number of the file of a block.
pub fn number_of(key: u64) -> u32 {
    (key >> 40) as u32
}
