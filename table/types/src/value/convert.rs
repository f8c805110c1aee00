//! Rust values to [`Value`] and back.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, Timelike, Utc};

use super::Value;
use crate::decimal::Decimal;
use crate::error::TypesError;
use crate::row::Row;
use crate::temporal::{Timestamp, days_from_civil};

macro_rules! convert {
    ($($rust:ty => $variant:ident),+ $(,)?) => {$(
        impl From<$rust> for Value {
            fn from(value: $rust) -> Self {
                Self::$variant(value)
            }
        }

        impl TryFrom<Value> for $rust {
            type Error = TypesError;

            fn try_from(value: Value) -> Result<Self, TypesError> {
                match value {
                    Value::$variant(v) => Ok(v),
                    other => Err(mismatch(&other, stringify!($rust))),
                }
            }
        }
    )+};
}

convert! {
    bool => Boolean,
    i8 => TinyInt,
    i16 => SmallInt,
    i32 => Int,
    i64 => BigInt,
    f32 => Float,
    f64 => Double,
    Decimal => Decimal,
    String => String,
    Vec<u8> => Bytes,
    Timestamp => Timestamp,
    Vec<Value> => Array,
    Vec<(Value, Value)> => Map,
}

fn mismatch(value: &Value, rust: &str) -> TypesError {
    TypesError::ValueMismatch {
        value: value.to_string(),
        kind: value.kind(),
        data_type: format!("of Rust's {rust}"),
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::String(value.to_owned())
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Bytes(value.to_vec())
    }
}

impl From<Row> for Value {
    fn from(value: Row) -> Self {
        Self::Row(Box::new(value))
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl From<NaiveDate> for Value {
    fn from(value: NaiveDate) -> Self {
        // chrono's years stay within +-262143, which 32 bits of days hold.
        Self::Date(days_from_civil(value.year().into(), value.month(), value.day()) as i32)
    }
}

impl From<NaiveTime> for Value {
    fn from(value: NaiveTime) -> Self {
        let millis = value.num_seconds_from_midnight() * 1000 + value.nanosecond() / 1_000_000;
        Self::Time(millis as i32)
    }
}

impl From<NaiveDateTime> for Value {
    fn from(value: NaiveDateTime) -> Self {
        Self::Timestamp(from_utc(value.and_utc()))
    }
}

impl From<DateTime<Utc>> for Value {
    fn from(value: DateTime<Utc>) -> Self {
        Self::TimestampLtz(from_utc(value))
    }
}

fn from_utc(value: DateTime<Utc>) -> Timestamp {
    Timestamp::from_parts(value.timestamp_micros(), (value.nanosecond() % 1000) as u16)
}

impl TryFrom<Value> for Row {
    type Error = TypesError;

    fn try_from(value: Value) -> Result<Self, TypesError> {
        match value {
            Value::Row(row) => Ok(*row),
            other => Err(mismatch(&other, "Row")),
        }
    }
}
