//! Tables, views, databases and catalogs by name.

use std::sync::Arc;

use aquifer_table_common::catalog::{
    Catalog, CatalogBaseTable, CatalogManager, CatalogTable, CatalogView, ViewQuery,
};
use aquifer_table_common::{ObjectIdentifier, Result, TableDescriptor, UnresolvedIdentifier};

use super::TableEnvironment;
use crate::table::Table;

impl TableEnvironment {
    /// The catalogs, for tools.
    #[doc(hidden)]
    pub fn catalog_manager(&self) -> &CatalogManager {
        &self.inner.catalogs
    }

    /// Stores a described table in the catalog.
    ///
    /// # Errors
    /// `catalog.object_exists`, `catalog.unknown_database`; what is wrong with its schema.
    #[doc(alias = "createTable")]
    pub fn create_table(
        &self,
        path: impl AsRef<str>,
        descriptor: impl Into<TableDescriptor>,
    ) -> Result<()> {
        let (identifier, table) = self.checked_table(path.as_ref(), descriptor.into())?;
        self.inner
            .catalogs
            .create_table(&identifier, table, false)?;
        Ok(())
    }

    /// As [`create_table`](Self::create_table); answers `false` and does nothing if the name is taken.
    ///
    /// # Errors
    /// See there.
    pub fn create_table_if_not_exists(
        &self,
        path: impl AsRef<str>,
        descriptor: impl Into<TableDescriptor>,
    ) -> Result<bool> {
        let (identifier, table) = self.checked_table(path.as_ref(), descriptor.into())?;
        self.inner.catalogs.create_table(&identifier, table, true)
    }

    /// Names a described table for this session; it hides a permanent object of the same path.
    ///
    /// # Errors
    /// `catalog.object_exists` for a temporary object of the path; what is wrong with its schema.
    #[doc(alias = "createTemporaryTable")]
    pub fn create_temporary_table(
        &self,
        path: impl AsRef<str>,
        descriptor: impl Into<TableDescriptor>,
    ) -> Result<()> {
        let (identifier, table) = self.checked_table(path.as_ref(), descriptor.into())?;
        self.inner
            .catalogs
            .create_temporary_table(&identifier, table, false)?;
        Ok(())
    }

    /// Names a table for this session; it hides a permanent object of the same path.
    ///
    /// # Errors
    /// `catalog.object_exists` for a temporary object of the path.
    #[doc(alias = "createTemporaryView")]
    pub fn create_temporary_view(&self, path: impl AsRef<str>, view: &Table) -> Result<()> {
        let query = ViewQuery::Operation(Arc::clone(view.query_operation()));
        let view = CatalogBaseTable::View(CatalogView {
            query,
            comment: None,
        });
        self.inner
            .catalogs
            .create_temporary_table(&self.qualified(path.as_ref())?, view, false)?;
        Ok(())
    }

    /// Old: [`create_temporary_view`](Self::create_temporary_view).
    ///
    /// # Errors
    /// See there.
    #[doc(alias = "registerTable")]
    pub fn register_table(&self, name: impl AsRef<str>, table: &Table) -> Result<()> {
        self.create_temporary_view(name, table)
    }

    /// Forgets a temporary table. Answers whether there was one; a permanent one is visible again.
    ///
    /// # Errors
    /// `catalog.wrong_kind` for a view.
    #[doc(alias = "dropTemporaryTable")]
    pub fn drop_temporary_table(&self, path: impl AsRef<str>) -> Result<bool> {
        self.inner
            .catalogs
            .drop_temporary_table(&self.qualified(path.as_ref())?, false)
    }

    /// Forgets a temporary view. Answers whether there was one.
    ///
    /// # Errors
    /// `catalog.wrong_kind` for a table.
    #[doc(alias = "dropTemporaryView")]
    pub fn drop_temporary_view(&self, path: impl AsRef<str>) -> Result<bool> {
        self.inner
            .catalogs
            .drop_temporary_table(&self.qualified(path.as_ref())?, true)
    }

