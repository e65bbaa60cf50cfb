//! The measured part of a step.

/// The measured window on the engine's clock: I/Os that end after `start_ns`, up to `end_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}
