//! The attachment: the origin's folder mounted over itself, with a cache in front.
//!
//! A supervisor mounts, holds the mount, and starts a daemon, which serves the kernel's requests
//! until the mount ends ([`serve`]). If the daemon dies, the supervisor starts another: requests
//! wait meanwhile, and those that were not answered are sent again.
//!
//! [`volume`] and its operations know neither FUSE nor the flash device; [`fuse`] translates, and
//! [`crate::flash`] keeps blocks.

mod aside;
mod attributes;
mod beginning;
mod content;
mod daemon;
mod files;
mod fuse;
mod handles;
mod keeper;
mod kinds;
mod names;
mod nodes;
mod passing;
mod recording;
mod replies;
mod sequence;
mod volume;

pub use daemon::{Plan, serve};
pub use kinds::{Action, Rule, glob_fault};
