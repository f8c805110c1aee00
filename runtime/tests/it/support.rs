//! A small keyed operator and helpers for tests of the machinery around operators.

use std::collections::BTreeMap;
use std::sync::Arc;

use aquifer_runtime::exchange::key_hash;
use aquifer_runtime::{
    Batch, DataStream, EpochEnd, EpochOperator, Exchange, Output, Restore, Result, Snapshot,
    StreamBatch, StreamCodec, Transformation,
};

/// Sums values per key; emits the changed sums at the end of each epoch, with the epoch's number.
#[derive(Default)]
struct SumPerKey {
    sums: BTreeMap<i64, i64>,
    changed: std::collections::BTreeSet<i64>,
}

impl EpochOperator for SumPerKey {
    fn process(&mut self, _input: usize, batch: Batch, _output: &mut Output) -> Result<()> {
        for (key, value) in batch.into_data::<StreamBatch<(i64, i64)>>()?.into_parts().0 {
            *self.sums.entry(key).or_default() += value;
            self.changed.insert(key);
        }
        Ok(())
    }

    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        let epoch = output.epoch();
        let changed = std::mem::take(&mut self.changed);
        let rows = changed
            .into_iter()
            .map(|key| (epoch, key, self.sums[&key]))
            .collect();
        output.emit(0, StreamBatch::from_values(rows));
        Ok(EpochEnd::Done)
    }

    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let sums = self.sums.clone();
        snapshot.keyed("sums", "i64 -> i64", move |sink| {
            sums.iter().try_for_each(|(key, sum)| {
                let bytes = [key.to_le_bytes(), sum.to_le_bytes()].concat();
                sink.record(key_hash(key), &bytes)
            })
        });
        Ok(())
    }

    fn restore(&mut self, state: &Restore) -> Result<()> {
        state.read("sums", |_, bytes| {
            let word =
                |at: usize| i64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
            self.sums.insert(word(0), word(8));
            Ok(())
        })
    }
}

/// The sums of values per key: `(epoch, key, sum)` for each sum an epoch changed.
pub(crate) fn sum_per_key(
    stream: &DataStream<(i64, i64)>,
    uid: &str,
) -> DataStream<(u64, i64, i64)> {
    let operator = Transformation::operator(
        "SumPerKey",
        stream.edges_by(0, &Exchange::by_key(|(key, _): &(i64, i64)| *key)),
        vec![Arc::new(StreamCodec::<(u64, i64, i64)>::new())],
        Arc::new(|| Box::<SumPerKey>::default()),
    );
    let env = stream.environment();
    DataStream::from_output(env, env.add(operator.with_uid(uid)), 0)
}
