//! SQL in, rows out: whole programs over streams and tables.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod end_to_end;
mod errors;
mod memory;
mod model;
mod operators;
mod restore;
mod results;
mod statements;
mod streams;
mod support;
