//! Windows of any kind: own triggers, evictors, all elements kept, windows that merge.
//!
//! Every key has a list of its windows, sorted; each window has its contents and what its trigger remembers. Timers
//! are kept per key and window. The rules of lateness and clean-up are those of Flink's `WindowOperator`: a window is
//! late when the watermark has reached its highest timestamp plus the allowed lateness; then its state goes away
//! and records no longer enter it. State shrinks by that clean-up, by purging triggers, and when windows merge.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::batch::{Batch, StreamBatch, StreamData};
use crate::error::{Result, RuntimeError};
use crate::metrics::OperatorMetrics;
use crate::operator::late_data::check_timestamp;
use crate::operator::{
    Collector, EpochEnd, EpochOperator, KeySelector, LateData, OperatorContext, Output, Restore,
    RuntimeContext, SideOutputPorts, SideOutputs, Snapshot, StateSize,
};
use crate::state::{Content, KeyedStateBackend, Located, StateKey, StateTtlConfig, Table};
use crate::time::{KeyedTimers, TimeDomain, WatermarkMemory};
use crate::window::{
    EvictorContext, ProcessWindowFunction, Trigger, TriggerContext, TriggerResult, Window,
    WindowAggregation, WindowAssigner, WindowContext,
};

/// The name of the state; functions cannot use it for theirs.
const WINDOWS: &str = "_windows";

/// One window of one key.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pane<W, S, R> {
    window: W,
    contents: Option<S>,
    trigger: R,
}

impl<W, S, R: Default + PartialEq> Pane<W, S, R> {
    fn new(window: W) -> Self {
        Pane {
            window,
            contents: None,
            trigger: R::default(),
        }
    }

    fn is_empty(&self) -> bool {
        self.contents.is_none() && self.trigger == R::default()
    }
}

/// The windows of one key, sorted.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Panes<W, S, R> {
    panes: Vec<Pane<W, S, R>>,
}

impl<W, S, R> Default for Panes<W, S, R> {
    fn default() -> Self {
        Panes { panes: Vec::new() }
    }
}

impl<W: Window, S: StreamData, R: StreamData + Default + PartialEq> Content for Panes<W, S, R> {
    fn schema() -> String {
        let (window, contents, trigger) = (
            std::any::type_name::<W>(),
            std::any::type_name::<S>(),
            std::any::type_name::<R>(),
        );
        format!("Windows<{window}, {contents}, {trigger}>")
    }

    fn is_empty(&self) -> bool {
        self.panes.is_empty()
    }

    fn expire(&mut self, _: &StateTtlConfig, _: i64) {}
}

impl<W: Window, S: StreamData, R: StreamData + Default + PartialEq> Panes<W, S, R> {
    /// The place of `window`, which is added if it is not there.
    fn place(&mut self, window: &W) -> usize {
        match self.panes.binary_search_by(|pane| pane.window.cmp(window)) {
            Ok(at) => at,
            Err(at) => {
                self.panes.insert(at, Pane::new(window.clone()));
                at
            }
        }
    }

    fn holds(&self, window: &W) -> bool {
        self.panes
            .binary_search_by(|pane| pane.window.cmp(window))
            .is_ok()
    }

    /// The windows that become one with `window`, as a range of places, and the window that covers all.
    fn merging(&self, window: &W) -> (std::ops::Range<usize>, W) {
        let at = self.panes.partition_point(|pane| pane.window < *window);
        let (mut first, mut last, mut cover) = (at, at, window.clone());
        while let Some(wider) = self
            .panes
            .get(last)
            .and_then(|pane| pane.window.cover(&cover))
        {
            cover = wider;
            last += 1;
        }
        while let Some(wider) = first
            .checked_sub(1)
            .and_then(|before| self.panes[before].window.cover(&cover))
        {
            cover = wider;
            first -= 1;
        }
        (first..last, cover)
    }
}

