//! Expressions as a program writes them, before names and types are resolved.

mod dsl;
mod expr;

pub use dsl::{call, col, lit, row, sql};
pub use expr::{Expr, Literal};
