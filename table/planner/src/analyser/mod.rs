//! Statements to operations: names, types and clauses are resolved here.
//!
//! One file per statement or clause. An [`Analyser`] works on one text; errors carry the place in
//! it. Whatever the grammar lets through and the engine does not offer is refused here by name,
//! so that nothing is silently ignored.
//!
//! Semantics: SQL:2016 and the reference's rules for types, nullability and names.

mod aggregate;
mod analyse;
mod begin;
mod call;
mod create_table;
mod create_view;
mod dsl;
mod expression;
mod from;
mod insert;
mod interval;
mod join;
mod literal;
mod query;
mod scope;
mod select;
mod set_operation;
mod statement;
mod sub_query;
mod table;
mod values;
mod window;

#[cfg(test)]
mod tests;

pub use analyse::Analyser;
pub use scope::{Relation, Scope};
