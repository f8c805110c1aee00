//! How rows find their worker.
//!
//! Rows of one key go to the worker that [`worker_of`] names for the key's hash. The hash has a fixed seed, so all
//! processes of one program agree. State is stored with the hash, never with a worker index, so that a restore routes
//! anew; [`routing_fingerprint`] guards against a program whose hash differs.

use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use crate::batch::{BATCH_ROWS, Batch, Content, StreamBatch, StreamData};

/// The hasher of everything that routes or is restored: fixed seed, the same in all processes.
pub type FixedState = foldhash::fast::FixedState;

/// The routing hash of a key.
#[inline]
pub fn key_hash<K: Hash + ?Sized>(key: &K) -> u64 {
    FixedState::with_seed(ROUTING_SEED).hash_one(key)
}

/// Differs from the seed of hash tables, so that the keys of one worker do not crowd its tables.
const ROUTING_SEED: u64 = 0x61_71_75_69_66_65_72;

/// The worker among `workers` that owns keys with this hash. Uses the high bits.
#[inline]
pub fn worker_of(hash: u64, workers: usize) -> usize {
    ((u128::from(hash) * workers as u128) >> 64) as usize
}

/// Changes when the routing hash of keys does. A checkpoint remembers it, because the hashes it stores are only
/// good for the function that made them.
pub fn routing_fingerprint() -> u64 {
    key_hash(&("routing", 1_u64, -1_i64, [0_u8, 255], true))
}

/// Splits batches by target worker. One instance per edge and worker.
///
/// Each row goes to exactly one target, so the number of rows stays what it was once `flush` has been called.
pub trait Partitioner: 'static {
    /// Splits `batch` over the workers `0..targets`. Parts may be kept back until `flush`.
    fn partition(&mut self, batch: Batch, targets: usize, emit: &mut dyn FnMut(usize, Batch));
    /// Emits what was kept back.
    fn flush(&mut self, emit: &mut dyn FnMut(usize, Batch));
}

/// Makes the [`Partitioner`] of an edge on each worker.
pub type PartitionerFactory = Arc<dyn Fn() -> Box<dyn Partitioner> + Send + Sync>;

/// How the rows of an edge are shared out among the workers.
#[derive(Clone)]
pub enum Exchange {
    /// They stay on their worker.
    Forward,
    /// Each row goes to the worker its partitioner chooses.
    Partition(PartitionerFactory),
    /// All rows go to worker 0.
    Global,
    /// Whole batches go to the workers in turn.
    Rebalance,
    /// Every worker gets all rows.
    Broadcast,
}

impl Exchange {
    /// The word for plans.
    pub fn name(&self) -> &'static str {
        match self {
            Exchange::Forward => "forward",
            Exchange::Partition(_) => "hash",
            Exchange::Global => "global",
            Exchange::Rebalance => "rebalance",
            Exchange::Broadcast => "broadcast",
        }
    }

    /// Sends each value to the worker of its key.
    pub fn by_key<T, K, F>(key: F) -> Self
    where
        T: StreamData,
        K: Hash,
        F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    {
        Exchange::by_target(move |value: &T, targets| worker_of(key_hash(&key(value)), targets))
    }

    /// Sends each value to the worker that `target(value, workers)` names; a result beyond the last worker wraps.
    pub fn by_target<T, F>(target: F) -> Self
    where
        T: StreamData,
        F: Fn(&T, usize) -> usize + Clone + Send + Sync + 'static,
    {
        Exchange::Partition(Arc::new(move || {
            Box::new(RowPartitioner {
                target: target.clone(),
                parts: Vec::<StreamBatch<T>>::new(),
            })
        }))
    }
}

/// Splits [`StreamBatch`]es row by row.
struct RowPartitioner<T, F> {
    target: F,
    parts: Vec<StreamBatch<T>>,
}

