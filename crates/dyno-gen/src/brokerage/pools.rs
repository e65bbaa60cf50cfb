//! Dyno's own pools of names and words. Lists of names begin with the most frequent ones.

pub(super) mod companies;
pub(super) mod names;
pub(super) mod news;
pub(super) mod places;
