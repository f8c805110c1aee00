//! INTERSECT and EXCEPT, with and without ALL, of two changing tables.
//!
//! For each distinct row the operator keeps how often it is in each input; how often it is in the result follows from
//! that. At the end of an epoch only the difference is emitted. State: each row that is in one of the inputs.
//!
//! Semantics: SQL:2016 7.13. NULL equals NULL here.

use std::sync::Arc;

use aquifer_runtime::error::Result;
use aquifer_runtime::operator::StateSize;
use aquifer_runtime::{Batch, EpochEnd, EpochOperator, OperatorContext, Output, Restore, Snapshot};
use aquifer_types::{ChangeBatch, DataType, DataTypes};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array};
use arrow_schema::DataType as ArrowType;

use crate::emit::emit;
use crate::error::internal;
use crate::state::GroupIndex;
use crate::state::frames::{restore_rows, snapshot_rows};

const STATE: &str = "rows";

/// Which rows of two inputs are in the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum SetOperation {
    /// Once those in both.
    Intersect,
    /// Those in both, as often as in the input that has them less often.
    IntersectAll,
    /// Once those in the first but not in the second.
    Except,
    /// Those in the first, less as often as they are in the second.
    ExceptAll,
}

impl SetOperation {
    fn count(self, [left, right]: [i64; 2]) -> i64 {
        match self {
            SetOperation::Intersect => i64::from(left > 0 && right > 0),
            SetOperation::IntersectAll => left.min(right).max(0),
            SetOperation::Except => i64::from(left > 0 && right <= 0),
            SetOperation::ExceptAll => (left - right.max(0)).max(0),
        }
    }
}

/// Combines two inputs of the same types, both partitioned by all columns. See the module's description.
pub struct SetOperator {
    operation: SetOperation,
    types: Vec<DataType>,
    index: GroupIndex,
    counts: Vec<[i64; 2]>,
    is_touched: Vec<bool>,
    /// Rows of the current epoch and how often they were in the result before.
    touched: Vec<(u32, i64)>,
    groups: Vec<u32>,
    context: Option<OperatorContext>,
}

impl SetOperator {
    /// For rows of these types.
    ///
    /// # Errors
    /// When the types cannot be stored.
    pub fn new(operation: SetOperation, types: Vec<DataType>) -> Result<Self> {
        let arrow: Vec<ArrowType> = types.iter().map(DataType::to_arrow).collect();
        Ok(SetOperator {
            operation,
            index: GroupIndex::new(&arrow).map_err(internal)?,
            types,
            counts: Vec::new(),
            is_touched: Vec::new(),
            touched: Vec::new(),
            groups: Vec::new(),
            context: None,
        })
    }

    fn assign(&mut self, columns: &[ArrayRef], rows: usize) -> Result<()> {
        self.index
            .assign(columns, rows, &mut self.groups)
            .map_err(internal)?;
        self.counts
            .resize(self.index.bound().max(self.counts.len()), [0; 2]);
        self.is_touched.resize(self.counts.len(), false);
        Ok(())
    }

    fn state_types(&self) -> Vec<DataType> {
        let count = DataTypes::bigint().not_null();
        self.types
            .iter()
            .cloned()
            .chain([count.clone(), count])
            .collect()
    }
}

