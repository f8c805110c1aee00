//! The broadcast state pattern: a keyed stream and a stream that every worker gets all of (rules, small tables).
//!
//! Within an epoch the broadcast records come first, then the keyed ones, then timers. So all workers apply the same
//! rules to the same records, and the result does not depend on their number.

use crate::batch::{Batch, StreamBatch, StreamData};
use crate::error::Result;
use crate::operator::keyed_run::KeyedRun;
use crate::operator::{
    Collector, EpochEnd, EpochOperator, KeySelector, KeyedContext, OnTimerContext, OperatorContext,
    Output, ProcessContext, Restore, RuntimeContext, SideOutputPorts, Snapshot, StateSize,
};
use crate::state::StateKey;

/// Processes a keyed and a broadcast stream, as Flink's `KeyedBroadcastProcessFunction`.
///
/// The function is cloned for every worker. Handles of keyed and of broadcast state are fields, filled in `open`.
/// Broadcast state must be changed in `process_broadcast_element` alone, and depend on the broadcast records
/// alone: it is the same on all workers.
pub trait KeyedBroadcastProcessFunction<K, IN1, IN2, O>: Clone + Send + Sync + 'static {
    /// Called once per worker before anything else: declare state here.
    ///
    /// # Errors
    /// Fails the job.
    fn open(&mut self, context: &mut RuntimeContext<'_>) -> Result<()> {
        let _ = context;
        Ok(())
    }

    /// Takes a record of the keyed stream.
    ///
    /// # Errors
    /// Fails the job.
    fn process_element(
        &mut self,
        value: IN1,
        context: &mut KeyedContext<'_, K>,
        out: &mut Collector<O>,
    ) -> Result<()>;

    /// Takes a record of the broadcast stream. There is no key: keyed state must not be touched.
    ///
    /// # Errors
    /// Fails the job.
    fn process_broadcast_element(
        &mut self,
        value: IN2,
        context: &mut ProcessContext<'_>,
        out: &mut Collector<O>,
    ) -> Result<()>;

    /// A timer of the current key fires.
    ///
    /// # Errors
    /// Fails the job.
    fn on_timer(
        &mut self,
        timestamp: i64,
        context: &mut OnTimerContext<'_, K>,
        out: &mut Collector<O>,
    ) -> Result<()> {
        let _ = (timestamp, context, out);
        Ok(())
    }

    /// The input has ended.
    ///
    /// # Errors
    /// Fails the job.
    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Runs a [`KeyedBroadcastProcessFunction`]; input 0 is keyed, input 1 is broadcast.
pub struct KeyedBroadcastProcessOperator<K, IN1, IN2, O, F> {
    selector: KeySelector<IN1, K>,
    function: F,
    side_ports: SideOutputPorts,
    keyed: Vec<Batch>,
    run: Option<KeyedRun<K, O>>,
    marker: std::marker::PhantomData<fn() -> IN2>,
}

impl<K, IN1, IN2, O, F> KeyedBroadcastProcessOperator<K, IN1, IN2, O, F>
where
    K: StateKey,
    IN1: StreamData,
    IN2: StreamData,
    O: StreamData,
    F: KeyedBroadcastProcessFunction<K, IN1, IN2, O>,
{
    /// An operator for `function`, whose side outputs are those of `side_ports`.
    pub fn new(selector: KeySelector<IN1, K>, function: F, side_ports: SideOutputPorts) -> Self {
        KeyedBroadcastProcessOperator {
            selector,
            function,
            side_ports,
            keyed: Vec::new(),
            run: None,
            marker: std::marker::PhantomData,
        }
    }

    fn run(&mut self) -> &mut KeyedRun<K, O> {
        self.run.as_mut().expect("open comes first")
    }
}

impl<K, IN1, IN2, O, F> EpochOperator for KeyedBroadcastProcessOperator<K, IN1, IN2, O, F>
where
    K: StateKey,
    IN1: StreamData,
    IN2: StreamData,
    O: StreamData,
    F: KeyedBroadcastProcessFunction<K, IN1, IN2, O>,
{
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.run = Some(KeyedRun::open(context, &self.side_ports, |context| {
            self.function.open(context)
        })?);
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        self.run().restore(state)
    }

    fn process(&mut self, input: usize, batch: Batch, output: &mut Output) -> Result<()> {
        if input == 0 {
            self.keyed.push(batch);
            return Ok(());
        }
        let (run, function) = (
            self.run.as_mut().expect("open comes first"),
            &mut self.function,
        );
        let watermark = run.watermark();
        let (out, sides) = run.outputs();
        for (value, timestamp) in batch.into_data::<StreamBatch<IN2>>()? {
            out.set_timestamp(timestamp);
            let mut context =
                ProcessContext::new(timestamp, watermark, output.processing_time(), sides);
            function.process_broadcast_element(value, &mut context, out)?;
        }
        run.flush(output);
        Ok(())
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        let (run, function) = (
            self.run.as_mut().expect("open comes first"),
            &mut self.function,
        );
        for batch in std::mem::take(&mut self.keyed) {
            run.process(&self.selector, batch, output, |value, context, out| {
                function.process_element(value, context, out)
            })?;
        }
        run.end_epoch(output, |time, context, out| {
            function.on_timer(time, context, out)
        })?;
        Ok(EpochEnd::Done)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        self.run().snapshot(snapshot);
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        self.function.close()
    }

    fn state_size(&self) -> StateSize {
        self.run
            .as_ref()
            .map_or_else(StateSize::default, KeyedRun::state_size)
    }
}

#[cfg(test)]
mod tests;
