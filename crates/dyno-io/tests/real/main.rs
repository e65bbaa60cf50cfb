//! Real engines, files and devices. One program: linking one for each file takes minutes.

#[path = "../common/mod.rs"]
mod common;
mod engines;
mod faults;
mod targets;
mod volume;
