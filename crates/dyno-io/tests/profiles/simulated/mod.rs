//! Profiles on the null engine, with results that can be computed by hand.

// Tests build plans from temporaries.
#![allow(clippy::needless_pass_by_value)]

mod known_answers;
mod load;
mod open_loop;
mod search;
