//! One value of any type, used where data enters or leaves and for literals.
//!
//! There is one variant per physical form. Values have a total order (NULL first, NaN last,
//! `-0.0` before `0.0`), so that they can be keys of maps. They print as Flink prints the fields
//! of a row.

mod convert;
mod display;
mod order;
mod serde_float;

use serde::{Deserialize, Serialize};

pub use display::{format_double, format_float};

use crate::decimal::Decimal;
use crate::row::Row;
use crate::temporal::Timestamp;

/// A value.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub enum Value {
    /// NULL of any type.
    #[default]
    Null,
    /// BOOLEAN.
    Boolean(bool),
    /// TINYINT.
    TinyInt(i8),
    /// SMALLINT.
    SmallInt(i16),
    /// INT.
    Int(i32),
    /// BIGINT.
    BigInt(i64),
    /// FLOAT.
    Float(#[serde(with = "serde_float")] f32),
    /// DOUBLE.
    Double(#[serde(with = "serde_float")] f64),
    /// DECIMAL.
    Decimal(Decimal),
    /// CHAR or VARCHAR.
    String(String),
    /// BINARY or VARBINARY.
    Bytes(Vec<u8>),
    /// DATE: days since 1970-01-01.
    Date(i32),
    /// TIME: milliseconds of the day.
    Time(i32),
    /// TIMESTAMP.
    Timestamp(Timestamp),
    /// TIMESTAMP_LTZ: an instant.
    TimestampLtz(Timestamp),
    /// INTERVAL YEAR TO MONTH: months.
    IntervalYearMonth(i32),
    /// INTERVAL DAY TO SECOND: milliseconds.
    IntervalDayTime(i64),
    /// ARRAY.
    Array(Vec<Value>),
    /// MAP, and MULTISET as element to INT count.
    Map(Vec<(Value, Value)>),
    /// ROW.
    Row(Box<Row>),
}

impl Value {
    /// Returns whether this is NULL.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns the name of the value's kind, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Boolean(_) => "BOOLEAN",
            Self::TinyInt(_) => "TINYINT",
            Self::SmallInt(_) => "SMALLINT",
            Self::Int(_) => "INT",
            Self::BigInt(_) => "BIGINT",
            Self::Float(_) => "FLOAT",
            Self::Double(_) => "DOUBLE",
            Self::Decimal(_) => "DECIMAL",
            Self::String(_) => "STRING",
            Self::Bytes(_) => "BYTES",
            Self::Date(_) => "DATE",
            Self::Time(_) => "TIME",
            Self::Timestamp(_) => "TIMESTAMP",
            Self::TimestampLtz(_) => "TIMESTAMP_LTZ",
            Self::IntervalYearMonth(_) => "INTERVAL YEAR TO MONTH",
            Self::IntervalDayTime(_) => "INTERVAL DAY TO SECOND",
            Self::Array(_) => "ARRAY",
            Self::Map(_) => "MAP",
            Self::Row(_) => "ROW",
        }
    }

    /// Returns the value of an integer of any width.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::TinyInt(v) => Some((*v).into()),
            Self::SmallInt(v) => Some((*v).into()),
            Self::Int(v) => Some((*v).into()),
            Self::BigInt(v) => Some(*v),
            _ => None,
        }
    }

    /// Returns the text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(v) => Some(v),
            _ => None,
        }
    }

    /// Returns the value of a boolean.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Boolean(v) => Some(*v),
            _ => None,
        }
    }
}
