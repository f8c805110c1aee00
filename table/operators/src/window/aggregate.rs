//! Aggregates of each group and window, emitted once when the window is complete.
//!
//! A row is counted in every window it belongs to; a window is complete when the watermark reaches its last
//! millisecond (or the epoch's processing time does). Then its results are emitted and its state is dropped, so the
//! output is append-only and state holds open windows alone. A row is late for a window when the watermark had
//! completed it before the row's epoch: the row is dropped for that window. Rows of one epoch are never late because
//! of the watermark that the same epoch brings.
//!
//! Overlapping windows share slices: a row updates the one slice it falls into, whatever the number of its windows. A
//! TUMBLE window is a slice; a HOP window is put together from its slices when it fires; the content of a CUMULATE
//! slice moves on into the next one after its window has fired.
//!
//! The time windows are assigned here from a time column, or read from the columns `window_start` and `window_end` of
//! rows that a window table function, join or rank has passed on.
//!
//! Output: the key columns, one column per call, then the window properties asked for.
//!
//! Semantics: Flink's window aggregation (`WindowAggOperator`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use aquifer_runtime::error::{Result, RuntimeError};
use aquifer_runtime::operator::{OperatorContext, StateSize};
use aquifer_runtime::time::{MAX_WATERMARK, MIN_WATERMARK};
use aquifer_runtime::{Batch, EpochEnd, EpochOperator, Output, Restore, Snapshot};
use aquifer_types::temporal::TimeZone;
use aquifer_types::{ChangeBatch, DataType, DataTypes};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, Int64Array, UInt32Array};
use arrow_schema::DataType as ArrowType;

use super::assigner::{TimeReader, WindowKind, WindowTime};
use super::hop_window::HopWindow;
use super::property::WindowProperty;
use crate::aggregators::{AggregateCall, Aggregators};
use crate::emit::BATCH;
use crate::error::internal;
use crate::state::GroupIndex;
use crate::state::frames::{restore_rows, snapshot_rows};

const STATE: &str = "windows";
const WATERMARK: &str = "watermark";

/// Where the windows of a row come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum WindowSource {
    /// They are assigned here.
    Assigned {
        /// Which windows there are.
        kind: WindowKind,
        /// The row's time.
        time: WindowTime,
    },
    /// The row carries one window.
    Attached {
        /// The column `window_start`, a TIMESTAMP of at most microseconds.
        start: usize,
        /// The column `window_end`.
        end: usize,
        /// True when the windows were assigned by instants (TIMESTAMP_LTZ), so that bounds are local times.
        is_instant: bool,
    },
}

/// What a [`WindowAggregateOperator`] computes.
#[derive(Clone, Debug)]
pub struct WindowAggregateParameters {
    /// The types of the input's columns.
    pub types: Vec<DataType>,
    /// The key columns besides the window. The input must be partitioned by exactly these.
    pub keys: Vec<usize>,
    /// The aggregates.
    pub calls: Vec<AggregateCall>,
    /// The windows.
    pub window: WindowSource,
    /// The window properties at the end of the output.
    pub properties: Vec<WindowProperty>,
    /// True when the input never retracts.
    pub append_only: bool,
    /// The session's time zone.
    pub zone: TimeZone,
}

/// Aggregates windows. See the module's description.
pub struct WindowAggregateOperator {
    parameters: WindowAggregateParameters,
    times: TimeReader,
    is_instant: bool,
    /// Of the key columns and the slice: the start of an attached window, then the end of any slice, as milliseconds
    /// of local time.
    index: GroupIndex,
    aggregators: Aggregators,
    state_types: Vec<DataType>,
    /// The window that HOP puts together.
    hop: HopWindow,
    /// Whether a group is in `slices`.
    registered: Vec<bool>,
    /// The groups of each slice, by its end.
    slices: BTreeMap<i64, Vec<u32>>,
    /// Windows whose last millisecond is not after this have fired.
    fired_through: i64,
    context: Option<OperatorContext>,
}

