//! What a catalog implements.

use super::{CatalogBaseTable, CatalogDatabase};
use crate::error::CatalogError;
use crate::identifier::ObjectPath;

/// Stores databases, tables and views. Names are case sensitive; lists are sorted.
pub trait Catalog: Send + Sync {
    /// Called when the catalog is registered.
    ///
    /// # Errors
    /// `catalog.external` if the system behind it cannot be reached.
    fn open(&self) -> Result<(), CatalogError> {
        Ok(())
    }

    /// Called when the catalog is unregistered or the environment ends.
    ///
    /// # Errors
    /// `catalog.external`.
    fn close(&self) -> Result<(), CatalogError> {
        Ok(())
    }

    /// The database that is current after `USE CATALOG`.
    fn default_database(&self) -> &str;

    /// The databases.
    ///
    /// # Errors
    /// `catalog.external`.
    fn list_databases(&self) -> Result<Vec<String>, CatalogError>;

    /// A database.
    ///
    /// # Errors
    /// `catalog.unknown_database`.
    fn database(&self, name: &str) -> Result<CatalogDatabase, CatalogError>;

    /// Whether a database exists.
    ///
    /// # Errors
    /// `catalog.external`.
    fn database_exists(&self, name: &str) -> Result<bool, CatalogError>;

    /// Makes a database.
    ///
    /// # Errors
    /// `catalog.database_exists` unless `if_not_exists`.
    fn create_database(
        &self,
        name: &str,
        database: CatalogDatabase,
        if_not_exists: bool,
    ) -> Result<(), CatalogError>;

    /// Removes a database, with its objects if `cascade`.
    ///
    /// # Errors
    /// `catalog.unknown_database` unless `if_exists`; `catalog.database_not_empty`.
    fn drop_database(&self, name: &str, if_exists: bool, cascade: bool)
    -> Result<(), CatalogError>;

    /// The tables and views of a database.
    ///
    /// # Errors
    /// `catalog.unknown_database`.
    fn list_tables(&self, database: &str) -> Result<Vec<String>, CatalogError>;

    /// The views of a database.
    ///
    /// # Errors
    /// `catalog.unknown_database`.
    fn list_views(&self, database: &str) -> Result<Vec<String>, CatalogError>;

    /// A table or view, if it exists.
    ///
    /// # Errors
    /// `catalog.external`.
    fn table(&self, path: &ObjectPath) -> Result<Option<CatalogBaseTable>, CatalogError>;

    /// Stores a table or view.
    ///
    /// # Errors
    /// `catalog.unknown_database`; `catalog.object_exists` unless `if_not_exists`.
    fn create_table(
        &self,
        path: &ObjectPath,
        table: CatalogBaseTable,
        if_not_exists: bool,
    ) -> Result<(), CatalogError>;

    /// Removes a table or view.
    ///
    /// # Errors
    /// `catalog.unknown_object` unless `if_exists`.
    fn drop_table(&self, path: &ObjectPath, if_exists: bool) -> Result<(), CatalogError>;

    /// Gives a table or view another name in its database.
    ///
    /// # Errors
    /// `catalog.unknown_object` unless `if_exists`; `catalog.object_exists`.
    fn rename_table(
        &self,
        path: &ObjectPath,
        new_name: &str,
        if_exists: bool,
    ) -> Result<(), CatalogError>;
}
