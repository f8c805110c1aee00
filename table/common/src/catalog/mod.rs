//! Catalogs: where tables and views are known by name.
//!
//! A [`Catalog`] stores permanent objects; the [`CatalogManager`] owns all catalogs of an
//! environment, the temporary objects that hide permanent ones of the same path, and the current
//! names that complete a short path.

mod base_table;
mod in_memory;
mod interface;
mod manager;

pub use base_table::{CatalogBaseTable, CatalogDatabase, CatalogTable, CatalogView, ViewQuery};
pub use in_memory::GenericInMemoryCatalog;
pub use interface::Catalog;
pub use manager::{CatalogManager, DEFAULT_CATALOG, DEFAULT_DATABASE, FoundTable};
