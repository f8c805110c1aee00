//! What every operator that runs a user's function over keys has: state, timers, outputs, and the order of calls.

use crate::batch::{Batch, NO_TIMESTAMP, StreamBatch, StreamData};
use crate::error::Result;
use crate::operator::{
    Collector, KeySelector, KeyedContext, OnTimerContext, OperatorContext, Output, Restore,
    RuntimeContext, SideOutputPorts, SideOutputs, Snapshot, StateSize,
};
use crate::state::{KeyedStateBackend, Located, StateKey};
use crate::time::{KeyedTimers, TimeDomain, TimerService, WatermarkMemory};

/// See the module's description. Exists from `open` on.
pub(crate) struct KeyedRun<K, O> {
    backend: KeyedStateBackend<K>,
    timers: KeyedTimers,
    sides: SideOutputs,
    out: Collector<O>,
    watermark: WatermarkMemory,
    keys: Vec<K>,
    located: Vec<Located>,
}

impl<K: StateKey, O: StreamData> KeyedRun<K, O> {
    /// Lets the function declare its state.
    pub(crate) fn open(
        context: &OperatorContext,
        side_ports: &SideOutputPorts,
        open: impl FnOnce(&mut RuntimeContext<'_>) -> Result<()>,
    ) -> Result<Self> {
        let mut backend = KeyedStateBackend::new(&context.uid);
        open(&mut RuntimeContext::keyed(context, backend.tables()))?;
        Ok(KeyedRun {
            timers: KeyedTimers::new(backend.slots().clone()),
            backend,
            sides: side_ports.outputs(),
            out: Collector::new(0),
            watermark: WatermarkMemory::default(),
            keys: Vec::new(),
            located: Vec::new(),
        })
    }

    pub(crate) fn restore(&mut self, state: &Restore) -> Result<()> {
        self.backend.restore(state)?;
        self.timers.restore(&mut self.backend, state)?;
        self.watermark.restore(state)
    }

    /// Hands the records of a batch to `each`, under their keys.
    pub(crate) fn process<I: StreamData>(
        &mut self,
        selector: &KeySelector<I, K>,
        batch: Batch,
        output: &mut Output,
        mut each: impl FnMut(I, &mut KeyedContext<'_, K>, &mut Collector<O>) -> Result<()>,
    ) -> Result<()> {
        let batch = batch.into_data::<StreamBatch<I>>()?;
        let (watermark, processing_time) = (self.watermark.current(), output.processing_time());
        self.backend.set_processing_time(processing_time);
        selector.select(batch.values(), &mut self.keys);
        self.backend.locate(&self.keys, &mut self.located);
        let keys = self.keys.drain(..).zip(&self.located);
        for ((value, timestamp), (key, located)) in batch.into_iter().zip(keys) {
            let slot = self.backend.activate_located(*located, key);
            self.out.set_timestamp(timestamp);
            let timers = TimerService {
                timers: &mut self.timers,
                slot,
                watermark,
                processing_time,
            };
            let key = self.backend.key(slot);
            let mut context = KeyedContext::new(key, timestamp, timers, &mut self.sides);
            each(value, &mut context, &mut self.out)?;
            self.backend.deactivate(slot);
            self.out.flush_full(output);
            self.sides.flush_full(output);
        }
        self.flush(output);
        Ok(())
    }

    /// Hands the timers that are due to `fire`: first those of event time up to the watermark, in the order of (time,
    /// registration), then those of processing time.
    pub(crate) fn end_epoch(
        &mut self,
        output: &mut Output,
        mut fire: impl FnMut(i64, &mut OnTimerContext<'_, K>, &mut Collector<O>) -> Result<()>,
    ) -> Result<()> {
        let (watermark, now) = (self.watermark.observe(output), output.processing_time());
        self.backend.set_processing_time(now);
        while let Some((time, (slot, ()))) = self.timers.pop_event(watermark) {
            self.fire(TimeDomain::EventTime, time, slot, now, &mut fire)?;
            self.out.flush_full(output);
        }
        let sequence = self.timers.processing_sequence();
        while let Some((time, (slot, ()))) = self.timers.pop_processing(now, sequence) {
            self.fire(TimeDomain::ProcessingTime, time, slot, now, &mut fire)?;
            self.out.flush_full(output);
        }
        self.flush(output);
        self.backend.clean_up();
        Ok(())
    }

    fn fire(
        &mut self,
        domain: TimeDomain,
        time: i64,
        slot: u32,
        now: i64,
        fire: &mut impl FnMut(i64, &mut OnTimerContext<'_, K>, &mut Collector<O>) -> Result<()>,
    ) -> Result<()> {
        self.backend.activate_slot(slot);
        let timestamp = if domain == TimeDomain::EventTime {
            time
        } else {
            NO_TIMESTAMP
        };
        self.out.set_timestamp(timestamp);
        let watermark = self.watermark.current();
        let timers = TimerService {
            timers: &mut self.timers,
            slot,
            watermark,
            processing_time: now,
        };
        let context = KeyedContext::new(self.backend.key(slot), timestamp, timers, &mut self.sides);
        fire(
            time,
            &mut OnTimerContext::new(context, domain),
            &mut self.out,
        )?;
        self.backend.deactivate(slot);
        Ok(())
    }

    /// The main and the side outputs.
    pub(crate) fn outputs(&mut self) -> (&mut Collector<O>, &mut SideOutputs) {
        (&mut self.out, &mut self.sides)
    }

    pub(crate) fn watermark(&self) -> i64 {
        self.watermark.current()
    }

    pub(crate) fn flush(&mut self, output: &mut Output) {
        self.out.flush(output);
        self.sides.flush(output);
    }

    pub(crate) fn snapshot(&mut self, snapshot: &mut Snapshot) {
        let keys = self.backend.frozen_keys();
        self.backend.snapshot(&keys, snapshot);
        self.timers.snapshot(&keys, snapshot);
        self.watermark.snapshot(snapshot);
    }

    pub(crate) fn state_size(&self) -> StateSize {
        let mut size = self.backend.size();
        size.bytes += self.timers.bytes() as u64;
        size
    }
}
