//! One value out of an Arrow column.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, DurationMillisecondType, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, IntervalYearMonthType, Time32MillisecondType,
    TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrowPrimitiveType};

use crate::data_type::{DataType, LogicalType};
use crate::decimal::Decimal;
use crate::row::Row;
use crate::temporal::Timestamp;
use crate::value::Value;

fn native<T: ArrowPrimitiveType>(column: &dyn Array, row: usize) -> T::Native {
    column.as_primitive::<T>().value(row)
}

fn timestamp(column: &dyn Array, row: usize, precision: u8) -> Timestamp {
    if precision <= 6 {
        Timestamp::from_micros(native::<TimestampMicrosecondType>(column, row))
    } else {
        Timestamp::from_nanos(native::<TimestampNanosecondType>(column, row))
    }
}

/// Returns the value of a column at a row.
///
/// # Panics
/// If the column is not of the type's Arrow form, or the row is beyond its end.
#[must_use]
pub fn column_value(column: &dyn Array, row: usize, data_type: &DataType) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    match &data_type.logical {
        LogicalType::Char(_) | LogicalType::VarChar(_) => {
            Value::String(column.as_string::<i32>().value(row).to_owned())
        }
        LogicalType::Boolean => Value::Boolean(column.as_boolean().value(row)),
        LogicalType::Binary(_) | LogicalType::VarBinary(_) => {
            Value::Bytes(column.as_binary::<i32>().value(row).to_vec())
        }
        LogicalType::Decimal { scale, .. } => {
            Value::Decimal(Decimal::new(native::<Decimal128Type>(column, row), *scale))
        }
        LogicalType::TinyInt => Value::TinyInt(native::<Int8Type>(column, row)),
        LogicalType::SmallInt => Value::SmallInt(native::<Int16Type>(column, row)),
        LogicalType::Int => Value::Int(native::<Int32Type>(column, row)),
        LogicalType::BigInt => Value::BigInt(native::<Int64Type>(column, row)),
        LogicalType::Float => Value::Float(native::<Float32Type>(column, row)),
        LogicalType::Double => Value::Double(native::<Float64Type>(column, row)),
        LogicalType::Date => Value::Date(native::<Date32Type>(column, row)),
        LogicalType::Time(_) => Value::Time(native::<Time32MillisecondType>(column, row)),
        LogicalType::Timestamp(p) => Value::Timestamp(timestamp(column, row, *p)),
        LogicalType::TimestampLtz(p) => Value::TimestampLtz(timestamp(column, row, *p)),
        LogicalType::IntervalYearMonth => {
            Value::IntervalYearMonth(native::<IntervalYearMonthType>(column, row))
        }
        LogicalType::IntervalDayTime => {
            Value::IntervalDayTime(native::<DurationMillisecondType>(column, row))
        }
        LogicalType::Array(element) => {
            let elements = column.as_list::<i32>().value(row);
            Value::Array(
                (0..elements.len())
                    .map(|i| column_value(&elements, i, element))
                    .collect(),
            )
        }
        LogicalType::Map(key, value) => map(column, row, key, value),
        LogicalType::Multiset(element) => {
            map(column, row, element, &DataType::new(LogicalType::Int))
        }
        LogicalType::Row(fields) => {
            let columns = column.as_struct().columns();
            let values = fields
                .iter()
                .zip(columns)
                .map(|(field, column)| column_value(column, row, &field.data_type))
                .collect();
            Value::from(Row::of(values))
        }
        LogicalType::Null => Value::Null,
    }
}

fn map(column: &dyn Array, row: usize, key: &DataType, value: &DataType) -> Value {
    let entries = column.as_map().value(row);
    let (keys, values) = (entries.column(0), entries.column(1));
    Value::Map(
        (0..entries.len())
            .map(|i| (column_value(keys, i, key), column_value(values, i, value)))
            .collect(),
    )
}
