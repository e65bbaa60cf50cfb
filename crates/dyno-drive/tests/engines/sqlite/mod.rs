//! The loader and the driver with real `SQLite` files.

mod file;
mod loads;
mod runs;
