//! Rewrites of the operation tree that keep its meaning and lower its cost.
//!
//! A rule is a unit struct with a name and one pure method; phases run in order, each until nothing
//! changes. Pruning runs once, from the root, because what a node must produce depends on all nodes
//! above it.

mod constant_folding;
mod expressions;
mod filter_push_down;
mod join_keys;
mod project_merge;
mod projection_pruning;
mod rule;

#[cfg(test)]
mod tests;

pub(crate) use expressions::conjuncts;
pub(crate) use join_keys::sides;
pub use rule::{PHASES, Phase, Rule, optimize};
