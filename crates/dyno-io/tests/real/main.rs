//! Real engines, files and devices. One test binary: linking one per file takes minutes.

#[path = "../common/mod.rs"]
mod common;
mod engines;
mod faults;
mod targets;
mod volume;
