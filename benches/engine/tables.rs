//! Programs in SQL: over tables in memory, and over data streams.
//!
//! The table connector `memory` reads the same structs as the other programs and turns them into columns batch by
//! batch; its sinks add up the digests of what they get, where a retraction takes a row's hash away again.

use std::collections::BTreeMap;
use std::sync::Arc;

use aquifer::prelude::*;
use aquifer::table_common::connector::{
    DynamicTableFactory, DynamicTableSink, DynamicTableSource, FactoryContext, ScanContext,
    ScanProvider, SinkContext, SinkProvider,
};
use aquifer::types::ChangeBatch;
use aquifer_runtime::{
    Batch, Boundedness, EpochOperator, OperatorContext, Output, SourceReader, SourceStatus,
};
use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};

use crate::harness::{Digest, Tally};
use crate::programs::share;

type TableResult<T> = std::result::Result<T, TableError>;

/// Rows in one batch of columns.
const COLUMN_ROWS: usize = 4_096;

/// A struct as a row of a table.
pub(crate) trait Columns: StreamData {
    /// The columns of these rows, as in the table's declaration.
    fn columns(rows: &[Self]) -> Vec<ArrayRef>;
}

/// Rows that a table reads.
struct Rows<T>(Arc<Vec<T>>);

impl<T: Columns> DynamicTableSource for Rows<T> {
    fn changelog_mode(&self) -> ChangelogMode {
        ChangelogMode::insert_only()
    }

    fn boundedness(&self) -> Boundedness {
        Boundedness::Bounded
    }

    fn summary(&self) -> String {
        "rows".to_string()
    }

    fn scan(&self, context: &ScanContext) -> TableResult<ScanProvider> {
        let (rows, columns) = (Arc::clone(&self.0), context.physical_columns());
        Ok(ScanProvider::new(Arc::new(move || {
            Box::new(RowsReader {
                rows: Arc::clone(&rows),
                columns: columns.clone(),
                next: 0,
                share: (0, 1),
            })
        })))
    }
}

struct RowsReader<T> {
    rows: Arc<Vec<T>>,
    columns: Vec<usize>,
    next: usize,
    share: (usize, usize),
}

impl<T: Columns> SourceReader for RowsReader<T> {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.share = (context.worker, context.parallelism);
        Ok(())
    }

    fn poll(&mut self, output: &mut Output, max_rows: usize) -> Result<SourceStatus> {
        let rows = share(&self.rows, self.share.0, self.share.1);
        let end = rows.len().min(self.next + max_rows.min(COLUMN_ROWS));
        let rows = &rows[self.next..end];
        let all = T::columns(rows);
        let columns = self.columns.iter().map(|at| Arc::clone(&all[*at]));
        let batch = ChangeBatch::new(columns.collect(), None, rows.len());
        output.emit(0, batch.map_err(RuntimeError::internal)?);
        self.next = end;
        Ok(
            if end == share(&self.rows, self.share.0, self.share.1).len() {
                SourceStatus::Finished
            } else {
                SourceStatus::Ready
            },
        )
    }
}

struct Digests(Tally);

impl DynamicTableSink for Digests {
    fn changelog_mode(&self, requested: &ChangelogMode) -> ChangelogMode {
        *requested
    }

    fn summary(&self) -> String {
        "digest".to_string()
    }

    fn create(&self, _context: &SinkContext) -> TableResult<SinkProvider> {
        let tally = self.0.clone();
        Ok(SinkProvider::new(Arc::new(move || {
            Box::new(DigestBatches(tally.clone()))
        })))
    }
}

struct DigestBatches(Tally);

impl EpochOperator for DigestBatches {
    fn process(&mut self, _input: usize, batch: Batch, _output: &mut Output) -> Result<()> {
        self.0
            .merge(digest_batch(&batch.into_data::<ChangeBatch>()?));
        Ok(())
    }
}

fn digest_batch(batch: &ChangeBatch) -> Digest {
    enum Words<'a> {
        Int(&'a [i64]),
        Float(&'a [f64]),
    }
    let columns: Vec<Words<'_>> = batch
        .columns()
        .iter()
        .map(|column| match column.as_primitive_opt::<Int64Type>() {
            Some(column) => Words::Int(column.values()),
            None => Words::Float(column.as_primitive::<Float64Type>().values()),
        })
        .collect();
    let mut hashes = vec![0u64; batch.len()];
    for column in &columns {
        match column {
            Words::Int(values) => hashes.iter_mut().zip(*values).for_each(|(hash, value)| {
                *hash = Digest::mix(*hash, *value as u64);
            }),
            Words::Float(values) => hashes.iter_mut().zip(*values).for_each(|(hash, value)| {
                *hash = Digest::mix(*hash, value.to_bits());
            }),
        }
    }
    let mut digest = Digest::default();
    match batch.weights() {
        Some(weights) => hashes
            .into_iter()
            .zip(weights.values())
            .for_each(|(hash, weight)| digest.add_hash(hash, *weight)),
        None => hashes.into_iter().for_each(|hash| digest.add_hash(hash, 1)),
    }
    digest
}

/// The connector.
struct Memory {
    tables: BTreeMap<String, Arc<dyn DynamicTableSource>>,
    tally: Tally,
}

impl DynamicTableFactory for Memory {
    fn identifier(&self) -> &'static str {
        "memory"
    }

    fn description(&self) -> &'static str {
        "Reads rows of the program and digests what is written."
    }

    fn create_source(
        &self,
        context: &FactoryContext<'_>,
    ) -> TableResult<Arc<dyn DynamicTableSource>> {
        let table = self.tables.get(&context.identifier.object);
        Ok(Arc::clone(
            table.expect("the bench declares its own tables"),
        ))
    }

    fn create_sink(&self, _context: &FactoryContext<'_>) -> TableResult<Arc<dyn DynamicTableSink>> {
        Ok(Arc::new(Digests(self.tally.clone())))
    }
}

/// A table of a program: name, columns and rows.
pub(crate) struct TableRows {
    name: &'static str,
    columns: &'static str,
    source: Arc<dyn DynamicTableSource>,
}

impl TableRows {
    pub(crate) fn new<T: Columns>(
        name: &'static str,
        columns: &'static str,
        rows: &Arc<Vec<T>>,
    ) -> Self {
        TableRows {
            name,
            columns,
            source: Arc::new(Rows(Arc::clone(rows))),
        }
    }
}

/// Runs `query`, whose result has the columns `result`, over tables in memory.
pub(crate) fn run_sql(
    env: &StreamExecutionEnvironment,
    tables: Vec<TableRows>,
    query: &str,
    result: &str,
) -> Digest {
    let tally = Tally::default();
    let declarations: Vec<String> = tables
        .iter()
        .map(|table| (table.name, table.columns))
        .chain([("result", result)])
        .map(|(name, columns)| {
            format!("CREATE TABLE `{name}` ({columns}) WITH ('connector' = 'memory')")
        })
        .collect();
    let run = || -> TableResult<()> {
        let t_env = StreamTableEnvironment::create(env)?;
        t_env.register_connector(Arc::new(Memory {
            tables: tables
                .into_iter()
                .map(|table| (table.name.to_string(), table.source))
                .collect(),
            tally: tally.clone(),
        }));
        for declaration in &declarations {
            t_env.execute_sql(declaration)?;
        }
        t_env
            .execute_sql(format!("INSERT INTO `result` {query}"))?
            .await_done()
    };
    if let Err(error) = run() {
        panic!("{query}: {error}");
    }
    tally.total()
}
