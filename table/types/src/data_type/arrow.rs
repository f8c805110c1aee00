//! Logical types to Arrow types and back.
//!
//! Arrow carries no nullability of ours: nested fields are always nullable there (but map keys),
//! so that two arrays of one logical kind always have equal Arrow types.

use std::sync::Arc;

use arrow_schema::{DataType as ArrowType, Field as ArrowField, Fields, IntervalUnit, TimeUnit};

use super::{DataType, Field, LogicalType, MAX_LENGTH};
use crate::error::{Result, TypesError};

impl DataType {
    /// Returns the Arrow type whose arrays hold this type's values.
    #[must_use]
    pub fn to_arrow(&self) -> ArrowType {
        self.logical.to_arrow()
    }
}

impl LogicalType {
    /// Returns the Arrow type whose arrays hold this type's values.
    #[must_use]
    pub fn to_arrow(&self) -> ArrowType {
        match self {
            Self::Char(_) | Self::VarChar(_) => ArrowType::Utf8,
            Self::Boolean => ArrowType::Boolean,
            Self::Binary(_) | Self::VarBinary(_) => ArrowType::Binary,
            Self::Decimal { precision, scale } => ArrowType::Decimal128(
                *precision,
                i8::try_from(*scale).expect("a scale is at most 38"),
            ),
            Self::TinyInt => ArrowType::Int8,
            Self::SmallInt => ArrowType::Int16,
            Self::Int => ArrowType::Int32,
            Self::BigInt => ArrowType::Int64,
            Self::Float => ArrowType::Float32,
            Self::Double => ArrowType::Float64,
            Self::Date => ArrowType::Date32,
            Self::Time(_) => ArrowType::Time32(TimeUnit::Millisecond),
            Self::Timestamp(p) => ArrowType::Timestamp(unit(*p), None),
            Self::TimestampLtz(p) => ArrowType::Timestamp(unit(*p), Some(Arc::from("UTC"))),
            Self::IntervalYearMonth => ArrowType::Interval(IntervalUnit::YearMonth),
            Self::IntervalDayTime => ArrowType::Duration(TimeUnit::Millisecond),
            Self::Array(element) => ArrowType::List(Arc::new(ArrowField::new_list_field(
                element.to_arrow(),
                true,
            ))),
            Self::Map(key, value) => map(key.to_arrow(), value.to_arrow()),
            Self::Multiset(element) => map(element.to_arrow(), ArrowType::Int32),
            Self::Row(fields) => ArrowType::Struct(
                fields
                    .iter()
                    .map(|f| ArrowField::new(&f.name, f.data_type.to_arrow(), true))
                    .collect::<Fields>(),
            ),
            Self::Null => ArrowType::Null,
        }
    }
}

fn unit(precision: u8) -> TimeUnit {
    if precision <= 6 {
        TimeUnit::Microsecond
    } else {
        TimeUnit::Nanosecond
    }
}

fn map(key: ArrowType, value: ArrowType) -> ArrowType {
    let entries = Fields::from(vec![
        ArrowField::new("keys", key, false),
        ArrowField::new("values", value, true),
    ]);
    ArrowType::Map(
        Arc::new(ArrowField::new(
            "entries",
            ArrowType::Struct(entries),
            false,
        )),
        false,
    )
}

/// Returns the nullable logical type of an Arrow type.
///
/// Lengths and multisets are not known to Arrow: text becomes STRING, binary BYTES, maps MAP.
///
/// # Errors
/// `types.unsupported_arrow_type` if no logical type has this physical form.
pub fn data_type_from_arrow(arrow_type: &ArrowType) -> Result<DataType> {
    let unsupported = || TypesError::UnsupportedArrowType {
        arrow_type: arrow_type.to_string(),
    };
    let logical = match arrow_type {
        ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View => {
            LogicalType::VarChar(MAX_LENGTH)
        }
        ArrowType::Boolean => LogicalType::Boolean,
        ArrowType::Binary | ArrowType::LargeBinary | ArrowType::BinaryView => {
            LogicalType::VarBinary(MAX_LENGTH)
        }
        ArrowType::Decimal128(precision, scale) => LogicalType::Decimal {
            precision: *precision,
            scale: u8::try_from(*scale).map_err(|_| unsupported())?,
        },
        ArrowType::Int8 => LogicalType::TinyInt,
        ArrowType::Int16 => LogicalType::SmallInt,
        ArrowType::Int32 => LogicalType::Int,
        ArrowType::Int64 => LogicalType::BigInt,
        ArrowType::Float32 => LogicalType::Float,
        ArrowType::Float64 => LogicalType::Double,
        ArrowType::Date32 => LogicalType::Date,
        ArrowType::Time32(TimeUnit::Second) => LogicalType::Time(0),
        ArrowType::Time32(_) => LogicalType::Time(3),
        ArrowType::Timestamp(unit, zone) => {
            let precision = match unit {
                TimeUnit::Second => 0,
                TimeUnit::Millisecond => 3,
                TimeUnit::Microsecond => 6,
                TimeUnit::Nanosecond => 9,
            };
            if zone.is_some() {
                LogicalType::TimestampLtz(precision)
            } else {
                LogicalType::Timestamp(precision)
            }
        }
        ArrowType::Interval(IntervalUnit::YearMonth) => LogicalType::IntervalYearMonth,
        ArrowType::Duration(_) => LogicalType::IntervalDayTime,
        ArrowType::List(field) | ArrowType::LargeList(field) => {
            LogicalType::Array(Box::new(field_type(field)?))
        }
        ArrowType::Map(entries, _) => match entries.data_type() {
            ArrowType::Struct(fields) if fields.len() == 2 => LogicalType::Map(
                Box::new(field_type(&fields[0])?),
                Box::new(field_type(&fields[1])?),
            ),
            _ => return Err(unsupported()),
        },
        ArrowType::Struct(fields) => LogicalType::Row(
            fields
                .iter()
                .map(|f| Ok(Field::new(f.name(), field_type(f)?)))
                .collect::<Result<_>>()?,
        ),
        ArrowType::Null => LogicalType::Null,
        _ => return Err(unsupported()),
    };
    Ok(DataType::new(logical))
}

fn field_type(field: &ArrowField) -> Result<DataType> {
    Ok(data_type_from_arrow(field.data_type())?.with_nullable(field.is_nullable()))
}
