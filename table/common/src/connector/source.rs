//! Tables that are read.

use aquifer_runtime::Boundedness;
use aquifer_runtime::source::SourceFactory;
use aquifer_types::{ChangelogMode, DataType};

use crate::error::Result;

/// A table that can be read: the connector's answer to `FROM t`.
pub trait DynamicTableSource: Send + Sync {
    /// The kinds of changes the source produces.
    fn changelog_mode(&self) -> ChangelogMode;

    /// Whether the source ends by itself.
    fn boundedness(&self) -> Boundedness;

    /// One line for plans.
    fn summary(&self) -> String;

    /// The metadata that columns may ask for, by key.
    fn metadata(&self) -> Vec<(&'static str, DataType)> {
        Vec::new()
    }

    /// Makes what reads the columns that `context` asks for, in that order.
    ///
    /// # Errors
    /// What the connector finds wrong before the job starts, such as a missing file.
    fn scan(&self, context: &ScanContext) -> Result<ScanProvider>;
}

/// What a scan shall produce. The planner leaves out columns that no query needs.
#[derive(Debug, Clone)]
pub struct ScanContext {
    /// The table, for messages.
    pub table: String,
    /// The columns to produce, in order; there may be none when only the number of rows counts.
    pub columns: Vec<ScanColumn>,
}

impl ScanContext {
    /// The physical columns to produce, in order: indices among the table's physical columns.
    pub fn physical_columns(&self) -> Vec<usize> {
        let physical = |c: &ScanColumn| match &c.kind {
            ScanColumnKind::Physical(index) => Some(*index),
            ScanColumnKind::Metadata(_) => None,
        };
        self.columns.iter().filter_map(physical).collect()
    }

    /// The types of the columns to produce.
    pub fn column_types(&self) -> Vec<DataType> {
        self.columns.iter().map(|c| c.data_type.clone()).collect()
    }
}

/// A column that a scan produces.
#[derive(Debug, Clone, PartialEq)]
pub struct ScanColumn {
    /// The name.
    pub name: String,
    /// The type.
    pub data_type: DataType,
    /// Where its values come from.
    pub kind: ScanColumnKind,
}

/// Where the values of a scanned column come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScanColumnKind {
    /// The stored column of this index among the table's physical columns.
    Physical(usize),
    /// The connector's metadata of this key.
    Metadata(String),
}

/// What reads a table inside a job: emits [`ChangeBatch`](aquifer_types::ChangeBatch)es with the
/// columns of its [`ScanContext`].
#[derive(Clone)]
pub struct ScanProvider {
    /// Makes the reader on each worker.
    pub factory: SourceFactory,
    /// How many workers read; `None`: all.
    pub parallelism: Option<usize>,
}

impl ScanProvider {
    /// A source read by all workers, each of which takes its share.
    pub fn new(factory: SourceFactory) -> Self {
        ScanProvider {
            factory,
            parallelism: None,
        }
    }

    /// The same source read by the first `parallelism` workers only.
    #[must_use]
    pub fn with_parallelism(mut self, parallelism: usize) -> Self {
        self.parallelism = Some(parallelism);
        self
    }
}
