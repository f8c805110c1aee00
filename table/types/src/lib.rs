//! Logical types, values, rows and columnar change batches: what all table packages share.
//!
//! - [`DataType`] says what a column means; it prints and parses as Flink's type strings and maps
//!   to one Arrow type.
//! - [`Value`] and [`Row`] are single values and records, used where data enters or leaves.
//! - [`ChangeBatch`] holds many rows as Arrow columns with a signed weight per row; everything
//!   between the borders is in this form.
//! - [`decimal`] and [`temporal`] hold the arithmetic and text forms that Arrow lacks.

pub mod batch;
pub mod cast;
pub mod data_type;
pub mod decimal;
mod error;
mod row;
mod row_kind;
pub mod temporal;
mod value;

pub use batch::{
    ChangeBatch, ChangeBatchBuilder, ChangeBatchCodec, ColumnBuilder, ColumnParts, column_value,
    scalar_array,
};
pub use cast::{find_common_type, supports_explicit_cast, supports_implicit_cast};
pub use data_type::{DataType, DataTypes, Field, LogicalType, data_type_from_arrow};
pub use decimal::Decimal;
pub use error::{Result, TypesError};
pub use row::Row;
pub use row_kind::{ChangelogMode, ChangelogModeBuilder, RowKind};
pub use temporal::Timestamp;
pub use value::{Value, format_double, format_float};
