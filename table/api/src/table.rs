//! A query as a value of the program.

use std::fmt;
use std::sync::{Arc, OnceLock};

use aquifer_table_common::operation::{
    ExplainDetail, ExplainFormat, ModifyOperation, Operation, QueryOperation,
};
use aquifer_table_common::{ResolvedSchema, Result};

use crate::pipeline::{InsertOptions, InsertTarget, TablePipeline};
use crate::table_environment::TableEnvironment;
use crate::table_result::TableResult;

/// A query. It holds no rows; it says how they are made.
///
/// Cheap to clone. Written into SQL text by `Display`, it is registered as a view of a made-up name first.
#[derive(Clone)]
pub struct Table {
    environment: TableEnvironment,
    operation: Arc<QueryOperation>,
    schema: Arc<ResolvedSchema>,
    /// The name under which `Display` registered it.
    name: Arc<OnceLock<String>>,
}

impl Table {
    pub(crate) fn new(environment: TableEnvironment, operation: Arc<QueryOperation>) -> Self {
        let schema = Arc::new(operation.schema());
        Table {
            environment,
            operation,
            schema,
            name: Arc::default(),
        }
    }

    pub(crate) fn environment(&self) -> &TableEnvironment {
        &self.environment
    }

    /// The tree behind the table.
    #[doc(hidden)]
    pub fn query_operation(&self) -> &Arc<QueryOperation> {
        &self.operation
    }

    /// The columns.
    #[doc(alias = "getResolvedSchema")]
    pub fn schema(&self) -> &ResolvedSchema {
        &self.schema
    }

    /// Prints the columns to the standard output.
    ///
    /// # Errors
    /// `io.*` when it cannot be written to.
    pub fn print_schema(&self) -> Result<()> {
        crate::output::print_line(&self.schema.to_string())
    }

    /// Runs the query as a job of its own and lets the caller collect its rows.
    ///
    /// # Errors
    /// What planning finds; `graph.*` for a job that cannot be built.
    pub fn execute(&self) -> Result<TableResult> {
        self.environment.execute_query(&self.operation)
    }

    /// The plans: as written, optimised, for execution.
    ///
    /// # Errors
    /// What planning finds.
    pub fn explain(&self, details: &[ExplainDetail]) -> Result<String> {
        let operation = Operation::Query(Arc::clone(&self.operation));
        self.environment
            .explain_operations(&[operation], ExplainFormat::Text, details)
    }

    /// Prints the plans to the standard output.
    ///
    /// # Errors
    /// What planning finds; `io.*` when it cannot be written to.
    pub fn print_explain(&self) -> Result<()> {
        crate::output::print_line(&self.explain(&[])?)
    }

    /// The query with a target: a table of the catalog by its path, or one that is described. Columns go by position
    /// and are cast where that loses nothing. Nothing runs yet.
    ///
    /// # Errors
    /// `validation.unknown_table`, `schema.column_count`, `schema.type_mismatch`; what is wrong with the target.
    #[doc(alias = "insertInto")]
    pub fn insert_into(&self, target: impl Into<InsertTarget>) -> Result<TablePipeline> {
        self.insert_into_with(target, InsertOptions::default())
    }

    /// As [`insert_into`](Self::insert_into), with options.
    ///
    /// # Errors
    /// See there.
    pub fn insert_into_with(
        &self,
        target: impl Into<InsertTarget>,
        options: InsertOptions,
    ) -> Result<TablePipeline> {
        let operation = self.insert_operation(&target.into(), options)?;
        Ok(TablePipeline::new(self.environment.clone(), operation))
    }

    /// Old: [`insert_into`](Self::insert_into) and execute.
    ///
    /// # Errors
    /// See there.
    #[doc(alias = "executeInsert")]
    pub fn execute_insert(&self, target: impl Into<InsertTarget>) -> Result<TableResult> {
        self.insert_into(target)?.execute()
    }

    fn insert_operation(
        &self,
        target: &InsertTarget,
        options: InsertOptions,
    ) -> Result<ModifyOperation> {
        self.environment
            .insert_operation(target, &self.operation, options)
    }
}

impl fmt::Display for Table {
    /// Writes a name for use inside SQL text, under which the table is registered for the life of the environment.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.name.get() {
            Some(name) => name,
            None => {
                let name = self
                    .environment
                    .register_unnamed(&self.operation)
                    .map_err(|_| fmt::Error)?;
                self.name.get_or_init(|| name)
            }
        };
        f.write_str(name)
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}
