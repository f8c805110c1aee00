//! Sends the rows of change batches to the worker of their key.
//!
//! Rows are split by `take` per target, weights included. Parts smaller than a batch are kept back and joined until
//! they fill one or the driver flushes, because every batch costs an operator a few microseconds.

use std::sync::Arc;

use aquifer_runtime::exchange::{Exchange, Partitioner, worker_of};
use aquifer_runtime::{BATCH_ROWS, Batch};
use aquifer_types::ChangeBatch;
use arrow_array::UInt32Array;

use crate::state::hash_columns;

/// Splits change batches by the hash of their key columns.
pub struct HashPartitioner {
    keys: Vec<usize>,
    parts: Vec<Part>,
}

#[derive(Default)]
struct Part {
    batches: Vec<ChangeBatch>,
    rows: usize,
    /// Row numbers of the batch at hand that belong here.
    indices: Vec<u32>,
}

/// An exchange that sends equal values of the columns `keys` to one worker.
pub fn hash_exchange(keys: Vec<usize>) -> Exchange {
    Exchange::Partition(Arc::new(move || {
        Box::new(HashPartitioner::new(keys.clone()))
    }))
}

impl HashPartitioner {
    /// Splits by these columns.
    pub fn new(keys: Vec<usize>) -> Self {
        HashPartitioner {
            keys,
            parts: Vec::new(),
        }
    }

    fn split(&mut self, batch: &ChangeBatch, targets: usize) -> Result<(), String> {
        if targets == 1 {
            self.parts[0].push(batch.clone());
            return Ok(());
        }
        let keys: Vec<_> = self
            .keys
            .iter()
            .map(|key| batch.column(*key).clone())
            .collect();
        let hashes = hash_columns(&keys, batch.len()).map_err(|error| error.to_string())?;
        for (row, hash) in hashes.into_iter().enumerate() {
            self.parts[worker_of(hash, targets)]
                .indices
                .push(row as u32);
        }
        for part in &mut self.parts {
            let indices = std::mem::take(&mut part.indices);
            if indices.len() == batch.len() {
                part.push(batch.clone());
            } else if !indices.is_empty() {
                part.push(
                    batch
                        .take(&UInt32Array::from(indices))
                        .map_err(|error| error.to_string())?,
                );
            }
        }
        Ok(())
    }
}

impl Part {
    fn push(&mut self, batch: ChangeBatch) {
        self.rows += batch.len();
        self.batches.push(batch);
    }

    fn take(&mut self) -> Batch {
        let rows = std::mem::take(&mut self.rows);
        match ChangeBatch::concat(&std::mem::take(&mut self.batches)) {
            Ok(batch) => batch.into(),
            Err(error) => Batch::failed(rows, error.to_string()),
        }
    }
}

impl Partitioner for HashPartitioner {
    fn partition(&mut self, batch: Batch, targets: usize, emit: &mut dyn FnMut(usize, Batch)) {
        self.parts.resize_with(targets, Part::default);
        let rows = batch.rows();
        let split = batch
            .into_data::<ChangeBatch>()
            .map_err(|error| error.to_string());
        if let Err(message) = split.and_then(|batch| self.split(&batch, targets)) {
            emit(0, Batch::failed(rows, message));
        }
        for (target, part) in self.parts.iter_mut().enumerate() {
            if part.rows >= BATCH_ROWS {
                emit(target, part.take());
            }
        }
    }

    fn flush(&mut self, emit: &mut dyn FnMut(usize, Batch)) {
        for (target, part) in self.parts.iter_mut().enumerate() {
            if part.rows > 0 {
                emit(target, part.take());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use aquifer_types::{DataType, DataTypes, Row, RowKind, row_values};

    use super::*;

    #[test]
    fn every_row_goes_with_its_weight_to_the_worker_of_its_key() {
        let types: Vec<DataType> = vec![DataTypes::string(), DataTypes::int()];
        for targets in [1usize, 2, 3, 7] {
            let mut partitioner = HashPartitioner::new(vec![0]);
            let mut sent = Vec::new();
            let mut got: Vec<(usize, Row)> = Vec::new();
            let mut batches = 0;
            let mut emit = |target: usize, batch: Batch| {
                batches += 1;
                let rows = batch.into_data::<ChangeBatch>().unwrap().to_rows(&types);
                got.extend(rows.into_iter().map(|row| (target, row)));
            };
            for start in (0..3000).step_by(30) {
                let kind = if start % 60 == 0 {
                    RowKind::Delete
                } else {
                    RowKind::Insert
                };
                let rows: Vec<Row> = (start..start + 30)
                    .map(|i| Row::of_kind(kind, row_values![format!("k{}", i % 17), i]))
                    .collect();
                let batch = ChangeBatch::from_rows(&rows, &types).unwrap();
                sent.extend(rows);
                partitioner.partition(batch.into(), targets, &mut emit);
            }
            partitioner.flush(&mut emit);
            assert!(batches <= 3 * targets, "small parts are joined");
            let mut worker_of_key = std::collections::BTreeMap::new();
            for (target, row) in &got {
                assert_eq!(
                    worker_of_key
                        .entry(row.field(0).unwrap().clone())
                        .or_insert(*target),
                    target
                );
            }
            let mut rows: Vec<Row> = got.into_iter().map(|(_, row)| row).collect();
            rows.sort();
            sent.sort();
            assert_eq!(rows, sent);
        }
    }
}
