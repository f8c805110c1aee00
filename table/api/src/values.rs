//! Tables of values in the program.

use aquifer_functions::ResolvedExpr;
use aquifer_table_common::operation::{QueryOperation, ValuesQuery};
use aquifer_table_common::{Result, SchemaErrorKind};
use aquifer_types::{DataType, DataTypes, Field, LogicalType, Row, Value, find_common_type};

/// What can be a row of [`from_values`](crate::TableEnvironment::from_values): a [`Row`], a tuple, a single value.
pub trait IntoValuesRow {
    /// The row's values.
    fn into_values_row(self) -> Vec<Value>;
}

impl IntoValuesRow for Row {
    fn into_values_row(self) -> Vec<Value> {
        self.into_fields()
    }
}

impl IntoValuesRow for Vec<Value> {
    fn into_values_row(self) -> Vec<Value> {
        self
    }
}

macro_rules! single {
    ($($value:ty),+) => {$(
        impl IntoValuesRow for $value {
            fn into_values_row(self) -> Vec<Value> {
                vec![self.into()]
            }
        }
    )+};
}
single!(bool, i8, i16, i32, i64, f32, f64, &str, String);

macro_rules! tuple {
    ($($name:ident $index:tt),+) => {
        impl<$($name: Into<Value>),+> IntoValuesRow for ($($name,)+) {
            fn into_values_row(self) -> Vec<Value> {
                vec![$(self.$index.into()),+]
            }
        }
    };
}
tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);

/// The query of rows of values.
pub(crate) fn values_query(rows: Vec<Vec<Value>>) -> Result<QueryOperation> {
    let Some(width) = rows.first().map(Vec::len).filter(|width| *width > 0) else {
        let reason = "a table of values needs at least one row with one value".to_string();
        return Err(SchemaErrorKind::InvalidSchema { reason }.into());
    };
    if let Some(row) = rows.iter().find(|row| row.len() != width) {
        return Err(SchemaErrorKind::ColumnCount {
            what: "a row of values".to_string(),
            expected: width,
            found: row.len(),
        }
        .into());
    }
    let literals: Vec<Vec<ResolvedExpr>> = rows
        .into_iter()
        .map(|row| row.into_iter().map(ResolvedExpr::literal).collect())
        .collect();
    let types = (0..width)
        .map(|column| column_type(&literals, column))
        .collect::<Result<Vec<DataType>>>()?;
    let cast = |row: Vec<ResolvedExpr>| {
        let values = row.into_iter().zip(&types);
        values
            .map(|(value, to)| Ok(value.cast(to.clone())?))
            .collect::<Result<Vec<ResolvedExpr>>>()
    };
    let rows = literals.into_iter().map(cast).collect::<Result<_>>()?;
    let fields = types
        .iter()
        .enumerate()
        .map(|(i, data_type)| Field::new(format!("f{i}"), data_type.clone()));
    Ok(QueryOperation::Values(ValuesQuery {
        rows,
        fields: fields.collect(),
    }))
}

fn column_type(rows: &[Vec<ResolvedExpr>], column: usize) -> Result<DataType> {
    let types: Vec<DataType> = rows
        .iter()
        .map(|row| row[column].data_type().clone())
        .collect();
    match find_common_type(&types) {
        // Texts of a program are STRING, not CHAR of their length.
        Some(common) if common.is_string() => {
            Ok(DataTypes::string().with_nullable(common.nullable))
        }
        Some(common) if common.logical == LogicalType::Null => Ok(DataTypes::string()),
        Some(common) => Ok(common),
        None => {
            let mut names: Vec<String> = types.iter().map(ToString::to_string).collect();
            names.dedup();
            Err(SchemaErrorKind::NoCommonType {
                what: format!("the values of column 'f{column}'"),
                types: names.join(", "),
            }
            .into())
        }
    }
}
