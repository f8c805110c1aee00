//! Aggregates of sessions: rows of a key that follow each other with gaps shorter than a limit.
//!
//! A row alone is a session from its time to the end of the gap; sessions of one key that overlap or touch are one.
//! A row may so join several sessions that were open; their accumulators are merged. A session is complete when the
//! watermark reaches its last millisecond; then its result is emitted once and its state is dropped. A row is late
//! when the session it would be in, joined with others, is complete already.
//!
//! Within a batch the sessions are found first, with the joins as a forest; then the accumulators are merged and fed,
//! column-wise.
//!
//! Output: the key columns, one column per call, then the window properties asked for.
//!
//! Semantics: Flink's SESSION window table function with aggregation.

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
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, UInt32Array};
use arrow_schema::DataType as ArrowType;

use super::assigner::{TimeReader, WindowKind, WindowTime};
use super::property::WindowProperty;
use crate::aggregators::{AggregateCall, Aggregators};
use crate::emit::BATCH;
use crate::error::internal;
use crate::state::GroupIndex;
use crate::state::frames::{restore_rows, snapshot_rows};

const STATE: &str = "sessions";
const WATERMARK: &str = "watermark";

/// What a [`SessionAggregateOperator`] computes.
#[derive(Clone, Debug)]
pub struct SessionAggregateParameters {
    /// The types of the input's columns.
    pub types: Vec<DataType>,
    /// The key columns. The input must be partitioned by exactly these.
    pub keys: Vec<usize>,
    /// The aggregates.
    pub calls: Vec<AggregateCall>,
    /// The row's time.
    pub time: WindowTime,
    /// How long after a row its session ends, in milliseconds.
    pub gap_ms: i64,
    /// The window properties at the end of the output.
    pub properties: Vec<WindowProperty>,
    /// True when the input never retracts.
    pub append_only: bool,
    /// The session's time zone.
    pub zone: TimeZone,
}

/// Aggregates sessions. See the module's description.
pub struct SessionAggregateOperator {
    parameters: SessionAggregateParameters,
    times: TimeReader,
    is_instant: bool,
    keys: GroupIndex,
    /// By key, its open sessions in the order of time.
    of_key: Vec<Vec<u32>>,
    sessions: Vec<Session>,
    free: Vec<u32>,
    aggregators: Aggregators,
    state_types: Vec<DataType>,
    /// Sessions by an end that they had; the last one counts.
    ends: BTreeMap<i64, Vec<u32>>,
    /// Sessions whose last millisecond is not after this have fired.
    fired_through: i64,
    context: Option<OperatorContext>,
}

/// An open session, also the number of its accumulators.
#[derive(Clone, Copy)]
struct Session {
    key: u32,
    start: i64,
    end: i64,
    /// Itself, or within a batch the session it was joined to.
    joined_to: u32,
    is_open: bool,
}

impl SessionAggregateOperator {
    /// Aggregates as `parameters` say.
    ///
    /// # Errors
    /// When the gap is not positive, or an aggregate function does not exist or does not take its arguments.
    pub fn new(parameters: SessionAggregateParameters) -> Result<Self> {
        if parameters.gap_ms <= 0 {
            return Err(RuntimeError::user(format!(
                "the gap of a SESSION window must be positive, but is {} ms",
                parameters.gap_ms
            )));
        }
        let types = &parameters.types;
        let is_instant = WindowKind::is_instant(parameters.time, types);
        let zone = if is_instant {
            parameters.zone
        } else {
            TimeZone::default()
        };
        let mut state_types: Vec<DataType> = parameters
            .keys
            .iter()
            .map(|key| types[*key].clone())
            .collect();
        let key_types: Vec<ArrowType> = state_types.iter().map(DataType::to_arrow).collect();
        let aggregators = Aggregators::new(&parameters.calls, types, parameters.append_only)?;
        state_types.extend([
            DataTypes::bigint().not_null(),
            DataTypes::bigint().not_null(),
        ]);
        state_types.extend(aggregators.state_types());
        Ok(SessionAggregateOperator {
            times: TimeReader::new(parameters.time, types, zone)?,
            is_instant,
            keys: GroupIndex::new(&key_types).map_err(internal)?,
            of_key: Vec::new(),
            sessions: Vec::new(),
            free: Vec::new(),
            aggregators,
            state_types,
            ends: BTreeMap::new(),
            fired_through: MIN_WATERMARK,
            context: None,
            parameters,
        })
    }

