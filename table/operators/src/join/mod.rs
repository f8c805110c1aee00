//! Joins.

mod operator;
mod side;

pub use operator::{JoinInput, JoinOperator, JoinType};
