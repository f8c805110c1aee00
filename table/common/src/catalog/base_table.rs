//! What a catalog stores.

use std::sync::Arc;

use crate::descriptor::TableDescriptor;
use crate::operation::QueryOperation;
use crate::options::TableOptions;
use crate::schema::Schema;

/// A database: a named set of tables and views.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CatalogDatabase {
    /// Free properties.
    pub properties: TableOptions,
    /// A comment.
    pub comment: Option<String>,
}

/// A table or a view.
#[derive(Debug, Clone)]
pub enum CatalogBaseTable {
    /// A table: data outside, reached by a connector.
    Table(CatalogTable),
    /// A view: a query.
    View(CatalogView),
}

impl CatalogBaseTable {
    /// `table` or `view`.
    pub fn kind(&self) -> &'static str {
        match self {
            CatalogBaseTable::Table(_) => "table",
            CatalogBaseTable::View(_) => "view",
        }
    }
}

/// A table: columns and how to reach the data.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CatalogTable {
    /// The declared columns.
    pub schema: Schema,
    /// The options, the connector's among them.
    pub options: TableOptions,
    /// The partition columns.
    pub partition_keys: Vec<String>,
    /// A comment.
    pub comment: Option<String>,
}

impl From<TableDescriptor> for CatalogTable {
    fn from(descriptor: TableDescriptor) -> Self {
        CatalogTable {
            schema: descriptor.schema.unwrap_or_default(),
            options: descriptor.options,
            partition_keys: descriptor.partition_keys,
            comment: descriptor.comment,
        }
    }
}

/// A view: a query with a name.
#[derive(Debug, Clone)]
pub struct CatalogView {
    /// The query.
    pub query: ViewQuery,
    /// A comment.
    pub comment: Option<String>,
}

/// The query of a view.
#[derive(Debug, Clone)]
pub enum ViewQuery {
    /// SQL text; short names in it mean the catalog and database in which the view was made.
    Sql {
        /// The query's text.
        text: String,
        /// Names for the query's columns; none keeps those of the query.
        columns: Vec<String>,
        /// The current catalog when the view was made.
        catalog: String,
        /// The current database when the view was made.
        database: String,
    },
    /// A tree made by a program; such a view is temporary.
    Operation(Arc<QueryOperation>),
}
