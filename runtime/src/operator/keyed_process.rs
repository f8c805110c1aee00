//! A user's function over a keyed stream, with state per key and timers.
//!
//! Within an epoch records are processed in the order of arrival; timers fire at the end of the epoch, first those
//! of event time up to the watermark, in the order of (time, registration), then those of processing time.

use crate::batch::{Batch, NO_TIMESTAMP, StreamData};
use crate::error::Result;
use crate::operator::keyed_run::KeyedRun;
use crate::operator::{
    Collector, EpochEnd, EpochOperator, KeySelector, OperatorContext, Output, OutputTag, Restore,
    RuntimeContext, SideOutputPorts, SideOutputs, Snapshot, StateSize,
};
use crate::state::StateKey;
use crate::time::{TimeDomain, TimerService};

/// Processes the records of a keyed stream one by one, as Flink's `KeyedProcessFunction`.
///
/// The function is cloned for every worker. State handles are fields, filled in `open`.
pub trait KeyedProcessFunction<K, I, O>: Clone + Send + Sync + 'static {
    /// Called once per worker before anything else: declare state here.
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
        context: &mut KeyedContext<'_, K>,
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

/// What a keyed function can ask while it processes a record.
pub struct KeyedContext<'a, K> {
    key: &'a K,
    timestamp: i64,
    timers: TimerService<'a>,
    sides: &'a mut SideOutputs,
}

impl<'a, K> KeyedContext<'a, K> {
    pub(crate) fn new(
        key: &'a K,
        timestamp: i64,
        timers: TimerService<'a>,
        sides: &'a mut SideOutputs,
    ) -> Self {
        KeyedContext {
            key,
            timestamp,
            timers,
            sides,
        }
    }

    /// The key of the record.
    pub fn current_key(&self) -> &K {
        self.key
    }

    /// The event timestamp of the record (of the timer, in `on_timer`), if it has one.
    pub fn timestamp(&self) -> Option<i64> {
        Some(self.timestamp).filter(|timestamp| *timestamp != NO_TIMESTAMP)
    }

    /// The clocks and the timers of the current key.
    pub fn timer_service(&mut self) -> &mut TimerService<'a> {
        &mut self.timers
    }

    /// Emits a value to a side output, with the timestamp of the record.
    pub fn output<X: StreamData>(&mut self, tag: &OutputTag<X>, value: X) {
        self.sides.push(tag, value, self.timestamp);
    }
}

/// What a keyed function can ask while a timer fires: also which clock it went by.
pub struct OnTimerContext<'a, K> {
    context: KeyedContext<'a, K>,
    domain: TimeDomain,
}

impl<'a, K> OnTimerContext<'a, K> {
    pub(crate) fn new(context: KeyedContext<'a, K>, domain: TimeDomain) -> Self {
        OnTimerContext { context, domain }
    }

    /// Which clock the timer went by.
    pub fn time_domain(&self) -> TimeDomain {
        self.domain
    }
}

impl<'a, K> std::ops::Deref for OnTimerContext<'a, K> {
    type Target = KeyedContext<'a, K>;

    fn deref(&self) -> &Self::Target {
        &self.context
    }
}

impl<K> std::ops::DerefMut for OnTimerContext<'_, K> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.context
    }
}

/// Runs a [`KeyedProcessFunction`].
pub struct KeyedProcessOperator<K, I, O, F> {
    selector: KeySelector<I, K>,
    function: F,
    side_ports: SideOutputPorts,
    run: Option<KeyedRun<K, O>>,
}

impl<K, I, O, F> KeyedProcessOperator<K, I, O, F>
where
    K: StateKey,
    I: StreamData,
    O: StreamData,
    F: KeyedProcessFunction<K, I, O>,
{
    /// An operator for `function`, whose side outputs are those of `side_ports`.
    pub fn new(selector: KeySelector<I, K>, function: F, side_ports: SideOutputPorts) -> Self {
        KeyedProcessOperator {
            selector,
            function,
            side_ports,
            run: None,
        }
    }

    fn run(&mut self) -> &mut KeyedRun<K, O> {
        self.run.as_mut().expect("open comes first")
    }
}

impl<K, I, O, F> EpochOperator for KeyedProcessOperator<K, I, O, F>
where
    K: StateKey,
    I: StreamData,
    O: StreamData,
    F: KeyedProcessFunction<K, I, O>,
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

    fn process(&mut self, _input: usize, batch: Batch, output: &mut Output) -> Result<()> {
        let run = self.run.as_mut().expect("open comes first");
        run.process(&self.selector, batch, output, |value, context, out| {
            self.function.process_element(value, context, out)
        })
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        let run = self.run.as_mut().expect("open comes first");
        run.end_epoch(output, |time, context, out| {
            self.function.on_timer(time, context, out)
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
