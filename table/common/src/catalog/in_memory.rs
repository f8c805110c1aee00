//! A catalog that lives as long as its environment.

use std::collections::BTreeMap;

use parking_lot::RwLock;

use super::{Catalog, CatalogBaseTable, CatalogDatabase};
use crate::error::CatalogError;
use crate::identifier::ObjectPath;

/// A catalog in memory; names are case sensitive.
pub struct GenericInMemoryCatalog {
    name: String,
    default_database: String,
    databases: RwLock<BTreeMap<String, Database>>,
}

#[derive(Default)]
struct Database {
    definition: CatalogDatabase,
    tables: BTreeMap<String, CatalogBaseTable>,
}

impl GenericInMemoryCatalog {
    /// A catalog with an empty database `default`.
    pub fn new(name: impl Into<String>) -> Self {
        GenericInMemoryCatalog::with_default_database(name, "default")
    }

    /// A catalog with an empty database of the given name.
    pub fn with_default_database(name: impl Into<String>, database: impl Into<String>) -> Self {
        let database = database.into();
        let databases = BTreeMap::from([(database.clone(), Database::default())]);
        GenericInMemoryCatalog {
            name: name.into(),
            default_database: database,
            databases: RwLock::new(databases),
        }
    }

    fn unknown_database(&self, name: &str, databases: &BTreeMap<String, Database>) -> CatalogError {
        CatalogError::UnknownDatabase {
            catalog: self.name.clone(),
            database: name.to_string(),
            candidates: databases.keys().cloned().collect(),
        }
    }

    fn unknown_object(path: &ObjectPath, database: &Database) -> CatalogError {
        CatalogError::UnknownObject {
            what: "table",
            path: path.to_string(),
            candidates: database.tables.keys().cloned().collect(),
        }
    }

    fn names(
        &self,
        database: &str,
        keep: impl Fn(&CatalogBaseTable) -> bool,
    ) -> Result<Vec<String>, CatalogError> {
        let databases = self.databases.read();
        let found = databases
            .get(database)
            .ok_or_else(|| self.unknown_database(database, &databases))?;
        Ok(found
            .tables
            .iter()
            .filter(|(_, t)| keep(t))
            .map(|(n, _)| n.clone())
            .collect())
    }
}

impl Catalog for GenericInMemoryCatalog {
    fn default_database(&self) -> &str {
        &self.default_database
    }

    fn list_databases(&self) -> Result<Vec<String>, CatalogError> {
        Ok(self.databases.read().keys().cloned().collect())
    }

    fn database(&self, name: &str) -> Result<CatalogDatabase, CatalogError> {
        let databases = self.databases.read();
        let found = databases
            .get(name)
            .ok_or_else(|| self.unknown_database(name, &databases))?;
        Ok(found.definition.clone())
    }

    fn database_exists(&self, name: &str) -> Result<bool, CatalogError> {
        Ok(self.databases.read().contains_key(name))
    }

    fn create_database(
        &self,
        name: &str,
        database: CatalogDatabase,
        if_not_exists: bool,
    ) -> Result<(), CatalogError> {
        let mut databases = self.databases.write();
        if databases.contains_key(name) {
            if if_not_exists {
                return Ok(());
            }
            return Err(CatalogError::DatabaseExists {
                catalog: self.name.clone(),
                database: name.to_string(),
            });
        }
        databases.insert(
            name.to_string(),
            Database {
                definition: database,
                tables: BTreeMap::new(),
            },
        );
        Ok(())
    }

    fn drop_database(
        &self,
        name: &str,
        if_exists: bool,
        cascade: bool,
    ) -> Result<(), CatalogError> {
        let mut databases = self.databases.write();
        let Some(found) = databases.get(name) else {
            return if if_exists {
                Ok(())
            } else {
                Err(self.unknown_database(name, &databases))
            };
        };
        if let (Some(object), false) = (found.tables.keys().next(), cascade) {
            return Err(CatalogError::DatabaseNotEmpty {
                catalog: self.name.clone(),
                database: name.to_string(),
                object: object.clone(),
            });
        }
        databases.remove(name);
        Ok(())
    }

    fn list_tables(&self, database: &str) -> Result<Vec<String>, CatalogError> {
        self.names(database, |_| true)
    }

    fn list_views(&self, database: &str) -> Result<Vec<String>, CatalogError> {
        self.names(database, |t| matches!(t, CatalogBaseTable::View(_)))
    }

    fn table(&self, path: &ObjectPath) -> Result<Option<CatalogBaseTable>, CatalogError> {
        let databases = self.databases.read();
        Ok(databases
            .get(&path.database)
            .and_then(|d| d.tables.get(&path.object))
            .cloned())
    }

    fn create_table(
        &self,
        path: &ObjectPath,
        table: CatalogBaseTable,
        if_not_exists: bool,
    ) -> Result<(), CatalogError> {
        let mut databases = self.databases.write();
        if !databases.contains_key(&path.database) {
            return Err(self.unknown_database(&path.database, &databases));
        }
        let database = databases
            .get_mut(&path.database)
            .expect("the database was found above");
        match database.tables.get(&path.object) {
            Some(_) if if_not_exists => Ok(()),
            Some(existing) => Err(CatalogError::ObjectExists {
                what: existing.kind(),
                path: path.to_string(),
            }),
            None => {
                database.tables.insert(path.object.clone(), table);
                Ok(())
            }
        }
    }

    fn drop_table(&self, path: &ObjectPath, if_exists: bool) -> Result<(), CatalogError> {
        let mut databases = self.databases.write();
        let Some(database) = databases.get_mut(&path.database) else {
            return if if_exists {
                Ok(())
            } else {
                Err(self.unknown_database(&path.database, &databases))
            };
        };
        if database.tables.remove(&path.object).is_none() && !if_exists {
            return Err(Self::unknown_object(path, database));
        }
        Ok(())
    }

    fn rename_table(
        &self,
        path: &ObjectPath,
        new_name: &str,
        if_exists: bool,
    ) -> Result<(), CatalogError> {
        let mut databases = self.databases.write();
        let Some(database) = databases.get_mut(&path.database) else {
            return Err(self.unknown_database(&path.database, &databases));
        };
        if let Some(existing) = database.tables.get(new_name) {
            let path = ObjectPath::of(&path.database, new_name).to_string();
            return Err(CatalogError::ObjectExists {
                what: existing.kind(),
                path,
            });
        }
        match database.tables.remove(&path.object) {
            Some(table) => {
                database.tables.insert(new_name.to_string(), table);
                Ok(())
            }
            None if if_exists => Ok(()),
            None => Err(Self::unknown_object(path, database)),
        }
    }
}