impl WindowAggregateOperator {
    /// Aggregates as `parameters` say.
    ///
    /// # Errors
    /// When the windows do not exist, or an aggregate function does not exist or does not take its arguments.
    pub fn new(parameters: WindowAggregateParameters) -> Result<Self> {
        let types = &parameters.types;
        let (time, is_instant) = match parameters.window {
            WindowSource::Assigned { kind, time } => {
                kind.validate()?;
                (time, WindowKind::is_instant(time, types))
            }
            WindowSource::Attached { is_instant, .. } => (WindowTime::Proctime, is_instant),
        };
        let zone = if is_instant {
            parameters.zone
        } else {
            TimeZone::default()
        };
        let times = TimeReader::new(time, types, zone)?;
        let mut state_types: Vec<DataType> = parameters
            .keys
            .iter()
            .map(|key| types[*key].clone())
            .collect();
        let key_types: Vec<ArrowType> = state_types.iter().map(DataType::to_arrow).collect();
        let bounds = if parameters.is_attached() { 2 } else { 1 };
        state_types.extend(vec![DataTypes::bigint().not_null(); bounds]);
        let index_types: Vec<ArrowType> = state_types.iter().map(DataType::to_arrow).collect();
        let aggregators = Aggregators::new(&parameters.calls, types, parameters.append_only)?;
        state_types.extend(aggregators.state_types());
        Ok(WindowAggregateOperator {
            times,
            is_instant,
            index: GroupIndex::new(&index_types).map_err(internal)?,
            hop: HopWindow::new(
                &key_types,
                Aggregators::new(&parameters.calls, types, parameters.append_only)?,
            )?,
            aggregators,
            state_types,
            registered: Vec::new(),
            slices: BTreeMap::new(),
            fired_through: MIN_WATERMARK,
            context: None,
            parameters,
        })
    }

    /// Whether the window that ends at this local time has fired.
    #[inline]
    fn has_fired(&self, end: i64) -> bool {
        self.times.instant_of(end) - 1 <= self.fired_through
    }

    /// The row numbers of `batch` that are not late, with the window's start (only of attached windows) and the end
    /// of the slice.
    fn slices_of(
        &self,
        batch: &ChangeBatch,
        processing_time: i64,
    ) -> Result<(Vec<u32>, Vec<i64>, Vec<i64>)> {
        let (mut rows, mut starts, mut ends) =
            (Vec::with_capacity(batch.len()), Vec::new(), Vec::new());
        match self.parameters.window {
            WindowSource::Assigned { kind, .. } => {
                for (row, time) in self
                    .times
                    .read(batch, processing_time)?
                    .into_iter()
                    .enumerate()
                {
                    let Some(time) = time else {
                        return Err(RuntimeError::user(
                            "the event time of a row is NULL: a window cannot be found for it; filter such rows out",
                        ));
                    };
                    if let Some(end) = kind.open_slice(time, |end| self.has_fired(end)) {
                        rows.push(row as u32);
                        ends.push(end);
                    }
                }
            }
            WindowSource::Attached { start, end, .. } => {
                let column = |column: usize| {
                    let column = batch
                        .column(column)
                        .as_primitive_opt::<TimestampMicrosecondType>();
                    column.ok_or_else(|| internal("window bounds are timestamps of microseconds"))
                };
                let (start, end) = (column(start)?, column(end)?);
                for row in (0..batch.len()).filter(|row| start.is_valid(*row) && end.is_valid(*row))
                {
                    let window_end = end.value(row).div_euclid(1000);
                    if !self.has_fired(window_end) {
                        rows.push(row as u32);
                        starts.push(start.value(row).div_euclid(1000));
                        ends.push(window_end);
                    }
                }
            }
        }
        Ok((rows, starts, ends))
    }

    /// The groups of keys and slices; new ones are noted.
    fn assign(&mut self, keys: &[ArrayRef], ends: &[i64]) -> Result<Vec<u32>> {
        let mut groups = Vec::new();
        self.index
            .assign(keys, ends.len(), &mut groups)
            .map_err(internal)?;
        let bound = self.index.bound();
        self.aggregators.resize(bound);
        self.registered
            .resize(bound.max(self.registered.len()), false);
        for (group, end) in groups.iter().zip(ends) {
            if !std::mem::replace(&mut self.registered[*group as usize], true) {
                self.slices.entry(*end).or_default().push(*group);
            }
        }
        Ok(groups)
    }

    fn forget(&mut self, groups: &[u32]) {
        self.aggregators.clear(groups);
        self.index.remove(groups);
        groups
            .iter()
            .for_each(|group| self.registered[*group as usize] = false);
    }

    /// Fires all windows that end by `level`.
    fn fire(&mut self, level: i64, output: &mut Output) -> Result<()> {
        match self.parameters.window {
            WindowSource::Assigned {
                kind: WindowKind::Hop {
                    size_ms, slide_ms, ..
                },
                ..
            } => self.fire_hops(level, size_ms, slide_ms, output),
            WindowSource::Assigned { kind, .. } => self.fire_slices(level, Some(kind), output),
            WindowSource::Attached { .. } => self.fire_slices(level, None, output),
        }
    }

