//! What the tests share: environments of every shape, sources with explicit epochs, sorted answers.

use std::num::NonZeroU64;
use std::sync::Arc;

use aquifer_runtime::config::options::EPOCH_MAX_ROWS;
use aquifer_runtime::{
    Batch, Boundedness, Configuration, DataStream, EpochEnd, EpochOperator, Exchange, Output,
    SourceReader, SourceStatus, StreamBatch, StreamCodec, StreamData, StreamExecutionEnvironment,
    Transformation,
};
use aquifer_table::{StreamTableEnvironment, Table};
use aquifer_types::Row;
use parking_lot::Mutex;

use crate::memory::MemoryFactory;

/// Runs a test with one and two workers, with epochs of one row, a few rows and everything, and with exchanges through
/// bytes.
pub(crate) fn with_all_shapes(test: impl Fn(&StreamTableEnvironment)) {
    for workers in [1, 2] {
        for max_rows in [1, 3, 10_000] {
            test(&environment(workers, max_rows));
        }
    }
    let through_bytes = environment(2, 2);
    through_bytes.stream_environment().serialize_exchanges();
    test(&through_bytes);
}

/// An environment whose sources give at most `max_rows` rows per epoch.
pub(crate) fn environment(workers: usize, max_rows: u64) -> StreamTableEnvironment {
    let config = Configuration::new().with(&EPOCH_MAX_ROWS, NonZeroU64::new(max_rows).unwrap());
    let env = StreamExecutionEnvironment::create_local_with(workers, config);
    let t_env = StreamTableEnvironment::create(&env).unwrap();
    t_env.register_connector(Arc::new(MemoryFactory));
    t_env
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

/// Reads values epoch by epoch.
struct EpochReader<T> {
    epochs: Arc<Vec<Vec<T>>>,
    next: usize,
    /// The numbers of the epochs, in order.
    numbers: Arc<Mutex<Vec<u64>>>,
}

impl<T: StreamData> SourceReader for EpochReader<T> {
    fn poll(
        &mut self,
        output: &mut Output,
        _max_rows: usize,
    ) -> aquifer_runtime::Result<SourceStatus> {
        let Some(values) = self.epochs.get(self.next) else {
            return Ok(SourceStatus::Finished);
        };
        self.next += 1;
        self.numbers.lock().push(output.epoch());
        if !values.is_empty() {
            output.emit(0, Batch::new(StreamBatch::from_values(values.clone())));
        }
        Ok(SourceStatus::EndOfEpoch)
    }
}

/// A bounded stream with explicit epochs, read by one worker.
pub(crate) fn epochs<T: StreamData>(
    env: &StreamExecutionEnvironment,
    epochs: Vec<Vec<T>>,
) -> DataStream<T> {
    numbered_epochs(env, epochs).0
}

/// As [`epochs`], with the numbers that the epochs get when the stream is read, once.
pub(crate) fn numbered_epochs<T: StreamData>(
    env: &StreamExecutionEnvironment,
    epochs: Vec<Vec<T>>,
) -> (DataStream<T>, Arc<Mutex<Vec<u64>>>) {
    let epochs = Arc::new(epochs);
    let numbers = Arc::new(Mutex::default());
    let given = Arc::clone(&numbers);
    let source = Transformation::source(
        "Epochs",
        Boundedness::Bounded,
        Arc::new(StreamCodec::<T>::new()),
        Arc::new(move || {
            let (epochs, numbers) = (Arc::clone(&epochs), Arc::clone(&given));
            Box::new(EpochReader {
                epochs,
                next: 0,
                numbers,
            })
        }),
    );
    (
        DataStream::from_output(env, env.add(source.with_parallelism(1)), 0),
        numbers,
    )
}

/// Counts for ever, one number per epoch.
struct Endless(i64);

impl SourceReader for Endless {
    fn poll(
        &mut self,
        output: &mut Output,
        _max_rows: usize,
    ) -> aquifer_runtime::Result<SourceStatus> {
        output.emit(0, Batch::new(StreamBatch::from_values(vec![self.0])));
        self.0 += 1;
        Ok(SourceStatus::EndOfEpoch)
    }
}

/// A stream without an end: 0, 1, 2 and so on.
pub(crate) fn endless(env: &StreamExecutionEnvironment) -> DataStream<i64> {
    let source = Transformation::source(
        "Endless",
        Boundedness::Unbounded,
        Arc::new(StreamCodec::<i64>::new()),
        Arc::new(|| Box::new(Endless(0))),
    );
    DataStream::from_output(env, env.add(source.with_parallelism(1)), 0)
}

/// Answers what an operator that keeps apart the epochs sees: the values of each epoch, sorted by epoch.
pub(crate) fn by_epoch<T: StreamData>(stream: &DataStream<T>) -> Vec<(u64, Vec<T>)> {
    let env = stream.environment();
    let edges = stream.edges_by(0, &Exchange::Global);
    let operator = Transformation::operator(
        "ByEpoch",
        edges,
        vec![Arc::new(StreamCodec::<(u64, Vec<T>)>::new())],
        Arc::new(|| Box::new(ByEpoch::<T>(Vec::new()))),
    );
    let stream = DataStream::from_output(env, env.add(operator.with_parallelism(1)), 0);
    let mut epochs = collect::<(u64, Vec<T>)>(&stream);
    epochs.sort_by_key(|(epoch, _)| *epoch);
    epochs
}

struct ByEpoch<T>(Vec<T>);

impl<T: StreamData> EpochOperator for ByEpoch<T> {
    fn process(
        &mut self,
        _input: usize,
        batch: Batch,
        _output: &mut Output,
    ) -> aquifer_runtime::Result<()> {
        self.0
            .extend(batch.into_data::<StreamBatch<T>>()?.into_parts().0);
        Ok(())
    }

    fn end_epoch(&mut self, output: &mut Output) -> aquifer_runtime::Result<EpochEnd> {
        let values = std::mem::take(&mut self.0);
        let epoch = output.epoch();
        if !values.is_empty() {
            output.emit(
                0,
                Batch::new(StreamBatch::from_values(vec![(epoch, values)])),
            );
        }
        Ok(EpochEnd::Done)
    }
}
