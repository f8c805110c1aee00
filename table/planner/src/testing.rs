//! A small environment for tests: tables of a test connector, and runs of queries to their final
//! rows.

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

use aquifer_runtime::{
    Batch, Boundedness, EpochOperator, Output, SourceReader, SourceStatus,
    StreamExecutionEnvironment, Transformation,
};
use aquifer_table_common::catalog::{CatalogBaseTable, CatalogManager};
use aquifer_table_common::connector::{
    DynamicTableFactory, DynamicTableSink, DynamicTableSource, FactoryContext, FactoryRegistry,
    ScanContext, ScanProvider, SinkContext, SinkProvider,
};
use aquifer_table_common::operation::{
    CreateOperation, ModifyOperation, Operation, QueryOperation,
};
use aquifer_table_common::options::{AnyConfigOption, ConfigOption, OptionList};
use aquifer_table_common::{Result, TableError};
use aquifer_types::{ChangeBatch, ChangelogMode, DataType};
use parking_lot::RwLock;

use crate::exec::GraphBuilder;
use crate::{ExecNodeGraph, Planner, TranslateContext, Translated};

const MODE: ConfigOption<String> = ConfigOption::new("mode", "insert", "insert, all or upsert.");
const BOUNDED: ConfigOption<bool> = ConfigOption::new("bounded", "true", "Whether it ends.");
const PASSWORD: ConfigOption<Option<String>> =
    ConfigOption::without_default("password", "A secret.");
static OPTIONS: [&dyn AnyConfigOption; 3] = [&BOUNDED, &MODE, &PASSWORD];

/// A connector whose sources are empty and whose sinks drop what they get.
struct TestFactory;

impl DynamicTableFactory for TestFactory {
    fn identifier(&self) -> &'static str {
        "test"
    }

    fn description(&self) -> &'static str {
        "A connector for tests."
    }

    fn optional_options(&self) -> &'static OptionList {
        &OPTIONS
    }

    fn create_source(&self, context: &FactoryContext<'_>) -> Result<Arc<dyn DynamicTableSource>> {
        Ok(Arc::new(TestTable {
            mode: mode(context)?,
            bounded: context.options.get(&BOUNDED)?,
        }))
    }

    fn create_sink(&self, context: &FactoryContext<'_>) -> Result<Arc<dyn DynamicTableSink>> {
        Ok(Arc::new(TestTable {
            mode: mode(context)?,
            bounded: true,
        }))
    }
}

fn mode(context: &FactoryContext<'_>) -> Result<ChangelogMode> {
    Ok(match context.options.get(&MODE)?.as_str() {
        "all" => ChangelogMode::all(),
        "upsert" => ChangelogMode::upsert(),
        _ => ChangelogMode::insert_only(),
    })
}

struct TestTable {
    mode: ChangelogMode,
    bounded: bool,
}

impl DynamicTableSource for TestTable {
    fn changelog_mode(&self) -> ChangelogMode {
        self.mode
    }

    fn boundedness(&self) -> Boundedness {
        if self.bounded {
            Boundedness::Bounded
        } else {
            Boundedness::Unbounded
        }
    }

    fn summary(&self) -> String {
        "Test".to_string()
    }

    fn metadata(&self) -> Vec<(&'static str, DataType)> {
        vec![("offset", aquifer_types::DataTypes::bigint())]
    }

    fn scan(&self, _context: &ScanContext) -> Result<ScanProvider> {
        Ok(ScanProvider::new(Arc::new(|| Box::new(Empty))))
    }
}

struct Empty;

impl SourceReader for Empty {
    fn poll(
        &mut self,
        _output: &mut Output,
        _max_rows: usize,
    ) -> aquifer_runtime::Result<SourceStatus> {
        Ok(SourceStatus::Finished)
    }
}

impl DynamicTableSink for TestTable {
    fn changelog_mode(&self, _requested: &ChangelogMode) -> ChangelogMode {
        self.mode
    }

    fn summary(&self) -> String {
        "Test".to_string()
    }

    fn create(&self, _context: &SinkContext) -> Result<SinkProvider> {
        Ok(SinkProvider::new(Arc::new(|| {
            Box::new(Collector::default())
        })))
    }
}

/// Collects batches.
#[derive(Default)]
struct Collector {
    batches: Arc<Mutex<Vec<ChangeBatch>>>,
}

impl EpochOperator for Collector {
    fn process(
        &mut self,
        _input: usize,
        batch: Batch,
        _output: &mut Output,
    ) -> aquifer_runtime::Result<()> {
        let batch = batch.into_data::<ChangeBatch>()?;
        self.batches
            .lock()
            .expect("tests do not panic while they collect")
            .push(batch);
        Ok(())
    }
}

