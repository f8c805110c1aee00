//! A user's function over a keyed stream, with state per key and timers.
//!
//! Within an epoch records are processed in the order of arrival; timers fire at the end of the epoch, first those
//! of event time up to the watermark, in the order of (time, registration), then those of processing time.

use crate::batch::{Batch, NO_TIMESTAMP, StreamBatch, StreamData};
use crate::error::Result;
use crate::operator::{
    Collector, EpochEnd, EpochOperator, KeySelector, OperatorContext, Output, OutputTag, Restore,
    RuntimeContext, SideOutputPorts, SideOutputs, Snapshot, StateSize,
};
use crate::state::{KeyedStateBackend, StateKey};
use crate::time::{KeyedTimers, TimeDomain, TimerService, WatermarkMemory};

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

impl<K> OnTimerContext<'_, K> {
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
    run: Option<Run<K, O>>,
}

/// What exists from `open` on.
struct Run<K, O> {
    backend: KeyedStateBackend<K>,
    timers: KeyedTimers,
    sides: SideOutputs,
    out: Collector<O>,
    watermark: WatermarkMemory,
    keys: Vec<K>,
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

    fn fire(
        &mut self,
        domain: TimeDomain,
        time: i64,
        slot: u32,
        watermark: i64,
        now: i64,
    ) -> Result<()> {
        let run = self.run.as_mut().expect("open comes first");
        run.backend.activate_slot(slot);
        let timestamp = if domain == TimeDomain::EventTime {
            time
        } else {
            NO_TIMESTAMP
        };
        run.out.set_timestamp(timestamp);
        let timers = TimerService {
            timers: &mut run.timers,
            slot,
            watermark,
            processing_time: now,
        };
        let context = KeyedContext {
            key: run.backend.key(slot),
            timestamp,
            timers,
            sides: &mut run.sides,
        };
        self.function
            .on_timer(time, &mut OnTimerContext { context, domain }, &mut run.out)?;
        run.backend.deactivate(slot);
        Ok(())
    }

    fn run(&mut self) -> &mut Run<K, O> {
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
        let mut backend = KeyedStateBackend::new(&context.uid);
        self.function
            .open(&mut RuntimeContext::keyed(context, backend.tables()))?;
        self.run = Some(Run {
            timers: KeyedTimers::new(backend.slots().clone()),
            backend,
            sides: self.side_ports.outputs(),
            out: Collector::new(0),
            watermark: WatermarkMemory::default(),
            keys: Vec::new(),
        });
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        let run = self.run();
        run.backend.restore(state)?;
        run.timers.restore(&mut run.backend, state)?;
        run.watermark.restore(state)
    }

    fn process(&mut self, _input: usize, batch: Batch, output: &mut Output) -> Result<()> {
        let run = self.run.as_mut().expect("open comes first");
        let batch = batch.into_data::<StreamBatch<I>>()?;
        let (watermark, processing_time) =
            (run.watermark.observe(output), output.processing_time());
        run.backend.set_processing_time(processing_time);
        self.selector.select(batch.values(), &mut run.keys);
        for ((value, timestamp), key) in batch.into_iter().zip(run.keys.drain(..)) {
            let slot = run.backend.activate(key);
            run.out.set_timestamp(timestamp);
            let timers = TimerService {
                timers: &mut run.timers,
                slot,
                watermark,
                processing_time,
            };
            let key = run.backend.key(slot);
            let mut context = KeyedContext {
                key,
                timestamp,
                timers,
                sides: &mut run.sides,
            };
            self.function
                .process_element(value, &mut context, &mut run.out)?;
            run.backend.deactivate(slot);
            run.out.flush_full(output);
            run.sides.flush_full(output);
        }
        run.out.flush(output);
        run.sides.flush(output);
        Ok(())
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        let run = self.run();
        let (watermark, now) = (run.watermark.observe(output), output.processing_time());
        run.backend.set_processing_time(now);
        while let Some((time, (slot, ()))) = self.run().timers.pop_event(watermark) {
            self.fire(TimeDomain::EventTime, time, slot, watermark, now)?;
            self.run().out.flush_full(output);
        }
        let sequence = self.run().timers.processing_sequence();
        while let Some((time, (slot, ()))) = self.run().timers.pop_processing(now, sequence) {
            self.fire(TimeDomain::ProcessingTime, time, slot, watermark, now)?;
            self.run().out.flush_full(output);
        }
        let run = self.run();
        run.out.flush(output);
        run.sides.flush(output);
        run.backend.clean_up();
        Ok(EpochEnd::Done)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let run = self.run();
        let keys = run.backend.frozen_keys();
        run.backend.snapshot(&keys, snapshot);
        run.timers.snapshot(&keys, snapshot);
        run.watermark.snapshot(snapshot);
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        self.function.close()
    }

    fn state_size(&self) -> StateSize {
        self.run.as_ref().map_or_else(StateSize::default, |run| {
            let mut size = run.backend.size();
            size.bytes += run.timers.bytes() as u64;
            size
        })
    }
}

#[cfg(test)]
mod tests;
