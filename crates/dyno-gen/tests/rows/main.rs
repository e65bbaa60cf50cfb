//! Generated rows in every form. One test binary: linking one per file takes minutes.

mod arrow;
mod columns;
mod files;
mod parts;
mod refresh;
mod tpcc;
mod tpch;
