//! Files that the kernel reads and writes itself, because their kind is not cached.

use super::keeper::Keeper;
use super::nodes::Node;
use super::replies::{GENERATION, KEEP, TTL};
use fuser::{BackingId, FileAttr, FileHandle, FopenFlags, ReplyCreate, ReplyOpen};
use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How often a file of an earlier daemon is open is not known, so it stays until it is forgotten.
const UNKNOWN: u64 = u64::MAX / 2;

struct Passed {
    id: BackingId,
    node: Arc<Node>,
    opened: u64,
}

#[derive(Default)]
struct Known {
    passed: HashMap<u64, Passed>,
    /// The kernel's numbers of an earlier daemon, until they are asked for.
    earlier: HashMap<u64, u32>,
    /// Those of them whose files are gone. They are given back when a file is opened: the library
    /// does it through a reply only.
    gone: Vec<u32>,
}

/// Files that the kernel reads and writes itself. It wants the same number whenever one is opened.
pub struct Passing(Mutex<Known>);

impl Passing {
    /// Those of an earlier daemon.
    pub fn new(earlier: Vec<(u64, u32)>) -> Self {
        let earlier = earlier.into_iter().collect();
        Self(Mutex::new(Known { earlier, ..Known::default() }))
    }

    /// A file is opened: `open` registers a descriptor with the kernel, `wrap` takes a number that is
    /// registered. Returns none if the kernel does not take the file.
    fn open(
        &self,
        node: &Arc<Node>,
        keeper: &Keeper,
        open: impl FnOnce(&OwnedFd) -> io::Result<BackingId>,
        wrap: impl Fn(u32) -> BackingId,
    ) -> Option<Opened<'_>> {
        let mut known = self.known();
        known.gone.drain(..).for_each(|id| drop(wrap(id)));
        if let Some(passed) = known.passed.get_mut(&node.id) {
            passed.opened += 1;
        } else if let Some(id) = known.earlier.remove(&node.id) {
            let passed = Passed { id: wrap(id), node: node.clone(), opened: UNKNOWN };
            known.passed.insert(node.id, passed);
        } else {
            let id = node.open(false).and_then(|file| open(&file)).ok()?.into_raw();
            keeper.backing(node.id, id);
            let passed = Passed { id: wrap(id), node: node.clone(), opened: 1 };
            known.passed.insert(node.id, passed);
        }
        Some(Opened(known, node.id))
    }

    /// A file that was opened by this daemon is closed.
    pub fn close(&self, node: &Arc<Node>, keeper: &Keeper) {
        let mut known = self.known();
        let Some(passed) = known.passed.get_mut(&node.id) else { return };
        if !Arc::ptr_eq(&passed.node, node) {
            return; // Another file has its number now.
        }
        passed.opened -= 1;
        if passed.opened == 0 {
            // First: a later daemon must not be told of a number that the kernel no longer has.
            keeper.backing(node.id, 0);
            known.passed.remove(&node.id);
        }
    }

    /// The kernel forgot a file; another one may get its number afterwards.
    pub fn forget(&self, node: u64, keeper: &Keeper) {
        let mut known = self.known();
        if known.passed.contains_key(&node) || known.earlier.contains_key(&node) {
            keeper.backing(node, 0);
        }
        known.passed.remove(&node);
        let earlier = known.earlier.remove(&node);
        known.gone.extend(earlier);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Replies to an open.
#[expect(unsafe_code, reason = "the library cannot check that a number of the kernel is right")]
pub fn opened(
    passing: Option<&Passing>,
    node: &Arc<Node>,
    keeper: &Keeper,
    handle: FileHandle,
    reply: ReplyOpen,
) {
    let passed = passing.and_then(|passing| {
        // SAFETY: the number was registered by this mount, and is owned by nobody else.
        let wrap = |id| unsafe { reply.wrap_backing(id) };
        passing.open(node, keeper, |file| reply.open_backing(file), wrap)
    });
    match passed.as_ref().and_then(Opened::id) {
        Some(id) => reply.opened_passthrough(handle, FopenFlags::empty(), id),
        None => reply.opened(handle, KEEP),
    }
}

/// Replies to the creation of a file.
#[expect(unsafe_code, reason = "the library cannot check that a number of the kernel is right")]
pub fn created(
    passing: Option<&Passing>,
    node: &Arc<Node>,
    attributes: &FileAttr,
    keeper: &Keeper,
    handle: FileHandle,
    reply: ReplyCreate,
) {
    let passed = passing.and_then(|passing| {
        // SAFETY: the number was registered by this mount, and is owned by nobody else.
        let wrap = |id| unsafe { reply.wrap_backing(id) };
        passing.open(node, keeper, |file| reply.open_backing(file), wrap)
    });
    let flags = FopenFlags::empty();
    match passed.as_ref().and_then(Opened::id) {
        Some(id) => reply.created_passthrough(&TTL, attributes, GENERATION, handle, flags, id),
        None => reply.created(&TTL, attributes, GENERATION, handle, KEEP),
    }
}

/// A file that the kernel takes, as long as nobody can close it.
struct Opened<'a>(MutexGuard<'a, Known>, u64);

impl Opened<'_> {
    /// The number for the reply.
    fn id(&self) -> Option<&BackingId> {
        self.0.passed.get(&self.1).map(|passed| &passed.id)
    }
}
