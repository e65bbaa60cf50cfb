//! Generated rows in every form. One test binary: linking one per file takes minutes.

mod arrow;
mod brokerage;
mod ch;
mod columns;
mod files;
mod parts;
mod refresh;
mod table;
mod tpcc;
mod tpch;
