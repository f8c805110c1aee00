//! Where streams become tables and tables become streams.
//!
//! Both directions are pieces of the job beside the planner's: a stateless step from values to
//! [`ChangeBatch`](aquifer_types::ChangeBatch)es ([`input`]), and a step or, where an epoch's changes must be netted
//! and ordered, an operator back ([`output`]). [`columns`] and [`target`] match what is declared with what is there. The planner sees the ports between them.

pub(crate) mod columns;
pub(crate) mod input;
pub(crate) mod output;
mod rows;
pub(crate) mod target;