    /// Fires windows that are one slice each.
    fn fire_slices(
        &mut self,
        level: i64,
        kind: Option<WindowKind>,
        output: &mut Output,
    ) -> Result<()> {
        while let Some(entry) = self.slices.first_entry() {
            let end = *entry.key();
            if self.times.instant_of(end) - 1 > level {
                break;
            }
            let groups = entry.remove();
            for part in groups.chunks(BATCH) {
                let living: Vec<u32> = part
                    .iter()
                    .copied()
                    .filter(|group| self.aggregators.rows(*group) > 0)
                    .collect();
                let mut keys = self.index.keys(&living).map_err(internal)?;
                keys.pop();
                let starts = match kind {
                    Some(kind) => vec![kind.start_of(end); living.len()],
                    None => {
                        let starts = keys
                            .pop()
                            .ok_or_else(|| internal("attached windows have a start"))?;
                        starts.as_primitive::<Int64Type>().values().to_vec()
                    }
                };
                let values = self.aggregators.values(&living)?;
                self.emit(keys, values, &starts, end, output)?;
            }
            if let Some(WindowKind::Cumulate { step_ms, .. }) = kind
                && kind.is_some_and(|kind| kind.start_of(end + step_ms) == kind.start_of(end))
            {
                self.move_on(&groups, end + step_ms)?;
            }
            self.forget(&groups);
        }
        Ok(())
    }

    /// Adds the content of a slice to that of another.
    fn move_on(&mut self, groups: &[u32], end: i64) -> Result<()> {
        let groups: Vec<u32> = groups
            .iter()
            .copied()
            .filter(|group| self.aggregators.rows(*group) != 0)
            .collect();
        let state = self.aggregators.state(&groups)?;
        let mut keys = self.index.keys(&groups).map_err(internal)?;
        keys.pop();
        keys.push(Arc::new(Int64Array::from_value(end, groups.len())));
        let next = self.assign(&keys, &vec![end; groups.len()])?;
        self.aggregators.merge(&next, &state)
    }

    /// Fires windows that are put together from slices, in the order of their ends.
    fn fire_hops(&mut self, level: i64, size: i64, slide: i64, output: &mut Output) -> Result<()> {
        let WindowSource::Assigned { kind, .. } = self.parameters.window else {
            return Err(internal("a HOP window is assigned here"));
        };
        let mut fired_end = i64::MIN;
        while let Some((first, _)) = self.slices.first_key_value() {
            // The first window of the oldest slice that has not fired.
            let Some(mut end) = kind.first_window_end(*first) else {
                return Err(internal("a slice without a window was kept"));
            };
            while self.has_fired(end) || end <= fired_end {
                end += slide;
            }
            if self.times.instant_of(end) - 1 > level {
                break;
            }
            self.fire_hop(end - size, end, output)?;
            fired_end = end;
            // Slices that no later window contains.
            while let Some(entry) = self.slices.first_entry() {
                if kind.last_window_end(*entry.key()) > end {
                    break;
                }
                let groups = entry.remove();
                if self.hop.end.is_some() {
                    self.hop.take_out(&self.index, &self.aggregators, &groups)?;
                }
                self.forget(&groups);
            }
        }
        Ok(())
    }

    fn fire_hop(&mut self, start: i64, end: i64, output: &mut Output) -> Result<()> {
        // What the last window left is still right, or everything is put together anew.
        let from = match self.hop.end {
            Some(last) => last.max(start),
            None => {
                self.hop.clear();
                start
            }
        };
        for groups in self.slices.range(from + 1..=end).map(|(_, groups)| groups) {
            self.hop.put_in(&self.index, &self.aggregators, groups)?;
        }
        self.hop.end = self.hop.aggregators.is_linear().then_some(end);
        for part in self.hop.index.groups().chunks(BATCH) {
            let living: Vec<u32> = part
                .iter()
                .copied()
                .filter(|group| self.hop.aggregators.rows(*group) > 0)
                .collect();
            let keys = self.hop.index.keys(&living).map_err(internal)?;
            let values = self.hop.aggregators.values(&living)?;
            self.emit(keys, values, &vec![start; living.len()], end, output)?;
        }
        Ok(())
    }

