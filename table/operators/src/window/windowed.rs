//! Runs an operator on each window by itself: window join, window Top-N, window deduplication.
//!
//! The rows carry their window's end, from a window table function or window aggregation. They are kept until the
//! watermark has reached the window's last millisecond; then an operator made for this window alone gets them all and
//! its results are emitted. So results are final, the output is append-only, also of outer and anti joins, and
//! state holds open windows alone. Rows whose window has fired are late and dropped.
//!
//! The operator's keys and conditions must contain the window's start and end where windows of different starts may
//! end together (HOP, CUMULATE).
//!
//! Semantics: Flink's window join, window rank and window deduplication.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use aquifer_runtime::error::{Result, RuntimeError};
use aquifer_runtime::operator::{OperatorContext, StateSize};
use aquifer_runtime::time::MIN_WATERMARK;
use aquifer_runtime::{Batch, EpochEnd, EpochOperator, Output, Restore, Snapshot};
use aquifer_types::temporal::TimeZone;
use aquifer_types::{ChangeBatch, DataType};
use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{Array, UInt32Array};

use crate::error::internal;
use crate::state::frames::{restore_rows, snapshot_rows};

const WATERMARK: &str = "watermark";

/// Makes the operator of one window.
pub type WindowOperatorFactory = Arc<dyn Fn() -> Result<Box<dyn EpochOperator>> + Send + Sync>;

/// One input of a [`WindowedOperator`].
#[derive(Clone, Debug)]
pub struct WindowedInput {
    /// The types of its columns.
    pub types: Vec<DataType>,
    /// The column `window_end`, a TIMESTAMP of at most microseconds in local time.
    pub window_end: usize,
    /// The columns it is partitioned by; none when all rows go to the first worker.
    pub keys: Vec<usize>,
}

/// Runs an operator on each window. See the module's description.
pub struct WindowedOperator {
    inputs: Vec<WindowedInput>,
    make: WindowOperatorFactory,
    /// The zone in which window ends are local times; UTC for windows over TIMESTAMP.
    zone: TimeZone,
    /// The rows of each open window, by its end in microseconds: per input.
    open: BTreeMap<i64, Vec<Vec<ChangeBatch>>>,
    /// Bytes in `open`.
    bytes: usize,
    fired_through: i64,
    context: Option<OperatorContext>,
}

impl WindowedOperator {
    /// Runs the operators that `make` makes. `zone` is the session's when the windows were assigned by TIMESTAMP_LTZ,
    /// else UTC.
    pub fn new(inputs: Vec<WindowedInput>, zone: TimeZone, make: WindowOperatorFactory) -> Self {
        WindowedOperator {
            inputs,
            make,
            zone,
            open: BTreeMap::new(),
            bytes: 0,
            fired_through: MIN_WATERMARK,
            context: None,
        }
    }

    /// Puts rows into their windows and answers how many came too late.
    fn add(&mut self, input: usize, batch: &ChangeBatch) -> Result<u64> {
        let ends = batch
            .column(self.inputs[input].window_end)
            .as_primitive_opt::<TimestampMicrosecondType>();
        let ends = ends.ok_or_else(|| internal("a window's end is a timestamp of microseconds"))?;
        let mut rows: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
        for row in (0..batch.len()).filter(|row| ends.is_valid(*row)) {
            rows.entry(ends.value(row)).or_default().push(row as u32);
        }
        let mut late = 0;
        for (end, rows) in rows {
            if last_millisecond(self.zone, end) <= self.fired_through {
                late += rows.len() as u64;
                continue;
            }
            let part = if rows.len() == batch.len() {
                batch.clone()
            } else {
                batch.take(&UInt32Array::from(rows)).map_err(internal)?
            };
            self.bytes += part.size_bytes();
            let inputs = self.inputs.len();
            self.open
                .entry(end)
                .or_insert_with(|| vec![Vec::new(); inputs])[input]
                .push(part);
        }
        Ok(late)
    }

    fn state_name(input: usize) -> String {
        format!("rows-{input}")
    }
}

/// The last millisecond, as an instant, of the window that ends at a local time in microseconds.
fn last_millisecond(zone: TimeZone, end: i64) -> i64 {
    zone.to_instant_micros(end).div_euclid(1000) - 1
}

