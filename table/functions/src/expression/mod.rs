//! Typed expressions: what the planner makes and the evaluator runs.
//!
//! Every node knows its type. Columns are referenced by index, functions by name, so that an
//! expression serialises and is stable in plans. Make calls, casts and conditions with the
//! constructors here: they infer types and insert the implicit casts.

mod build;
mod display;
mod resolved;
mod visit;

pub(crate) use build::join_types;
pub use display::DisplayWith;
pub use resolved::ResolvedExpr;
pub(crate) use visit::with_stack;
