//! SQL text to statements: Flink's dialect on top of `sqlparser`.
//!
//! Queries and expressions are `sqlparser`'s AST, made with the dialect in `dialect.rs`.
//! Statements are Flink's own and have their own AST in `ast.rs`; each form is parsed from
//! `sqlparser`'s token stream in the file of its name. The parser knows no names and no types.

mod ast;
mod create_table;
mod create_view;
mod cursor;
mod data_type;
mod describe;
mod dialect;
mod drop;
mod error;
mod explain;
mod expression;
mod insert;
mod limits;
mod set;
mod show;
mod statement;
mod statement_set;
mod use_statement;

#[cfg(test)]
mod tests;

pub use ast::*;
pub use dialect::FlinkDialect;
pub use statement::{parse_expression, parse_statements};
