//! Tables that are written.

use aquifer_runtime::transformation::OperatorFactory;
use aquifer_types::{ChangelogMode, Field};

use crate::error::Result;

/// A table that can be written: the connector's answer to `INSERT INTO t`.
pub trait DynamicTableSink: Send + Sync {
    /// The kinds of changes the sink takes when the query produces `requested`. A sink that cannot
    /// take updates answers [`ChangelogMode::insert_only`]; the planner then refuses the query.
    fn changelog_mode(&self, requested: &ChangelogMode) -> ChangelogMode;

    /// One line for plans.
    fn summary(&self) -> String;

    /// Makes what writes the columns of `context`.
    ///
    /// # Errors
    /// What the connector finds wrong before the job starts, such as an unwritable folder.
    fn create(&self, context: &SinkContext) -> Result<SinkProvider>;
}

/// What a sink gets.
#[derive(Debug, Clone)]
pub struct SinkContext {
    /// The table, for messages.
    pub table: String,
    /// The columns of the batches: physical and written metadata columns in schema order.
    pub fields: Vec<Field>,
    /// The key by which changes are updates of one row: the table's primary key, else the query's
    /// upsert key; empty if there is none. Indices into `fields`.
    pub key: Vec<usize>,
    /// The changes that come.
    pub changelog_mode: ChangelogMode,
}

/// What writes a table inside a job: an operator that takes
/// [`ChangeBatch`](aquifer_types::ChangeBatch)es on input 0 and has no output. All rows of one
/// value of [`SinkContext::key`] arrive at one instance.
#[derive(Clone)]
pub struct SinkProvider {
    /// Makes the operator on each worker.
    pub factory: OperatorFactory,
    /// How many workers write; `None`: all.
    pub parallelism: Option<usize>,
}

impl SinkProvider {
    /// A sink written by all workers.
    pub fn new(factory: OperatorFactory) -> Self {
        SinkProvider {
            factory,
            parallelism: None,
        }
    }

    /// The same sink written by the first `parallelism` workers only.
    #[must_use]
    pub fn with_parallelism(mut self, parallelism: usize) -> Self {
        self.parallelism = Some(parallelism);
        self
    }
}