    /// Removes a permanent table. Answers whether there was one.
    ///
    /// # Errors
    /// `catalog.wrong_kind` for a view; `validation.invalid_clause` while a temporary object hides it.
    pub fn drop_table(&self, path: impl AsRef<str>) -> Result<bool> {
        self.inner
            .catalogs
            .drop_table(&self.qualified(path.as_ref())?, false, true)
    }

    /// Removes a permanent view. Answers whether there was one.
    ///
    /// # Errors
    /// As [`drop_table`](Self::drop_table).
    pub fn drop_view(&self, path: impl AsRef<str>) -> Result<bool> {
        self.inner
            .catalogs
            .drop_table(&self.qualified(path.as_ref())?, true, true)
    }

    /// Adds a catalog.
    ///
    /// # Errors
    /// `catalog.catalog_exists`; what opening it reports.
    #[doc(alias = "registerCatalog")]
    pub fn register_catalog(
        &self,
        name: impl AsRef<str>,
        catalog: impl Catalog + 'static,
    ) -> Result<()> {
        self.inner
            .catalogs
            .register_catalog(name.as_ref(), Arc::new(catalog))
    }

    /// A catalog, if it is registered.
    #[doc(alias = "getCatalog")]
    pub fn catalog(&self, name: impl AsRef<str>) -> Option<Arc<dyn Catalog>> {
        self.inner.catalogs.catalog(name.as_ref()).ok()
    }

    /// The catalog that completes short names.
    #[doc(alias = "getCurrentCatalog")]
    pub fn current_catalog(&self) -> Option<String> {
        Some(self.inner.catalogs.current_catalog())
    }

    /// The database that completes short names.
    #[doc(alias = "getCurrentDatabase")]
    pub fn current_database(&self) -> Option<String> {
        Some(self.inner.catalogs.current_database())
    }

    /// Makes a catalog current, with its default database.
    ///
    /// # Errors
    /// `catalog.unknown_catalog`.
    #[doc(alias = "useCatalog")]
    pub fn use_catalog(&self, name: impl AsRef<str>) -> Result<()> {
        self.inner.catalogs.set_current_catalog(name.as_ref())
    }

    /// Makes a database of the current catalog current.
    ///
    /// # Errors
    /// `catalog.unknown_database`.
    #[doc(alias = "useDatabase")]
    pub fn use_database(&self, name: impl AsRef<str>) -> Result<()> {
        self.inner.catalogs.set_current_database(name.as_ref())
    }

    /// The names of all catalogs.
    #[doc(alias = "listCatalogs")]
    pub fn list_catalogs(&self) -> Vec<String> {
        self.inner.catalogs.list_catalogs()
    }

    /// The databases of the current catalog.
    ///
    /// # Errors
    /// What the catalog reports.
    #[doc(alias = "listDatabases")]
    pub fn list_databases(&self) -> Result<Vec<String>> {
        let catalogs = &self.inner.catalogs;
        Ok(catalogs
            .catalog(&catalogs.current_catalog())?
            .list_databases()?)
    }

    /// The tables and views of the current database, temporary ones among them.
    ///
    /// # Errors
    /// What the catalog reports.
    #[doc(alias = "listTables")]
    pub fn list_tables(&self) -> Result<Vec<String>> {
        Ok(self.inner.catalogs.list_tables())
    }

    /// The views of the current database, temporary ones among them.
    ///
    /// # Errors
    /// What the catalog reports.
    #[doc(alias = "listViews")]
    pub fn list_views(&self) -> Result<Vec<String>> {
        self.inner.catalogs.list_views()
    }

    /// A path completed by the current names.
    pub(crate) fn qualified(&self, path: &str) -> Result<ObjectIdentifier> {
        Ok(self
            .inner
            .catalogs
            .qualify(&UnresolvedIdentifier::parse(path)?))
    }

    fn checked_table(
        &self,
        path: &str,
        descriptor: TableDescriptor,
    ) -> Result<(ObjectIdentifier, CatalogBaseTable)> {
        let identifier = self.qualified(path)?;
        let table = CatalogTable::from(descriptor);
        self.with_analyser(|analyser| analyser.resolve_table(&identifier, &table))?;
        Ok((identifier, CatalogBaseTable::Table(table)))
    }
}