impl EpochOperator for WindowedOperator {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.context = Some(context.clone());
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        let context = self
            .context
            .clone()
            .ok_or_else(|| internal("restore comes after open"))?;
        for (at, input) in self.inputs.clone().into_iter().enumerate() {
            restore_rows(
                state,
                &Self::state_name(at),
                &input.types,
                &input.keys,
                &context,
                |batch| self.add(at, &batch).map(|_| ()),
            )?;
        }
        for record in state.list(WATERMARK)? {
            let bytes: [u8; 8] = record.as_slice().try_into().map_err(|_| {
                RuntimeError::user(format!(
                    "state '{WATERMARK}' of operator '{}' is corrupt",
                    context.name
                ))
            })?;
            self.fired_through = self.fired_through.max(i64::from_le_bytes(bytes));
        }
        Ok(())
    }

    fn process(&mut self, input: usize, batch: Batch, _: &mut Output) -> Result<()> {
        let late = self.add(input, &batch.into_data::<ChangeBatch>()?)?;
        if let Some(context) = self.context.as_ref().filter(|_| late > 0) {
            context
                .metrics
                .late_records
                .fetch_add(late, Ordering::Relaxed);
        }
        Ok(())
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        let context = self
            .context
            .clone()
            .ok_or_else(|| internal("an epoch comes after open"))?;
        let level = output.watermark();
        while let Some(entry) = self.open.first_entry() {
            let end = *entry.key();
            if last_millisecond(self.zone, end) > level {
                break;
            }
            let rows = entry.remove();
            let mut operator = (self.make)()?;
            operator.open(&context)?;
            for (input, batches) in rows.into_iter().enumerate() {
                for batch in batches {
                    self.bytes = self.bytes.saturating_sub(batch.size_bytes());
                    operator.process(input, batch.into(), output)?;
                }
            }
            while operator.end_epoch(output)? == EpochEnd::Pending {}
        }
        self.fired_through = self.fired_through.max(level);
        Ok(EpochEnd::Done)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        for (at, input) in self.inputs.iter().enumerate() {
            let batches: Vec<ChangeBatch> = self
                .open
                .values()
                .flat_map(|inputs| inputs[at].iter().cloned())
                .collect();
            let batch = match batches.is_empty() {
                true => ChangeBatch::empty(&input.types),
                false => ChangeBatch::concat(&batches).map_err(internal)?,
            };
            snapshot_rows(snapshot, &Self::state_name(at), &input.types, batch);
        }
        snapshot.list(
            WATERMARK,
            "BIGINT NOT NULL",
            vec![self.fired_through.to_le_bytes().to_vec()],
        );
        Ok(())
    }

    fn state_size(&self) -> StateSize {
        StateSize {
            bytes: self.bytes as u64,
            keys: self.open.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use aquifer_types::{DataTypes, Timestamp, Value};
    use proptest::prelude::*;

    use super::*;
    use crate::join::{JoinInput, JoinOperator, JoinType};
    use crate::testing::{Changes, Instances, accumulate, consolidated};

    type TestRow = (Option<i32>, i64);

    fn types() -> Vec<DataType> {
        vec![DataTypes::int(), DataTypes::timestamp(3)]
    }

    fn values(row: TestRow) -> Vec<Value> {
        vec![
            row.0.map_or(Value::Null, Value::Int),
            Value::Timestamp(Timestamp::from_millis(row.1)),
        ]
    }

    fn make() -> WindowedOperator {
        let input = WindowedInput {
            types: types(),
            window_end: 1,
            keys: vec![0],
        };
        let join = || {
            let input = JoinInput {
                types: types(),
                keys: vec![0, 1],
                append_only: true,
            };
            let nulls = vec![false, false];
            let join = JoinOperator::new(
                input.clone(),
                input,
                JoinType::Full,
                nulls,
                None,
                TimeZone::default(),
            )?;
            Ok(Box::new(join) as Box<dyn EpochOperator>)
        };
        WindowedOperator::new(
            vec![input.clone(), input],
            TimeZone::default(),
            Arc::new(join),
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn an_outer_join_of_windows_is_final(
            epochs in proptest::collection::vec(
                (
                    proptest::collection::vec(
                        (0usize..2, (proptest::option::weighted(0.8, 0i32..3), -2i64..4)),
                        0..15,
                    ),
                    0i64..3,
                ),
                1..8,
            ),
            restore_after in 0usize..8,
            workers in 1usize..4,
        ) {
            let output_types = [types(), types()].concat();
            let mut instances = Instances::new(1, 2, make);
            let mut tables: [BTreeMap<TestRow, i64>; 2] = Default::default();
            let mut watermark = i64::MIN;
            let mut base = 0;
            for (at, (rows, advance)) in epochs.iter().enumerate() {
                for (input, (key, offset)) in rows {
                    let row = (*key, base + offset);
                    if row.1 - 1 > watermark {
                        *tables[*input].entry(row).or_default() += 1;
                    }
                    instances.process(*input, &types(), &[0], vec![(values(row), 1)]);
                }
                base += advance;
                watermark = if at + 1 == epochs.len() { i64::MAX } else { base };
                let mut expected = Changes::new();
                for (side, table) in tables.iter().enumerate() {
                    for (row, count) in table.iter().filter(|(row, _)| row.1 - 1 <= watermark) {
                        let matches = row.0.and(tables[1 - side].get(row));
                        let null = vec![Value::Null, Value::Null];
                        match matches {
                            Some(other) if side == 0 => {
                                expected.insert([values(*row), values(*row)].concat(), count * other);
                            }
                            None if side == 0 => {
                                expected.insert([values(*row), null].concat(), *count);
                            }
                            None => {
                                expected.insert([null, values(*row)].concat(), *count);
                            }
                            Some(_) => (),
                        }
                    }
                }
                tables.iter_mut().for_each(|table| table.retain(|row, _| row.1 - 1 > watermark));
                let mut emitted = Changes::new();
                for part in instances.end_epoch_at(watermark) {
                    let part = consolidated(part, &output_types);
                    prop_assert!(part.values().all(|weight| *weight > 0), "append-only");
                    accumulate(&mut emitted, part);
                }
                prop_assert_eq!(emitted, expected, "epoch {}", at);
                if at == restore_after {
                    instances = instances.restored(workers, make);
                }
            }
        }
    }
}
