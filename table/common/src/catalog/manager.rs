//! All catalogs of an environment, its temporary objects and its current names.
//!
//! A path is completed by `[current catalog].[current database].path`, then `[current
//! catalog].path`, then `path` itself; at each step a temporary object wins over a permanent one.
//! Temporary objects need neither their catalog nor their database to exist.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;

use super::{Catalog, CatalogBaseTable, CatalogDatabase, GenericInMemoryCatalog};
use crate::error::{CatalogError, Result, ValidationErrorKind};
use crate::identifier::{ObjectIdentifier, UnresolvedIdentifier};

/// The catalog that exists from the start.
pub const DEFAULT_CATALOG: &str = "default_catalog";
/// The database that exists from the start.
pub const DEFAULT_DATABASE: &str = "default_database";

/// A table or view that was found by name.
#[derive(Debug, Clone)]
pub struct FoundTable {
    /// Its full path.
    pub identifier: ObjectIdentifier,
    /// The object.
    pub table: CatalogBaseTable,
    /// Whether it is temporary.
    pub is_temporary: bool,
}

/// The catalogs, temporary objects and current names of an environment.
pub struct CatalogManager {
    state: RwLock<State>,
}

struct State {
    catalogs: BTreeMap<String, Arc<dyn Catalog>>,
    temporary: BTreeMap<ObjectIdentifier, CatalogBaseTable>,
    current_catalog: String,
    current_database: String,
}

impl Default for CatalogManager {
    fn default() -> Self {
        CatalogManager::new(DEFAULT_CATALOG, DEFAULT_DATABASE)
    }
}

impl CatalogManager {
    /// A manager with one catalog in memory that has one empty database; both are current.
    pub fn new(catalog: &str, database: &str) -> Self {
        let built_in: Arc<dyn Catalog> = Arc::new(GenericInMemoryCatalog::with_default_database(
            catalog, database,
        ));
        CatalogManager {
            state: RwLock::new(State {
                catalogs: BTreeMap::from([(catalog.to_string(), built_in)]),
                temporary: BTreeMap::new(),
                current_catalog: catalog.to_string(),
                current_database: database.to_string(),
            }),
        }
    }

    /// Adds a catalog.
    ///
    /// # Errors
    /// `catalog.catalog_exists`; what opening it reports.
    pub fn register_catalog(&self, name: &str, catalog: Arc<dyn Catalog>) -> Result<()> {
        if self.state.read().catalogs.contains_key(name) {
            return Err(CatalogError::CatalogExists {
                name: name.to_string(),
            }
            .into());
        }
        catalog.open()?;
        self.state
            .write()
            .catalogs
            .insert(name.to_string(), catalog);
        Ok(())
    }

    /// A catalog.
    ///
    /// # Errors
    /// `catalog.unknown_catalog`.
    pub fn catalog(&self, name: &str) -> Result<Arc<dyn Catalog>> {
        let state = self.state.read();
        state.catalogs.get(name).cloned().ok_or_else(|| {
            let candidates = state.catalogs.keys().cloned().collect();
            CatalogError::UnknownCatalog {
                name: name.to_string(),
                candidates,
            }
            .into()
        })
    }

    /// The names of all catalogs.
    pub fn list_catalogs(&self) -> Vec<String> {
        self.state.read().catalogs.keys().cloned().collect()
    }

    /// The current catalog.
    pub fn current_catalog(&self) -> String {
        self.state.read().current_catalog.clone()
    }

    /// The current database.
    pub fn current_database(&self) -> String {
        self.state.read().current_database.clone()
    }

    /// Makes a catalog current, with its default database.
    ///
    /// # Errors
    /// `catalog.unknown_catalog`.
    pub fn set_current_catalog(&self, name: &str) -> Result<()> {
        let database = self.catalog(name)?.default_database().to_string();
        let mut state = self.state.write();
        state.current_catalog = name.to_string();
        state.current_database = database;
        Ok(())
    }

    /// Makes a database of the current catalog current.
    ///
    /// # Errors
    /// `catalog.unknown_database`.
    pub fn set_current_database(&self, name: &str) -> Result<()> {
        self.catalog(&self.current_catalog())?.database(name)?;
        self.state.write().current_database = name.to_string();
        Ok(())
    }

