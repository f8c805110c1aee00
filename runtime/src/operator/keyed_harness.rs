//! Test support: several instances of a keyed operator, fed as the exchange would feed them.

use std::hash::Hash;

use crate::batch::{Batch, StreamBatch, StreamData};
use crate::exchange::{key_hash, worker_of};
use crate::operator::{EpochOperator, MemoryState};
use crate::testing::Harness;

/// Rows of `T` go to the instance that owns `key(row)`.
pub(crate) struct KeyedHarness<O, F> {
    make: F,
    instances: Vec<Harness<O>>,
}

impl<O: EpochOperator, F: Fn() -> O> KeyedHarness<O, F> {
    pub(crate) fn new(make: F, instances: usize) -> Self {
        let instances = (0..instances)
            .map(|at| Harness::on_worker(make(), 1, at, instances).unwrap())
            .collect();
        KeyedHarness { make, instances }
    }

    pub(crate) fn instance(&mut self, at: usize) -> &mut Harness<O> {
        &mut self.instances[at]
    }

    pub(crate) fn process<T: StreamData, K: Hash>(
        &mut self,
        rows: &[(T, i64)],
        key: impl Fn(&T) -> K,
    ) {
        let workers = self.instances.len();
        for (at, instance) in self.instances.iter_mut().enumerate() {
            let mut batch = StreamBatch::new();
            for (value, timestamp) in rows {
                if worker_of(key_hash(&key(value)), workers) == at {
                    batch.push_at(value.clone(), *timestamp);
                }
            }
            instance.process(0, batch).unwrap();
        }
    }

    /// What all instances emitted in the epoch.
    pub(crate) fn end_epoch_at(&mut self, watermark: i64) -> Vec<(usize, Batch)> {
        self.instances
            .iter_mut()
            .flat_map(|instance| instance.end_epoch_at(watermark).unwrap())
            .collect()
    }

    /// Takes a snapshot and goes on from it with other instances.
    pub(crate) fn restart(self, instances: usize) -> Self {
        let mut state = MemoryState::default();
        for mut instance in self.instances {
            instance.snapshot(&mut state).unwrap();
        }
        let mut restarted = KeyedHarness::new(self.make, instances);
        restarted
            .instances
            .iter_mut()
            .for_each(|instance| instance.restore(&state).unwrap());
        restarted
    }
}

/// Values with timestamps that output `port` got.
pub(crate) fn stamped<T: StreamData>(emitted: Vec<(usize, Batch)>, port: usize) -> Vec<(T, i64)> {
    emitted
        .into_iter()
        .filter(|(at, _)| *at == port)
        .flat_map(|(_, batch)| batch.into_data::<StreamBatch<T>>().unwrap())
        .collect()
}
