//! Tables and views of the catalog as operations.
//!
//! A table becomes a source of its physical and metadata columns, a projection that adds its
//! computed columns, and its watermark. A view becomes its query, analysed with the names that were
//! current when it was made.

use std::sync::Arc;

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::catalog::{
    CatalogBaseTable, CatalogTable, CatalogView, FoundTable, ViewQuery,
};
use aquifer_table_common::connector::FactoryContext;
use aquifer_table_common::operation::{
    ProjectQuery, QueryOperation, ResolvedTable, SourceQuery, WatermarkQuery,
};
use aquifer_table_common::schema::{UnresolvedColumn, UnresolvedColumnKind, WatermarkSpec};
use aquifer_table_common::{
    Column, ColumnKind, ObjectIdentifier, ResolvedSchema, Result, Schema, SchemaErrorKind,
    ValidationErrorKind,
};
use aquifer_types::{Field, LogicalType};

use super::Analyser;
use super::scope::Scope;

impl Analyser<'_> {
    /// A table or view by what the catalog holds.
    ///
    /// # Errors
    /// What is wrong with the table or the view's query.
    pub fn catalog_table(&self, found: &FoundTable) -> Result<QueryOperation> {
        match &found.table {
            CatalogBaseTable::Table(table) => self.scan(&found.identifier, table),
            CatalogBaseTable::View(view) => self.expand_view(&found.identifier, view),
        }
    }

    /// Reads a table.
    ///
    /// # Errors
    /// What is wrong with its schema, options or connector.
    pub fn scan(
        &self,
        identifier: &ObjectIdentifier,
        table: &CatalogTable,
    ) -> Result<QueryOperation> {
        let table = Arc::new(self.resolve_table(identifier, table)?);
        let context = FactoryContext {
            identifier: &table.identifier,
            schema: &table.schema,
            options: &table.options,
            partition_keys: &table.partition_keys,
            registry: self.factories,
        };
        let source = self.factories.create_source(&context)?;
        check_metadata(&table.schema, &source.metadata())?;
        let projection = (0..table.schema.source_fields().len()).collect();
        let mut operation = QueryOperation::Source(SourceQuery {
            table: table.clone(),
            projection,
            changelog_mode: source.changelog_mode(),
            boundedness: source.boundedness(),
        });
        if table.schema.columns.iter().any(Column::is_computed) {
            operation = add_computed_columns(operation, &table.schema);
        }
        for watermark in &table.schema.watermarks {
            operation = QueryOperation::Watermark(WatermarkQuery {
                column: watermark.column,
                expression: watermark.expression.clone(),
                input: Arc::new(operation),
            });
        }
        Ok(operation)
    }

    /// Resolves a table's schema.
    ///
    /// # Errors
    /// What is wrong with a type, a computed column, the watermark or the key.
    pub fn resolve_table(
        &self,
        identifier: &ObjectIdentifier,
        table: &CatalogTable,
    ) -> Result<ResolvedTable> {
        let schema = self.resolve_schema(&table.schema)?;
        for key in &table.partition_keys {
            if !schema
                .columns
                .iter()
                .any(|c| &c.name == key && c.kind == ColumnKind::Physical)
            {
                let reason =
                    format!("partition column '{key}' is not a physical column of the table");
                return Err(SchemaErrorKind::InvalidSchema { reason }.into());
            }
        }
        Ok(ResolvedTable {
            identifier: identifier.clone(),
            schema,
            options: table.options.clone(),
            partition_keys: table.partition_keys.clone(),
        })
    }

    /// Resolves a declared schema: types, computed columns, watermark.
    ///
    /// # Errors
    /// As [`resolve_table`](Self::resolve_table).
    pub fn resolve_schema(&self, schema: &Schema) -> Result<ResolvedSchema> {
        let mut primary_key = schema.primary_key.clone();
        let mut sources: Vec<Field> = Vec::new();
        let key_columns: Vec<&String> = primary_key.iter_mut().flat_map(|k| &k.columns).collect();
        for column in &schema.columns {
            let data_type = match &column.kind {
                UnresolvedColumnKind::Physical(t)
                | UnresolvedColumnKind::Metadata { data_type: t, .. } => t.resolve()?,
                UnresolvedColumnKind::Computed(_) => continue,
            };
            // A key column is NOT NULL by being one.
            let data_type = if key_columns.contains(&&column.name) {
                data_type.not_null()
            } else {
                data_type
            };
            sources.push(Field::new(column.name.clone(), data_type));
        }
        let scope = Scope::of(Vec::new(), &sources);
        let mut next_source = sources.iter();
        let mut columns = Vec::with_capacity(schema.columns.len());
        for UnresolvedColumn {
            name,
            kind,
            comment,
        } in &schema.columns
        {
            let (data_type, kind) = match kind {
                UnresolvedColumnKind::Physical(_) => {
                    let field = next_source.next().expect("made from the same columns");
                    (field.data_type.clone(), ColumnKind::Physical)
                }
                UnresolvedColumnKind::Metadata {
                    key, is_virtual, ..
                } => {
                    let field = next_source.next().expect("made from the same columns");
                    let key = key.clone().unwrap_or_else(|| name.clone());
                    (
                        field.data_type.clone(),
                        ColumnKind::Metadata {
                            key,
                            is_virtual: *is_virtual,
                        },
                    )
                }
                UnresolvedColumnKind::Computed(expression) => {
                    let value = self.expression(expression, &scope)?;
                    (value.data_type().clone(), ColumnKind::Computed(value))
                }
            };
            columns.push(Column {
                name: name.clone(),
                data_type,
                kind,
                comment: comment.clone(),
            });
        }
        let fields: Vec<Field> = columns
            .iter()
            .map(|c| Field::new(c.name.clone(), c.data_type.clone()))
            .collect();
        let scope = Scope::of(Vec::new(), &fields);
        let mut watermarks = Vec::with_capacity(schema.watermarks.len());
        for watermark in &schema.watermarks {
            let Some(column) = fields.iter().position(|f| f.name == watermark.column) else {
                return Err(ValidationErrorKind::UnknownColumn {
                    column: watermark.column.clone(),
                    tables: Vec::new(),
                    candidates: fields.iter().map(|f| f.name.clone()).collect(),
                }
                .into());
            };
            let expression = self.expression(&watermark.expression, &scope)?;
            check_time_type(
                &format!("event-time column '{}'", watermark.column),
                &fields[column].data_type.logical,
            )?;
            check_time_type(
                &format!("the watermark of column '{}'", watermark.column),
                &expression.data_type().logical,
            )?;
            watermarks.push(WatermarkSpec { column, expression });
        }
        ResolvedSchema::new(columns, watermarks, primary_key)
    }

    fn expand_view(
        &self,
        identifier: &ObjectIdentifier,
        view: &CatalogView,
    ) -> Result<QueryOperation> {
        match &view.query {
            ViewQuery::Operation(operation) => Ok(operation.as_ref().clone()),
            ViewQuery::Sql {
                text,
                columns,
                catalog,
                database,
            } => {
                let analyser = self.for_view(identifier, text, catalog, database)?;
                let operation = analyser.query_text()?;
                if columns.is_empty() {
                    return Ok(operation);
                }
                let mut fields = operation.fields();
                if fields.len() != columns.len() {
                    return Err(SchemaErrorKind::ColumnCount {
                        what: format!("view {identifier}"),
                        expected: columns.len(),
                        found: fields.len(),
                    }
                    .into());
                }
                for (field, name) in fields.iter_mut().zip(columns) {
                    field.name.clone_from(name);
                }
                Ok(Analyser::renamed(operation, fields))
            }
        }
    }
}