/// What a window operator is made of, but for its key and its function.
pub struct WindowParts<T, A, R, C> {
    /// Gives records their windows.
    pub assigner: A,
    /// Says when a window fires.
    pub trigger: R,
    /// What is kept of a window.
    pub aggregation: C,
    /// What happens to late records.
    pub late_data: LateData<T>,
}

/// See the module's description.
pub struct WindowOperator<K, T, O, A, R, C, P>
where
    T: StreamData,
    A: WindowAssigner<T>,
    R: Trigger<T, A::Window>,
    C: WindowAggregation<T, A::Window>,
{
    selector: KeySelector<T, K>,
    side_ports: SideOutputPorts,
    parts: WindowParts<T, A, R, C>,
    function: P,
    run: Option<RunOf<K, T, O, A, R, C>>,
    keys: Vec<K>,
    located: Vec<Located>,
    windows: Vec<A::Window>,
}

/// What exists from `open` on.
struct Run<K, O, W, S, R> {
    backend: KeyedStateBackend<K>,
    panes: std::rc::Rc<Table<Panes<W, S, R>>>,
    timers: KeyedTimers<W>,
    sides: SideOutputs,
    out: Collector<O>,
    watermark: WatermarkMemory,
    metrics: Arc<OperatorMetrics>,
}

/// The clocks of one call.
#[derive(Clone, Copy)]
struct Clocks {
    watermark: i64,
    processing_time: i64,
}

impl<K, T, O, A, R, C, P> WindowOperator<K, T, O, A, R, C, P>
where
    K: StateKey,
    T: StreamData,
    O: StreamData,
    A: WindowAssigner<T>,
    R: Trigger<T, A::Window>,
    C: WindowAggregation<T, A::Window>,
    P: ProcessWindowFunction<C::Result, O, K, A::Window>,
{
    /// An operator of these parts.
    pub fn new(
        selector: KeySelector<T, K>,
        parts: WindowParts<T, A, R, C>,
        function: P,
        side_ports: SideOutputPorts,
    ) -> Self {
        WindowOperator {
            selector,
            side_ports,
            parts,
            function,
            run: None,
            keys: Vec::new(),
            located: Vec::new(),
            windows: Vec::new(),
        }
    }

    /// Adds a record to its windows; false when all of them are late.
    fn add(&mut self, slot: u32, value: &T, timestamp: i64, clocks: Clocks) -> Result<bool> {
        let run = self.run.as_mut().expect("open comes first");
        let (parts, function) = (&self.parts, &mut self.function);
        let mut taken = false;
        for window in self.windows.drain(..) {
            let table = run.panes.clone();
            let added: Result<bool> = table.write(|panes| {
                let mut firing = Firing {
                    run,
                    parts,
                    function,
                    slot,
                    clocks,
                };
                let at = if parts.assigner.is_merging() {
                    match firing.merge(panes, window) {
                        Some(at) => at,
                        None => return Ok(false),
                    }
                } else if firing.is_late(&window) {
                    return Ok(false);
                } else {
                    panes.place(&window)
                };
                firing.add(panes, at, value, timestamp)?;
                Ok(true)
            });
            taken |= added?;
        }
        Ok(taken)
    }

    /// A timer of the window fires.
    fn fire(
        &mut self,
        domain: TimeDomain,
        time: i64,
        slot: u32,
        window: &A::Window,
        clocks: Clocks,
    ) -> Result<()> {
        let run = self.run.as_mut().expect("open comes first");
        run.backend.activate_slot(slot);
        let (parts, function) = (&self.parts, &mut self.function);
        let table = run.panes.clone();
        table.write(|panes| {
            let mut firing = Firing {
                run,
                parts,
                function,
                slot,
                clocks,
            };
            if !panes.holds(window) && firing.cleanup(window).is_some() {
                return Ok(());
            }
            // A window that never ends may be there without contents: they were purged.
            let at = panes.place(window);
            firing.on_timer(panes, at, domain, time)
        })?;
        self.run().backend.deactivate(slot);
        Ok(())
    }

    fn run(&mut self) -> &mut RunOf<K, T, O, A, R, C> {
        self.run.as_mut().expect("open comes first")
    }

    fn flush_full(&mut self, output: &mut Output) {
        let run = self.run();
        run.out.flush_full(output);
        run.sides.flush_full(output);
    }
}

