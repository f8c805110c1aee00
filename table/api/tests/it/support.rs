//! What the tests share: environments of every shape, sources with explicit epochs, sorted answers.

use std::num::NonZeroU64;

use aquifer_runtime::config::options::EPOCH_MAX_ROWS;
use aquifer_runtime::{Configuration, DataStream, StreamData, StreamExecutionEnvironment};
use aquifer_table::{StreamTableEnvironment, Table};
use aquifer_types::Row;

/// Runs a test with one and two workers, and with epochs of one row, a few rows and everything.
pub(crate) fn with_all_shapes(test: impl Fn(&StreamTableEnvironment)) {
    for workers in [1, 2] {
        for max_rows in [1, 3, 10_000] {
            test(&environment(workers, max_rows));
        }
    }
}

/// An environment whose sources give at most `max_rows` rows per epoch.
pub(crate) fn environment(workers: usize, max_rows: u64) -> StreamTableEnvironment {
    let config = Configuration::new().with(&EPOCH_MAX_ROWS, NonZeroU64::new(max_rows).unwrap());
    let env = StreamExecutionEnvironment::create_local_with(workers, config);
    StreamTableEnvironment::create(&env).unwrap()
}

/// The stream's values when it ends.
pub(crate) fn collect<T: StreamData>(stream: &DataStream<T>) -> Vec<T> {
    let values = stream.collect_alone("test").unwrap();
    values.collect::<aquifer_runtime::Result<_>>().unwrap()
}

/// The rows of a query's final answer as text, sorted: changes are applied.
pub(crate) fn answer(table: &Table) -> Vec<String> {
    let mut rows: Vec<Row> = Vec::new();
    for row in table.execute().unwrap().collect().unwrap() {
        let row = row.unwrap();
        if row.kind().weight() > 0 {
            rows.push(row.with_kind(aquifer_types::RowKind::Insert));
        } else {
            let old = row.clone().with_kind(aquifer_types::RowKind::Insert);
            let at = rows.iter().position(|r| *r == old);
            rows.swap_remove(at.unwrap_or_else(|| panic!("{row} takes back what was not there")));
        }
    }
    let mut rows: Vec<String> = rows.iter().map(Row::to_string).collect();
    rows.sort();
    rows
}
