//! Several inserts as one job.

use std::sync::Arc;

use aquifer_table_common::operation::{ExplainDetail, ExplainFormat, ModifyOperation, Operation};
use aquifer_table_common::{Result, ValidationErrorKind};
use parking_lot::Mutex;

use crate::pipeline::{InsertOptions, InsertTarget, TablePipeline};
use crate::table::Table;
use crate::table_environment::TableEnvironment;
use crate::table_result::TableResult;

/// Collects inserts that are planned together, share what is common, and run as one job, so that all of them see
/// the same epochs.
///
/// Cheap to clone; clones are the same set.
#[derive(Clone)]
pub struct StatementSet {
    environment: TableEnvironment,
    inserts: Arc<Mutex<Vec<ModifyOperation>>>,
}

impl StatementSet {
    pub(crate) fn new(environment: TableEnvironment) -> Self {
        StatementSet {
            environment,
            inserts: Arc::default(),
        }
    }

    /// Adds an INSERT statement.
    ///
    /// # Errors
    /// `validation.wrong_statement` for any other statement; what is wrong with it.
    pub fn add_insert_sql(&self, statement: impl AsRef<str>) -> Result<&Self> {
        match self.environment.parse_one(statement.as_ref())? {
            Operation::Modify(insert @ ModifyOperation::Sink { .. }) => self.push(insert),
            other => Err(ValidationErrorKind::WrongStatement {
                expected: "an INSERT statement".to_string(),
                found: other.summary(),
            }
            .into()),
        }
    }

    /// Adds a query with its target.
    ///
    /// # Errors
    /// None today; the set takes any pipeline.
    #[doc(alias = "add_insert_pipeline")]
    pub fn add(&self, pipeline: TablePipeline) -> Result<&Self> {
        self.push(pipeline.into_operation())
    }

    /// Adds the insertion of a table into a table of the catalog, or one that is described.
    ///
    /// # Errors
    /// As [`Table::insert_into`].
    pub fn add_insert(&self, target: impl Into<InsertTarget>, table: &Table) -> Result<&Self> {
        self.add_insert_with(target, table, InsertOptions::default())
    }

    /// As [`add_insert`](Self::add_insert), with options.
    ///
    /// # Errors
    /// See there.
    pub fn add_insert_with(
        &self,
        target: impl Into<InsertTarget>,
        table: &Table,
        options: InsertOptions,
    ) -> Result<&Self> {
        self.add(table.insert_into_with(target, options)?)
    }

    /// The common plan of all statements.
    ///
    /// # Errors
    /// What planning finds.
    pub fn explain(&self, details: &[ExplainDetail]) -> Result<String> {
        let inserts: Vec<Operation> = self
            .inserts
            .lock()
            .iter()
            .cloned()
            .map(Operation::Modify)
            .collect();
        self.environment
            .explain_operations(&inserts, ExplainFormat::Text, details)
    }

    /// Runs all statements as one job; the set is empty then.
    ///
    /// # Errors
    /// What planning finds; `graph.*` for an empty set or a job that cannot be built.
    pub fn execute(&self) -> Result<TableResult> {
        self.environment.execute_inserts(&self.take())
    }

    pub(crate) fn take(&self) -> Vec<ModifyOperation> {
        std::mem::take(&mut *self.inserts.lock())
    }

    fn push(&self, insert: ModifyOperation) -> Result<&Self> {
        self.inserts.lock().push(insert);
        Ok(self)
    }
}

/// A [`StatementSet`] whose statements can become part of the stream environment's next job.
#[derive(Clone)]
pub struct StreamStatementSet {
    set: StatementSet,
}

impl StreamStatementSet {
    pub(crate) fn new(environment: TableEnvironment) -> Self {
        StreamStatementSet {
            set: StatementSet::new(environment),
        }
    }

    /// As [`StatementSet::add_insert_sql`].
    ///
    /// # Errors
    /// See there.
    pub fn add_insert_sql(&self, statement: impl AsRef<str>) -> Result<&Self> {
        self.set.add_insert_sql(statement)?;
        Ok(self)
    }

    /// As [`StatementSet::add`].
    ///
    /// # Errors
    /// See there.
    pub fn add(&self, pipeline: TablePipeline) -> Result<&Self> {
        self.set.add(pipeline)?;
        Ok(self)
    }

    /// As [`StatementSet::add_insert`].
    ///
    /// # Errors
    /// See there.
    pub fn add_insert(&self, target: impl Into<InsertTarget>, table: &Table) -> Result<&Self> {
        self.set.add_insert(target, table)?;
        Ok(self)
    }

    /// As [`StatementSet::add_insert_with`].
    ///
    /// # Errors
    /// See there.
    pub fn add_insert_with(
        &self,
        target: impl Into<InsertTarget>,
        table: &Table,
        options: InsertOptions,
    ) -> Result<&Self> {
        self.set.add_insert_with(target, table, options)?;
        Ok(self)
    }

    /// As [`StatementSet::explain`].
    ///
    /// # Errors
    /// See there.
    pub fn explain(&self, details: &[ExplainDetail]) -> Result<String> {
        self.set.explain(details)
    }

    /// As [`StatementSet::execute`].
    ///
    /// # Errors
    /// See there.
    pub fn execute(&self) -> Result<TableResult> {
        self.set.execute()
    }

    /// Plans all statements as one unit and makes them part of the stream environment's next job, which
    /// `env.execute()` starts; the set is empty then.
    ///
    /// # Errors
    /// What planning finds; `validation.wrong_statement` for an empty set.
    #[doc(alias = "attachAsDataStream")]
    pub fn attach_as_data_stream(&self) -> Result<()> {
        self.set.environment.attach_inserts(&self.set.take())
    }
}
