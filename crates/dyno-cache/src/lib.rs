//! The accelerator: which blocks a flash cache should keep, and how much that would help.
//!
//! [`policy`] decides which blocks are kept, knows nothing of devices, and is the same in the
//! simulator and in the cache. [`replay`] runs a trace through policies, [`shards`] computes the
//! miss ratio of every cache size from a sample of a trace. [`flash`] keeps blocks on a device.
//! [`mount`] puts such a cache in front of a folder.

pub mod flash;
mod hash;
pub mod mount;
pub mod policy;
pub mod replay;
pub mod shards;
mod sketch;