/// The columns of a schema in order, computed ones made from the others.
fn add_computed_columns(operation: QueryOperation, schema: &ResolvedSchema) -> QueryOperation {
    let mut source = 0;
    let mut expressions = Vec::with_capacity(schema.columns.len());
    for column in &schema.columns {
        expressions.push(match &column.kind {
            ColumnKind::Computed(expression) => expression.clone(),
            _ => {
                source += 1;
                ResolvedExpr::input(source - 1, column.data_type.clone())
            }
        });
    }
    QueryOperation::Project(ProjectQuery {
        expressions,
        fields: schema.fields(),
        input: Arc::new(operation),
    })
}

fn check_metadata(
    schema: &ResolvedSchema,
    offered: &[(&'static str, aquifer_types::DataType)],
) -> Result<()> {
    for column in &schema.columns {
        let ColumnKind::Metadata { key, .. } = &column.kind else {
            continue;
        };
        let Some((_, offered_type)) = offered.iter().find(|(k, _)| k == key) else {
            let offered = offered
                .iter()
                .map(|(k, _)| (*k).to_string())
                .collect::<Vec<_>>()
                .join(", ");
            let reason = format!(
                "the connector offers no metadata '{key}' for column '{}' (it offers: {})",
                column.name,
                if offered.is_empty() { "none" } else { &offered }
            );
            return Err(SchemaErrorKind::InvalidSchema { reason }.into());
        };
        if offered_type.logical != column.data_type.logical {
            return Err(SchemaErrorKind::TypeMismatch {
                what: format!("metadata column '{}'", column.name),
                expected: offered_type.to_string(),
                found: column.data_type.to_string(),
            }
            .into());
        }
    }
    Ok(())
}

/// Event time has millisecond precision at most.
fn check_time_type(what: &str, logical: &LogicalType) -> Result<()> {
    match logical {
        LogicalType::Timestamp(p) | LogicalType::TimestampLtz(p) if *p <= 3 => Ok(()),
        other => Err(SchemaErrorKind::TypeMismatch {
            what: what.to_string(),
            expected: "TIMESTAMP(3) or TIMESTAMP_LTZ(3)".to_string(),
            found: aquifer_types::DataType::new(other.clone()).to_string(),
        }
        .into()),
    }
}
