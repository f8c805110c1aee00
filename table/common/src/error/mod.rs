//! The errors of the table layer.
//!
//! [`TableError`] has one variant per area; an area with several kinds wraps an enum of its own.
//! Every kind answers [`TableError::code`], a stable dotted word that callers and tests may rely
//! on, while texts may improve. A text has three parts: the *message* (one line, by `Display`),
//! the *detail* (what was seen and where) and the *hint* (what to do, with near names).
//! [`TableError::report`] joins them with the chain of causes; `Debug` prints the report, so that
//! a `main` that returns the error shows all of it.

mod catalog;
mod execution;
mod parse;
mod plan;
mod position;
mod schema;
mod suggestion;
mod table_error;
mod unsupported;
mod validation;

pub use catalog::CatalogError;
pub use execution::{ExecutionError, IoError};
pub use parse::ParseError;
pub use plan::PlanError;
pub use position::TextPosition;
pub use schema::{SchemaError, SchemaErrorKind};
pub use suggestion::{did_you_mean, near_names, registered};
pub use table_error::{Result, TableError};
pub use unsupported::UnsupportedError;
pub use validation::{ValidationError, ValidationErrorKind};
