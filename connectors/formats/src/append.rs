//! Appends what a text says to a column.
//!
//! Nothing is appended when the text is no value of the column's type, so the caller chooses what
//! to do with the row.

use aquifer_types::{ColumnBuilder, ColumnParts, LogicalType};
use arrow_array::builder::ArrayBuilder as _;

use crate::base64;
use crate::text;

/// Why a text is no value of a column.
pub(crate) type Reason = String;

/// Appends the value of `text`, which is not NULL. Blanks around anything but a string are ignored.
#[inline]
pub(crate) fn push_text(column: &mut ColumnBuilder, text: &[u8]) -> Result<(), Reason> {
    let (data_type, parts) = column.parts_mut();
    let trimmed = || text.trim_ascii();
    macro_rules! push {
        ($builder:expr, $value:expr) => {
            $value.map(|value| $builder.append_value(value))
        };
    }
    macro_rules! push_integer {
        ($builder:expr) => {
            push!(
                $builder,
                text::parse_i64(trimmed()).and_then(|value| value.try_into().ok())
            )
        };
    }
    let pushed = match parts {
        ColumnParts::String(builder) => match std::str::from_utf8(text) {
            Ok(text) => {
                builder.append_value(text);
                Some(())
            }
            Err(error) => {
                let at = error.valid_up_to();
                return Err(format!("the text is not valid UTF-8 at its byte {at}"));
            }
        },
        ColumnParts::BigInt(builder) => push_integer!(builder),
        ColumnParts::Int(builder) => push_integer!(builder),
        ColumnParts::SmallInt(builder) => push_integer!(builder),
        ColumnParts::TinyInt(builder) => push_integer!(builder),
        ColumnParts::Months(builder) => push_integer!(builder),
        ColumnParts::Millis(builder) => push_integer!(builder),
        ColumnParts::Double(builder) => push!(builder, text::parse_f64(trimmed())),
        ColumnParts::Float(builder) => push!(builder, text::parse_f32(trimmed())),
        ColumnParts::Decimal(builder) => {
            let LogicalType::Decimal { precision, scale } = data_type.logical else {
                unreachable!("a decimal column is of type DECIMAL")
            };
            push!(builder, text::parse_decimal(trimmed(), precision, scale))
        }
        ColumnParts::Boolean(builder) => push!(builder, text::parse_bool(trimmed())),
        ColumnParts::Bytes(builder) => push!(builder, base64::decode(trimmed())),
        ColumnParts::Date(builder) => push!(builder, text::parse_date(trimmed())),
        ColumnParts::Time(builder) => push!(builder, text::parse_time(trimmed())),
        ColumnParts::Micros(builder) => {
            let value = timestamp(&data_type.logical, trimmed());
            push!(builder, value.map(|value| value.to_micros()))
        }
        ColumnParts::Nanos(builder) => {
            let value = timestamp(&data_type.logical, trimmed());
            push!(builder, value.and_then(|value| value.to_nanos().ok()))
        }
        ColumnParts::List { .. }
        | ColumnParts::Map { .. }
        | ColumnParts::Struct { .. }
        | ColumnParts::Null(_) => None,
    };
    pushed.ok_or_else(|| format!("not a value of type {data_type}"))
}

fn timestamp(logical: &LogicalType, text: &[u8]) -> Option<aquifer_types::Timestamp> {
    match logical {
        LogicalType::Timestamp(precision) => {
            text::parse_timestamp(text).map(|value| value.truncate(*precision))
        }
        LogicalType::TimestampLtz(precision) => {
            text::parse_timestamp_ltz(text).map(|value| value.truncate(*precision))
        }
        _ => None,
    }
}

/// Appends NULL where the type allows it.
#[inline]
pub(crate) fn push_null(column: &mut ColumnBuilder) -> Result<(), Reason> {
    let data_type = column.data_type();
    if !data_type.nullable && data_type.logical != LogicalType::Null {
        return Err(format!("NULL is not a value of type {data_type}"));
    }
    column.push_null();
    Ok(())
}

/// Appends NULLs up to `rows` values, also inside a nested column of which a part was appended.
/// The last row is then without meaning; it is one that will be thrown away.
pub(crate) fn settle(column: &mut ColumnBuilder, rows: usize) {
    let length = column.len();
    match column.parts_mut().1 {
        ColumnParts::Struct { nulls, fields } => {
            fields.iter_mut().for_each(|field| settle(field, rows));
            (length..rows).for_each(|_| nulls.append_null());
        }
        ColumnParts::List {
            offsets,
            nulls,
            element,
        } => {
            let elements = longest(element);
            settle(element, elements);
            for _ in length..rows {
                offsets.push(offset(elements));
                nulls.append_null();
            }
        }
        ColumnParts::Map {
            offsets,
            nulls,
            key,
            value,
        } => {
            let entries = longest(key).max(longest(value));
            settle_keys(key, entries);
            settle(value, entries);
            for _ in length..rows {
                offsets.push(offset(entries));
                nulls.append_null();
            }
        }
        _ => (length..rows).for_each(|_| column.push_null()),
    }
}

/// As [`settle`] for keys, which are strings and never NULL.
fn settle_keys(column: &mut ColumnBuilder, rows: usize) {
    if let ColumnParts::String(keys) = column.parts_mut().1 {
        (keys.len()..rows).for_each(|_| keys.append_value(""));
    }
}

/// The number of values of a column of whose last value only a part may be there.
fn longest(column: &mut ColumnBuilder) -> usize {
    let length = column.len();
    match column.parts_mut().1 {
        ColumnParts::Struct { fields, .. } => {
            fields.iter_mut().map(longest).fold(length, usize::max)
        }
        _ => length,
    }
}

/// A position among elements as Arrow stores it.
pub(crate) fn offset(elements: usize) -> i32 {
    i32::try_from(elements).expect("a decoder is drained long before 2^31 elements")
}
