//! Tumbling and sliding event-time windows with a reduction: each record is added once, to one slice.
//!
//! Slices stand in the order of time; each has its keys and their partial results. When the watermark passes the
//! end of a window, windows that do not overlap are emitted from their slice as it is. For overlapping windows a
//! closed slice is handed to a [`TwoStack`] per key, which gives the result of each window at a constant number of
//! merges, so the cost of a record does not grow with size over slide. Keys without records in a window cost nothing.
//!
//! A record is late for the windows that are over, and still counts in those that are not: it is added to the
//! stacks of its key. With allowed lateness, closed slices are kept until their last window is late, and windows that
//! late records reached are put together anew from their slices, once at the end of the epoch.
//!
//! What is over is a function of the watermark alone ([`Slicing::closed_before`]), so it needs no state of its own.

use std::any::type_name;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::batch::{Batch, StreamBatch, StreamData};
use crate::error::Result;
use crate::exchange::key_hash;
use crate::metrics::OperatorMetrics;
use crate::operator::late_data::check_timestamp;
use crate::operator::{
    Collector, EpochEnd, EpochOperator, KeySelector, LateData, OperatorContext, Output, Restore,
    RuntimeContext, SideOutputPorts, SideOutputs, Snapshot, StateSize,
};
use crate::state::{KeyMap, KeyedStateBackend, SLICES, STACKS, StateError, StateKey};
use crate::time::WatermarkMemory;
use crate::window::{
    EvictorContext, ProcessWindowFunction, SlicedWindows, Slicing, TimeWindow, TwoStack, Window,
    WindowAggregation, WindowContext,
};

/// The partial results of one slice of time. The value is `None` only while the aggregation runs.
#[derive(Clone)]
struct Slice<K, S> {
    start: i64,
    partials: KeyMap<K, Option<S>>,
}

/// See the module's description.
pub struct SliceWindowOperator<K, T, W, O, C, P>
where
    C: WindowAggregation<T, W>,
{
    selector: KeySelector<T, K>,
    side_ports: SideOutputPorts,
    slicing: Slicing,
    aggregation: C,
    late_data: LateData<T>,
    /// In the order of time.
    slices: VecDeque<Slice<K, C::State>>,
    /// Where the last record went.
    last_slice: usize,
    /// The closed slices of the next window, by key; only for windows that overlap.
    stacks: KeyMap<K, TwoStack<C::State>>,
    /// Windows that are over and were reached by late records in this epoch, by start.
    reached: BTreeMap<i64, KeyMap<K, ()>>,
    watermark: WatermarkMemory,
    keys: Vec<K>,
    uid: String,
    metrics: Arc<OperatorMetrics>,
    emitter: Emitter<K, W, O, P>,
}

/// Hands results to the window function.
struct Emitter<K, W, O, P> {
    function: P,
    window: fn(TimeWindow) -> W,
    sides: SideOutputs,
    out: Collector<O>,
    /// Only when the function declared state.
    backend: Option<KeyedStateBackend<K>>,
    watermark: i64,
    processing_time: i64,
}

impl<K: StateKey, W: Window, O: StreamData, P> Emitter<K, W, O, P> {
    fn emit<T, C>(
        &mut self,
        aggregation: &C,
        key: &K,
        window: TimeWindow,
        mut state: C::State,
        output: &mut Output,
    ) -> Result<()>
    where
        C: WindowAggregation<T, W>,
        P: ProcessWindowFunction<C::Result, O, K, W>,
    {
        let (watermark, processing_time) = (self.watermark, self.processing_time);
        let clocks = EvictorContext {
            current_watermark: watermark,
            current_processing_time: processing_time,
        };
        let window = (self.window)(window);
        let timestamp = window.max_timestamp();
        let slot = self
            .backend
            .as_mut()
            .map(|backend| backend.activate(key.clone()));
        self.out.set_timestamp(timestamp);
        let (function, out, sides) = (&mut self.function, &mut self.out, &mut self.sides);
        aggregation.fire(&mut state, &window, &clocks, &mut |results| {
            let mut context = WindowContext {
                window: &window,
                timestamp,
                watermark,
                processing_time,
                sides,
            };
            function.process(key, &mut context, results, out)
        })?;
        if let (Some(backend), Some(slot)) = (&mut self.backend, slot) {
            backend.deactivate(slot);
        }
        self.out.flush_full(output);
        self.sides.flush_full(output);
        Ok(())
    }
}