    /// Makes a database in the current catalog.
    ///
    /// # Errors
    /// `catalog.database_exists` unless `if_not_exists`.
    pub fn create_database(
        &self,
        name: &str,
        database: CatalogDatabase,
        if_not_exists: bool,
    ) -> Result<()> {
        Ok(self
            .catalog(&self.current_catalog())?
            .create_database(name, database, if_not_exists)?)
    }

    /// Completes a path by the current names.
    pub fn qualify(&self, path: &UnresolvedIdentifier) -> ObjectIdentifier {
        let state = self.state.read();
        qualify_in(path, &state.current_catalog, &state.current_database)
    }

    /// The table or view of a full path.
    ///
    /// # Errors
    /// What the catalog reports.
    pub fn table(&self, identifier: &ObjectIdentifier) -> Result<Option<FoundTable>> {
        let (temporary, catalog) = {
            let state = self.state.read();
            (
                state.temporary.get(identifier).cloned(),
                state.catalogs.get(&identifier.catalog).cloned(),
            )
        };
        let found = |table, is_temporary| FoundTable {
            identifier: identifier.clone(),
            table,
            is_temporary,
        };
        if let Some(table) = temporary {
            return Ok(Some(found(table, true)));
        }
        let Some(catalog) = catalog else {
            return Ok(None);
        };
        Ok(catalog
            .table(&identifier.to_object_path())?
            .map(|table| found(table, false)))
    }

    /// The table or view of a path as written, looked up from the given names.
    ///
    /// # Errors
    /// `validation.unknown_table` with the names in reach; what the catalog reports.
    pub fn resolve_in(
        &self,
        path: &UnresolvedIdentifier,
        catalog: &str,
        database: &str,
    ) -> Result<FoundTable> {
        let parts = path.parts();
        let mut tries = Vec::new();
        if parts.len() == 1 {
            tries.push(ObjectIdentifier::of(catalog, database, &parts[0]));
        }
        if parts.len() == 2 {
            tries.push(ObjectIdentifier::of(catalog, &parts[0], &parts[1]));
        }
        if parts.len() == 3 {
            tries.push(ObjectIdentifier::of(&parts[0], &parts[1], &parts[2]));
        }
        for identifier in &tries {
            if let Some(found) = self.table(identifier)? {
                return Ok(found);
            }
        }
        let near = tries
            .first()
            .map_or_else(Vec::new, |t| self.names_in(&t.catalog, &t.database));
        Err(ValidationErrorKind::UnknownTable {
            table: path.to_string(),
            candidates: near,
        }
        .into())
    }

    /// The table or view of a path as written.
    ///
    /// # Errors
    /// As [`resolve_in`](Self::resolve_in).
    pub fn resolve(&self, path: &UnresolvedIdentifier) -> Result<FoundTable> {
        let (catalog, database) = (self.current_catalog(), self.current_database());
        self.resolve_in(path, &catalog, &database)
    }

