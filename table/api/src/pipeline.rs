//! A query with its target, not yet run.

use aquifer_table_common::descriptor::TableDescriptorBuilder;
use aquifer_table_common::operation::{ExplainDetail, ExplainFormat, ModifyOperation, Operation};
use aquifer_table_common::{ObjectIdentifier, Result, TableDescriptor};

use crate::table_environment::TableEnvironment;
use crate::table_result::TableResult;

/// Where rows are inserted: a table of the catalog by its path, or a table that is described.
#[derive(Debug, Clone)]
pub enum InsertTarget {
    /// The path of a table.
    Path(String),
    /// A table without a name.
    Descriptor(Box<TableDescriptor>),
}

impl From<&str> for InsertTarget {
    fn from(path: &str) -> Self {
        InsertTarget::Path(path.to_string())
    }
}

impl From<String> for InsertTarget {
    fn from(path: String) -> Self {
        InsertTarget::Path(path)
    }
}

impl From<TableDescriptor> for InsertTarget {
    fn from(descriptor: TableDescriptor) -> Self {
        InsertTarget::Descriptor(Box::new(descriptor))
    }
}

impl From<TableDescriptorBuilder> for InsertTarget {
    fn from(builder: TableDescriptorBuilder) -> Self {
        builder.build().into()
    }
}

/// How rows are inserted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InsertOptions {
    /// Whether former content is replaced.
    pub overwrite: bool,
}

/// A query with its target. Nothing runs until it is executed.
#[derive(Clone)]
pub struct TablePipeline {
    environment: TableEnvironment,
    operation: ModifyOperation,
}

impl TablePipeline {
    pub(crate) fn new(environment: TableEnvironment, operation: ModifyOperation) -> Self {
        TablePipeline {
            environment,
            operation,
        }
    }

    pub(crate) fn into_operation(self) -> ModifyOperation {
        self.operation
    }

    /// Runs it as a job of its own. Returns once the job is submitted, unless `table.dml-sync` is set.
    ///
    /// # Errors
    /// What planning finds; `graph.*` for a job that cannot be built.
    pub fn execute(&self) -> Result<TableResult> {
        self.environment
            .execute_inserts(std::slice::from_ref(&self.operation))
    }

    /// The path of the table that is written; `None` for one that is described.
    #[doc(alias = "getSinkIdentifier")]
    pub fn sink_identifier(&self) -> Option<&ObjectIdentifier> {
        match &self.operation {
            ModifyOperation::Sink { table, .. } if table.is_registered => {
                Some(&table.table.identifier)
            }
            _ => None,
        }
    }

    /// The plan.
    ///
    /// # Errors
    /// What planning finds.
    pub fn explain(&self, details: &[ExplainDetail]) -> Result<String> {
        let operation = Operation::Modify(self.operation.clone());
        self.environment
            .explain_operations(&[operation], ExplainFormat::Text, details)
    }
}
