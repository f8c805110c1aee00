//! Runs one operator without a dataflow: epochs in, rows out.
//!
//! The harness plays the driver's part on one worker: it keeps the order of calls that [`EpochOperator`] documents.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::batch::{Batch, BatchData, StreamBatch, StreamData};
use crate::error::Result;
use crate::metrics::OperatorMetrics;
use crate::operator::{EpochEnd, EpochOperator, MemoryState, OperatorContext, Output, Snapshot};
use crate::source::{SourceReader, SourceStatus};
use crate::time::{MAX_WATERMARK, Watermark};

/// Drives one operator instance in a test.
pub struct Harness<O> {
    operator: O,
    output: Output,
    context: OperatorContext,
    emitted: Vec<(usize, Batch)>,
}

impl<O: EpochOperator> Harness<O> {
    /// Opens `operator` with `inputs` logical inputs as the only instance.
    ///
    /// # Errors
    /// What `open` answers.
    pub fn new(operator: O, inputs: usize) -> Result<Self> {
        Harness::on_worker(operator, inputs, 0, 1)
    }

    /// Opens `operator` as the instance `worker` of `workers`.
    ///
    /// # Errors
    /// What `open` answers.
    pub fn on_worker(
        mut operator: O,
        inputs: usize,
        worker: usize,
        workers: usize,
    ) -> Result<Self> {
        let context = context(worker, workers);
        operator.open(&context)?;
        Ok(Harness {
            operator,
            output: Output::new(inputs),
            context,
            emitted: Vec::new(),
        })
    }

    /// The operator.
    pub fn operator(&mut self) -> &mut O {
        &mut self.operator
    }

    /// The counters the operator writes to.
    pub fn metrics(&self) -> &OperatorMetrics {
        &self.context.metrics
    }

    /// Sets the processing time of the current epoch.
    pub fn set_processing_time(&mut self, millis: i64) {
        self.output.processing_time = millis;
    }

    /// Hands rows to the logical input `input` in the current epoch.
    ///
    /// # Errors
    /// What `process` answers.
    pub fn process(&mut self, input: usize, batch: impl Into<Batch>) -> Result<()> {
        self.operator
            .process(input, batch.into(), &mut self.output)?;
        self.emitted.append(&mut self.output.batches);
        Ok(())
    }

    /// Ends the current epoch without a change of the watermark, and answers all that the epoch emitted.
    ///
    /// # Errors
    /// What `end_epoch` answers.
    pub fn end_epoch(&mut self) -> Result<Vec<(usize, Batch)>> {
        while self.operator.end_epoch(&mut self.output)? == EpochEnd::Pending {}
        self.emitted.append(&mut self.output.batches);
        self.output.epoch += 1;
        Ok(std::mem::take(&mut self.emitted))
    }

    /// Ends the current epoch with the watermark of all inputs at `watermark`.
    ///
    /// # Errors
    /// What `end_epoch` answers.
    pub fn end_epoch_at(&mut self, watermark: i64) -> Result<Vec<(usize, Batch)>> {
        self.output.watermark = watermark;
        self.output.input_watermarks.fill(watermark);
        self.end_epoch()
    }

    /// Ends the last epoch: the watermark rises to its maximum.
    ///
    /// # Errors
    /// What `end_epoch` or `close` answers.
    pub fn finish(&mut self) -> Result<Vec<(usize, Batch)>> {
        let emitted = self.end_epoch_at(MAX_WATERMARK)?;
        self.operator.close()?;
        Ok(emitted)
    }

    /// The watermark the operator promised since the last call, if it is an assigner.
    pub fn take_watermark(&mut self) -> Option<Watermark> {
        self.output.watermark_out.take()
    }

    /// Takes a snapshot into `state`, as at the end of an epoch with a checkpoint.
    ///
    /// # Errors
    /// What `snapshot` or the encoding answers.
    pub fn snapshot(&mut self, state: &mut MemoryState) -> Result<()> {
        let mut snapshot = Snapshot::new();
        self.operator.snapshot(&mut snapshot)?;
        state.add(snapshot)
    }

    /// Gives the operator the part of `state` that belongs to its instance.
    ///
    /// # Errors
    /// What `restore` answers.
    pub fn restore(&mut self, state: &MemoryState) -> Result<()> {
        self.operator
            .restore(&state.restore(self.context.worker, self.context.workers))
    }
}

/// Drives one source reader in a test, in the order of calls that [`SourceReader`] documents.
pub struct SourceHarness {
    reader: Box<dyn SourceReader>,
    output: Output,
    context: OperatorContext,
}

impl SourceHarness {
    /// Opens `reader` as the instance `worker` of `workers`.
    ///
    /// # Errors
    /// What `open` answers.
    pub fn on_worker(
        mut reader: Box<dyn SourceReader>,
        worker: usize,
        workers: usize,
    ) -> Result<Self> {
        let context = context(worker, workers);
        reader.open(&context)?;
        Ok(SourceHarness {
            reader,
            output: Output::new(0),
            context,
        })
    }

    /// What the reader was opened with.
    pub fn context(&self) -> &OperatorContext {
        &self.context
    }

    /// Sets the processing time of the current epoch.
    pub fn set_processing_time(&mut self, millis: i64) {
        self.output.processing_time = millis;
    }

    /// Polls once, and answers the batches that gave.
    ///
    /// # Errors
    /// What `poll` answers.
    pub fn poll<D: BatchData>(&mut self, max_rows: usize) -> Result<(SourceStatus, Vec<D>)> {
        let status = self.reader.poll(&mut self.output, max_rows)?;
        let batches = self.output.batches.drain(..);
        let batches: Result<Vec<D>> = batches.map(|(_, batch)| batch.into_data()).collect();
        let rows = std::mem::take(&mut self.output.rows_out);
        self.context.metrics.records_out.fetch_add(rows, Relaxed);
        Ok((status, batches?))
    }

    /// Ends the current epoch.
    ///
    /// # Errors
    /// What `end_epoch` answers.
    pub fn end_epoch(&mut self) -> Result<()> {
        self.output.epoch += 1;
        self.reader.end_epoch(&mut self.output)
    }

    /// Takes a snapshot into `state`, as at the end of an epoch with a checkpoint.
    ///
    /// # Errors
    /// What `snapshot` or the encoding answers.
    pub fn snapshot(&mut self, state: &mut MemoryState) -> Result<()> {
        let mut snapshot = Snapshot::new();
        self.reader.snapshot(&mut snapshot)?;
        state.add(snapshot)
    }

    /// Gives the reader the state of an earlier run.
    ///
    /// # Errors
    /// What `restore` answers.
    pub fn restore(&mut self, state: &MemoryState) -> Result<()> {
        let (worker, workers) = (self.context.worker, self.context.workers);
        self.reader.restore(&state.restore(worker, workers))
    }
}

fn context(worker: usize, workers: usize) -> OperatorContext {
    OperatorContext {
        name: "test".to_string(),
        uid: "test".to_string(),
        worker,
        workers,
        parallelism: workers,
        metrics: Arc::new(OperatorMetrics::default()),
    }
}

/// The values of the batches that output `port` got, in order.
///
/// # Panics
/// When a batch holds another type.
pub fn values<T: StreamData>(emitted: Vec<(usize, Batch)>, port: usize) -> Vec<T> {
    emitted
        .into_iter()
        .filter(|(at, _)| *at == port)
        .flat_map(|(_, batch)| {
            batch
                .into_data::<StreamBatch<T>>()
                .expect("the output holds the type asked for")
                .into_parts()
                .0
        })
        .collect()
}
