//! Values with epoch boundaries that the program chooses, for tests and for inputs that come in closed batches.

use std::sync::Arc;

use crate::batch::{BATCH_ROWS, StreamBatch, StreamCodec, StreamData};
use crate::data_stream::DataStream;
use crate::environment::StreamExecutionEnvironment;
use crate::error::{Result, RuntimeError};
use crate::operator::{Output, Restore, Snapshot};
use crate::source::{Boundedness, SourceReader, SourceStatus};
use crate::transformation::Transformation;

struct EpochsReader<T> {
    epochs: Arc<Vec<Vec<T>>>,
    next: usize,
}

impl<T> EpochsReader<T> {
    fn new(epochs: Arc<Vec<Vec<T>>>) -> Self {
        EpochsReader { epochs, next: 0 }
    }
}

const POSITION: &str = "position";

impl<T: StreamData> SourceReader for EpochsReader<T> {
    fn restore(&mut self, state: &Restore) -> Result<()> {
        for record in state.list(POSITION)? {
            let next: u64 = bincode::deserialize(&record).map_err(RuntimeError::user)?;
            self.next = usize::try_from(next).unwrap_or(usize::MAX);
        }
        Ok(())
    }

    fn closes_epochs(&self) -> bool {
        true
    }

    fn poll(&mut self, output: &mut Output, _max_rows: usize) -> Result<SourceStatus> {
        let Some(values) = self.epochs.get(self.next) else {
            return Ok(SourceStatus::Finished);
        };
        self.next += 1;
        for values in values.chunks(BATCH_ROWS) {
            output.emit(0, StreamBatch::from_values(values.to_vec()));
        }
        Ok(SourceStatus::EndOfEpoch)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let next = bincode::serialize(&(self.next as u64)).map_err(RuntimeError::internal)?;
        snapshot.list(POSITION, "epochs", vec![next]);
        Ok(())
    }
}

impl StreamExecutionEnvironment {
    /// A bounded stream in which each inner list is one epoch, whatever its size. Read by worker 0. Several such
    /// streams in one job keep step: the n-th lists of all of them are one epoch.
    pub fn from_epochs<T: StreamData>(
        &self,
        epochs: impl IntoIterator<Item = Vec<T>>,
    ) -> DataStream<T> {
        let epochs: Arc<Vec<Vec<T>>> = Arc::new(epochs.into_iter().collect());
        let source = Transformation::source(
            "Epochs",
            Boundedness::Bounded,
            Arc::new(StreamCodec::<T>::new()),
            Arc::new(move || Box::new(EpochsReader::new(Arc::clone(&epochs)))),
        );
        DataStream::from_output(self, self.add(source.with_parallelism(1)), 0)
    }
}
