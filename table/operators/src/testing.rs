//! Helpers of this package's tests: change batches from rows, and outputs as maps of rows to weights.

use std::collections::BTreeMap;

use aquifer_runtime::exchange::Partitioner;
use aquifer_runtime::operator::MemoryState;
use aquifer_runtime::testing::Harness;
use aquifer_runtime::{Batch, EpochOperator};
use aquifer_types::{ChangeBatch, ChangeBatchBuilder, DataType, Value};

use crate::exchange::HashPartitioner;

/// Rows and their weights.
pub(crate) type Changes = BTreeMap<Vec<Value>, i64>;

/// A batch of rows with weights.
pub(crate) fn changes(
    types: &[DataType],
    rows: impl IntoIterator<Item = (Vec<Value>, i64)>,
) -> Batch {
    let mut builder = ChangeBatchBuilder::new(types, 0);
    for (values, weight) in rows {
        builder.push_values(&values, weight).unwrap();
    }
    builder.finish().into()
}

/// The values of one row of a batch.
pub(crate) fn values_of(batch: &ChangeBatch, row: usize, types: &[DataType]) -> Vec<Value> {
    batch.row(row, types).into_fields()
}

/// What an epoch emitted on output 0, summed up by row.
pub(crate) fn net(emitted: Vec<(usize, Batch)>, types: &[DataType]) -> Changes {
    let mut sums = Changes::new();
    for (port, batch) in emitted {
        assert_eq!(port, 0);
        let batch = batch.into_data::<ChangeBatch>().unwrap();
        assert!(!batch.is_empty(), "no empty batches");
        for row in 0..batch.len() {
            *sums.entry(values_of(&batch, row, types)).or_default() += batch.weight(row);
        }
    }
    sums.retain(|_, weight| *weight != 0);
    sums
}

/// As [`net`], and asserts that no row was emitted both added and removed.
pub(crate) fn consolidated(emitted: Vec<(usize, Batch)>, types: &[DataType]) -> Changes {
    let mut signs: BTreeMap<Vec<Value>, i64> = BTreeMap::new();
    for (_, batch) in &emitted {
        let batch = batch.data::<ChangeBatch>().unwrap();
        for row in 0..batch.len() {
            let (values, sign) = (values_of(batch, row, types), batch.weight(row).signum());
            assert_ne!(sign, 0, "a row of weight 0: {values:?}");
            assert_eq!(
                *signs.entry(values.clone()).or_insert(sign),
                sign,
                "a transient row: {values:?}"
            );
        }
    }
    net(emitted, types)
}

/// Adds the changes of an epoch to a table.
pub(crate) fn accumulate(table: &mut Changes, changes: Changes) {
    for (row, weight) in changes {
        *table.entry(row).or_default() += weight;
    }
    table.retain(|_, weight| *weight != 0);
}

/// The instances of one operator on several workers.
pub(crate) struct Instances<O> {
    instances: Vec<Harness<O>>,
    inputs: usize,
}

impl<O: EpochOperator> Instances<O> {
    pub(crate) fn new(workers: usize, inputs: usize, make: impl Fn() -> O) -> Self {
        let instances =
            (0..workers).map(|worker| Harness::on_worker(make(), inputs, worker, workers).unwrap());
        Instances {
            instances: instances.collect(),
            inputs,
        }
    }

    /// Hands each row to the instance of its key; without keys to the first.
    pub(crate) fn process(
        &mut self,
        input: usize,
        types: &[DataType],
        keys: &[usize],
        rows: Vec<(Vec<Value>, i64)>,
    ) {
        let batch = changes(types, rows);
        let mut exchange = HashPartitioner::new(keys.to_vec());
        let instances = &mut self.instances;
        let targets = if keys.is_empty() { 1 } else { instances.len() };
        let mut emit =
            |target: usize, batch: Batch| instances[target].process(input, batch).unwrap();
        exchange.partition(batch, targets, &mut emit);
        exchange.flush(&mut emit);
    }

    /// What each instance emitted in the epoch that ends.
    pub(crate) fn end_epoch(&mut self) -> Vec<Vec<(usize, Batch)>> {
        self.instances
            .iter_mut()
            .map(|instance| instance.end_epoch().unwrap())
            .collect()
    }

    /// As [`end_epoch`](Self::end_epoch), with the watermark risen to `watermark`.
    pub(crate) fn end_epoch_at(&mut self, watermark: i64) -> Vec<Vec<(usize, Batch)>> {
        self.instances
            .iter_mut()
            .map(|instance| instance.end_epoch_at(watermark).unwrap())
            .collect()
    }

    /// Other instances, with the state of these.
    pub(crate) fn restored(mut self, workers: usize, make: impl Fn() -> O) -> Self {
        let mut state = MemoryState::default();
        self.instances
            .iter_mut()
            .for_each(|instance| instance.snapshot(&mut state).unwrap());
        let mut restored = Instances::new(workers, self.inputs, make);
        restored
            .instances
            .iter_mut()
            .for_each(|instance| instance.restore(&state).unwrap());
        restored
    }

    pub(crate) fn instances(&mut self) -> &mut [Harness<O>] {
        &mut self.instances
    }
}
