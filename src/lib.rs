//! Streams and tables from one source: a stream processor with Flink's programming model on timely dataflow.
//!
//! This package brings the others together: [`prelude`] has what a program needs; [`runtime`] has the rest of the
//! DataStream layer, [`table`], [`table_common`] and [`types`] that of the table layer, [`connectors`] the built-in
//! connectors. `README.md` has recipes, and `examples/` whole programs.

pub mod prelude;
mod tables;

pub use aquifer_connectors as connectors;
pub use aquifer_runtime as runtime;
pub use aquifer_table as table;
pub use aquifer_table_common as table_common;
pub use aquifer_types as types;
pub use tables::{StreamTableEnvironment, TableEnvironment};

/// The programs of the README, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
