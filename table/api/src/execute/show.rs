//! SHOW and DESCRIBE.

use aquifer_functions::scalar;
use aquifer_table_common::catalog::CatalogBaseTable;
use aquifer_table_common::operation::ShowOperation;
use aquifer_table_common::{
    Column, ColumnKind, ObjectIdentifier, ResolvedSchema, Result, UnresolvedIdentifier,
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
            let mut names: Vec<String> = scalar::FUNCTIONS
                .iter()
                .map(|function| function.name().to_lowercase())
                .collect();
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
    let schema = match &found.table {
        CatalogBaseTable::Table(table) => {
            env.with_analyser(|analyser| analyser.resolve_table(identifier, table))?
                .schema
        }
        CatalogBaseTable::View(_) => env
            .with_analyser(|analyser| analyser.catalog_table(&found))?
            .schema(),
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
            Value::from(extras(column)),
            Value::from(watermark(&schema, index)),
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

fn extras(column: &Column) -> Option<String> {
    match &column.kind {
        ColumnKind::Physical => None,
        ColumnKind::Computed(expression) => Some(format!("AS {expression}")),
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

fn watermark(schema: &ResolvedSchema, index: usize) -> Option<String> {
    let watermark = schema
        .watermarks
        .iter()
        .find(|watermark| watermark.column == index)?;
    Some(watermark.expression.to_string())
}
