//! CREATE, DROP and USE.

use aquifer_table_common::catalog::CatalogBaseTable;
use aquifer_table_common::operation::{CreateOperation, DropOperation, UseOperation};
use aquifer_table_common::{CatalogError, Result};

use crate::table_environment::TableEnvironment;
use crate::table_result::TableResult;

pub(super) fn create(env: &TableEnvironment, create: CreateOperation) -> Result<TableResult> {
    let (identifier, object, is_temporary, if_not_exists) = match create {
        CreateOperation::Table {
            identifier,
            table,
            is_temporary,
            if_not_exists,
        } => (
            identifier,
            CatalogBaseTable::Table(table),
            is_temporary,
            if_not_exists,
        ),
        CreateOperation::View {
            identifier,
            view,
            is_temporary,
            if_not_exists,
        } => (
            identifier,
            CatalogBaseTable::View(view),
            is_temporary,
            if_not_exists,
        ),
    };
    let catalogs = &env.inner.catalogs;
    if is_temporary {
        catalogs.create_temporary_table(&identifier, object, if_not_exists)?;
    } else {
        catalogs.create_table(&identifier, object, if_not_exists)?;
    }
    Ok(TableResult::ok())
}

pub(super) fn drop(env: &TableEnvironment, drop: &DropOperation) -> Result<TableResult> {
    let catalogs = &env.inner.catalogs;
    if !drop.is_temporary {
        catalogs.drop_table(&drop.identifier, drop.is_view, drop.if_exists)?;
        return Ok(TableResult::ok());
    }
    if !catalogs.drop_temporary_table(&drop.identifier, drop.is_view)? && !drop.if_exists {
        return Err(CatalogError::UnknownObject {
            what: if drop.is_view {
                "temporary view"
            } else {
                "temporary table"
            },
            path: drop.identifier.to_string(),
            candidates: catalogs.list_tables(),
        }
        .into());
    }
    Ok(TableResult::ok())
}

pub(super) fn use_(env: &TableEnvironment, target: &UseOperation) -> Result<TableResult> {
    match target {
        UseOperation::Catalog(name) => env.use_catalog(name)?,
        UseOperation::Database { catalog, database } => {
            let before = (
                env.inner.catalogs.current_catalog(),
                env.inner.catalogs.current_database(),
            );
            if let Some(catalog) = catalog {
                env.use_catalog(catalog)?;
            }
            if let Err(error) = env.use_database(database) {
                // Both names change or none.
                env.use_catalog(&before.0)?;
                env.use_database(&before.1)?;
                return Err(error);
            }
        }
    }
    Ok(TableResult::ok())
}
