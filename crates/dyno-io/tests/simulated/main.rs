//! Profiles on the null engine, whose answers can be worked out by hand.

// Plans are put together from temporaries.
#![allow(clippy::needless_pass_by_value)]

#[path = "../common/mod.rs"]
mod common;
mod known_answers;
mod load;
mod open_loop;
mod search;
