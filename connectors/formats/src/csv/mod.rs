//! Comma separated values.
//!
//! Records end with a line end; a quoted field may hold any byte. Columns are found by position.
//! Semantics are those of Flink's `csv` format, with these differences: a record that is not valid
//! is skipped as a whole by `ignore-parse-errors` and counted (Flink fills the fields with NULL);
//! `true` and `false` are the only booleans (Flink takes all else for FALSE); and `header` is new.
//!
//! An empty field is NULL, but an empty string in a column of strings unless `null-literal` is
//! empty. A NULL is written as the null literal, or as an empty field.

mod decoder;
mod encoder;
mod factory;
mod options;
mod scanner;
#[cfg(test)]
mod tests;

pub use factory::CsvFormatFactory;
