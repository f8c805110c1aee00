//! A query with its target.

use std::sync::Arc;

use aquifer_types::ChangelogMode;

use super::{QueryOperation, ResolvedTable};

/// A query with its target.
#[derive(Debug, Clone)]
pub enum ModifyOperation {
    /// Writes to a table by its connector.
    Sink {
        /// The table.
        table: SinkTable,
        /// The query; its columns are those that are written, in the table's order and types.
        child: Arc<QueryOperation>,
        /// Whether former content is replaced.
        overwrite: bool,
    },
    /// Hands the rows to the caller: `execute()` of a query.
    Collect {
        /// The query.
        child: Arc<QueryOperation>,
    },
    /// Continues as a data stream.
    OutputConversion {
        /// The query.
        child: Arc<QueryOperation>,
        /// What the stream holds.
        mode: OutputMode,
    },
}

/// A table that is written.
#[derive(Debug, Clone)]
pub struct SinkTable {
    /// The table.
    pub table: Arc<ResolvedTable>,
    /// Whether it has a name in a catalog; without one its identifier was made up.
    pub is_registered: bool,
}

/// What a data stream made from a query holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputMode {
    /// Rows that are only added: `to_data_stream`, `to_append_stream`.
    Append,
    /// `(true, row)` and `(false, row)`: `to_retract_stream`.
    Retract,
    /// Rows with these kinds: `to_changelog_stream`.
    Changelog(ChangelogMode),
}

impl ModifyOperation {
    /// The query.
    pub fn child(&self) -> &Arc<QueryOperation> {
        match self {
            ModifyOperation::Sink { child, .. }
            | ModifyOperation::Collect { child }
            | ModifyOperation::OutputConversion { child, .. } => child,
        }
    }
}
