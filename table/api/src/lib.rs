//! Tables and SQL: environments, tables, statement sets and results.
//!
//! - [`TableEnvironment`] and [`StreamTableEnvironment`]: where a program starts.
//! - [`Table`]: a query as a value; [`TablePipeline`] and [`StatementSet`]: queries with targets.
//! - [`TableResult`]: what executing a statement answers.
//! - [`TableConfig`] and [`options`]: the session's options.
//!
//! The layer below plans ([`aquifer_planner`]); this package turns calls into operations, and operations into jobs.
//!
//! # Values and columns
//!
//! Values of a stream become columns by serde; a type needs `Serialize` and `Deserialize` and nothing else. A struct
//! gives one column per field, a tuple `f0, f1, ..`, any other value a single column `f0`.
//!
//! | Rust | SQL |
//! | --- | --- |
//! | `bool` | `BOOLEAN` |
//! | `i8`, `i16`, `i32`, `i64` | `TINYINT`, `SMALLINT`, `INT`, `BIGINT` |
//! | `u8`, `u16`, `u32` | the next wider type: `SMALLINT`, `INT`, `BIGINT` |
//! | `u64` | `BIGINT`; a value beyond it fails the job |
//! | `f32`, `f64` | `FLOAT`, `DOUBLE` |
//! | `char`, `String` | `STRING`; also as dates, times and decimals that a schema declares |
//! | types of chrono, and others that are such texts for serde | `DATE`, `TIME`, `TIMESTAMP`, `TIMESTAMP_LTZ` |
//! | `Vec<u8>`, bytes | `BYTES` |
//! | `Vec<T>` | `ARRAY` |
//! | maps | `MAP` |
//! | structs, tuples | `ROW` |
//! | `Option<T>` | nullable; everything else is `NOT NULL` |
//!
//! Enums are refused: SQL has no sum types. [`Row`](aquifer_types::Row)s carry their types in their values.

mod bridge;
mod conversion;
mod execute;
mod field_list;
pub mod options;
mod output;
mod pipeline;
mod settings;
mod statement_set;
mod stream_table_environment;
mod table;
mod table_config;
mod table_environment;
mod table_operators;
mod table_result;
mod tableau;
mod values;

pub use field_list::FieldList;
pub use pipeline::{InsertOptions, InsertTarget, TablePipeline};
pub use settings::{EnvironmentSettings, EnvironmentSettingsBuilder};
pub use statement_set::{StatementSet, StreamStatementSet};
pub use stream_table_environment::StreamTableEnvironment;
pub use table::Table;
pub use table_config::TableConfig;
pub use table_environment::TableEnvironment;
pub use table_operators::ExprList;
pub use table_result::{ResultKind, RowIterator, TableResult};
pub use values::IntoValuesRow;
