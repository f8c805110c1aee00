//! Keyed `reduce`: one value per key, and the new one emitted for every record, as on Flink's `KeyedStream`.
//!
//! The value stands beside its key, so a record costs one look-up and the clone that is emitted.

use std::any::type_name;

use crate::batch::{Batch, StreamBatch, StreamData};
use crate::error::Result;
use crate::exchange::key_hash;
use crate::operator::{
    EpochOperator, KeySelector, OperatorContext, Output, Restore, Snapshot, StateSize,
};
use crate::state::{KeyMap, Located, StateError, StateKey};

const REDUCED: &str = "reduced";

/// See the module's description.
pub struct ReduceOperator<K, T, F> {
    selector: KeySelector<T, K>,
    reduce: F,
    /// `None` only while the reduce function runs.
    reduced: KeyMap<K, Option<T>>,
    keys: Vec<K>,
    located: Vec<Located>,
    uid: String,
}

impl<K: StateKey, T: StreamData, F: Fn(T, T) -> T + 'static> ReduceOperator<K, T, F> {
    /// An operator that joins the values of a key by `reduce`.
    pub fn new(selector: KeySelector<T, K>, reduce: F) -> Self {
        ReduceOperator {
            selector,
            reduce,
            reduced: KeyMap::new(),
            keys: Vec::new(),
            located: Vec::new(),
            uid: String::new(),
        }
    }

    fn schema() -> String {
        format!("{} by {}", type_name::<T>(), type_name::<K>())
    }
}

impl<K: StateKey, T: StreamData, F: Fn(T, T) -> T + 'static> EpochOperator
    for ReduceOperator<K, T, F>
{
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.uid.clone_from(&context.uid);
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        StateError::check_schema(&self.uid, REDUCED, state.schema(REDUCED), Self::schema())?;
        state.read(REDUCED, |_, bytes| {
            let (key, value): (K, T) = bincode::deserialize(bytes)
                .map_err(|error| StateError::decode(&self.uid, REDUCED, Self::schema(), error))?;
            self.reduced
                .find_or_insert(key_hash(&key), key, || Some(value));
            Ok(())
        })
    }

    fn process(&mut self, _input: usize, batch: Batch, output: &mut Output) -> Result<()> {
        let batch = batch.into_data::<StreamBatch<T>>()?;
        self.selector.select(batch.values(), &mut self.keys);
        self.reduced.locate(&self.keys, &mut self.located);
        let mut out = StreamBatch::with_capacity(batch.len());
        let keys = self.keys.drain(..).zip(&self.located);
        for ((value, timestamp), (key, located)) in batch.into_iter().zip(keys) {
            let slot = self.reduced.find_or_insert_located(*located, key, || None);
            let reduced = self
                .reduced
                .value_mut(slot)
                .expect("the key was just found");
            let value = match reduced.take() {
                Some(old) => (self.reduce)(old, value),
                None => value,
            };
            out.push_at(reduced.insert(value).clone(), timestamp);
        }
        output.emit(0, out);
        Ok(())
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let reduced = self.reduced.iter();
        let reduced: Vec<(u64, K, T)> = reduced
            .filter_map(|(_, hash, key, value)| Some((hash, key.clone(), value.clone()?)))
            .collect();
        snapshot.keyed(REDUCED, Self::schema(), move |sink| {
            for (hash, key, value) in &reduced {
                let bytes = bincode::serialize(&(key, value))
                    .map_err(|error| StateError::encode(REDUCED, error))?;
                sink.record(*hash, &bytes)?;
            }
            Ok(())
        });
        Ok(())
    }

    fn state_size(&self) -> StateSize {
        StateSize {
            bytes: self.reduced.bytes() as u64,
            keys: self.reduced.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::operator::MemoryState;
    use crate::operator::keyed_harness::{KeyedHarness, stamped};
    use crate::testing::Harness;

    type Row = (u8, i64);

    fn sums() -> impl EpochOperator {
        ReduceOperator::new(KeySelector::new(|row: &Row| row.0), |a: Row, b: Row| {
            (a.0, a.1 + b.1)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn emits_the_running_value_over_restarts(
            epochs in proptest::collection::vec(
                (proptest::collection::vec((0u8..6, -9i64..9), 0..12), 0usize..8), 1..8)
        ) {
            let mut harness = KeyedHarness::new(sums, 1);
            let mut model: BTreeMap<u8, i64> = BTreeMap::new();
            for (rows, restart) in epochs {
                let rows: Vec<(Row, i64)> = rows.into_iter().enumerate().map(|(at, row)| (row, at as i64)).collect();
                harness.process(&rows, |row| row.0);
                let mut got = stamped::<Row>(harness.end_epoch_at(0), 0);
                got.sort_by_key(|(_, at)| *at);
                let expected: Vec<(Row, i64)> = rows
                    .iter()
                    .map(|((key, value), at)| {
                        let sum = model.entry(*key).or_insert(0);
                        *sum += value;
                        ((*key, *sum), *at)
                    })
                    .collect();
                prop_assert_eq!(got, expected);
                if (1..=3).contains(&restart) {
                    harness = harness.restart(restart);
                }
            }
        }
    }

    #[test]
    fn state_of_another_type_is_refused() {
        let mut state = MemoryState::default();
        Harness::new(sums(), 1)
            .unwrap()
            .snapshot(&mut state)
            .unwrap();
        let other =
            ReduceOperator::new(KeySelector::new(|row: &(u8, u8)| row.0), |a: (u8, u8), _| a);
        let error = Harness::new(other, 1).unwrap().restore(&state).unwrap_err();
        assert_eq!(error.code(), "state.schema");
    }
}
