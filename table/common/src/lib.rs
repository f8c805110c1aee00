//! What connectors and the planner are written against: schemas, expressions, operations, catalogs, factories.
//!
//! - [`error`]: [`TableError`], the error of every call of the table layer.
//! - [`identifier`], [`schema`], [`descriptor`], [`options`]: names, columns and options of tables.
//! - [`expression`]: expressions as a program writes them.
//! - [`operation`]: what statements and tables mean, names and types resolved.
//! - [`catalog`]: where tables and views are known by name.
//! - [`connector`]: the traits of connectors and formats, and where they are registered.

pub mod catalog;
pub mod connector;
pub mod descriptor;
pub mod error;
pub mod expression;
pub mod identifier;
pub mod operation;
pub mod options;
pub mod schema;

pub use descriptor::{FormatDescriptor, TableDescriptor};
pub use error::{
    CatalogError, ExecutionError, IoError, ParseError, PlanError, Result, SchemaError,
    SchemaErrorKind, TableError, TextPosition, UnsupportedError, ValidationError,
    ValidationErrorKind,
};
pub use identifier::{ObjectIdentifier, ObjectPath, UnresolvedIdentifier};
pub use options::TableOptions;
pub use schema::{Column, ColumnKind, ResolvedSchema, Schema};
