//! SQL parser, analyser, rewrite rules and exec graph.
//!
//! One statement's way: [`parser`] (text to AST) -> [`analyser`] (AST to operations, names and types
//! resolved) -> [`rules`] (operations rewritten) -> [`properties`] (which changes occur, which
//! columns are a key) -> [`exec`] (the execution plan, which is what is compiled, stored and
//! translated to pieces of a job). [`Planner`] runs them in this order; [`explain`] prints each.

pub mod analyser;
pub mod exec;
pub mod explain;
pub mod parser;
mod planner;
pub mod properties;
pub mod rules;
#[cfg(test)]
mod testing;

pub use exec::{ExecNodeGraph, TranslateContext, Translated};
pub use planner::Planner;
