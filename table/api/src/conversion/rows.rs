//! The columns of rows, whose values carry their types.

use aquifer_table_common::{Result, SchemaErrorKind, TableError};
use aquifer_types::{DataType, DataTypes, Field, LogicalType, Row, Value};

/// The columns of `rows`: types from their values, all nullable; names from the rows, else `f0, f1, ..`.
///
/// # Errors
/// `schema.invalid_schema` when there are no rows, when they differ in their number of fields or types, or when a
/// column is NULL in all of them.
pub(crate) fn row_fields(rows: &[Row]) -> Result<Vec<Field>> {
    let Some(first) = rows.first() else {
        return Err(invalid(
            "a stream without rows does not tell its columns".to_string(),
        ));
    };
    let mut types: Vec<DataType> = vec![DataTypes::null(); first.arity()];
    for (number, row) in rows.iter().enumerate() {
        if row.arity() != first.arity() {
            return Err(invalid(format!(
                "row {number} has {} fields, but the first one has {}",
                row.arity(),
                first.arity()
            )));
        }
        for (position, value) in row.fields().iter().enumerate() {
            let found = value_type(value);
            types[position] = merge(&types[position], &found).ok_or_else(|| {
                invalid(format!(
                    "field {position} of row {number} has type {found}, but it was {} before",
                    types[position]
                ))
            })?;
        }
    }
    let name = |position: usize| match first.names() {
        Some(names) => names[position].clone(),
        None => format!("f{position}"),
    };
    let fields =
        types
            .into_iter()
            .enumerate()
            .map(|(position, data_type)| match data_type.logical {
                LogicalType::Null => Err(invalid(format!(
                    "field {position} is NULL in all rows, so its type is not known"
                ))),
                _ => Ok(Field::new(name(position), data_type)),
            });
    fields.collect()
}

fn invalid(reason: String) -> TableError {
    let reason = format!("{reason}; name the columns and types with from_data_stream_with_schema");
    SchemaErrorKind::InvalidSchema { reason }.into()
}

/// The nullable type of a value, as the reference derives it from the classes of a row's fields.
fn value_type(value: &Value) -> DataType {
    match value {
        Value::Null => DataTypes::null(),
        Value::Boolean(_) => DataTypes::boolean(),
        Value::TinyInt(_) => DataTypes::tinyint(),
        Value::SmallInt(_) => DataTypes::smallint(),
        Value::Int(_) => DataTypes::int(),
        Value::BigInt(_) => DataTypes::bigint(),
        Value::Float(_) => DataTypes::float(),
        Value::Double(_) => DataTypes::double(),
        Value::Decimal(_) => DataTypes::decimal(38, 18),
        Value::String(_) => DataTypes::string(),
        Value::Bytes(_) => DataTypes::bytes(),
        Value::Date(_) => DataTypes::date(),
        Value::Time(_) => DataTypes::time(3),
        Value::Timestamp(_) => DataTypes::timestamp(9),
        Value::TimestampLtz(_) => DataTypes::timestamp_ltz(9),
        Value::IntervalYearMonth(_) => DataTypes::interval_year_month(),
        Value::IntervalDayTime(_) => DataTypes::interval_day_time(),
        Value::Array(elements) => DataTypes::array(merge_all(elements.iter())),
        Value::Map(entries) => DataTypes::map(
            merge_all(entries.iter().map(|(key, _)| key)).not_null(),
            merge_all(entries.iter().map(|(_, value)| value)),
        ),
        Value::Row(row) => DataTypes::row(row.fields().iter().enumerate().map(|(i, value)| {
            let name = row
                .names()
                .map_or_else(|| format!("f{i}"), |names| names[i].clone());
            Field::new(name, value_type(value))
        })),
    }
}

fn merge_all<'a>(values: impl Iterator<Item = &'a Value>) -> DataType {
    values
        .map(value_type)
        .fold(DataTypes::null(), |a, b| merge(&a, &b).unwrap_or(a))
}

/// The type of both, where NULL fits into any type; `None` when they differ.
fn merge(a: &DataType, b: &DataType) -> Option<DataType> {
    use LogicalType as T;
    let logical = match (&a.logical, &b.logical) {
        (T::Null, other) | (other, T::Null) => other.clone(),
        (T::Array(x), T::Array(y)) => T::Array(Box::new(merge(x, y)?)),
        (T::Map(k, v), T::Map(l, w)) => {
            T::Map(Box::new(merge(k, l)?.not_null()), Box::new(merge(v, w)?))
        }
        (T::Row(x), T::Row(y)) if x.len() == y.len() => T::Row(
            x.iter()
                .zip(y)
                .map(|(x, y)| Some(Field::new(&x.name, merge(&x.data_type, &y.data_type)?)))
                .collect::<Option<_>>()?,
        ),
        (x, y) if x == y => x.clone(),
        _ => return None,
    };
    Some(DataType::new(logical))
}