impl<K, T, W, O, C, P> SliceWindowOperator<K, T, W, O, C, P>
where
    K: StateKey,
    T: StreamData,
    W: Window,
    O: StreamData,
    C: WindowAggregation<T, W>,
    P: ProcessWindowFunction<C::Result, O, K, W>,
{
    /// An operator over `windows`.
    pub fn new(
        selector: KeySelector<T, K>,
        windows: SlicedWindows<W>,
        aggregation: C,
        late_data: LateData<T>,
        function: P,
        side_ports: SideOutputPorts,
    ) -> Self {
        SliceWindowOperator {
            selector,
            slicing: windows.slicing,
            aggregation,
            late_data,
            slices: VecDeque::new(),
            last_slice: 0,
            stacks: KeyMap::new(),
            reached: BTreeMap::new(),
            watermark: WatermarkMemory::default(),
            keys: Vec::new(),
            uid: String::new(),
            metrics: Arc::default(),
            emitter: Emitter {
                function,
                window: windows.window,
                sides: side_ports.outputs(),
                out: Collector::new(0),
                backend: None,
                watermark: 0,
                processing_time: 0,
            },
            side_ports,
        }
    }

    /// The place of the slice at `start`, which is added if it is not there.
    fn place(&mut self, start: i64) -> usize {
        if self
            .slices
            .get(self.last_slice)
            .is_some_and(|slice| slice.start == start)
        {
            return self.last_slice;
        }
        let at = self.slices.partition_point(|slice| slice.start < start);
        if self.slices.get(at).is_none_or(|slice| slice.start != start) {
            self.slices.insert(
                at,
                Slice {
                    start,
                    partials: KeyMap::new(),
                },
            );
        }
        self.last_slice = at;
        at
    }

    #[inline]
    fn add(&mut self, start: i64, hash: u64, key: K, value: T, timestamp: i64) {
        let at = self.place(start);
        let partials = &mut self.slices[at].partials;
        let slot = partials.find_or_insert(hash, key, || None);
        let partial = partials.value_mut(slot).expect("the key was just found");
        *partial = Some(self.aggregation.add(partial.take(), value, timestamp));
    }

    /// Adds a record to a slice that is closed, but has windows that are not late.
    fn add_closed(&mut self, start: i64, closed: i64, key: K, value: T, timestamp: i64) {
        let hash = key_hash(&key);
        let next_window = self.slicing.window_ending(self.slicing.next_end(closed));
        if self.slicing.overlaps() && start >= next_window.start {
            let slot = self
                .stacks
                .find_or_insert(hash, key.clone(), TwoStack::default);
            let stack = self.stacks.value_mut(slot).expect("the key was just found");
            stack.add_late(start, |slice| {
                self.aggregation.add(slice, value.clone(), timestamp)
            });
        }
        if self.late_data.is_allowed() {
            for window in self.slicing.closed_windows(start, closed) {
                if !self
                    .late_data
                    .is_late(window.max_timestamp(), self.watermark.current())
                {
                    let keys = self.reached.entry(window.start).or_default();
                    keys.find_or_insert(hash, key.clone(), || ());
                }
            }
            self.add(start, hash, key, value, timestamp);
        }
    }

    /// Emits the windows that late records reached, put together from their slices.
    fn emit_reached(&mut self, output: &mut Output) -> Result<()> {
        for (start, keys) in std::mem::take(&mut self.reached) {
            let window = TimeWindow::new(start, self.slicing.end_of(start));
            let from = self
                .slices
                .partition_point(|slice| slice.start < window.start);
            for (hash, key, ()) in keys.into_entries() {
                let slices = self
                    .slices
                    .iter()
                    .skip(from)
                    .take_while(|slice| slice.start < window.end);
                let partials = slices.filter_map(|slice| {
                    let slot = slice.partials.find(hash, &key)?;
                    slice.partials.value(slot)?.clone()
                });
                let merged =
                    partials.reduce(|earlier, later| self.aggregation.merge(earlier, later));
                if let Some(state) = merged {
                    self.emitter
                        .emit(&self.aggregation, &key, window, state, output)?;
                }
            }
        }
        Ok(())
    }

    /// Emits the windows between what was `closed` before and `watermark`.
    fn emit_closing(&mut self, mut closed: i64, watermark: i64, output: &mut Output) -> Result<()> {
        loop {
            let end = if self.stacks.is_empty() {
                // Without closed slices in play, go straight to the next window with records.
                let open = self.slices.partition_point(|slice| slice.start < closed);
                let Some(slice) = self.slices.get(open) else {
                    return Ok(());
                };
                self.slicing.first_end(slice.start)
            } else {
                self.slicing.next_end(closed)
            };
            let window = self.slicing.window_ending(end);
            if window.max_timestamp() > watermark {
                return Ok(());
            }
            if self.slicing.overlaps() {
                self.close_slices(closed, end);
                self.emit_stacks(window, output)?;
            } else {
                self.emit_slice(window, output)?;
            }
            closed = end;
        }
    }

    /// Hands the slices between `closed` and `end` to the stacks of their keys.
    fn close_slices(&mut self, closed: i64, end: i64) {
        let (aggregation, stacks) = (&self.aggregation, &mut self.stacks);
        let from = self.slices.partition_point(|slice| slice.start < closed);
        let to = self.slices.partition_point(|slice| slice.start < end);
        let mut push = |start: i64, hash: u64, key: K, partial: C::State| {
            let slot = stacks.find_or_insert(hash, key, TwoStack::default);
            let stack = stacks.value_mut(slot).expect("the key was just found");
            stack.push(start, partial, |earlier, later| {
                aggregation.merge(earlier, later)
            });
        };
        if self.late_data.is_allowed() {
            for slice in self.slices.range(from..to) {
                for (_, hash, key, partial) in slice.partials.iter() {
                    if let Some(partial) = partial {
                        push(slice.start, hash, key.clone(), partial.clone());
                    }
                }
            }
        } else {
            for slice in self.slices.drain(from..to) {
                for (hash, key, partial) in slice.partials.into_entries() {
                    if let Some(partial) = partial {
                        push(slice.start, hash, key, partial);
                    }
                }
            }
        }
    }

    /// Emits an overlapping window for all keys that have records in it, and forgets the others.
    fn emit_stacks(&mut self, window: TimeWindow, output: &mut Output) -> Result<()> {
        let aggregation = &self.aggregation;
        let merge = |earlier: C::State, later: C::State| aggregation.merge(earlier, later);
        for slot in 0..self.stacks.slot_count() as u32 {
            let Some(stack) = self.stacks.value_mut(slot) else {
                continue;
            };
            stack.evict(window.start, merge);
            let Some(total) = stack.total(merge) else {
                self.stacks.remove(slot);
                continue;
            };
            let key = self.stacks.key(slot).expect("the slot has a value");
            self.emitter.emit(aggregation, key, window, total, output)?;
        }
        if self.stacks.is_empty() {
            self.stacks = KeyMap::new();
        }
        Ok(())
    }

    /// Emits a window that is one slice.
    fn emit_slice(&mut self, window: TimeWindow, output: &mut Output) -> Result<()> {
        let at = self
            .slices
            .partition_point(|slice| slice.start < window.start);
        if self.late_data.is_allowed() {
            let Some(slice) = self.slices.get(at) else {
                return Ok(());
            };
            for (_, _, key, partial) in slice.partials.iter() {
                if let Some(partial) = partial {
                    self.emitter
                        .emit(&self.aggregation, key, window, partial.clone(), output)?;
                }
            }
        } else if let Some(slice) = self.slices.remove(at) {
            for (_, key, partial) in slice.partials.into_entries() {
                if let Some(partial) = partial {
                    self.emitter
                        .emit(&self.aggregation, &key, window, partial, output)?;
                }
            }
        }
        Ok(())
    }

    /// Drops the slices all of whose windows are late.
    fn drop_late_slices(&mut self, watermark: i64) {
        while let Some(slice) = self.slices.front() {
            let last = self
                .slicing
                .window_ending(self.slicing.last_end(slice.start));
            if !self.late_data.is_late(last.max_timestamp(), watermark) {
                break;
            }
            self.slices.pop_front();
        }
        self.last_slice = 0;
    }

    fn schema() -> String {
        format!(
            "slices of {} by {}",
            type_name::<C::State>(),
            type_name::<K>()
        )
    }

    fn decode<V: serde::de::DeserializeOwned>(&self, name: &str, bytes: &[u8]) -> Result<V> {
        bincode::deserialize(bytes)
            .map_err(|error| StateError::decode(&self.uid, name, Self::schema(), error).into())
    }
}