    fn is_complete(&self, end: i64, level: i64) -> bool {
        self.times.instant_of(end) - 1 <= level
    }

    fn open_session(&mut self, key: u32, start: i64, end: i64) -> u32 {
        let id = self.free.pop().unwrap_or_else(|| {
            u32::try_from(self.sessions.len())
                .expect("an operator instance holds fewer than 2^32 sessions")
        });
        let session = Session {
            key,
            start,
            end,
            joined_to: id,
            is_open: true,
        };
        match self.sessions.get_mut(id as usize) {
            Some(slot) => *slot = session,
            None => self.sessions.push(session),
        }
        self.ends.entry(end).or_default().push(id);
        id
    }

    /// The session of a row, joined with those it touches; `None` when it is late. Sessions that are joined to
    /// another are put into `joined`.
    fn find(&mut self, key: u32, time: i64, joined: &mut Vec<u32>) -> Option<u32> {
        let (mut start, mut end) = (time, time + self.parameters.gap_ms);
        // Sessions do not overlap, so their ends are in the order of their starts.
        let open = &self.of_key[key as usize];
        let from = open.partition_point(|id| self.sessions[*id as usize].end < start);
        let to = open.partition_point(|id| self.sessions[*id as usize].start <= end);
        let touched: Vec<u32> = open[from..to].to_vec();
        for id in &touched {
            let session = &self.sessions[*id as usize];
            (start, end) = (start.min(session.start), end.max(session.end));
        }
        if self.is_complete(end, self.fired_through) {
            return None;
        }
        let id = match touched.split_first() {
            None => self.open_session(key, start, end),
            Some((first, others)) => {
                for other in others {
                    self.sessions[*other as usize].joined_to = *first;
                    joined.push(*other);
                }
                let session = &mut self.sessions[*first as usize];
                session.start = start;
                if session.end != end {
                    session.end = end;
                    self.ends.entry(end).or_default().push(*first);
                }
                *first
            }
        };
        self.of_key[key as usize].splice(from..to, [id]);
        Some(id)
    }

    /// The session that a session was joined to in the end.
    fn root(&self, mut id: u32) -> u32 {
        while self.sessions[id as usize].joined_to != id {
            id = self.sessions[id as usize].joined_to;
        }
        id
    }

    fn key_groups(&mut self, columns: &[ArrayRef], rows: usize) -> Result<Vec<u32>> {
        let mut keys = Vec::new();
        self.keys
            .assign(columns, rows, &mut keys)
            .map_err(internal)?;
        self.of_key
            .resize_with(self.keys.bound().max(self.of_key.len()), Vec::new);
        Ok(keys)
    }

    /// Forgets sessions and keys without sessions.
    fn forget(&mut self, ids: &[u32]) {
        self.aggregators.clear(ids);
        for id in ids {
            let Session { key, .. } = self.sessions[*id as usize];
            self.sessions[*id as usize].is_open = false;
            self.of_key[key as usize].retain(|other| other != id);
            if self.of_key[key as usize].is_empty() {
                self.keys.remove(&[key]);
            }
        }
        self.free.extend_from_slice(ids);
    }

    fn emit(&self, ids: &[u32], output: &mut Output) -> Result<()> {
        let living: Vec<u32> = ids
            .iter()
            .copied()
            .filter(|id| self.aggregators.rows(*id) > 0)
            .collect();
        for part in living.chunks(BATCH) {
            let sessions = || part.iter().map(|id| self.sessions[*id as usize]);
            let keys: Vec<u32> = sessions().map(|session| session.key).collect();
            let mut columns = self.keys.keys(&keys).map_err(internal)?;
            columns.extend(self.aggregators.values(part)?);
            let starts: Vec<i64> = sessions().map(|session| session.start).collect();
            let ends: Vec<i64> = sessions().map(|session| session.end).collect();
            for property in &self.parameters.properties {
                columns.push(property.column(&starts, &ends, &self.times, self.is_instant));
            }
            output.emit(
                0,
                ChangeBatch::new(columns, None, part.len()).map_err(internal)?,
            );
        }
        Ok(())
    }

    fn open_sessions(&self) -> Vec<u32> {
        (0..self.sessions.len() as u32)
            .filter(|id| self.sessions[*id as usize].is_open)
            .collect()
    }
}

