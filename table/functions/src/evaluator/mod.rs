//! Expressions compiled once and run over columns.
//!
//! [`Evaluator::compile`] folds constants, turns equal sub-expressions into one node and binds
//! each call to a kernel. [`Evaluator::evaluate`] runs the nodes over the columns of one batch:
//! each at most once, scalars as scalars. Conditions are three-valued. CASE, COALESCE, AND and OR
//! evaluate a part that could fail only on the rows that need it; parts that cannot fail run on
//! all rows, because that is faster than selecting rows.

mod compile;
mod fold;
mod frame;
mod program;

pub use fold::fold_constants;
pub use program::Evaluator;

#[cfg(test)]
mod tests;
