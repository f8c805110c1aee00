//! JSON, one object a line.
//!
//! Columns are found by name; names are compared exactly. A decoder goes over the text once and
//! appends to the columns as it meets them. Semantics are those of Flink's `json` format, with these
//! differences: a record that is not valid is skipped as a whole by `ignore-parse-errors` and counted
//! (Flink fills the fields with NULL); reading takes both timestamp standards; a name that occurs
//! twice in one object is an error; decimal numbers keep all their digits.

mod decoder;
mod encoder;
mod factory;
mod options;
mod scanner;
#[cfg(test)]
mod tests;

pub use factory::JsonFormatFactory;
