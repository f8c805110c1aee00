//! Built-in functions: signatures, kernels and the compiled expression evaluator.
//!
//! - [`expression`]: typed expressions, as the planner makes them and plans store them.
//! - [`definition`], [`signature`], [`scalar`]: what a function is, how its types are inferred, and
//!   the list of built-in ones.
//! - [`evaluator`]: expressions compiled once and run over Arrow columns.

pub mod aggregate;
mod cast;
pub mod column;
pub mod context;
pub mod definition;
mod error;
pub mod evaluator;
pub mod expression;
mod kernel;
pub mod scalar;
pub mod signature;

pub use column::Column;
pub use context::EvalContext;
pub use definition::{FunctionDefinition, Volatility};
pub use error::{FunctionError, Result};
pub use evaluator::{Evaluator, fold_constants};
pub use expression::ResolvedExpr;
pub use scalar::find_function;
