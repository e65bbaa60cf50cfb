//! Real engines, files and devices.

mod engines;
mod faults;
mod targets;
mod volume;
