//! The context of table programs: catalogs, connectors, options, and the way from statements to jobs.

mod catalogs;
mod jobs;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aquifer_planner::Planner;
use aquifer_planner::analyser::Analyser;
use aquifer_runtime::StreamExecutionEnvironment;
use aquifer_table_common::catalog::{
    CatalogBaseTable, CatalogManager, CatalogTable, CatalogView, ViewQuery,
};
use aquifer_table_common::connector::{DynamicTableFactory, FactoryRegistry, FormatFactory};
use aquifer_table_common::descriptor::CONNECTOR;
use aquifer_table_common::operation::{
    ExplainDetail, ExplainFormat, ModifyOperation, Operation, QueryOperation,
};
use aquifer_table_common::{
    ObjectIdentifier, Result, TableDescriptor, UnresolvedIdentifier, ValidationErrorKind,
};
use parking_lot::{Mutex, RwLock};

use crate::settings::EnvironmentSettings;
use crate::statement_set::StatementSet;
use crate::table::Table;
use crate::table_config::TableConfig;
use crate::table_result::TableResult;
use crate::values::IntoValuesRow;

/// The context of table programs. Cheap to clone; clones are the same environment.
///
/// Every process of a program makes the same environment and calls the same methods in the same order.
#[derive(Clone)]
pub struct TableEnvironment {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) environment: StreamExecutionEnvironment,
    pub(crate) catalogs: Arc<CatalogManager>,
    pub(crate) factories: Arc<RwLock<FactoryRegistry>>,
    pub(crate) config: TableConfig,
    pub(crate) planner: Planner,
    /// How many things got a made-up name.
    unnamed: AtomicU64,
    /// The inserts since `BEGIN STATEMENT SET`.
    pub(crate) open_set: Mutex<Option<Vec<ModifyOperation>>>,
}

impl TableEnvironment {
    /// An environment without connectors; [`register_connector`](Self::register_connector) adds them. Workers and
    /// processes are read from the command line, as
    /// [`StreamExecutionEnvironment::from_args`] does.
    ///
    /// # Errors
    /// `cluster.argument`, `configuration.*`, `validation.invalid_option`.
    pub fn create(settings: impl Into<EnvironmentSettings>) -> Result<Self> {
        Self::create_with_factories(settings, FactoryRegistry::new())
    }

