//! What statements and tables mean, names and types resolved.
//!
//! [`Operation`] is one statement; [`QueryOperation`] is the tree behind a query; a
//! [`ModifyOperation`] is a query with its target.

mod modify;
mod query;
mod statement;

pub use modify::{ModifyOperation, OutputMode, SinkTable};
pub use query::{
    AggregateCall, AggregateQuery, DataStreamQuery, DistinctQuery, FilterQuery, JoinQuery,
    JoinType, ProjectQuery, QueryOperation, ResolvedTable, SetQuery, SourceQuery, ValuesQuery,
    WatermarkQuery, WindowKind, WindowQuery,
};
pub use statement::{
    CreateOperation, DropOperation, ExplainDetail, ExplainFormat, ExplainOperation, Operation,
    ShowOperation, UseOperation,
};
