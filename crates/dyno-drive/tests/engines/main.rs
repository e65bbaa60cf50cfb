//! The driver and the loader with every kind of target. One test binary: each takes a minute to
//! link.

mod machine;
mod mysql;
mod null;
mod postgres;
mod sqlite;
mod stalled;