    fn emit(
        &self,
        mut columns: Vec<ArrayRef>,
        values: Vec<ArrayRef>,
        starts: &[i64],
        end: i64,
        output: &mut Output,
    ) -> Result<()> {
        let rows = starts.len();
        columns.extend(values);
        let ends = vec![end; rows];
        for property in &self.parameters.properties {
            columns.push(property.column(starts, &ends, &self.times, self.is_instant));
        }
        output.emit(0, ChangeBatch::new(columns, None, rows).map_err(internal)?);
        Ok(())
    }
}

impl WindowAggregateParameters {
    fn is_attached(&self) -> bool {
        matches!(self.window, WindowSource::Attached { .. })
    }

    /// True when processing time decides instead of event time.
    fn is_proctime(&self) -> bool {
        matches!(
            self.window,
            WindowSource::Assigned {
                time: WindowTime::Proctime,
                ..
            }
        )
    }
}

impl EpochOperator for WindowAggregateOperator {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.context = Some(context.clone());
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        let context = self
            .context
            .clone()
            .ok_or_else(|| internal("restore comes after open"))?;
        // All instances had the same watermark.
        for record in state.list(WATERMARK)? {
            let bytes: [u8; 8] = record.as_slice().try_into().map_err(|_| {
                RuntimeError::user(format!(
                    "state '{WATERMARK}' of operator '{}' is corrupt",
                    context.name
                ))
            })?;
            self.fired_through = self.fired_through.max(i64::from_le_bytes(bytes));
        }
        let arity = self.parameters.keys.len();
        let hashed: Vec<usize> = (0..arity).collect();
        let bounds = self.index.types().len();
        let types = self.state_types.clone();
        restore_rows(state, STATE, &types, &hashed, &context, |batch| {
            let (keys, state) = batch.columns().split_at(bounds);
            let ends = keys[bounds - 1].as_primitive::<Int64Type>().values();
            let groups = self.assign(keys, ends)?;
            self.aggregators.merge(&groups, state)
        })
    }

    fn process(&mut self, _: usize, batch: Batch, output: &mut Output) -> Result<()> {
        let mut batch = batch.into_data::<ChangeBatch>()?;
        if self.parameters.append_only && !batch.is_append_only() {
            return Err(internal(
                "a window aggregation was planned for append-only input, but a row was retracted",
            ));
        }
        let (rows, starts, ends) = self.slices_of(&batch, output.processing_time())?;
        if rows.len() < batch.len() {
            if let Some(context) = &self.context {
                let late = (batch.len() - rows.len()) as u64;
                context
                    .metrics
                    .late_records
                    .fetch_add(late, Ordering::Relaxed);
            }
            batch = batch.take(&UInt32Array::from(rows)).map_err(internal)?;
        }
        let mut keys: Vec<ArrayRef> = self
            .parameters
            .keys
            .iter()
            .map(|key| batch.column(*key).clone())
            .collect();
        if self.parameters.is_attached() {
            keys.push(Arc::new(Int64Array::from(starts)));
        }
        keys.push(Arc::new(Int64Array::from_iter_values(ends.iter().copied())));
        let groups = self.assign(&keys, &ends)?;
        if self
            .hop
            .end
            .is_some_and(|last| ends.iter().any(|end| *end <= last))
        {
            // A row that is late for some of its windows changes a slice that was put into the window.
            self.hop.end = None;
        }
        self.aggregators.accumulate(&groups, &batch)
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        // The end of the input closes windows over processing time too, so that no row is lost. Before that a window
        // over processing time fires when its end has come, because later rows may still have its last millisecond.
        let level = if self.parameters.is_proctime() && output.watermark() != MAX_WATERMARK {
            output.processing_time() - 1
        } else {
            output.watermark()
        };
        if level > self.fired_through {
            self.fire(level, output)?;
            self.fired_through = level;
        }
        Ok(EpochEnd::Done)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let groups = self.index.groups();
        let mut columns = self.index.keys(&groups).map_err(internal)?;
        columns.extend(self.aggregators.state(&groups)?);
        let batch = ChangeBatch::new(columns, None, groups.len()).map_err(internal)?;
        snapshot_rows(snapshot, STATE, &self.state_types, batch);
        snapshot.list(
            WATERMARK,
            "BIGINT NOT NULL",
            vec![self.fired_through.to_le_bytes().to_vec()],
        );
        Ok(())
    }

    fn state_size(&self) -> StateSize {
        let bytes = self.index.size_bytes()
            + self.aggregators.size_bytes()
            + self.hop.aggregators.size_bytes();
        StateSize {
            bytes: bytes as u64,
            keys: self.index.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests;
