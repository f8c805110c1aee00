//! An upsert stream to a full changelog.
//!
//! An upsert stream says only what a key's row is now, or that it is gone (a delete may carry the key alone). With
//! the last row of each key at hand, its retraction is added; an upsert that changes nothing disappears. Rows of one
//! key count in their order of arrival. State: one row per living key.
//!
//! Semantics: Flink's `ChangelogNormalize`.

use aquifer_runtime::error::Result;
use aquifer_runtime::operator::StateSize;
use aquifer_runtime::{Batch, EpochEnd, EpochOperator, OperatorContext, Output, Restore, Snapshot};
use aquifer_types::{ChangeBatch, DataType};

use crate::error::internal;
use crate::latest_row::LatestRows;

/// Adds the retractions that an upsert stream leaves out. See the module's description.
pub struct ChangelogNormalizeOperator {
    rows: LatestRows,
    context: Option<OperatorContext>,
}

impl ChangelogNormalizeOperator {
    /// For rows of these types with the unique key `keys`.
    ///
    /// # Errors
    /// When the types cannot be stored.
    pub fn new(types: Vec<DataType>, keys: Vec<usize>) -> Result<Self> {
        Ok(ChangelogNormalizeOperator {
            rows: LatestRows::new(types, keys)?,
            context: None,
        })
    }
}

impl EpochOperator for ChangelogNormalizeOperator {
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        self.context = Some(context.clone());
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        let context = self
            .context
            .as_ref()
            .ok_or_else(|| internal("restore comes after open"))?;
        self.rows.restore(state, context)
    }

    fn process(&mut self, _: usize, batch: Batch, _: &mut Output) -> Result<()> {
        let batch = batch.into_data::<ChangeBatch>()?;
        let groups = self.rows.groups(&batch)?;
        // Of each key only its last row in the batch counts.
        let mut order: Vec<u32> = (0..groups.len() as u32)
            .filter(|row| batch.weight(*row as usize) != 0)
            .collect();
        order.sort_unstable_by_key(|row| (groups[*row as usize], std::cmp::Reverse(*row)));
        order.dedup_by_key(|row| groups[*row as usize]);
        order.sort_unstable();
        let keys: Vec<u32> = order.iter().map(|row| groups[*row as usize]).collect();
        let exists: Vec<bool> = order
            .iter()
            .map(|row| batch.weight(*row as usize) > 0)
            .collect();
        self.rows.set(&batch, &order, &keys, &exists)
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        self.rows.end_epoch(output)?;
        Ok(EpochEnd::Done)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        self.rows.snapshot(snapshot)
    }

    fn state_size(&self) -> StateSize {
        self.rows.state_size()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use aquifer_types::{DataTypes, Value};
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{Changes, Instances, accumulate, consolidated};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn the_changelog_adds_up_to_the_last_rows(
            epochs in proptest::collection::vec(
                proptest::collection::vec((0i32..5, 0i32..3, any::<bool>()), 0..20),
                1..8,
            ),
            restore_after in 0usize..8,
            workers in 1usize..4,
        ) {
            let types = vec![DataTypes::int(), DataTypes::int()];
            let make = || ChangelogNormalizeOperator::new(types.clone(), vec![0]).unwrap();
            let mut instances = Instances::new(1, 1, make);
            let mut table: BTreeMap<i32, i32> = BTreeMap::new();
            let mut output = Changes::new();
            for (at, epoch) in epochs.iter().enumerate() {
                for part in epoch.chunks(6) {
                    let rows = part.iter().map(|(key, value, delete)| {
                        if *delete {
                            table.remove(key);
                            (vec![Value::Int(*key), Value::Null], -1)
                        } else {
                            table.insert(*key, *value);
                            (vec![Value::Int(*key), Value::Int(*value)], 1)
                        }
                    });
                    let rows = rows.collect();
                    instances.process(0, &types, &[0], rows);
                }
                for emitted in instances.end_epoch() {
                    accumulate(&mut output, consolidated(emitted, &types));
                }
                let expected: Changes =
                    table.iter().map(|(key, value)| (vec![Value::Int(*key), Value::Int(*value)], 1)).collect();
                prop_assert_eq!(&output, &expected, "after epoch {}", at);
                if at == restore_after {
                    instances = instances.restored(workers, make);
                }
            }
            prop_assert_eq!(
                instances.instances().iter_mut().map(|i| i.operator().state_size().keys).sum::<u64>(),
                table.len() as u64
            );
        }
    }
}
