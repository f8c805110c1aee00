//! Rules reach all instances, come before the records of their epoch, and survive a restart.

use super::*;
use crate::operator::MemoryState;
use crate::state::{BroadcastState, MapStateDescriptor, ValueState, ValueStateDescriptor};
use crate::testing::{Harness, values};

/// Scales values by the factor that was broadcast for the key's parity, and counts per key.
#[derive(Clone, Default)]
struct Scale {
    factors: BroadcastState<u8, i64>,
    count: ValueState<u64>,
}

impl KeyedBroadcastProcessFunction<u8, (u8, i64), (u8, i64), (u8, i64, u64)> for Scale {
    fn open(&mut self, context: &mut RuntimeContext<'_>) -> Result<()> {
        self.factors = context.broadcast_state(MapStateDescriptor::new("factors"))?;
        self.count = context.state(ValueStateDescriptor::new("count"))?;
        Ok(())
    }
    fn process_element(
        &mut self,
        (key, value): (u8, i64),
        _: &mut KeyedContext<'_, u8>,
        out: &mut Collector<(u8, i64, u64)>,
    ) -> Result<()> {
        let count = self.count.value().unwrap_or(0) + 1;
        self.count.update(count);
        out.collect((
            key,
            value * self.factors.get(&(key % 2)).unwrap_or(1),
            count,
        ));
        Ok(())
    }
    fn process_broadcast_element(
        &mut self,
        (parity, factor): (u8, i64),
        _: &mut ProcessContext<'_>,
        _: &mut Collector<(u8, i64, u64)>,
    ) -> Result<()> {
        self.factors.put(parity, factor);
        Ok(())
    }
}

fn instance(worker: usize, workers: usize) -> Harness<impl EpochOperator> {
    let selector = KeySelector::new(|row: &(u8, i64)| row.0);
    let operator =
        KeyedBroadcastProcessOperator::<u8, (u8, i64), (u8, i64), (u8, i64, u64), _>::new(
            selector,
            Scale::default(),
            SideOutputPorts::new(),
        );
    Harness::on_worker(operator, 2, worker, workers).unwrap()
}

#[test]
fn rules_come_first_and_survive_on_more_instances() {
    let mut one = instance(0, 1);
    one.process(0, StreamBatch::from_values(vec![(1u8, 10i64), (2, 10)]))
        .unwrap();
    one.process(1, StreamBatch::from_values(vec![(1u8, 3i64)]))
        .unwrap();
    let out = values::<(u8, i64, u64)>(one.end_epoch().unwrap(), 0);
    assert_eq!(
        out,
        [(1, 30, 1), (2, 10, 1)],
        "the rule of the epoch holds for its records"
    );
    let mut state = MemoryState::default();
    one.snapshot(&mut state).unwrap();
    let mut counts = Vec::new();
    for worker in 0..3 {
        let mut instance = instance(worker, 3);
        instance.restore(&state).unwrap();
        instance
            .process(0, StreamBatch::from_values(vec![(1u8, 10i64), (3, 10)]))
            .unwrap();
        let out = values::<(u8, i64, u64)>(instance.end_epoch().unwrap(), 0);
        assert!(
            out.iter().all(|(_, value, _)| *value == 30),
            "every instance has the rule"
        );
        counts.push(out[0].2);
    }
    counts.sort_unstable();
    assert_eq!(counts, [1, 1, 2], "the count of key 1 went to one instance");
}
