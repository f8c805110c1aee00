//! Logical types: what a column means, with nullability.
//!
//! A [`DataType`] is one of Flink's logical types ([`LogicalType`]) and whether NULL is allowed.
//! It prints as Flink prints it, parses from the same text ([`std::str::FromStr`]), serialises
//! as that text, and maps to one Arrow type ([`DataType::to_arrow`]).

mod arrow;
mod builders;
mod display;
mod logical;
mod parse;

pub use arrow::data_type_from_arrow;
pub use builders::DataTypes;
pub use logical::{DataType, Field, LogicalType, MAX_LENGTH, MAX_PRECISION_DECIMAL};
