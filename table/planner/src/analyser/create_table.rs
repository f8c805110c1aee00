//! CREATE TABLE: the definition is checked before it is stored.

use aquifer_table_common::catalog::CatalogTable;
use aquifer_table_common::expression::Expr;
use aquifer_table_common::operation::CreateOperation;
use aquifer_table_common::schema::{
    PrimaryKey, TypeSpec, UnresolvedColumn, UnresolvedColumnKind, UnresolvedWatermark,
};
use aquifer_table_common::{Result, Schema, TableError, TableOptions, ValidationErrorKind};
use sqlparser::ast::Ident;

use super::Analyser;
use super::expression::Resolver;
use super::scope::Scope;
use crate::parser::{ColumnKindSyntax, CreateTable, TypeSyntax};

impl Analyser<'_> {
    pub(super) fn create_table(&self, create: &CreateTable) -> Result<CreateOperation> {
        let place = self.location(create.name.location);
        let identifier = self.qualify(create.name.names(), place.clone())?;
        let mut options = TableOptions::new();
        for (key, value) in &create.options {
            if options.set(key, value).is_some() {
                let kind = ValidationErrorKind::DuplicateName {
                    what: "option",
                    name: key.clone(),
                };
                return Err(TableError::from(kind).at(place));
            }
        }
        let table = CatalogTable {
            schema: self.declared_schema(create)?,
            options,
            partition_keys: create
                .partitioned_by
                .iter()
                .map(|i| i.value.clone())
                .collect(),
            comment: create.comment.clone(),
        };
        self.resolve_table(&identifier, &table)
            .map_err(|e| e.at(place))?;
        Ok(CreateOperation::Table {
            identifier,
            table,
            is_temporary: create.is_temporary,
            if_not_exists: create.if_not_exists,
        })
    }

    /// The columns as declared. Types and expressions are checked here too, where their places are
    /// known.
    fn declared_schema(&self, create: &CreateTable) -> Result<Schema> {
        let mut schema = Schema::default();
        let mut sources = Vec::new();
        for column in &create.columns {
            if schema.columns.iter().any(|c| c.name == column.name.value) {
                let kind = ValidationErrorKind::DuplicateName {
                    what: "column",
                    name: column.name.value.clone(),
                };
                return Err(self.invalid(kind, column.name.span));
            }
            let kind = match &column.kind {
                ColumnKindSyntax::Physical(syntax) => {
                    sources.push(self.declared_field(&column.name, syntax)?);
                    UnresolvedColumnKind::Physical(TypeSpec::Sql(syntax.text.clone()))
                }
                ColumnKindSyntax::Metadata {
                    data_type,
                    key,
                    is_virtual,
                } => {
                    sources.push(self.declared_field(&column.name, data_type)?);
                    UnresolvedColumnKind::Metadata {
                        data_type: TypeSpec::Sql(data_type.text.clone()),
                        key: key.clone(),
                        is_virtual: *is_virtual,
                    }
                }
                ColumnKindSyntax::Computed(expr) => {
                    UnresolvedColumnKind::Computed(Expr::Sql(expr.text.clone()))
                }
            };
            schema.columns.push(UnresolvedColumn {
                name: column.name.value.clone(),
                kind,
                comment: column.comment.clone(),
            });
        }
        let scope = Scope::of(
            vec![create.name.names().pop().unwrap_or_default()],
            &sources,
        );
        let mut all = Vec::new();
        let mut next = sources.iter();
        for column in &create.columns {
            all.push(match &column.kind {
                ColumnKindSyntax::Computed(expr) => {
                    let value =
                        Resolver::new(self, &scope, "a computed column").expr(&expr.expr)?;
                    aquifer_types::Field::new(column.name.value.clone(), value.data_type().clone())
                }
                _ => next.next().expect("made from the same columns").clone(),
            });
        }
        if let Some((column, expr)) = &create.watermark {
            let scope = Scope::of(Vec::new(), &all);
            scope
                .find(std::slice::from_ref(&column.value))
                .map_err(|e| self.invalid(e, column.span))?;
            Resolver::new(self, &scope, "WATERMARK").expr(&expr.expr)?;
            schema.watermarks.push(UnresolvedWatermark {
                column: column.value.clone(),
                expression: Expr::Sql(expr.text.clone()),
            });
        }
        if let Some((name, columns)) = &create.primary_key {
            schema.primary_key = Some(PrimaryKey {
                name: name.as_ref().map(|n| n.value.clone()),
                columns: columns.iter().map(|c| c.value.clone()).collect(),
            });
        }
        Ok(schema)
    }

    fn declared_field(&self, name: &Ident, syntax: &TypeSyntax) -> Result<aquifer_types::Field> {
        let parsed = syntax.text.parse::<aquifer_types::DataType>();
        let data_type =
            parsed.map_err(|e| TableError::from(e).at(self.location(syntax.location)))?;
        Ok(aquifer_types::Field::new(name.value.clone(), data_type))
    }
}
