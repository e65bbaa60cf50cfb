//! The generated rows, in every form. One program: linking one for each file takes minutes.

mod arrow;
mod columns;
mod files;
mod parts;
mod refresh;
mod tpcc;
mod tpch;
