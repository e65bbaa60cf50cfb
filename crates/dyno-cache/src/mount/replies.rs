//! What requests mean, and how replies are made.

use super::names::Caller;
use super::nodes::Node;
use fuser::{
    Errno, FileAttr, FopenFlags, Generation, ReplyAttr, ReplyData, ReplyEmpty, ReplyWrite,
    ReplyXattr, Request,
};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Nobody else changes the files, so the kernel may remember them.
pub const TTL: Duration = Duration::from_secs(3600);
/// Numbers of files that are gone are given again only after the kernel forgot them.
pub const GENERATION: Generation = Generation(0);
/// A request that an earlier daemon received too has this bit in its number.
const AGAIN: u64 = 1 << 63;
const MAX_ATTRIBUTE: usize = 1 << 16;

/// The kernel keeps what it read of a file that is opened again.
pub const KEEP: FopenFlags =
    FopenFlags::FOPEN_KEEP_CACHE.union(FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES);

/// Asks to cache a range of an open file: `_IOW('D', 1, [u64; 2])` with its offset and size.
pub const PREWARM: u32 = 0x4010_4401;

/// Asks for a checkpoint: `_IO('D', 2)`, on the folder that is mounted, by root or the daemon's user.
pub const CHECKPOINT: u32 = 0x4402;

/// Whether root or the daemon's user asks.
pub fn own(request: &Request) -> bool {
    [0, rustix::process::geteuid().as_raw()].contains(&request.uid())
}

/// The offset and size of a range.
pub fn range(data: &[u8]) -> Option<(u64, usize)> {
    let (offset, size) = (data.get(..8)?.try_into().ok()?, data.get(8..16)?.try_into().ok()?);
    let (offset, size) = (u64::from_le_bytes(offset), u64::from_le_bytes(size));
    (offset < 1 << 50).then_some((offset, size.min(1 << 20) as usize))
}

/// Who asks.
pub fn caller(request: &Request) -> Caller {
    Caller { uid: request.uid(), gid: request.gid(), again: request.unique().0 & AGAIN != 0 }
}

/// Replies to what returns nothing.
pub fn empty(done: io::Result<()>, reply: ReplyEmpty) {
    match done {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error.into()),
    }
}

/// Replies with data.
pub fn data(read: io::Result<impl AsRef<[u8]>>, reply: ReplyData) {
    match read {
        Ok(found) => reply.data(found.as_ref()),
        Err(error) => reply.error(error.into()),
    }
}

/// Replies to a write.
pub fn written(done: io::Result<usize>, reply: ReplyWrite) {
    match done {
        Ok(count) => reply.written(count as u32),
        Err(error) => reply.error(error.into()),
    }
}

/// Replies with attributes.
pub fn found(found: io::Result<FileAttr>, reply: ReplyAttr) {
    match found {
        Ok(attributes) => reply.attr(&TTL, &attributes),
        Err(error) => reply.error(error.into()),
    }
}

/// Replies with an extended attribute, or the list of their names, or with its length if `size` is 0.
pub fn extended(
    size: u32,
    node: io::Result<Arc<Node>>,
    read: impl FnOnce(&Node, &mut [u8]) -> rustix::io::Result<usize>,
    reply: ReplyXattr,
) {
    let mut value = vec![0; MAX_ATTRIBUTE];
    match node.and_then(|node| Ok(read(&node, &mut value)?)) {
        Ok(length) if size == 0 => reply.size(length as u32),
        Ok(length) if length > size as usize => reply.error(Errno::ERANGE),
        Ok(length) => reply.data(&value[..length]),
        Err(error) => reply.error(error.into()),
    }
}
