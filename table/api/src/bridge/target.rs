//! The columns of a query as the fields of a stream's values.
//!
//! What does not match is refused when the program is planned, with the column's name; what a cast can match without
//! loss is cast in the query.

use std::any::TypeId;
use std::sync::Arc;

use aquifer_functions::ResolvedExpr;
use aquifer_runtime::StreamData;
use aquifer_table_common::operation::{ProjectQuery, QueryOperation};
use aquifer_table_common::{Result, SchemaErrorKind, ValidationErrorKind};
use aquifer_types::{DataType, Field, Row, supports_implicit_cast};

use super::columns::is_same_time;
use crate::conversion::RecordType;

/// How the columns of a query find the fields of a type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Matching {
    /// By name; columns without a field are left out.
    ByName,
    /// By position.
    ByPosition,
}

/// What a data stream of a query's result holds: rows, or values of a type that was matched with the columns.
pub(crate) struct Target {
    /// `None` for rows.
    pub(super) record: Option<RecordType>,
    /// The columns as they are read.
    pub(super) fields: Vec<Field>,
}

impl Target {
    /// Matches the query's columns with `T`; answers the query whose columns fit it.
    ///
    /// # Errors
    /// `schema.column_count`, `schema.type_mismatch`, `validation.unknown_column`, `schema.invalid_type`.
    pub(crate) fn matched<T: StreamData>(
        query: &Arc<QueryOperation>,
        matching: Matching,
    ) -> Result<(Self, Arc<QueryOperation>)> {
        if TypeId::of::<T>() == TypeId::of::<Row>() {
            return Ok((
                Target {
                    record: None,
                    fields: query.fields(),
                },
                Arc::clone(query),
            ));
        }
        let record = RecordType::of::<T>()?;
        let from = query.fields();
        let sources = match_columns(&record, &from, matching)?;
        let mut expressions = Vec::with_capacity(sources.len());
        let mut fields = Vec::with_capacity(sources.len());
        for (source, target) in sources.iter().zip(&record.fields) {
            let data_type = read_type(&record, &from[*source], target)?;
            let value = ResolvedExpr::input(*source, from[*source].data_type.clone());
            let is_same = data_type == from[*source].data_type;
            expressions.push(if is_same {
                value
            } else {
                value.cast(data_type.clone())?
            });
            fields.push(Field::new(&target.name, data_type));
        }
        let is_identity = expressions.len() == from.len()
            && expressions
                .iter()
                .enumerate()
                .all(|(index, e)| e.as_input() == Some(index));
        let matched = if is_identity {
            Arc::clone(query)
        } else {
            let query = ProjectQuery {
                expressions,
                fields: fields.clone(),
                input: Arc::clone(query),
            };
            Arc::new(QueryOperation::Project(query))
        };
        Ok((
            Target {
                record: Some(record),
                fields,
            },
            matched,
        ))
    }
}

/// The query with these columns: by name, cast where that loses nothing.
///
/// # Errors
/// `validation.unknown_column`, `schema.type_mismatch`.
pub(crate) fn columns_of(
    query: &Arc<QueryOperation>,
    wanted: &[Field],
) -> Result<Arc<QueryOperation>> {
    let from = query.fields();
    let mut expressions = Vec::with_capacity(wanted.len());
    for field in wanted {
        let Some(index) = from.iter().position(|column| column.name == field.name) else {
            return Err(ValidationErrorKind::UnknownColumn {
                column: field.name.clone(),
                tables: vec!["the query".to_string()],
                candidates: from.iter().map(|column| column.name.clone()).collect(),
            }
            .into());
        };
        let column = &from[index].data_type;
        let value = ResolvedExpr::input(index, column.clone());
        if column.logical != field.data_type.logical
            && !supports_implicit_cast(column, &field.data_type)
        {
            return Err(SchemaErrorKind::TypeMismatch {
                what: format!("column '{}' of the query", field.name),
                expected: field.data_type.to_string(),
                found: column.to_string(),
            }
            .into());
        }
        let is_same = column.logical == field.data_type.logical;
        expressions.push(if is_same {
            value
        } else {
            value.cast(field.data_type.clone())?
        });
    }
    let typed =
        |(field, e): (&Field, &ResolvedExpr)| Field::new(&field.name, e.data_type().clone());
    let fields = wanted.iter().zip(&expressions).map(typed).collect();
    Ok(Arc::new(QueryOperation::Project(ProjectQuery {
        expressions,
        fields,
        input: Arc::clone(query),
    })))
}

/// The query's column of each field.
fn match_columns(record: &RecordType, from: &[Field], matching: Matching) -> Result<Vec<usize>> {
    let by_name = |field: &Field| from.iter().position(|column| column.name == field.name);
    let is_numbered = record
        .fields
        .iter()
        .enumerate()
        .all(|(index, field)| field.name == format!("f{index}"));
    // The fields of tuples have no names of their own.
    let has_names = !is_numbered || record.fields.iter().all(|field| by_name(field).is_some());
    if matching == Matching::ByName && has_names {
        let find = |field: &Field| {
            by_name(field).ok_or_else(|| {
                ValidationErrorKind::UnknownColumn {
                    column: field.name.clone(),
                    tables: vec![format!("the query, but is a field of {}", record.rust_type)],
                    candidates: from.iter().map(|column| column.name.clone()).collect(),
                }
                .into()
            })
        };
        return record.fields.iter().map(find).collect();
    }
    if record.fields.len() != from.len() {
        return Err(SchemaErrorKind::ColumnCount {
            what: format!("a stream of {}", record.rust_type),
            expected: record.fields.len(),
            found: from.len(),
        }
        .into());
    }
    Ok((0..from.len()).collect())
}

/// The type in which a column is read as a field.
fn read_type(record: &RecordType, from: &Field, target: &Field) -> Result<DataType> {
    let (column, field) = (&from.data_type, &target.data_type);
    if column.to_arrow() == field.to_arrow() {
        return Ok(column.clone());
    }
    // Dates, times and decimals of Rust crates are text for serde, and so is a plain String.
    let reads_text =
        field.is_string() && (column.logical.is_datetime() || column.logical.is_decimal());
    if reads_text || is_same_time(&column.logical, &field.logical) {
        return Ok(column.clone());
    }
    let wanted = field.clone().with_nullable(column.nullable);
    if supports_implicit_cast(column, &wanted) {
        return Ok(wanted);
    }
    Err(SchemaErrorKind::TypeMismatch {
        what: format!(
            "column '{}' of the query, read as field '{}' of {},",
            from.name, target.name, record.rust_type
        ),
        expected: field.clone().with_nullable(true).to_string(),
        found: column.to_string(),
    }
    .into())
}