/// One call for one key, with everything it needs borrowed apart from the key's windows.
struct Firing<'a, K, T, O, A, R, C, P>
where
    T: StreamData,
    A: WindowAssigner<T>,
    R: Trigger<T, A::Window>,
    C: WindowAggregation<T, A::Window>,
{
    run: &'a mut RunOf<K, T, O, A, R, C>,
    parts: &'a WindowParts<T, A, R, C>,
    function: &'a mut P,
    slot: u32,
    clocks: Clocks,
}

type RunOf<K, T, O, A, R, C> = Run<
    K,
    O,
    <A as WindowAssigner<T>>::Window,
    <C as WindowAggregation<T, <A as WindowAssigner<T>>::Window>>::State,
    <R as Trigger<T, <A as WindowAssigner<T>>::Window>>::State,
>;

type PanesOf<T, A, R, C> = Panes<
    <A as WindowAssigner<T>>::Window,
    <C as WindowAggregation<T, <A as WindowAssigner<T>>::Window>>::State,
    <R as Trigger<T, <A as WindowAssigner<T>>::Window>>::State,
>;

impl<K, T, O, A, R, C, P> Firing<'_, K, T, O, A, R, C, P>
where
    K: StateKey,
    T: StreamData,
    O: StreamData,
    A: WindowAssigner<T>,
    R: Trigger<T, A::Window>,
    C: WindowAggregation<T, A::Window>,
    P: ProcessWindowFunction<C::Result, O, K, A::Window>,
{
    fn is_late(&self, window: &A::Window) -> bool {
        self.parts.assigner.is_event_time()
            && self
                .parts
                .late_data
                .is_late(window.max_timestamp(), self.clocks.watermark)
    }

    fn context<'b>(&'b mut self, window: &'b A::Window) -> TriggerContext<'b, A::Window> {
        TriggerContext {
            timers: &mut self.run.timers,
            slot: self.slot,
            window,
            watermark: self.clocks.watermark,
            processing_time: self.clocks.processing_time,
        }
    }

    /// When the window's state goes away, and by which clock; `None` for never.
    fn cleanup(&self, window: &A::Window) -> Option<(TimeDomain, i64)> {
        let (domain, time) = if self.parts.assigner.is_event_time() {
            (
                TimeDomain::EventTime,
                self.parts.late_data.cleanup_time(window.max_timestamp()),
            )
        } else {
            (TimeDomain::ProcessingTime, window.max_timestamp())
        };
        (time != i64::MAX).then_some((domain, time))
    }

    fn register_cleanup(&mut self, window: &A::Window) {
        if let Some((domain, time)) = self.cleanup(window) {
            self.run
                .timers
                .register(domain, time, self.slot, window.clone());
        }
    }

    /// Makes `window` one with those it meets; the place of the result, `None` when it is late.
    fn merge(&mut self, panes: &mut PanesOf<T, A, R, C>, window: A::Window) -> Option<usize> {
        let (range, cover) = panes.merging(&window);
        if range.len() == 1 && panes.panes[range.start].window == cover {
            return Some(range.start);
        }
        if self.is_late(&cover) {
            return None;
        }
        let at = range.start;
        let mut merged = Pane::new(cover);
        let absorbed: Vec<_> = panes.panes.drain(range).collect();
        let any = !absorbed.is_empty();
        for mut pane in absorbed {
            merged.contents = match (merged.contents.take(), pane.contents.take()) {
                (Some(earlier), Some(later)) => Some(self.parts.aggregation.merge(earlier, later)),
                (earlier, later) => earlier.or(later),
            };
            self.parts
                .trigger
                .merge_state(&mut merged.trigger, pane.trigger.clone());
            self.clear(&mut pane);
        }
        if any {
            let parts = self.parts;
            let mut context = self.context(&merged.window);
            parts
                .trigger
                .on_merge(&merged.window, &mut merged.trigger, &mut context);
        }
        if merged.contents.is_some() {
            self.register_cleanup(&merged.window);
        }
        panes.panes.insert(at, merged);
        Some(at)
    }

    /// Deletes the timers of a window that goes away.
    fn clear(&mut self, pane: &mut Pane<A::Window, C::State, R::State>) {
        let window = pane.window.clone();
        self.parts
            .trigger
            .clear(&window, &mut pane.trigger, &mut self.context(&window));
        if let Some((domain, time)) = self.cleanup(&window) {
            self.run.timers.delete(domain, time, self.slot, window);
        }
    }

    fn add(
        &mut self,
        panes: &mut PanesOf<T, A, R, C>,
        at: usize,
        value: &T,
        timestamp: i64,
    ) -> Result<()> {
        if panes.panes[at].contents.is_none() {
            self.register_cleanup(&panes.panes[at].window);
        }
        let (pane, parts) = (&mut panes.panes[at], self.parts);
        let contents = pane.contents.take();
        pane.contents = Some(parts.aggregation.add(contents, value.clone(), timestamp));
        let (window, state) = (&pane.window, &mut pane.trigger);
        let result =
            parts
                .trigger
                .on_element(value, timestamp, window, state, &mut self.context(window));
        self.apply(panes, at, result)
    }

    fn on_timer(
        &mut self,
        panes: &mut PanesOf<T, A, R, C>,
        at: usize,
        domain: TimeDomain,
        time: i64,
    ) -> Result<()> {
        let pane = &mut panes.panes[at];
        let (window, state) = (&pane.window, &mut pane.trigger);
        let trigger = &self.parts.trigger;
        let mut context = self.context(window);
        let result = match domain {
            TimeDomain::EventTime => trigger.on_event_time(time, window, state, &mut context),
            TimeDomain::ProcessingTime => {
                trigger.on_processing_time(time, window, state, &mut context)
            }
        };
        if self.cleanup(&pane.window) == Some((domain, time)) {
            self.emit_if(pane_at(panes, at), result)?;
            let mut pane = panes.panes.remove(at);
            self.clear(&mut pane);
            return Ok(());
        }
        self.apply(panes, at, result)
    }

    fn apply(
        &mut self,
        panes: &mut PanesOf<T, A, R, C>,
        at: usize,
        result: TriggerResult,
    ) -> Result<()> {
        let pane = pane_at(panes, at);
        self.emit_if(pane, result)?;
        if result.is_purge() {
            pane.contents = None;
        }
        // A window that goes away by itself stays until then, for others may merge with it.
        if pane.is_empty() && self.cleanup(&panes.panes[at].window).is_none() {
            panes.panes.remove(at);
        }
        Ok(())
    }

    fn emit_if(
        &mut self,
        pane: &mut Pane<A::Window, C::State, R::State>,
        result: TriggerResult,
    ) -> Result<()> {
        let Some(contents) = pane.contents.as_mut().filter(|_| result.is_fire()) else {
            return Ok(());
        };
        let Clocks {
            watermark,
            processing_time,
        } = self.clocks;
        let evictor = EvictorContext {
            current_watermark: watermark,
            current_processing_time: processing_time,
        };
        let (window, timestamp) = (&pane.window, pane.window.max_timestamp());
        let Run {
            backend,
            sides,
            out,
            ..
        } = &mut *self.run;
        let (key, function) = (backend.key(self.slot), &mut *self.function);
        out.set_timestamp(timestamp);
        self.parts
            .aggregation
            .fire(contents, window, &evictor, &mut |elements| {
                let mut context = WindowContext {
                    window,
                    timestamp,
                    watermark,
                    processing_time,
                    sides,
                };
                function.process(key, &mut context, elements, out)
            })
    }
}

