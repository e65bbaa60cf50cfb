//! Whole profiles. One test binary: each takes a while to link.

mod plans;
mod real;
mod simulated;
