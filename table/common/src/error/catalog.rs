//! Errors of catalogs and their objects.

use super::registered;

/// An error of a catalog or of the objects in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// A catalog that is not registered.
    #[error("catalog '{name}' does not exist")]
    UnknownCatalog {
        /// The name as written.
        name: String,
        /// The registered catalogs.
        candidates: Vec<String>,
    },
    /// A catalog that exists already.
    #[error("catalog '{name}' already exists")]
    CatalogExists {
        /// The name.
        name: String,
    },
    /// A database that does not exist.
    #[error("database '{database}' does not exist in catalog '{catalog}'")]
    UnknownDatabase {
        /// The catalog.
        catalog: String,
        /// The database as written.
        database: String,
        /// The databases of the catalog.
        candidates: Vec<String>,
    },
    /// A database that exists already.
    #[error("database '{database}' already exists in catalog '{catalog}'")]
    DatabaseExists {
        /// The catalog.
        catalog: String,
        /// The database.
        database: String,
    },
    /// A database that still holds objects.
    #[error("database '{database}' in catalog '{catalog}' is not empty: it holds '{object}'")]
    DatabaseNotEmpty {
        /// The catalog.
        catalog: String,
        /// The database.
        database: String,
        /// One of its objects.
        object: String,
    },
    /// A table, view or function that does not exist.
    #[error("{what} '{path}' does not exist")]
    UnknownObject {
        /// `table`, `view`, `temporary table`.
        what: &'static str,
        /// The path.
        path: String,
        /// The objects of that kind in reach.
        candidates: Vec<String>,
    },
    /// A table, view or function that exists already.
    #[error("{what} '{path}' already exists")]
    ObjectExists {
        /// The kind of the object that is there.
        what: &'static str,
        /// The path.
        path: String,
    },
    /// A view where a table is meant, or the other way round.
    #[error("'{path}' is a {found}, not a {expected}")]
    WrongKind {
        /// The path.
        path: String,
        /// What was meant.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// Something this catalog does not offer.
    #[error("catalog '{catalog}' does not support {feature}")]
    Unsupported {
        /// The catalog.
        catalog: String,
        /// What it does not offer.
        feature: String,
    },
    /// A failure of the system behind the catalog.
    #[error("catalog '{catalog}' failed: {message}")]
    External {
        /// The catalog.
        catalog: String,
        /// What its system said.
        message: String,
    },
}

impl CatalogError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownCatalog { .. } => "catalog.unknown_catalog",
            Self::CatalogExists { .. } => "catalog.catalog_exists",
            Self::UnknownDatabase { .. } => "catalog.unknown_database",
            Self::DatabaseExists { .. } => "catalog.database_exists",
            Self::DatabaseNotEmpty { .. } => "catalog.database_not_empty",
            Self::UnknownObject { .. } => "catalog.unknown_object",
            Self::ObjectExists { .. } => "catalog.object_exists",
            Self::WrongKind { .. } => "catalog.wrong_kind",
            Self::Unsupported { .. } => "catalog.unsupported",
            Self::External { .. } => "catalog.external",
        }
    }

    /// What to do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownCatalog { name, candidates } => {
                Some(registered("catalog", name, candidates))
            }
            Self::UnknownDatabase {
                database,
                candidates,
                ..
            } => Some(registered("database", database, candidates)),
            Self::UnknownObject {
                what,
                path,
                candidates,
            } => {
                let last = path.rsplit('.').next().unwrap_or(path).trim_matches('`');
                Some(registered(what, last, candidates))
            }
            Self::DatabaseNotEmpty { .. } => Some("Drop it with CASCADE.".to_string()),
            Self::ObjectExists { .. } => {
                Some("Use IF NOT EXISTS, another name, or drop it first.".to_string())
            }
            _ => None,
        }
    }
}