impl EpochOperator for SessionAggregateOperator {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.context = Some(context.clone());
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        let context = self
            .context
            .clone()
            .ok_or_else(|| internal("restore comes after open"))?;
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
        let types = self.state_types.clone();
        restore_rows(state, STATE, &types, &hashed, &context, |batch| {
            let keys = self.key_groups(&batch.columns()[..arity], batch.len())?;
            let bound = |at: usize| batch.column(arity + at).as_primitive::<Int64Type>();
            let (starts, ends) = (bound(0), bound(1));
            let mut ids = Vec::with_capacity(batch.len());
            for (row, key) in keys.into_iter().enumerate() {
                let id = self.open_session(key, starts.value(row), ends.value(row));
                let of_key = &self.of_key[key as usize];
                let at = of_key.partition_point(|other| {
                    self.sessions[*other as usize].start < starts.value(row)
                });
                self.of_key[key as usize].insert(at, id);
                ids.push(id);
            }
            self.aggregators.resize(self.sessions.len());
            self.aggregators.merge(&ids, &batch.columns()[arity + 2..])
        })
    }

    fn process(&mut self, _: usize, batch: Batch, output: &mut Output) -> Result<()> {
        let mut batch = batch.into_data::<ChangeBatch>()?;
        if self.parameters.append_only && !batch.is_append_only() {
            return Err(internal(
                "a session aggregation was planned for append-only input, but a row was retracted",
            ));
        }
        let times = self.times.read(&batch, output.processing_time())?;
        let keys: Vec<ArrayRef> = self
            .parameters
            .keys
            .iter()
            .map(|key| batch.column(*key).clone())
            .collect();
        let keys = self.key_groups(&keys, batch.len())?;
        let (mut rows, mut ids, mut joined) = (Vec::new(), Vec::new(), Vec::new());
        for (row, (key, time)) in keys.iter().zip(times).enumerate() {
            let time = time.ok_or_else(|| {
                RuntimeError::user("the event time of a row is NULL: a session cannot be found for it; filter such rows out")
            })?;
            if let Some(id) = self.find(*key, time, &mut joined) {
                rows.push(row as u32);
                ids.push(id);
            }
        }
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
        self.aggregators.resize(self.sessions.len());
        ids.iter_mut().for_each(|id| *id = self.root(*id));
        let into: Vec<u32> = joined.iter().map(|id| self.root(*id)).collect();
        let state = self.aggregators.state(&joined)?;
        self.aggregators.merge(&into, &state)?;
        self.aggregators.clear(&joined);
        joined
            .iter()
            .for_each(|id| self.sessions[*id as usize].is_open = false);
        self.free.append(&mut joined);
        // Keys whose rows were all late.
        let mut idle: Vec<u32> = keys
            .into_iter()
            .filter(|key| self.of_key[*key as usize].is_empty())
            .collect();
        idle.sort_unstable();
        idle.dedup();
        self.keys.remove(&idle);
        self.aggregators.accumulate(&ids, &batch)
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        let is_proctime = self.parameters.time == WindowTime::Proctime;
        let level = if is_proctime && output.watermark() != MAX_WATERMARK {
            output.processing_time() - 1
        } else {
            output.watermark()
        };
        while let Some(entry) = self.ends.first_entry() {
            let end = *entry.key();
            if self.times.instant_of(end) - 1 > level {
                break;
            }
            let mut ids = entry.remove();
            ids.retain(|id| {
                let session = &self.sessions[*id as usize];
                session.is_open && session.end == end
            });
            // A number that was given out anew may stand here twice.
            ids.sort_unstable();
            ids.dedup();
            self.emit(&ids, output)?;
            self.forget(&ids);
        }
        self.fired_through = self.fired_through.max(level);
        Ok(EpochEnd::Done)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let ids = self.open_sessions();
        let sessions = || ids.iter().map(|id| self.sessions[*id as usize]);
        let keys: Vec<u32> = sessions().map(|session| session.key).collect();
        let mut columns = self.keys.keys(&keys).map_err(internal)?;
        columns.push(Arc::new(Int64Array::from_iter_values(
            sessions().map(|session| session.start),
        )));
        columns.push(Arc::new(Int64Array::from_iter_values(
            sessions().map(|session| session.end),
        )));
        columns.extend(self.aggregators.state(&ids)?);
        let batch = ChangeBatch::new(columns, None, ids.len()).map_err(internal)?;
        snapshot_rows(snapshot, STATE, &self.state_types, batch);
        snapshot.list(
            WATERMARK,
            "BIGINT NOT NULL",
            vec![self.fired_through.to_le_bytes().to_vec()],
        );
        Ok(())
    }

    fn state_size(&self) -> StateSize {
        let lists = self.sessions.capacity() * size_of::<Session>()
            + self.of_key.capacity() * size_of::<Vec<u32>>();
        let bytes = lists + self.keys.size_bytes() + self.aggregators.size_bytes();
        StateSize {
            bytes: bytes as u64,
            keys: (self.sessions.len() - self.free.len()) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use aquifer_types::{Timestamp, Value};
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Changes, Instances, accumulate, consolidated};

    fn types() -> Vec<DataType> {
        vec![DataTypes::int(), DataTypes::timestamp(3), DataTypes::int()]
    }

    fn timestamp(millis: i64) -> Value {
        Value::Timestamp(Timestamp::from_millis(millis))
    }

    fn call(function: &str, arguments: &[usize]) -> AggregateCall {
        AggregateCall {
            function: function.to_string(),
            arguments: arguments.to_vec(),
            distinct: false,
            filter: None,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn equals_joining_intervals_row_by_row(
            gap_ms in 1i64..5,
            epochs in proptest::collection::vec(
                (proptest::collection::vec((0i32..3, -6i64..14, 0i32..3), 0..16), 0i64..6),
                1..8,
            ),
            restore_after in 0usize..8,
            workers in 1usize..4,
        ) {
            let parameters = SessionAggregateParameters {
                types: types(),
                keys: vec![0],
                calls: vec![call("COUNT", &[]), call("SUM", &[2]), call("MAX", &[2])],
                time: WindowTime::Rowtime(1),
                gap_ms,
                properties: vec![WindowProperty::Start, WindowProperty::End, WindowProperty::Time],
                append_only: true,
                zone: TimeZone::default(),
            };
            let make = || SessionAggregateOperator::new(parameters.clone()).unwrap();
            let mut output_types = vec![DataTypes::int(), DataTypes::bigint(), DataTypes::int(), DataTypes::int()];
            output_types.extend(vec![DataTypes::timestamp(3); 3]);
            let mut instances = Instances::new(1, 1, make);
            // Per key the open sessions: start, end, values.
            let mut sessions: BTreeMap<i32, Vec<(i64, i64, Vec<i32>)>> = BTreeMap::new();
            let (mut base, mut watermark) = (-10, i64::MIN);
            for (at, (rows, advance)) in epochs.iter().enumerate() {
                for (key, offset, value) in rows {
                    let time = base + offset;
                    let of_key = sessions.entry(*key).or_default();
                    let touches = |s: &(i64, i64, Vec<i32>)| s.0 <= time + gap_ms && time <= s.1;
                    let mut all = (time, time + gap_ms, vec![*value]);
                    for session in of_key.iter().filter(|s| touches(s)) {
                        all.0 = all.0.min(session.0);
                        all.1 = all.1.max(session.1);
                        all.2.extend(&session.2);
                    }
                    if all.1 - 1 > watermark {
                        of_key.retain(|s| !touches(s));
                        of_key.push(all);
                    }
                }
                let rows: Vec<_> = rows
                    .iter()
                    .map(|(key, offset, value)| {
                        (vec![Value::Int(*key), timestamp(base + offset), Value::Int(*value)], 1)
                    })
                    .collect();
                for part in rows.chunks(6) {
                    instances.process(0, &types(), &[0], part.to_vec());
                }
                base += advance;
                watermark = if at + 1 == epochs.len() { i64::MAX } else { base };
                let mut expected = Changes::new();
                for (key, of_key) in &mut sessions {
                    of_key.retain(|(start, end, values)| {
                        if end - 1 > watermark {
                            return true;
                        }
                        let row = vec![
                            Value::Int(*key),
                            Value::BigInt(values.len() as i64),
                            Value::Int(values.iter().sum()),
                            values.iter().max().map_or(Value::Null, |max| Value::Int(*max)),
                            timestamp(*start),
                            timestamp(*end),
                            timestamp(end - 1),
                        ];
                        expected.insert(row, 1);
                        false
                    });
                }
                let mut emitted = Changes::new();
                for part in instances.end_epoch_at(watermark) {
                    accumulate(&mut emitted, consolidated(part, &output_types));
                }
                prop_assert_eq!(emitted, expected, "epoch {}", at);
                if at == restore_after && at + 1 < epochs.len() {
                    instances = instances.restored(workers, make);
                }
            }
            for instance in instances.instances() {
                prop_assert_eq!(instance.operator().state_size().keys, 0);
                prop_assert!(instance.operator().keys.is_empty());
            }
        }
    }
}