impl<K, T, W, O, C, P> EpochOperator for SliceWindowOperator<K, T, W, O, C, P>
where
    K: StateKey,
    T: StreamData,
    W: Window,
    O: StreamData,
    C: WindowAggregation<T, W>,
    P: ProcessWindowFunction<C::Result, O, K, W>,
{
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.uid.clone_from(&context.uid);
        self.metrics = context.metrics.clone();
        self.emitter.sides = self.side_ports.outputs();
        let mut backend = KeyedStateBackend::new(&context.uid);
        self.emitter
            .function
            .open(&mut RuntimeContext::keyed(context, backend.tables()))?;
        self.emitter.backend = Some(backend).filter(KeyedStateBackend::has_states);
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        for name in [SLICES, STACKS] {
            StateError::check_schema(&self.uid, name, state.schema(name), Self::schema())?;
        }
        state.read(SLICES, |_, bytes| {
            let (start, key, partial): (i64, K, C::State) = self.decode(SLICES, bytes)?;
            let at = self.place(start);
            self.slices[at]
                .partials
                .find_or_insert(key_hash(&key), key, || Some(partial));
            Ok(())
        })?;
        state.read(STACKS, |_, bytes| {
            let (key, stack): (K, TwoStack<C::State>) = self.decode(STACKS, bytes)?;
            self.stacks.find_or_insert(key_hash(&key), key, || stack);
            Ok(())
        })?;
        if let Some(backend) = &mut self.emitter.backend {
            backend.restore(state)?;
        }
        self.watermark.restore(state)
    }

    fn process(&mut self, _input: usize, batch: Batch, output: &mut Output) -> Result<()> {
        let batch = batch.into_data::<StreamBatch<T>>()?;
        let watermark = self.watermark.observe(output);
        let closed = self.slicing.closed_before(watermark);
        let mut keys = std::mem::take(&mut self.keys);
        self.selector.select(batch.values(), &mut keys);
        // The slice of the record before: most records share it, which saves a division.
        let mut slice = 0..0;
        for ((value, timestamp), key) in batch.into_iter().zip(keys.drain(..)) {
            if !slice.contains(&timestamp) {
                check_timestamp(timestamp)?;
                let Some(start) = self.slicing.slice_of(timestamp) else {
                    if self.late_data.is_late(timestamp, watermark) {
                        self.late_data.skip(
                            value,
                            timestamp,
                            &mut self.emitter.sides,
                            &self.metrics,
                        );
                    }
                    continue;
                };
                slice = start..start + self.slicing.width();
            }
            let start = slice.start;
            if start >= closed {
                self.add(start, key_hash(&key), key, value, timestamp);
            } else if self
                .late_data
                .is_late(self.slicing.last_end(start).saturating_sub(1), watermark)
            {
                self.late_data
                    .skip(value, timestamp, &mut self.emitter.sides, &self.metrics);
            } else {
                self.add_closed(start, closed, key, value, timestamp);
            }
        }
        self.keys = keys;
        self.emitter.sides.flush(output);
        Ok(())
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        let closed = self.slicing.closed_before(self.watermark.current());
        self.emitter.watermark = self.watermark.current();
        self.emitter.processing_time = output.processing_time();
        if let Some(backend) = &mut self.emitter.backend {
            backend.set_processing_time(output.processing_time());
        }
        self.emit_reached(output)?;
        let before = self.watermark.current();
        let watermark = self.watermark.observe(output);
        if watermark > before {
            self.emitter.watermark = watermark;
            self.emit_closing(closed, watermark, output)?;
            self.drop_late_slices(watermark);
        }
        if let Some(backend) = &mut self.emitter.backend {
            backend.clean_up();
        }
        self.emitter.out.flush(output);
        self.emitter.sides.flush(output);
        Ok(EpochEnd::Done)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let slices = self.slices.clone();
        snapshot.keyed(SLICES, Self::schema(), move |sink| {
            for slice in &slices {
                for (_, hash, key, partial) in slice.partials.iter() {
                    let Some(partial) = partial else { continue };
                    let bytes = bincode::serialize(&(slice.start, key, partial))
                        .map_err(|error| StateError::encode(SLICES, error))?;
                    sink.record(hash, &bytes)?;
                }
            }
            Ok(())
        });
        let stacks = self.stacks.clone();
        snapshot.keyed(STACKS, Self::schema(), move |sink| {
            for (_, hash, key, stack) in stacks.iter() {
                let bytes = bincode::serialize(&(key, stack))
                    .map_err(|error| StateError::encode(STACKS, error))?;
                sink.record(hash, &bytes)?;
            }
            Ok(())
        });
        if let Some(backend) = &self.emitter.backend {
            backend.snapshot(&backend.frozen_keys(), snapshot);
        }
        self.watermark.snapshot(snapshot);
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        self.emitter.function.close()
    }

    fn state_size(&self) -> StateSize {
        let slices = self
            .slices
            .iter()
            .map(|slice| (slice.partials.bytes(), slice.partials.len()));
        let (bytes, keys) = slices.fold(
            (self.stacks.bytes(), self.stacks.len()),
            |(bytes, keys), slice| (bytes + slice.0, keys.max(slice.1)),
        );
        StateSize {
            bytes: bytes as u64,
            keys: keys as u64,
        }
    }
}

#[cfg(test)]
mod tests;