impl<T, F> Partitioner for RowPartitioner<T, F>
where
    T: StreamData,
    F: Fn(&T, usize) -> usize + 'static,
{
    fn partition(&mut self, batch: Batch, targets: usize, emit: &mut dyn FnMut(usize, Batch)) {
        split_rows(batch, targets, &mut self.parts, &self.target, emit);
    }

    fn flush(&mut self, emit: &mut dyn FnMut(usize, Batch)) {
        flush_parts(&mut self.parts, emit);
    }
}

/// Spreads rows by a fixed-seed sequence that depends on their position alone.
pub(crate) struct ShufflePartitioner<T> {
    position: u64,
    parts: Vec<StreamBatch<T>>,
}

impl<T> ShufflePartitioner<T> {
    pub(crate) fn new() -> Self {
        ShufflePartitioner {
            position: 0,
            parts: Vec::new(),
        }
    }
}

impl<T: StreamData> Partitioner for ShufflePartitioner<T> {
    fn partition(&mut self, batch: Batch, targets: usize, emit: &mut dyn FnMut(usize, Batch)) {
        let position = &mut self.position;
        let target = |_: &T, targets: usize| {
            *position += 1;
            worker_of(key_hash(position), targets)
        };
        split_rows(batch, targets, &mut self.parts, target, emit);
    }

    fn flush(&mut self, emit: &mut dyn FnMut(usize, Batch)) {
        flush_parts(&mut self.parts, emit);
    }
}

/// Moves each row into the part of its target, and emits full parts.
fn split_rows<T: StreamData>(
    batch: Batch,
    targets: usize,
    parts: &mut Vec<StreamBatch<T>>,
    mut target: impl FnMut(&T, usize) -> usize,
    emit: &mut dyn FnMut(usize, Batch),
) {
    if parts.len() != targets {
        parts.resize_with(targets, StreamBatch::new);
    }
    let rows = batch.rows();
    let batch = match batch.into_data::<StreamBatch<T>>() {
        Ok(batch) => batch,
        Err(error) => {
            emit(
                0,
                Batch::from_content(Content::Failed {
                    rows,
                    message: error.to_string(),
                }),
            );
            return;
        }
    };
    for (value, timestamp) in batch {
        let target = target(&value, targets) % targets;
        let part = &mut parts[target];
        if part.is_empty() {
            *part = StreamBatch::with_capacity(BATCH_ROWS);
        }
        part.push_at(value, timestamp);
        if part.len() == BATCH_ROWS {
            emit(target, Batch::new(part.take()));
        }
    }
}

fn flush_parts<T: StreamData>(parts: &mut [StreamBatch<T>], emit: &mut dyn FnMut(usize, Batch)) {
    for (target, part) in parts.iter_mut().enumerate() {
        if !part.is_empty() {
            emit(target, Batch::new(part.take()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_goes_to_the_worker_of_its_key_and_none_is_lost() {
        for workers in [1usize, 2, 3, 4, 7] {
            let Exchange::Partition(factory) = Exchange::by_key(|value: &u64| value % 100) else {
                unreachable!()
            };
            let mut partitioner = factory();
            let mut got: Vec<(u64, i64)> = Vec::new();
            let mut emit = |target: usize, batch: Batch| {
                for (value, timestamp) in batch.into_data::<StreamBatch<u64>>().unwrap() {
                    assert_eq!(target, worker_of(key_hash(&(value % 100)), workers));
                    got.push((value, timestamp));
                }
            };
            for start in [0u64, 5_000] {
                let mut batch = StreamBatch::new();
                (start..start + 5_000).for_each(|value| batch.push_at(value, value as i64 * 2));
                partitioner.partition(Batch::new(batch), workers, &mut emit);
            }
            partitioner.flush(&mut emit);
            got.sort_unstable();
            assert_eq!(
                got,
                (0..10_000u64)
                    .map(|value| (value, value as i64 * 2))
                    .collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn hashes_spread_over_the_workers() {
        let mut counts = [0usize; 4];
        (0..10_000u64).for_each(|key| counts[worker_of(key_hash(&key), 4)] += 1);
        assert!(
            counts.iter().all(|count| (2_000..3_000).contains(count)),
            "{counts:?}"
        );
    }
}
