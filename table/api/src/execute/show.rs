//! SHOW and DESCRIBE.

use aquifer_functions::{aggregate, scalar};
use aquifer_table_common::catalog::CatalogBaseTable;
use aquifer_table_common::expression::Expr;
use aquifer_table_common::operation::ShowOperation;
use aquifer_table_common::schema::UnresolvedColumnKind;
use aquifer_table_common::{
    Column, ColumnKind, ObjectIdentifier, ResolvedSchema, Result, Schema, UnresolvedIdentifier,
};
use aquifer_types::{DataTypes, Field, Row, Value};

use crate::table_environment::TableEnvironment;
use crate::table_result::TableResult;

pub(super) fn show(env: &TableEnvironment, show: ShowOperation) -> Result<TableResult> {
    let catalogs = &env.inner.catalogs;
    Ok(match show {
        ShowOperation::Catalogs => TableResult::of_names("catalog name", env.list_catalogs()),
        ShowOperation::Databases => TableResult::of_names("database name", env.list_databases()?),
        ShowOperation::Tables => TableResult::of_names("table name", env.list_tables()?),
        ShowOperation::Views => TableResult::of_names("view name", env.list_views()?),
        ShowOperation::Functions => {
            let scalars = scalar::FUNCTIONS.iter().map(|function| function.name());
            let aggregates = aggregate::AGGREGATES.iter().map(|function| function.name());
            let mut names: Vec<String> = scalars.chain(aggregates).map(str::to_lowercase).collect();
            names.sort();
            TableResult::of_names("function name", names)
        }
        ShowOperation::CurrentCatalog => {
            TableResult::of_names("current catalog name", [catalogs.current_catalog()])
        }
        ShowOperation::CurrentDatabase => {
            TableResult::of_names("current database name", [catalogs.current_database()])
        }
    })
}

/// One row per column, in the reference's form.
pub(super) fn describe(
    env: &TableEnvironment,
    identifier: &ObjectIdentifier,
) -> Result<TableResult> {
    let path = [
        &identifier.catalog,
        &identifier.database,
        &identifier.object,
    ];
    let found = env
        .inner
        .catalogs
        .resolve(&UnresolvedIdentifier::of(path.map(String::as_str))?)?;
    let (schema, declared) = match &found.table {
        CatalogBaseTable::Table(table) => {
            let resolved =
                env.with_analyser(|analyser| analyser.resolve_table(identifier, table))?;
            (resolved.schema, table.schema.clone())
        }
        CatalogBaseTable::View(_) => {
            let query = env.with_analyser(|analyser| analyser.catalog_table(&found))?;
            (query.schema(), Schema::default())
        }
    };
    let has_comments = schema.columns.iter().any(|column| column.comment.is_some());
    let text = |name: &str| Field::new(name, DataTypes::string());
    let mut fields = vec![
        text("name"),
        text("type"),
        Field::new("null", DataTypes::boolean()),
        text("key"),
        text("extras"),
        text("watermark"),
    ];
    if has_comments {
        fields.push(text("comment"));
    }
    let rows = schema.columns.iter().enumerate().map(|(index, column)| {
        let mut values = vec![
            Value::from(column.name.as_str()),
            Value::from(column.data_type.clone().null().to_string()),
            Value::from(column.data_type.nullable),
            Value::from(key(&schema, column)),
            Value::from(extras(column, &declared)),
            Value::from(watermark(&schema, index, &declared)),
        ];
        if has_comments {
            values.push(Value::from(column.comment.clone()));
        }
        Row::of(values)
    });
    Ok(TableResult::of_rows(fields, rows.collect()))
}

fn key(schema: &ResolvedSchema, column: &Column) -> Option<String> {
    let key = schema
        .primary_key
        .as_ref()
        .filter(|key| key.columns.contains(&column.name))?;
    Some(format!("PRI({})", key.columns.join(", ")))
}

fn extras(column: &Column, declared: &Schema) -> Option<String> {
    match &column.kind {
        ColumnKind::Physical => None,
        ColumnKind::Computed(expression) => {
            let columns = &declared.columns;
            let kind = columns
                .iter()
                .find(|c| c.name == column.name)
                .map(|c| &c.kind);
            let text = match kind {
                Some(UnresolvedColumnKind::Computed(Expr::Sql(text))) => text.clone(),
                _ => expression.to_string(),
            };
            Some(format!("AS {text}"))
        }
        ColumnKind::Metadata { key, is_virtual } => {
            let mut text = String::from("METADATA");
            if *key != column.name {
                text.push_str(&format!(" FROM '{key}'"));
            }
            if *is_virtual {
                text.push_str(" VIRTUAL");
            }
            Some(text)
        }
    }
}

fn watermark(schema: &ResolvedSchema, index: usize, declared: &Schema) -> Option<String> {
    let watermark = schema
        .watermarks
        .iter()
        .find(|watermark| watermark.column == index)?;
    let name = &schema.columns[index].name;
    match declared
        .watermarks
        .iter()
        .find(|w| w.column == *name)
        .map(|w| &w.expression)
    {
        Some(Expr::Sql(text)) => Some(text.clone()),
        _ => Some(watermark.expression.to_string()),
    }
}