    /// An environment with these connectors and formats.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_with_factories(
        settings: impl Into<EnvironmentSettings>,
        factories: FactoryRegistry,
    ) -> Result<Self> {
        let environment = StreamExecutionEnvironment::from_args()?;
        Self::over(&environment, &settings.into(), factories)
    }

    /// An environment whose jobs run in a stream environment.
    pub(crate) fn over(
        environment: &StreamExecutionEnvironment,
        settings: &EnvironmentSettings,
        factories: FactoryRegistry,
    ) -> Result<Self> {
        let catalogs = CatalogManager::new(
            &settings.built_in_catalog_name,
            &settings.built_in_database_name,
        );
        let catalogs = Arc::new(catalogs);
        let factories = Arc::new(RwLock::new(factories));
        let config = TableConfig::new(environment.clone(), &settings.configuration)?;
        Ok(TableEnvironment {
            inner: Arc::new(Inner {
                environment: environment.clone(),
                planner: Planner::new(Arc::clone(&catalogs), Arc::clone(&factories)),
                catalogs,
                factories,
                config,
                unnamed: AtomicU64::new(0),
                open_set: Mutex::new(None),
            }),
        })
    }

    /// Adds a connector, in place of one of the same identifier.
    pub fn register_connector(&self, factory: Arc<dyn DynamicTableFactory>) -> &Self {
        self.inner.factories.write().register_connector(factory);
        self
    }

    /// Adds a format, in place of one of the same identifier.
    pub fn register_format(&self, factory: Arc<dyn FormatFactory>) -> &Self {
        self.inner.factories.write().register_format(factory);
        self
    }

    /// The options; changes count for what is planned and run later.
    #[doc(alias = "getConfig")]
    pub fn config(&self) -> &TableConfig {
        &self.inner.config
    }

    /// The planner, for tests and tools.
    #[doc(hidden)]
    pub fn planner(&self) -> &Planner {
        &self.inner.planner
    }

    /// One SELECT or VALUES as a table. Nothing runs yet.
    ///
    /// # Errors
    /// `parse.syntax`; `validation.*` and `schema.*` with the place in the text; `validation.wrong_statement` for
    /// any other statement.
    #[doc(alias = "sqlQuery")]
    pub fn sql_query(&self, query: impl AsRef<str>) -> Result<Table> {
        match self.parse_one(query.as_ref())? {
            Operation::Query(operation) => Ok(self.table(operation)),
            other => Err(ValidationErrorKind::WrongStatement {
                expected: "a query".to_string(),
                found: other.summary(),
            }
            .into()),
        }
    }

    /// Executes one statement of any kind. Definitions are done when the call returns; an INSERT has been submitted,
    /// or is done if `table.dml-sync` is set; a query's rows come as they are collected.
    ///
    /// # Errors
    /// As [`sql_query`](Self::sql_query), and what the statement finds wrong.
    #[doc(alias = "executeSql")]
    pub fn execute_sql(&self, statement: impl AsRef<str>) -> Result<TableResult> {
        let operation = self.parse_one(statement.as_ref())?;
        crate::execute::execute(self, operation)
    }

    /// The plans of a statement: as written, optimised, for execution.
    ///
    /// # Errors
    /// As [`sql_query`](Self::sql_query); `validation.wrong_statement` for a statement without a plan.
    #[doc(alias = "explainSql")]
    pub fn explain_sql(&self, statement: impl AsRef<str>) -> Result<String> {
        self.explain_sql_with(statement, ExplainFormat::Text, &[])
    }

    /// As [`explain_sql`](Self::explain_sql), in a form and with details.
    ///
    /// # Errors
    /// See there.
    pub fn explain_sql_with(
        &self,
        statement: impl AsRef<str>,
        format: ExplainFormat,
        details: &[ExplainDetail],
    ) -> Result<String> {
        let operation = self.parse_one(statement.as_ref())?;
        self.explain_operations(&[operation], format, details)
    }

    /// A table or view of the catalog. Nothing runs yet.
    ///
    /// # Errors
    /// `validation.unknown_table`; what is wrong with its definition.
    pub fn from(&self, path: impl AsRef<str>) -> Result<Table> {
        let path = UnresolvedIdentifier::parse(path.as_ref())?;
        Ok(self.table(Arc::new(self.inner.planner.from_path(&path)?)))
    }

    /// A table that is described; each call makes a separate one.
    ///
    /// # Errors
    /// What is wrong with the description.
    pub fn from_descriptor(&self, descriptor: impl Into<TableDescriptor>) -> Result<Table> {
        let table = CatalogTable::from(descriptor.into());
        let identifier = self.unnamed_identifier(&table);
        Ok(self.table(Arc::new(self.inner.planner.scan(&identifier, &table)?)))
    }

    /// A table of values: rows, tuples or single values. Columns are `f0, f1, ..` and have the least common type of
    /// their values.
    ///
    /// # Errors
    /// `schema.no_common_type`, `schema.column_count`, `schema.invalid_schema` without rows.
    #[doc(alias = "fromValues")]
    pub fn from_values<R: IntoValuesRow>(
        &self,
        rows: impl IntoIterator<Item = R>,
    ) -> Result<Table> {
        let rows = rows
            .into_iter()
            .map(IntoValuesRow::into_values_row)
            .collect();
        Ok(self.table(Arc::new(crate::values::values_query(rows)?)))
    }

    /// An empty set of statements that will be planned together and run as one job.
    #[doc(alias = "createStatementSet")]
    pub fn create_statement_set(&self) -> StatementSet {
        StatementSet::new(self.clone())
    }

    /// The table of a query.
    pub(crate) fn table(&self, operation: Arc<QueryOperation>) -> Table {
        Table::new(self.clone(), operation)
    }

    /// The only statement of a text.
    pub(crate) fn parse_one(&self, sql: &str) -> Result<Operation> {
        let statements = self.inner.planner.split(sql)?;
        match statements.as_slice() {
            [statement] => self.inner.planner.analyse(statement),
            _ => Err(ValidationErrorKind::WrongStatement {
                expected: "one statement".to_string(),
                found: format!("{} statements", statements.len()),
            }
            .into()),
        }
    }

    pub(crate) fn explain_operations(
        &self,
        operations: &[Operation],
        format: ExplainFormat,
        details: &[ExplainDetail],
    ) -> Result<String> {
        self.inner.planner.explain(operations, format, details)
    }

    /// A query with its target.
    pub(crate) fn insert_operation(
        &self,
        target: &crate::pipeline::InsertTarget,
        query: &Arc<QueryOperation>,
        options: crate::pipeline::InsertOptions,
    ) -> Result<ModifyOperation> {
        use crate::pipeline::InsertTarget;
        let (identifier, table, is_registered) = match target {
            InsertTarget::Path(path) => {
                let found = self
                    .inner
                    .catalogs
                    .resolve(&UnresolvedIdentifier::parse(path)?)?;
                let CatalogBaseTable::Table(table) = found.table else {
                    return Err(aquifer_table_common::CatalogError::WrongKind {
                        path: found.identifier.to_string(),
                        expected: "table",
                        found: "view",
                    }
                    .into());
                };
                (found.identifier, table, true)
            }
            InsertTarget::Descriptor(descriptor) => {
                let mut table = CatalogTable::from(descriptor.as_ref().clone());
                crate::bridge::columns::derive_columns(&mut table.schema, &query.fields());
                (self.unnamed_identifier(&table), table, false)
            }
        };
        let query = query.as_ref().clone();
        self.inner
            .planner
            .insert_into(&identifier, &table, is_registered, query, options.overwrite)
    }

    /// Registers a query under a made-up name, which is answered as it is written in SQL.
    pub(crate) fn register_unnamed(&self, operation: &Arc<QueryOperation>) -> Result<String> {
        let name = format!("UnnamedTable${}", self.next_unnamed());
        let path = UnresolvedIdentifier::of([name.as_str()])?;
        let identifier = self.inner.catalogs.qualify(&path);
        let view = CatalogView {
            query: ViewQuery::Operation(Arc::clone(operation)),
            comment: None,
        };
        self.inner.catalogs.create_temporary_table(
            &identifier,
            CatalogBaseTable::View(view),
            false,
        )?;
        Ok(identifier.to_string())
    }

    fn unnamed_identifier(&self, table: &CatalogTable) -> ObjectIdentifier {
        let connector = table.options.text(CONNECTOR.key()).unwrap_or("table");
        let name = format!("*anonymous_{connector}${}*", self.next_unnamed());
        ObjectIdentifier::of(
            self.inner.catalogs.current_catalog(),
            self.inner.catalogs.current_database(),
            name,
        )
    }

    /// Numbers are given in the order of the calls, so that they are the same in all processes.
    fn next_unnamed(&self) -> u64 {
        self.inner.unnamed.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Runs `f` with an analyser over the catalogs and connectors as they are now.
    pub(crate) fn with_analyser<R>(&self, f: impl FnOnce(Analyser<'_>) -> R) -> R {
        let factories = self.inner.factories.read().clone();
        f(Analyser::new(&self.inner.catalogs, &factories, ""))
    }
}