impl EpochOperator for SetOperator {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.context = Some(context.clone());
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        let context = self
            .context
            .clone()
            .ok_or_else(|| internal("restore comes after open"))?;
        let arity = self.types.len();
        let keys: Vec<usize> = (0..arity).collect();
        restore_rows(
            state,
            STATE,
            &self.state_types(),
            &keys,
            &context,
            |batch| {
                self.assign(&batch.columns()[..arity], batch.len())?;
                let count = |side: usize| batch.column(arity + side).as_primitive::<Int64Type>();
                let (left, right) = (count(0), count(1));
                for (row, group) in self.groups.iter().enumerate() {
                    self.counts[*group as usize] = [left.value(row), right.value(row)];
                }
                Ok(())
            },
        )
    }

    fn process(&mut self, input: usize, batch: Batch, _: &mut Output) -> Result<()> {
        let batch = batch.into_data::<ChangeBatch>()?;
        self.assign(batch.columns(), batch.len())?;
        for (row, group) in self.groups.iter().enumerate() {
            let counts = &mut self.counts[*group as usize];
            if !std::mem::replace(&mut self.is_touched[*group as usize], true) {
                self.touched.push((*group, self.operation.count(*counts)));
            }
            counts[input] += batch.weight(row);
        }
        Ok(())
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        let touched = std::mem::take(&mut self.touched);
        let mut changes: Vec<(u32, i64)> = Vec::new();
        let mut gone = Vec::new();
        for (group, before) in touched {
            let counts = self.counts[group as usize];
            self.is_touched[group as usize] = false;
            changes.push((group, self.operation.count(counts) - before));
            if counts == [0; 2] {
                gone.push(group);
            }
        }
        changes.retain(|(_, weight)| *weight != 0);
        changes.sort_by_key(|(_, weight)| *weight > 0);
        if !changes.is_empty() {
            let groups: Vec<u32> = changes.iter().map(|change| change.0).collect();
            let columns = self.index.keys(&groups).map_err(internal)?;
            let ones = changes.iter().all(|change| change.1 == 1);
            let weights = (!ones)
                .then(|| Int64Array::from_iter_values(changes.iter().map(|change| change.1)));
            emit(
                output,
                ChangeBatch::new(columns, weights, groups.len()).map_err(internal)?,
            );
        }
        self.index.remove(&gone);
        Ok(EpochEnd::Done)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let groups = self.index.groups();
        let mut columns = self.index.keys(&groups).map_err(internal)?;
        for side in 0..2 {
            let counts = groups
                .iter()
                .map(|group| self.counts[*group as usize][side]);
            columns.push(Arc::new(Int64Array::from_iter_values(counts)));
        }
        let batch = ChangeBatch::new(columns, None, groups.len()).map_err(internal)?;
        snapshot_rows(snapshot, STATE, &self.state_types(), batch);
        Ok(())
    }

    fn state_size(&self) -> StateSize {
        let bytes = self.index.size_bytes() + self.counts.capacity() * size_of::<[i64; 2]>();
        StateSize {
            bytes: bytes as u64,
            keys: self.index.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use aquifer_types::Value;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Changes, Instances, accumulate, consolidated};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn equals_counting(
            operation in proptest::sample::select(vec![
                SetOperation::Intersect,
                SetOperation::IntersectAll,
                SetOperation::Except,
                SetOperation::ExceptAll,
            ]),
            epochs in proptest::collection::vec(
                proptest::collection::vec(
                    (0usize..2, proptest::option::weighted(0.8, 0i32..4), proptest::bool::weighted(0.4)),
                    0..25,
                ),
                1..8,
            ),
            restore_after in 0usize..8,
            workers in 1usize..4,
        ) {
            let types = vec![DataTypes::int(), DataTypes::string()];
            let values = |key: Option<i32>| vec![key.map_or(Value::Null, Value::Int), Value::from("x")];
            let make = || SetOperator::new(operation, types.clone()).unwrap();
            let mut instances = Instances::new(1, 2, make);
            let mut tables: [BTreeMap<Option<i32>, i64>; 2] = Default::default();
            let mut output = Changes::new();
            for (at, epoch) in epochs.iter().enumerate() {
                for (input, key, delete) in epoch {
                    let count = tables[*input].entry(*key).or_default();
                    let weight = if *delete && *count > 0 { -1 } else { 1 };
                    *count += weight;
                    instances.process(*input, &types, &[0, 1], vec![(values(*key), weight)]);
                }
                for emitted in instances.end_epoch() {
                    accumulate(&mut output, consolidated(emitted, &types));
                }
                let mut expected = Changes::new();
                for key in tables[0].keys() {
                    let [a, b] = [0, 1].map(|side| tables[side].get(key).copied().unwrap_or(0));
                    let count = match operation {
                        SetOperation::Intersect => i64::from(a > 0 && b > 0),
                        SetOperation::IntersectAll => a.min(b),
                        SetOperation::Except => i64::from(a > 0 && b == 0),
                        SetOperation::ExceptAll => (a - b).max(0),
                    };
                    if count > 0 {
                        expected.insert(values(*key), count);
                    }
                }
                prop_assert_eq!(&output, &expected, "after epoch {}", at);
                if at == restore_after {
                    instances = instances.restored(workers, make);
                }
            }
        }
    }
}
