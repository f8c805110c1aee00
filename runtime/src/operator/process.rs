//! A user's function over a stream without keys, with side outputs.

use std::marker::PhantomData;

use crate::batch::{Batch, NO_TIMESTAMP, StreamBatch, StreamData};
use crate::error::Result;
use crate::operator::{
    Collector, EpochOperator, OperatorContext, Output, OutputTag, RuntimeContext, SideOutputPorts,
    SideOutputs,
};

/// Processes the records of a stream one by one, as Flink's `ProcessFunction`.
///
/// The function is cloned for every worker.
pub trait ProcessFunction<I, O>: Clone + Send + Sync + 'static {
    /// Called once per worker before anything else.
    ///
    /// # Errors
    /// Fails the job.
    fn open(&mut self, context: &mut RuntimeContext<'_>) -> Result<()> {
        let _ = context;
        Ok(())
    }

    /// Takes one record.
    ///
    /// # Errors
    /// Fails the job.
    fn process_element(
        &mut self,
        value: I,
        context: &mut ProcessContext<'_>,
        out: &mut Collector<O>,
    ) -> Result<()>;

    /// The input has ended.
    ///
    /// # Errors
    /// Fails the job.
    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

/// What a function can ask while it processes a record.
pub struct ProcessContext<'a> {
    timestamp: i64,
    watermark: i64,
    processing_time: i64,
    sides: &'a mut SideOutputs,
}

impl<'a> ProcessContext<'a> {
    pub(crate) fn new(
        timestamp: i64,
        watermark: i64,
        processing_time: i64,
        sides: &'a mut SideOutputs,
    ) -> Self {
        ProcessContext {
            timestamp,
            watermark,
            processing_time,
            sides,
        }
    }

    /// The event timestamp of the record, if it has one.
    pub fn timestamp(&self) -> Option<i64> {
        Some(self.timestamp).filter(|timestamp| *timestamp != NO_TIMESTAMP)
    }

    /// The watermark of the end of the previous epoch.
    pub fn current_watermark(&self) -> i64 {
        self.watermark
    }

    /// The announced wall clock of the current epoch, in milliseconds since 1970.
    pub fn current_processing_time(&self) -> i64 {
        self.processing_time
    }

    /// Emits a value to a side output, with the timestamp of the record.
    pub fn output<X: StreamData>(&mut self, tag: &OutputTag<X>, value: X) {
        self.sides.push(tag, value, self.timestamp);
    }
}

/// Runs a [`ProcessFunction`].
pub struct ProcessOperator<I, O, F> {
    function: F,
    sides: SideOutputs,
    out: Collector<O>,
    marker: PhantomData<fn() -> I>,
}

impl<I, O, F> ProcessOperator<I, O, F>
where
    I: StreamData,
    O: StreamData,
    F: ProcessFunction<I, O>,
{
    /// An operator for `function`, whose side outputs are those of `side_ports`.
    pub fn new(function: F, side_ports: &SideOutputPorts) -> Self {
        ProcessOperator {
            function,
            sides: side_ports.outputs(),
            out: Collector::new(0),
            marker: PhantomData,
        }
    }
}

impl<I, O, F> EpochOperator for ProcessOperator<I, O, F>
where
    I: StreamData,
    O: StreamData,
    F: ProcessFunction<I, O>,
{
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.function.open(&mut RuntimeContext::new(context))
    }

    fn process(&mut self, _input: usize, batch: Batch, output: &mut Output) -> Result<()> {
        let (watermark, processing_time) = (output.watermark(), output.processing_time());
        for (value, timestamp) in batch.into_data::<StreamBatch<I>>()? {
            self.out.set_timestamp(timestamp);
            let sides = &mut self.sides;
            let mut context = ProcessContext::new(timestamp, watermark, processing_time, sides);
            self.function
                .process_element(value, &mut context, &mut self.out)?;
            self.out.flush_full(output);
            self.sides.flush_full(output);
        }
        self.out.flush(output);
        self.sides.flush(output);
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        self.function.close()
    }
}