fn pane_at<W, S, R>(panes: &mut Panes<W, S, R>, at: usize) -> &mut Pane<W, S, R> {
    &mut panes.panes[at]
}

impl<K, T, O, A, R, C, P> EpochOperator for WindowOperator<K, T, O, A, R, C, P>
where
    K: StateKey,
    T: StreamData,
    O: StreamData,
    A: WindowAssigner<T>,
    R: Trigger<T, A::Window>,
    C: WindowAggregation<T, A::Window>,
    P: ProcessWindowFunction<C::Result, O, K, A::Window>,
{
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        if self.parts.assigner.is_merging() && !self.parts.trigger.can_merge() {
            return Err(RuntimeError::user(format!(
                "trigger {} cannot be used with merging windows; use a trigger whose can_merge() is true",
                std::any::type_name::<R>()
            )));
        }
        let mut backend = KeyedStateBackend::new(&context.uid);
        let panes = backend.tables().table(WINDOWS, None)?;
        self.function
            .open(&mut RuntimeContext::keyed(context, backend.tables()))?;
        self.run = Some(Run {
            timers: KeyedTimers::new(backend.slots().clone()),
            backend,
            panes,
            sides: self.side_ports.outputs(),
            out: Collector::new(0),
            watermark: WatermarkMemory::default(),
            metrics: context.metrics.clone(),
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
        let batch = batch.into_data::<StreamBatch<T>>()?;
        let processing_time = output.processing_time();
        let run = self.run();
        run.backend.set_processing_time(processing_time);
        let clocks = Clocks {
            watermark: run.watermark.observe(output),
            processing_time,
        };
        let event_time = self.parts.assigner.is_event_time();
        let mut keys = std::mem::take(&mut self.keys);
        self.selector.select(batch.values(), &mut keys);
        let mut located = std::mem::take(&mut self.located);
        self.run().backend.locate(&keys, &mut located);
        let located_keys = keys.drain(..).zip(&located);
        for ((value, timestamp), (key, located)) in batch.into_iter().zip(located_keys) {
            if event_time {
                check_timestamp(timestamp)?;
            }
            self.parts.assigner.assign_windows(
                &value,
                timestamp,
                processing_time,
                &mut self.windows,
            );
            let slot = self.run().backend.activate_located(*located, key);
            let taken = self.add(slot, &value, timestamp, clocks)?;
            let run = self.run.as_mut().expect("open comes first");
            run.backend.deactivate(slot);
            let late_data = &self.parts.late_data;
            if !taken && event_time && late_data.is_late(timestamp, clocks.watermark) {
                late_data.skip(value, timestamp, &mut run.sides, &run.metrics);
            }
            self.flush_full(output);
        }
        (self.keys, self.located) = (keys, located);
        let run = self.run();
        run.out.flush(output);
        run.sides.flush(output);
        Ok(())
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        let processing_time = output.processing_time();
        let run = self.run();
        run.backend.set_processing_time(processing_time);
        let clocks = Clocks {
            watermark: run.watermark.observe(output),
            processing_time,
        };
        while let Some((time, (slot, window))) = self.run().timers.pop_event(clocks.watermark) {
            self.fire(TimeDomain::EventTime, time, slot, &window, clocks)?;
            self.flush_full(output);
        }
        let sequence = self.run().timers.processing_sequence();
        while let Some((time, (slot, window))) =
            self.run().timers.pop_processing(processing_time, sequence)
        {
            self.fire(TimeDomain::ProcessingTime, time, slot, &window, clocks)?;
            self.flush_full(output);
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
