//! Sources of typed values: what a user or a connector implements.
//!
//! A source is read in **splits**, pieces with a position of their own (a file, a partition of a topic). Each worker
//! reads some of them. Watermarks are kept per split, so that a slow split holds event time back and an idle one
//! does not.

use std::sync::Arc;

use crate::batch::{BATCH_ROWS, StreamBatch, StreamCodec, StreamData};
use crate::data_stream::DataStream;
use crate::environment::StreamExecutionEnvironment;
use crate::error::{Result, RuntimeError};
use crate::operator::{OperatorContext, Output, Restore, Snapshot};
use crate::source::{Boundedness, SourceReader, SourceStatus};
use crate::time::{MIN_WATERMARK, SourceWatermarks, WatermarkStrategy};
use crate::transformation::Transformation;

/// A source of values.
pub trait Source: Send + Sync + 'static {
    /// What it gives.
    type Item: StreamData;

    /// Whether it ends by itself.
    fn boundedness(&self) -> Boundedness;

    /// Makes the reader of one worker. All workers of all processes make one; they must agree on who reads which
    /// split from the split's name alone, see [`OperatorContext::owns`].
    ///
    /// # Errors
    /// Fails the job.
    fn create_reader(&self, context: &OperatorContext) -> Result<Box<dyn SplitReader<Self::Item>>>;
}

/// Reads the splits of one worker.
pub trait SplitReader<T>: 'static {
    /// Takes the positions of all splits of an earlier run, whichever worker read them, and keeps those of its own.
    ///
    /// # Errors
    /// When a position cannot be read, or its split is gone.
    fn restore(&mut self, positions: Vec<Vec<u8>>) -> Result<()>;

    /// Emits what is there, about [`SourceOutput::remaining`] values at most, without blocking.
    ///
    /// # Errors
    /// Fails the job.
    fn poll(&mut self, output: &mut SourceOutput<'_, T>) -> Result<SourceStatus>;

    /// The positions of this worker's splits, all values emitted so far counted. Splits that are read to their end
    /// must be told from those never seen.
    ///
    /// # Errors
    /// Fails the job.
    fn positions(&mut self) -> Result<Vec<Vec<u8>>>;

    /// The checkpoint is complete: values before its positions will not be asked for again.
    ///
    /// # Errors
    /// Fails the job.
    fn commit(&mut self, checkpoint: u64) -> Result<()> {
        let _ = checkpoint;
        Ok(())
    }
}

/// Takes the values of a [`SplitReader`]. Splits are named by small numbers that the reader chooses.
pub struct SourceOutput<'a, T> {
    output: &'a mut Output,
    watermarks: &'a mut SourceWatermarks<T>,
    batch: StreamBatch<T>,
    remaining: usize,
}

impl<T: StreamData> SourceOutput<'_, T> {
    /// How many more values are welcome in this poll.
    pub fn remaining(&self) -> usize {
        self.remaining
    }

    /// A split is read from now on: it holds the watermark back until its first value.
    pub fn split_started(&mut self, split: usize) {
        self.watermarks.split_started(split);
    }

    /// A split has ended and counts no longer.
    pub fn split_finished(&mut self, split: usize) {
        self.watermarks.split_finished(split);
    }

    /// Emits a value of a split, with the timestamp the split has for it (milliseconds;
    /// [`NO_TIMESTAMP`](crate::NO_TIMESTAMP) for none).
    #[inline]
    pub fn collect(&mut self, split: usize, value: T, timestamp: i64) {
        let timestamp = self.watermarks.on_record(split, &value, timestamp);
        self.batch.push_at(value, timestamp);
        self.remaining = self.remaining.saturating_sub(1);
        if self.batch.len() == BATCH_ROWS {
            self.flush();
        }
    }

    /// Emits several values of a split.
    pub fn collect_batch(&mut self, split: usize, batch: StreamBatch<T>) {
        self.flush();
        self.remaining = self.remaining.saturating_sub(batch.len());
        self.output.emit(0, self.watermarks.on_batch(split, batch));
    }

    fn flush(&mut self) {
        if !self.batch.is_empty() {
            self.output.emit(0, self.batch.take());
        }
    }
}

const POSITIONS: &str = "positions";
const WATERMARK: &str = "watermark";

struct TypedReader<S: Source> {
    source: Arc<S>,
    reader: Option<Box<dyn SplitReader<S::Item>>>,
    watermarks: SourceWatermarks<S::Item>,
}

impl<S: Source> TypedReader<S> {
    fn reader(&mut self) -> &mut dyn SplitReader<S::Item> {
        self.reader
            .as_mut()
            .expect("the driver opens a reader before it uses it")
            .as_mut()
    }
}

impl<S: Source> SourceReader for TypedReader<S> {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.reader = Some(self.source.create_reader(context)?);
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        // Splits may have changed their worker, so only what all workers had promised still holds.
        let mut watermark: Option<i64> = None;
        for record in state.list(WATERMARK)? {
            let stored: i64 = bincode::deserialize(&record).map_err(RuntimeError::user)?;
            watermark = Some(watermark.map_or(stored, |other| other.min(stored)));
        }
        self.watermarks.restore(watermark.unwrap_or(MIN_WATERMARK));
        self.reader().restore(state.list(POSITIONS)?)
    }

    fn poll(&mut self, output: &mut Output, max_rows: usize) -> Result<SourceStatus> {
        let reader = self
            .reader
            .as_mut()
            .expect("the driver opens a reader before it polls it");
        let mut out = SourceOutput {
            output,
            watermarks: &mut self.watermarks,
            batch: StreamBatch::new(),
            remaining: max_rows,
        };
        let status = reader.poll(&mut out)?;
        out.flush();
        Ok(status)
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<()> {
        if let Some(watermark) = self.watermarks.on_epoch_end(output.processing_time()) {
            output.emit_watermark(watermark);
        }
        Ok(())
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let positions = self.reader().positions()?;
        snapshot.list(POSITIONS, "bytes", positions);
        let watermark =
            bincode::serialize(&self.watermarks.current()).map_err(RuntimeError::internal)?;
        snapshot.list(WATERMARK, "i64", vec![watermark]);
        Ok(())
    }

    fn commit(&mut self, checkpoint: u64) -> Result<()> {
        self.reader().commit(checkpoint)
    }
}

impl StreamExecutionEnvironment {
    /// The values of `source`, with the timestamps and watermarks of `strategy`.
    pub fn from_source<S: Source>(
        &self,
        source: S,
        strategy: WatermarkStrategy<S::Item>,
        name: &str,
    ) -> DataStream<S::Item> {
        let boundedness = source.boundedness();
        let source = Arc::new(source);
        let make = move || -> Box<dyn SourceReader> {
            Box::new(TypedReader {
                source: Arc::clone(&source),
                reader: None,
                watermarks: SourceWatermarks::new(strategy.clone()),
            })
        };
        let codec = Arc::new(StreamCodec::<S::Item>::new());
        let transformation = Transformation::source(name, boundedness, codec, Arc::new(make));
        DataStream::from_output(self, self.add(transformation), 0)
    }
}
