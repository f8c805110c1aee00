//! The connector `memory`: tables as lists in the program, by the option `list`. What is written can be read back by
//! [`written`] and, in a later job, by the table itself.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use aquifer_runtime::config::{ConfigOption, OptionList};
use aquifer_runtime::{Batch, Boundedness, EpochOperator, Output, SourceReader, SourceStatus};
use aquifer_table_common::Result;
use aquifer_table_common::connector::{
    DynamicTableFactory, DynamicTableSink, DynamicTableSource, FactoryContext, ScanContext,
    ScanProvider, SinkContext, SinkProvider,
};
use aquifer_types::{ChangeBatch, ChangelogMode, DataType, Row};
use parking_lot::Mutex;

static LISTS: LazyLock<Mutex<BTreeMap<String, Vec<Row>>>> = LazyLock::new(Mutex::default);

const LIST: ConfigOption<String> = ConfigOption::without_default("list", "The list's name.");
const INSERT_ONLY: ConfigOption<bool> =
    ConfigOption::new("insert-only", "true", "Refuses updates.");

/// Makes the tables.
pub(crate) struct MemoryFactory;

/// A name that no other list has.
pub(crate) fn fresh_list() -> String {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    format!("list-{}", LAST.fetch_add(1, Ordering::Relaxed))
}

/// The rows of a list as text, sorted, with their kinds.
pub(crate) fn written(list: &str) -> Vec<String> {
    let mut rows: Vec<String> = LISTS
        .lock()
        .get(list)
        .map_or_else(Vec::new, |rows| rows.iter().map(Row::to_string).collect());
    rows.sort();
    rows
}

impl DynamicTableFactory for MemoryFactory {
    fn identifier(&self) -> &'static str {
        "memory"
    }

    fn description(&self) -> &'static str {
        "Keeps rows in the program."
    }

    fn required_options(&self) -> &'static OptionList {
        &[&LIST]
    }

    fn optional_options(&self) -> &'static OptionList {
        &[&INSERT_ONLY]
    }

    fn create_source(&self, context: &FactoryContext<'_>) -> Result<Arc<dyn DynamicTableSource>> {
        Ok(Arc::new(Memory {
            list: context.options.get(&LIST)?,
            insert_only: true,
        }))
    }

    fn create_sink(&self, context: &FactoryContext<'_>) -> Result<Arc<dyn DynamicTableSink>> {
        Ok(Arc::new(Memory {
            list: context.options.get(&LIST)?,
            insert_only: context.options.get(&INSERT_ONLY)?,
        }))
    }
}

struct Memory {
    list: String,
    insert_only: bool,
}

impl DynamicTableSource for Memory {
    fn changelog_mode(&self) -> ChangelogMode {
        ChangelogMode::insert_only()
    }

    fn boundedness(&self) -> Boundedness {
        Boundedness::Bounded
    }

    fn summary(&self) -> String {
        self.list.clone()
    }

    fn scan(&self, context: &ScanContext) -> Result<ScanProvider> {
        let list = self.list.clone();
        let (types, columns) = (context.column_types(), context.physical_columns());
        let make = move || -> Box<dyn SourceReader> {
            Box::new(Reader {
                list: list.clone(),
                types: types.clone(),
                columns: columns.clone(),
            })
        };
        Ok(ScanProvider::new(Arc::new(make)).with_parallelism(1))
    }
}

struct Reader {
    list: String,
    types: Vec<DataType>,
    columns: Vec<usize>,
}

impl SourceReader for Reader {
    fn poll(
        &mut self,
        output: &mut Output,
        _max_rows: usize,
    ) -> aquifer_runtime::Result<SourceStatus> {
        let rows = LISTS.lock().get(&self.list).cloned().unwrap_or_default();
        let rows: Vec<Row> = rows
            .iter()
            .map(|row| row.project(&self.columns).unwrap())
            .collect();
        output.emit(0, ChangeBatch::from_rows(&rows, &self.types).unwrap());
        Ok(SourceStatus::Finished)
    }
}

impl DynamicTableSink for Memory {
    fn changelog_mode(&self, requested: &ChangelogMode) -> ChangelogMode {
        if self.insert_only {
            ChangelogMode::insert_only()
        } else {
            *requested
        }
    }

    fn summary(&self) -> String {
        self.list.clone()
    }

    fn create(&self, context: &SinkContext) -> Result<SinkProvider> {
        let list = self.list.clone();
        let types: Vec<DataType> = context
            .fields
            .iter()
            .map(|field| field.data_type.clone())
            .collect();
        let make = move || -> Box<dyn EpochOperator> {
            Box::new(Writer {
                list: list.clone(),
                types: types.clone(),
            })
        };
        Ok(SinkProvider::new(Arc::new(make)))
    }
}

struct Writer {
    list: String,
    types: Vec<DataType>,
}

impl EpochOperator for Writer {
    fn process(
        &mut self,
        _input: usize,
        batch: Batch,
        _output: &mut Output,
    ) -> aquifer_runtime::Result<()> {
        let rows = batch.into_data::<ChangeBatch>()?.to_rows(&self.types);
        LISTS
            .lock()
            .entry(self.list.clone())
            .or_default()
            .extend(rows);
        Ok(())
    }
}
