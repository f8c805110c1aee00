//! A user's function over two streams without keys.
//!
//! Within an epoch all records of the first stream come before those of the second, so that the result depends on
//! the order within each stream alone.

use std::marker::PhantomData;

use crate::batch::{Batch, StreamBatch, StreamData};
use crate::error::Result;
use crate::operator::{
    Collector, EpochEnd, EpochOperator, OperatorContext, Output, ProcessContext, RuntimeContext,
    SideOutputPorts, SideOutputs,
};

/// Processes the records of two streams one by one, as Flink's `CoProcessFunction`.
///
/// The function is cloned for every worker.
pub trait CoProcessFunction<IN1, IN2, O>: Clone + Send + Sync + 'static {
    /// Called once per worker before anything else.
    ///
    /// # Errors
    /// Fails the job.
    fn open(&mut self, context: &mut RuntimeContext<'_>) -> Result<()> {
        let _ = context;
        Ok(())
    }

    /// Takes a record of the first stream.
    ///
    /// # Errors
    /// Fails the job.
    fn process_element1(
        &mut self,
        value: IN1,
        context: &mut ProcessContext<'_>,
        out: &mut Collector<O>,
    ) -> Result<()>;

    /// Takes a record of the second stream.
    ///
    /// # Errors
    /// Fails the job.
    fn process_element2(
        &mut self,
        value: IN2,
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

/// Runs a [`CoProcessFunction`].
pub struct CoProcessOperator<IN1, IN2, O, F> {
    function: F,
    sides: SideOutputs,
    out: Collector<O>,
    second: Vec<Batch>,
    watermark: i64,
    marker: PhantomData<fn() -> (IN1, IN2)>,
}

impl<IN1, IN2, O, F> CoProcessOperator<IN1, IN2, O, F>
where
    IN1: StreamData,
    IN2: StreamData,
    O: StreamData,
    F: CoProcessFunction<IN1, IN2, O>,
{
    /// An operator for `function`, whose side outputs are those of `side_ports`.
    pub fn new(function: F, side_ports: &SideOutputPorts) -> Self {
        CoProcessOperator {
            function,
            sides: side_ports.outputs(),
            out: Collector::new(0),
            second: Vec::new(),
            watermark: crate::time::MIN_WATERMARK,
            marker: PhantomData,
        }
    }

    fn each<I: StreamData>(
        &mut self,
        batch: Batch,
        output: &mut Output,
        apply: impl Fn(&mut F, I, &mut ProcessContext<'_>, &mut Collector<O>) -> Result<()>,
    ) -> Result<()> {
        for (value, timestamp) in batch.into_data::<StreamBatch<I>>()? {
            self.out.set_timestamp(timestamp);
            let mut context = ProcessContext::new(
                timestamp,
                self.watermark,
                output.processing_time(),
                &mut self.sides,
            );
            apply(&mut self.function, value, &mut context, &mut self.out)?;
            self.out.flush_full(output);
            self.sides.flush_full(output);
        }
        self.out.flush(output);
        self.sides.flush(output);
        Ok(())
    }
}

impl<IN1, IN2, O, F> EpochOperator for CoProcessOperator<IN1, IN2, O, F>
where
    IN1: StreamData,
    IN2: StreamData,
    O: StreamData,
    F: CoProcessFunction<IN1, IN2, O>,
{
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.function.open(&mut RuntimeContext::new(context))
    }

    fn process(&mut self, input: usize, batch: Batch, output: &mut Output) -> Result<()> {
        if input == 0 {
            self.each(batch, output, F::process_element1)
        } else {
            self.second.push(batch);
            Ok(())
        }
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        for batch in std::mem::take(&mut self.second) {
            self.each(batch, output, F::process_element2)?;
        }
        self.watermark = output.watermark();
        Ok(EpochEnd::Done)
    }

    fn close(&mut self) -> Result<()> {
        self.function.close()
    }
}