    fn names_in(&self, catalog: &str, database: &str) -> Vec<String> {
        let permanent = self
            .catalog(catalog)
            .and_then(|c| Ok(c.list_tables(database)?))
            .unwrap_or_default();
        let state = self.state.read();
        let temporary = state
            .temporary
            .keys()
            .filter(|id| id.catalog == catalog && id.database == database)
            .map(|id| id.object.clone());
        let mut names: Vec<String> = permanent.into_iter().chain(temporary).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The tables and views of the current database, temporary ones among them.
    pub fn list_tables(&self) -> Vec<String> {
        self.names_in(&self.current_catalog(), &self.current_database())
    }

    /// The views of the current database, temporary ones among them.
    ///
    /// # Errors
    /// What the catalog reports.
    pub fn list_views(&self) -> Result<Vec<String>> {
        let mut views = Vec::new();
        for name in self.list_tables() {
            let identifier =
                ObjectIdentifier::of(self.current_catalog(), self.current_database(), &name);
            if let Some(FoundTable {
                table: CatalogBaseTable::View(_),
                ..
            }) = self.table(&identifier)?
            {
                views.push(name);
            }
        }
        Ok(views)
    }

    /// Stores a permanent table or view. Answers whether it was stored: `false` if one was there
    /// and `if_not_exists` is set.
    ///
    /// # Errors
    /// `catalog.unknown_catalog`, `catalog.unknown_database`; `catalog.object_exists` unless
    /// `if_not_exists`.
    pub fn create_table(
        &self,
        identifier: &ObjectIdentifier,
        table: CatalogBaseTable,
        if_not_exists: bool,
    ) -> Result<bool> {
        let catalog = self.catalog(&identifier.catalog)?;
        let path = identifier.to_object_path();
        if if_not_exists && catalog.table(&path)?.is_some() {
            return Ok(false);
        }
        catalog.create_table(&path, table, if_not_exists)?;
        Ok(true)
    }

    /// Stores a temporary table or view, which hides a permanent one of the same path. Answers
    /// whether it was stored.
    ///
    /// # Errors
    /// `catalog.object_exists` if there is a temporary object of the path, unless `if_not_exists`.
    pub fn create_temporary_table(
        &self,
        identifier: &ObjectIdentifier,
        table: CatalogBaseTable,
        if_not_exists: bool,
    ) -> Result<bool> {
        let mut state = self.state.write();
        match state.temporary.get(identifier) {
            Some(_) if if_not_exists => Ok(false),
            Some(existing) => {
                let what = if existing.kind() == "view" {
                    "temporary view"
                } else {
                    "temporary table"
                };
                Err(CatalogError::ObjectExists {
                    what,
                    path: identifier.to_string(),
                }
                .into())
            }
            None => {
                state.temporary.insert(identifier.clone(), table);
                Ok(true)
            }
        }
    }

    /// Removes a permanent table (or view, if `view`). Answers whether there was one.
    ///
    /// # Errors
    /// `catalog.unknown_object` unless `if_exists`; `catalog.wrong_kind` if it is the other kind;
    /// `validation.invalid_clause` if a temporary object hides it.
    pub fn drop_table(
        &self,
        identifier: &ObjectIdentifier,
        view: bool,
        if_exists: bool,
    ) -> Result<bool> {
        let what = if view { "view" } else { "table" };
        if self.state.read().temporary.contains_key(identifier) {
            return Err(ValidationErrorKind::InvalidClause {
                message: format!("a temporary object with identifier '{identifier}' exists"),
                hint: Some(format!(
                    "Drop it first with DROP TEMPORARY {}.",
                    what.to_uppercase()
                )),
            }
            .into());
        }
        let catalog = match self.catalog(&identifier.catalog) {
            Ok(catalog) => catalog,
            Err(_) if if_exists => return Ok(false),
            Err(error) => return Err(error),
        };
        let path = identifier.to_object_path();
        match catalog.table(&path)? {
            Some(found) if found.kind() != what => Err(CatalogError::WrongKind {
                path: identifier.to_string(),
                expected: what,
                found: found.kind(),
            }
            .into()),
            Some(_) => {
                catalog.drop_table(&path, if_exists)?;
                Ok(true)
            }
            None if if_exists => Ok(false),
            None => Err(CatalogError::UnknownObject {
                what,
                path: identifier.to_string(),
                candidates: self.names_in(&identifier.catalog, &identifier.database),
            }
            .into()),
        }
    }

    /// Removes a temporary table (or view, if `view`). Answers whether there was one.
    ///
    /// # Errors
    /// `catalog.wrong_kind` if it is the other kind.
    pub fn drop_temporary_table(&self, identifier: &ObjectIdentifier, view: bool) -> Result<bool> {
        let expected = if view { "view" } else { "table" };
        let mut state = self.state.write();
        match state.temporary.get(identifier) {
            None => Ok(false),
            Some(found) if found.kind() != expected => Err(CatalogError::WrongKind {
                path: identifier.to_string(),
                expected,
                found: found.kind(),
            }
            .into()),
            Some(_) => {
                state.temporary.remove(identifier);
                Ok(true)
            }
        }
    }
}

fn qualify_in(path: &UnresolvedIdentifier, catalog: &str, database: &str) -> ObjectIdentifier {
    match path.parts() {
        [object] => ObjectIdentifier::of(catalog, database, object),
        [database, object] => ObjectIdentifier::of(catalog, database, object),
        [catalog, database, object, ..] => ObjectIdentifier::of(catalog, database, object),
        [] => unreachable!("an UnresolvedIdentifier has one to three parts"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{CatalogTable, CatalogView, ViewQuery};

    fn table(comment: &str) -> CatalogBaseTable {
        CatalogBaseTable::Table(CatalogTable {
            comment: Some(comment.to_string()),
            ..CatalogTable::default()
        })
    }

    fn view() -> CatalogBaseTable {
        let query = ViewQuery::Sql {
            text: "SELECT 1".into(),
            columns: Vec::new(),
            catalog: "c".into(),
            database: "d".into(),
        };
        CatalogBaseTable::View(CatalogView {
            query,
            comment: None,
        })
    }

    fn comment_of(manager: &CatalogManager, path: &str) -> Option<String> {
        match manager
            .resolve(&UnresolvedIdentifier::parse(path).unwrap())
            .ok()?
            .table
        {
            CatalogBaseTable::Table(table) => table.comment,
            CatalogBaseTable::View(_) => None,
        }
    }

    #[test]
    fn temporary_objects_hide_permanent_ones() {
        let manager = CatalogManager::default();
        let id = manager.qualify(&UnresolvedIdentifier::parse("t").unwrap());
        assert_eq!(id.to_summary_string(), "default_catalog.default_database.t");
        assert!(
            manager
                .create_table(&id, table("permanent"), false)
                .unwrap()
        );
        assert!(!manager.create_table(&id, table("again"), true).unwrap());
        assert!(
            manager
                .create_temporary_table(&id, table("temporary"), false)
                .unwrap()
        );
        assert_eq!(comment_of(&manager, "t").as_deref(), Some("temporary"));
        assert_eq!(
            comment_of(&manager, "default_database.t").as_deref(),
            Some("temporary")
        );
        assert_eq!(
            manager.drop_table(&id, false, false).unwrap_err().code(),
            "validation.invalid_clause"
        );
        assert!(manager.drop_temporary_table(&id, false).unwrap());
        assert_eq!(
            comment_of(&manager, "default_catalog.default_database.t").as_deref(),
            Some("permanent")
        );
        assert!(manager.drop_table(&id, false, false).unwrap());
        assert!(!manager.drop_table(&id, false, true).unwrap());
        assert_eq!(
            manager.drop_table(&id, false, false).unwrap_err().code(),
            "catalog.unknown_object"
        );
    }

    #[test]
    fn unknown_names_get_hints() {
        let manager = CatalogManager::default();
        let id = manager.qualify(&UnresolvedIdentifier::parse("orders").unwrap());
        manager.create_table(&id, table("x"), false).unwrap();
        let error = manager
            .resolve(&UnresolvedIdentifier::parse("order").unwrap())
            .unwrap_err();
        assert_eq!(error.code(), "validation.unknown_table");
        assert!(
            error.report().contains("Did you mean 'orders'?"),
            "{error:?}"
        );
        assert_eq!(
            manager.set_current_catalog("c").unwrap_err().code(),
            "catalog.unknown_catalog"
        );
        assert_eq!(
            manager.set_current_database("d").unwrap_err().code(),
            "catalog.unknown_database"
        );
    }

    #[test]
    fn databases_and_kinds_are_kept_apart() {
        let manager = CatalogManager::default();
        manager
            .create_database("d", CatalogDatabase::default(), false)
            .unwrap();
        manager.set_current_database("d").unwrap();
        let id = manager.qualify(&UnresolvedIdentifier::parse("v").unwrap());
        manager.create_table(&id, view(), false).unwrap();
        assert_eq!(manager.list_views().unwrap(), ["v"]);
        assert_eq!(
            manager.drop_table(&id, false, false).unwrap_err().code(),
            "catalog.wrong_kind"
        );
        let other = CatalogManager::default();
        assert_eq!(
            other.create_table(&id, view(), false).unwrap_err().code(),
            "catalog.unknown_database"
        );
    }
}