/// An environment with the tables that all tests share.
pub(crate) struct Fixture {
    pub(crate) planner: Planner,
    pub(crate) catalogs: Arc<CatalogManager>,
    pub(crate) factories: Arc<RwLock<FactoryRegistry>>,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let catalogs = Arc::new(CatalogManager::default());
        let mut registry = FactoryRegistry::new();
        registry.register_connector(Arc::new(TestFactory));
        let factories = Arc::new(RwLock::new(registry));
        let planner = Planner::new(catalogs.clone(), factories.clone());
        let fixture = Fixture {
            planner,
            catalogs,
            factories,
        };
        fixture.run_script(
            "CREATE TABLE orders (id INT NOT NULL, customer STRING, price DECIMAL(10, 2), amount INT, ts TIMESTAMP(3), \
                 tags ARRAY<STRING>, address ROW<city STRING, zip INT>) WITH ('connector' = 'test');
             CREATE TABLE customers (name STRING, country STRING, PRIMARY KEY (name) NOT ENFORCED) \
                 WITH ('connector' = 'test', 'mode' = 'upsert');
             CREATE TABLE updates (k INT, v BIGINT) WITH ('connector' = 'test', 'mode' = 'all');
             CREATE TABLE events (id INT, total AS id * 2, `offset` BIGINT METADATA VIRTUAL, ts TIMESTAMP(3), \
                 WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'test', 'bounded' = 'false');
             CREATE TABLE instants (id INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'test');
             CREATE TABLE append_sink (a INT, b STRING) WITH ('connector' = 'test');
             CREATE TABLE upsert_sink (word STRING, n BIGINT NOT NULL, PRIMARY KEY (word) NOT ENFORCED) \
                 WITH ('connector' = 'test', 'mode' = 'upsert');
             CREATE VIEW big AS SELECT id, price FROM orders WHERE price > 100",
        );
        fixture
    }

    /// Runs definitions.
    pub(crate) fn run_script(&self, sql: &str) {
        for statement in self.planner.split(sql).unwrap() {
            match self.planner.analyse(&statement).unwrap() {
                Operation::Create(CreateOperation::Table {
                    identifier, table, ..
                }) => {
                    self.catalogs
                        .create_table(&identifier, CatalogBaseTable::Table(table), false)
                        .unwrap();
                }
                Operation::Create(CreateOperation::View {
                    identifier, view, ..
                }) => {
                    self.catalogs
                        .create_table(&identifier, CatalogBaseTable::View(view), false)
                        .unwrap();
                }
                other => panic!("{}", other.summary()),
            }
        }
    }

    /// What one statement means.
    pub(crate) fn operation(&self, sql: &str) -> Result<Operation> {
        Ok(self.planner.parse(sql)?.remove(0))
    }

    /// A query.
    pub(crate) fn query(&self, sql: &str) -> Result<Arc<QueryOperation>> {
        match self.operation(sql)? {
            Operation::Query(query) => Ok(query),
            other => panic!("{}", other.summary()),
        }
    }

    /// The final rows of a query, sorted, as text.
    pub(crate) fn rows(&self, sql: &str, workers: usize) -> Result<Vec<String>> {
        let operation = ModifyOperation::Collect {
            child: self.query(sql)?,
        };
        self.run(sql, &self.planner.plan(&[operation])?, workers)
    }

    /// The same without any rule.
    pub(crate) fn rows_as_written(&self, sql: &str) -> Result<Vec<String>> {
        let operation = ModifyOperation::Collect {
            child: self.query(sql)?,
        };
        let graph = GraphBuilder::new(&AtomicU32::new(1)).build(&[operation])?;
        self.run(sql, &graph, 1)
    }

    fn run(&self, sql: &str, graph: &ExecNodeGraph, workers: usize) -> Result<Vec<String>> {
        let environment = StreamExecutionEnvironment::create_local(workers);
        let factories = self.factories.read().clone();
        let context = TranslateContext {
            environment: &environment,
            factories: &factories,
            time_zone: aquifer_types::temporal::TimeZone::default(),
            idle_timeout_ms: None,
        };
        let translated = graph.translate(&context)?.remove(0);
        let Translated::Output { port, fields, .. } = translated else {
            panic!("a query has an output")
        };
        let batches = Arc::new(Mutex::new(Vec::new()));
        let shared = batches.clone();
        environment.add_sink(Transformation::operator(
            "collect",
            vec![aquifer_runtime::Edge::forward(port)],
            Vec::new(),
            Arc::new(move || {
                Box::new(Collector {
                    batches: shared.clone(),
                })
            }),
        ));
        environment.execute().map_err(TableError::from)?;
        let types: Vec<DataType> = fields.into_iter().map(|f| f.data_type).collect();
        let mut net: std::collections::BTreeMap<String, i64> = std::collections::BTreeMap::new();
        for batch in batches.lock().unwrap().iter() {
            for row in 0..batch.len() {
                let values: Vec<String> = batch
                    .row(row, &types)
                    .fields()
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                *net.entry(values.join(", ")).or_default() += batch.weight(row);
            }
        }
        let mut rows = Vec::new();
        for (row, weight) in net {
            assert!(
                weight >= 0,
                "{sql}: row {row} was taken back more often than added"
            );
            rows.extend(std::iter::repeat_n(row, usize::try_from(weight).unwrap()));
        }
        Ok(rows)
    }
}
