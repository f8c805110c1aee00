//! INSERT INTO: the query's columns become the table's.

use std::sync::Arc;

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::catalog::{CatalogBaseTable, CatalogTable};
use aquifer_table_common::operation::{ModifyOperation, ProjectQuery, QueryOperation, SinkTable};
use aquifer_table_common::{
    CatalogError, ObjectIdentifier, Result, SchemaErrorKind, TableError, TextPosition,
    UnresolvedIdentifier, ValidationErrorKind,
};
use aquifer_types::{DataType, Field, supports_implicit_cast};
use sqlparser::ast::Ident;

use super::Analyser;
use crate::parser::Insert;

impl Analyser<'_> {
    pub(super) fn insert(&self, insert: &Insert) -> Result<ModifyOperation> {
        let place = self.location(insert.target.location);
        let path =
            UnresolvedIdentifier::of(insert.target.names()).map_err(|e| e.at(place.clone()))?;
        let found = self
            .catalogs
            .resolve_in(&path, &self.catalog, &self.database)
            .map_err(|e| e.at(place.clone()))?;
        let CatalogBaseTable::Table(table) = &found.table else {
            return Err(CatalogError::WrongKind {
                path: found.identifier.to_string(),
                expected: "table",
                found: "view",
            }
            .into());
        };
        if let Some((column, _)) = insert.partition.first() {
            return Err(self.unsupported("PARTITION in INSERT", column.span));
        }
        let query = self.query(&insert.query)?;
        let columns = insert.columns.as_deref();
        self.sink(
            &found.identifier,
            table,
            true,
            query,
            columns,
            insert.overwrite,
            place,
        )
    }

    /// Writes a query to a table: columns by position, with implicit casts.
    ///
    /// # Errors
    /// Another number of columns, types that do not fit, what is wrong with the table.
    pub fn insert_into(
        &self,
        identifier: &ObjectIdentifier,
        table: &CatalogTable,
        is_registered: bool,
        query: QueryOperation,
        overwrite: bool,
    ) -> Result<ModifyOperation> {
        self.sink(
            identifier,
            table,
            is_registered,
            query,
            None,
            overwrite,
            None,
        )
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of one INSERT statement"
    )]
    fn sink(
        &self,
        identifier: &ObjectIdentifier,
        table: &CatalogTable,
        is_registered: bool,
        query: QueryOperation,
        columns: Option<&[Ident]>,
        overwrite: bool,
        place: Option<TextPosition>,
    ) -> Result<ModifyOperation> {
        let resolved = self
            .resolve_table(identifier, table)
            .map_err(|e| e.at(place.clone()))?;
        let targets = resolved.schema.sink_fields();
        let from = query.fields();
        let indices = match columns {
            Some(columns) => self.target_columns(identifier, &targets, columns)?,
            None => (0..targets.len()).collect(),
        };
        if from.len() != indices.len() {
            return Err(TableError::from(SchemaErrorKind::ColumnCount {
                what: format!("INSERT INTO {identifier}"),
                expected: indices.len(),
                found: from.len(),
            })
            .at(place));
        }
        let mut expressions = Vec::with_capacity(targets.len());
        for (target, field) in targets.iter().enumerate() {
            expressions.push(match indices.iter().position(|i| *i == target) {
                Some(source) => {
                    let value = ResolvedExpr::input(source, from[source].data_type.clone());
                    implicit_cast(value, field, identifier).map_err(|e| e.at(place.clone()))?
                }
                None if field.data_type.nullable => ResolvedExpr::null_of(field.data_type.clone()),
                None => {
                    return Err(TableError::from(ValidationErrorKind::InvalidClause {
                        message: format!(
                            "column '{}' of {identifier} is NOT NULL, but the statement gives it no value",
                            field.name
                        ),
                        hint: None,
                    })
                    .at(place));
                }
            });
        }
        let is_identity = expressions
            .iter()
            .enumerate()
            .all(|(i, e)| e.as_input() == Some(i))
            && from.iter().zip(&targets).all(|(a, b)| a.name == b.name);
        let child = if is_identity {
            query
        } else {
            let fields = targets
                .iter()
                .zip(&expressions)
                .map(|(field, e)| Field::new(field.name.clone(), e.data_type().clone()))
                .collect();
            QueryOperation::Project(ProjectQuery {
                expressions,
                fields,
                input: Arc::new(query),
            })
        };
        Ok(ModifyOperation::Sink {
            table: SinkTable {
                table: Arc::new(resolved),
                is_registered,
            },
            child: Arc::new(child),
            overwrite,
        })
    }

    fn target_columns(
        &self,
        identifier: &ObjectIdentifier,
        targets: &[Field],
        columns: &[Ident],
    ) -> Result<Vec<usize>> {
        let mut indices = Vec::with_capacity(columns.len());
        for column in columns {
            let Some(index) = targets.iter().position(|f| f.name == column.value) else {
                let kind = ValidationErrorKind::UnknownColumn {
                    column: column.value.clone(),
                    tables: vec![identifier.object.clone()],
                    candidates: targets.iter().map(|f| f.name.clone()).collect(),
                };
                return Err(self.invalid(kind, column.span));
            };
            if indices.contains(&index) {
                let kind = ValidationErrorKind::DuplicateName {
                    what: "column",
                    name: column.value.clone(),
                };
                return Err(self.invalid(kind, column.span));
            }
            indices.push(index);
        }
        Ok(indices)
    }
}

/// A value brought to its column's type, if that loses nothing by the rules of implicit casts.
fn implicit_cast(
    value: ResolvedExpr,
    field: &Field,
    identifier: &ObjectIdentifier,
) -> Result<ResolvedExpr> {
    let (from, to) = (value.data_type().clone(), &field.data_type);
    let is_null = matches!(from.logical, aquifer_types::LogicalType::Null);
    if !is_null && (from.logical == to.logical || same_storage(&from, to)) {
        return Ok(value);
    }
    // NULLs in a NOT NULL column are found when they are written.
    if is_null || supports_implicit_cast(&from, &to.clone().null()) {
        return Ok(value.cast(to.clone())?);
    }
    Err(SchemaErrorKind::TypeMismatch {
        what: format!("the value for column '{}' of {identifier}", field.name),
        expected: to.clone().null().to_string(),
        found: from.to_string(),
    }
    .into())
}

/// Texts and byte strings of other lengths are stored alike; lengths are not enforced on the way
/// into a sink, as in the reference's default.
fn same_storage(from: &DataType, to: &DataType) -> bool {
    (from.logical.is_string() && to.logical.is_string())
        || (from.logical.is_binary() && to.logical.is_binary())
}
