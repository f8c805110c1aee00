//! Rust values to columns and back, by serde.
//!
//! A user derives `Serialize` and `Deserialize` and nothing else. The columns of a type are found by deserialising it
//! once from a tracer ([`RecordType::of`]): a struct gives one column per field, a tuple `f0, f1, ..`, any other
//! value a single column `f0`. [`ColumnWriter`] and [`ColumnReader`] convert batch by batch; [`row_fields`] finds the
//! columns of [`Row`](aquifer_types::Row)s, which carry their types in their values.
//!
//! The crate's documentation has the table of types.

mod flat_reader;
mod flat_writer;
mod record_type;
mod rows;
mod tracer;
mod values;

#[cfg(test)]
mod tests;

pub(crate) use record_type::RecordType;
pub(crate) use rows::row_fields;
pub(crate) use values::{ColumnReader, ColumnWriter};
