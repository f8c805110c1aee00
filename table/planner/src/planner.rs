//! The planner: statements in, pieces of a job out.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use aquifer_functions::expression::ResolvedExpr;
use aquifer_table_common::catalog::{CatalogManager, CatalogTable};
use aquifer_table_common::connector::FactoryRegistry;
use aquifer_table_common::operation::{
    ExplainDetail, ExplainFormat, ModifyOperation, Operation, QueryOperation,
};
use aquifer_table_common::{ObjectIdentifier, Result};
use aquifer_types::Field;
use parking_lot::RwLock;

use crate::analyser::{Analyser, Scope};
use crate::exec::{ExecNodeGraph, GraphBuilder, TranslateContext, Translated};
use crate::explain::explain;
use crate::parser::{ParsedStatement, parse_expression, parse_statements};
use crate::rules::optimize;

/// Plans the statements of one environment.
pub struct Planner {
    catalogs: Arc<CatalogManager>,
    factories: Arc<RwLock<FactoryRegistry>>,
    /// The next node id; ids are unique in a program and depend on its statements alone.
    ids: AtomicU32,
}

impl Planner {
    /// A planner over these catalogs, connectors and formats.
    pub fn new(catalogs: Arc<CatalogManager>, factories: Arc<RwLock<FactoryRegistry>>) -> Self {
        Planner {
            catalogs,
            factories,
            ids: AtomicU32::new(1),
        }
    }

    /// The statements of a text, not analysed yet. A script is analysed statement by statement,
    /// because a later one may need what an earlier one defines.
    ///
    /// # Errors
    /// `parse.syntax`, `unsupported.feature`.
    pub fn split(&self, sql: &str) -> Result<Vec<ParsedStatement>> {
        parse_statements(sql)
    }

    /// What a statement means with the current catalogs.
    ///
    /// # Errors
    /// `validation.*`, `schema.*`, `unsupported.feature`, with the place in the text.
    pub fn analyse(&self, statement: &ParsedStatement) -> Result<Operation> {
        let factories = self.factories.read().clone();
        Analyser::new(&self.catalogs, &factories, statement.sql.clone()).statement(statement)
    }

    /// What the statements of a text mean, none of which may need what another defines.
    ///
    /// # Errors
    /// As [`split`](Self::split) and [`analyse`](Self::analyse).
    pub fn parse(&self, sql: &str) -> Result<Vec<Operation>> {
        self.split(sql)?.iter().map(|s| self.analyse(s)).collect()
    }

    /// One SQL expression over columns.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_sql_expression(&self, sql: &str, input: &[Field]) -> Result<ResolvedExpr> {
        parse_expression(sql)?;
        let expr = aquifer_table_common::expression::Expr::Sql(sql.to_string());
        self.resolve_expression(&expr, &Scope::of(Vec::new(), input))
    }

    /// An expression of a program over the columns in reach.
    ///
    /// # Errors
    /// `validation.*`, `schema.*`, `parse.syntax` for SQL text in it.
    pub fn resolve_expression(
        &self,
        expression: &aquifer_table_common::expression::Expr,
        scope: &Scope,
    ) -> Result<ResolvedExpr> {
        let factories = self.factories.read().clone();
        Analyser::new(&self.catalogs, &factories, "").expression(expression, scope)
    }

    /// Reads a table that has no name in a catalog, or whose definition is at hand.
    ///
    /// # Errors
    /// What is wrong with its schema, options or connector.
    pub fn scan(
        &self,
        identifier: &ObjectIdentifier,
        table: &CatalogTable,
    ) -> Result<QueryOperation> {
        let factories = self.factories.read().clone();
        Analyser::new(&self.catalogs, &factories, "").scan(identifier, table)
    }

    /// Reads a table or view of the catalog by its path.
    ///
    /// # Errors
    /// `validation.unknown_table`, and as [`scan`](Self::scan).
    pub fn from_path(
        &self,
        path: &aquifer_table_common::UnresolvedIdentifier,
    ) -> Result<QueryOperation> {
        let found = self.catalogs.resolve(path)?;
        let factories = self.factories.read().clone();
        Analyser::new(&self.catalogs, &factories, "").catalog_table(&found)
    }

    /// Writes a query to a table: columns by position, with implicit casts.
    ///
    /// # Errors
    /// Another number of columns, types that do not fit, what is wrong with the table.
    pub fn insert_into(
        &self,
        identifier: &ObjectIdentifier,
        table: &CatalogTable,
        is_registered: bool,
        query: QueryOperation,
        overwrite: bool,
    ) -> Result<ModifyOperation> {
        let factories = self.factories.read().clone();
        Analyser::new(&self.catalogs, &factories, "").insert_into(
            identifier,
            table,
            is_registered,
            query,
            overwrite,
        )
    }

    /// The execution plan of statements that run as one job.
    ///
    /// # Errors
    /// `validation.updates_not_accepted`; `plan.internal` for a broken invariant.
    pub fn plan(&self, operations: &[ModifyOperation]) -> Result<ExecNodeGraph> {
        plan_with(operations, &self.ids)
    }

    /// Adds the pieces of statements that run as one job to the environment.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and what connectors find wrong before the job starts.
    pub fn translate(
        &self,
        operations: &[ModifyOperation],
        context: &TranslateContext<'_>,
    ) -> Result<Vec<Translated>> {
        self.plan(operations)?.translate(context)
    }

    /// The plans of statements as text: as written, optimised, for execution.
    ///
    /// # Errors
    /// As [`plan`](Self::plan); `validation.wrong_statement` for one that has no plan.
    pub fn explain(
        &self,
        operations: &[Operation],
        format: ExplainFormat,
        details: &[ExplainDetail],
    ) -> Result<String> {
        explain(operations, format, details)
    }
}

/// Optimises and plans with the ids of a counter.
pub(crate) fn plan_with(operations: &[ModifyOperation], ids: &AtomicU32) -> Result<ExecNodeGraph> {
    let mut optimized = Vec::with_capacity(operations.len());
    for operation in operations {
        let child = Arc::new(optimize(operation.child())?);
        optimized.push(match operation.clone() {
            ModifyOperation::Sink {
                table, overwrite, ..
            } => ModifyOperation::Sink {
                table,
                child,
                overwrite,
            },
            ModifyOperation::Collect { .. } => ModifyOperation::Collect { child },
            ModifyOperation::OutputConversion { mode, .. } => {
                ModifyOperation::OutputConversion { child, mode }
            }
        });
    }
    GraphBuilder::new(ids).build(&optimized)
}
