//! The columns that a stream is declared to have, and those that it has.

use aquifer_runtime::RuntimeError;
use aquifer_table_common::schema::{UnresolvedColumn, UnresolvedColumnKind};
use aquifer_table_common::{
    ColumnKind, ResolvedSchema, Result, Schema, SchemaErrorKind, ValidationErrorKind,
};
use aquifer_types::{DataType, Field, LogicalType, supports_implicit_cast};
use arrow_array::{Array, ArrayRef};

use crate::conversion::RecordType;

/// The metadata column that holds the records' timestamps.
const ROWTIME: &str = "rowtime";

/// Where a column comes from, physically.
#[derive(Clone)]
pub(super) struct SourceColumn {
    /// The index among the record's fields; `None` for the timestamp.
    pub(super) field: Option<usize>,
    /// The column as the step gives it.
    pub(super) column: Field,
}

/// Puts the fields in front of the declared columns, if none of those is physical.
pub(crate) fn derive_columns(schema: &mut Schema, fields: &[Field]) {
    let is_physical = |c: &UnresolvedColumn| matches!(c.kind, UnresolvedColumnKind::Physical(_));
    if !schema.columns.iter().any(is_physical) {
        schema
            .columns
            .splice(0..0, Schema::from_fields(fields.iter().cloned()).columns);
    }
}

/// Where each physical and metadata column comes from.
pub(super) fn source_columns(
    schema: &ResolvedSchema,
    fields: &[Field],
    is_row: bool,
) -> Result<Vec<SourceColumn>> {
    let mut sources = Vec::new();
    for column in &schema.columns {
        let declared = Field::new(&column.name, column.data_type.clone());
        match &column.kind {
            ColumnKind::Computed(_) => {}
            ColumnKind::Metadata { key, .. } => sources.push(timestamp_column(key, declared)?),
            ColumnKind::Physical => {
                let Some(index) = fields.iter().position(|field| field.name == column.name) else {
                    return Err(ValidationErrorKind::UnknownColumn {
                        column: column.name.clone(),
                        tables: vec!["the data stream".to_string()],
                        candidates: fields.iter().map(|field| field.name.clone()).collect(),
                    }
                    .into());
                };
                let column = if is_row {
                    declared
                } else {
                    nearest(&fields[index], &declared)?
                };
                sources.push(SourceColumn {
                    field: Some(index),
                    column,
                });
            }
        }
    }
    Ok(sources)
}

fn timestamp_column(key: &str, declared: Field) -> Result<SourceColumn> {
    if key != ROWTIME {
        let reason = format!(
            "a data stream offers no metadata '{key}' for column '{}'; it offers '{ROWTIME}'",
            declared.name
        );
        return Err(SchemaErrorKind::InvalidSchema { reason }.into());
    }
    match declared.data_type.logical {
        LogicalType::Timestamp(_) | LogicalType::TimestampLtz(_) => Ok(SourceColumn {
            field: None,
            column: declared,
        }),
        _ => Err(SchemaErrorKind::TypeMismatch {
            what: format!("metadata column '{}'", declared.name),
            expected: "TIMESTAMP_LTZ(3)".to_string(),
            found: declared.data_type.to_string(),
        }
        .into()),
    }
}

/// The physical column nearest to the declaration that the field's values can be read as.
fn nearest(field: &Field, declared: &Field) -> Result<Field> {
    let (from, to) = (&field.data_type, &declared.data_type);
    if from.to_arrow() == to.to_arrow() || reads_text(&from.logical, &to.logical) {
        return Ok(declared.clone());
    }
    if supports_implicit_cast(&from.clone().not_null(), to) {
        return Ok(Field::new(&field.name, from.clone()));
    }
    Err(SchemaErrorKind::TypeMismatch {
        what: format!("field '{}' of the data stream", field.name),
        expected: to.to_string(),
        found: from.to_string(),
    }
    .into())
}

/// Whether values that serde gives as text can be read as the declared type.
fn reads_text(from: &LogicalType, to: &LogicalType) -> bool {
    if from.is_string() {
        to.is_datetime() || to.is_decimal()
    } else {
        is_same_time(from, to)
    }
}

/// Whether both are dates, times, timestamps or instants, of whatever precision.
pub(super) fn is_same_time(a: &LogicalType, b: &LogicalType) -> bool {
    a.is_datetime() && std::mem::discriminant(a) == std::mem::discriminant(b)
}

/// The types in which the record's columns are written; those that are not read keep their own.
pub(super) fn physical_types(record: &RecordType, columns: &[SourceColumn]) -> Vec<DataType> {
    let mut types = record.types();
    for source in columns {
        if let Some(field) = source.field {
            types[field].clone_from(&source.column.data_type);
        }
    }
    types
}

/// The columns that were declared NOT NULL.
#[derive(Clone)]
pub(super) struct Checks {
    not_null: Vec<(usize, String)>,
}

impl Checks {
    pub(super) fn new(columns: &[SourceColumn]) -> Self {
        let not_null = columns
            .iter()
            .enumerate()
            .filter(|(_, source)| !source.column.data_type.nullable);
        Checks {
            not_null: not_null
                .map(|(index, source)| (index, source.column.name.clone()))
                .collect(),
        }
    }

    pub(super) fn check(&self, columns: &[ArrayRef]) -> aquifer_runtime::Result<()> {
        match self
            .not_null
            .iter()
            .find(|(index, _)| columns[*index].null_count() > 0)
        {
            Some((_, name)) => Err(RuntimeError::user(format!(
                "column '{name}' of a data stream is NULL, but was declared NOT NULL"
            ))),
            None => Ok(()),
        }
    }
}
