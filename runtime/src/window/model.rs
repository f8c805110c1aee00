//! Test support: what windows must emit, computed the naive way, and the records to try it with.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::batch::StreamData;
use crate::error::Result;
use crate::operator::{AggregateFunction, Collector};
use crate::state::StateKey;

use super::{ProcessWindowFunction, TimeWindow, Window, WindowAssigner, WindowContext};

/// Key and value.
pub(crate) type Row = (u8, i64);
/// Key, window, sum, maximum, count.
pub(crate) type Out = (u8, TimeWindow, i64, i64, u64);

/// Sum, maximum and count.
#[derive(Clone)]
pub(crate) struct Statistics;

impl AggregateFunction<Row> for Statistics {
    type Accumulator = (i64, i64, u64);
    type Output = (i64, i64, u64);

    fn create_accumulator(&self) -> (i64, i64, u64) {
        (0, i64::MIN, 0)
    }
    fn add(&self, (_, value): Row, accumulator: &mut (i64, i64, u64)) {
        self.merge(accumulator, (value, value, 1));
    }
    fn result(&self, accumulator: &(i64, i64, u64)) -> (i64, i64, u64) {
        *accumulator
    }
    fn merge(&self, accumulator: &mut (i64, i64, u64), later: (i64, i64, u64)) {
        *accumulator = (
            accumulator.0 + later.0,
            accumulator.1.max(later.1),
            accumulator.2 + later.2,
        );
    }
}

/// Adds key and window to the statistics.
#[derive(Clone)]
pub(crate) struct WithWindow;

impl ProcessWindowFunction<(i64, i64, u64), Out, u8, TimeWindow> for WithWindow {
    fn process(
        &mut self,
        key: &u8,
        context: &mut WindowContext<'_, TimeWindow>,
        elements: &[(i64, i64, u64)],
        out: &mut Collector<Out>,
    ) -> Result<()> {
        for (sum, max, count) in elements {
            out.collect((*key, *context.window(), *sum, *max, *count));
        }
        Ok(())
    }
}

/// The same over all elements.
impl ProcessWindowFunction<Row, Out, u8, TimeWindow> for WithWindow {
    fn process(
        &mut self,
        key: &u8,
        context: &mut WindowContext<'_, TimeWindow>,
        elements: &[Row],
        out: &mut Collector<Out>,
    ) -> Result<()> {
        out.collect(result(*key, *context.window(), elements));
        Ok(())
    }
}

fn result(key: u8, window: TimeWindow, rows: &[Row]) -> Out {
    let values = || rows.iter().map(|(_, value)| *value);
    (
        key,
        window,
        values().sum(),
        values().max().unwrap_or(i64::MIN),
        rows.len() as u64,
    )
}

/// One epoch: rows with timestamps, the watermark's advance, and with how many instances to restart afterwards.
pub(crate) type Epoch = (Vec<(Row, i64)>, i64, Option<usize>);

pub(crate) fn epochs() -> impl Strategy<Value = Vec<Epoch>> {
    let row = ((0u8..4, -9i64..9), -5i64..60);
    let restart = prop_oneof![4 => Just(None), 1 => (1usize..4).prop_map(Some)];
    proptest::collection::vec(
        (proptest::collection::vec(row, 0..10), 0i64..14, restart),
        1..10,
    )
}

/// Windows of an assigner with the default event-time trigger.
pub(crate) struct Model<A> {
    assigner: A,
    lateness: i64,
    watermark: i64,
    /// Rows, and whether late ones came in this epoch.
    windows: BTreeMap<(u8, TimeWindow), (Vec<Row>, bool)>,
    pub(crate) late: Vec<(Row, i64)>,
}

impl<A: WindowAssigner<Row, Window = TimeWindow>> Model<A> {
    pub(crate) fn new(assigner: A, lateness: i64) -> Self {
        Model {
            assigner,
            lateness,
            watermark: i64::MIN,
            windows: BTreeMap::new(),
            late: Vec::new(),
        }
    }

    fn is_late(&self, max_timestamp: i64) -> bool {
        max_timestamp + self.lateness <= self.watermark
    }

    fn add(&mut self, row: Row, timestamp: i64) {
        let mut windows = Vec::new();
        self.assigner
            .assign_windows(&row, timestamp, 0, &mut windows);
        let mut taken = false;
        for mut window in windows {
            let mut rows = Vec::new();
            if self.assigner.is_merging() {
                while let Some(key) = self
                    .windows
                    .keys()
                    .find(|(key, other)| *key == row.0 && other.intersects(&window))
                    .copied()
                {
                    rows.extend(self.windows.remove(&key).unwrap().0);
                    window = window.cover(&key.1).unwrap();
                }
            }
            if self.is_late(window.max_timestamp()) {
                continue;
            }
            taken = true;
            let reached = window.max_timestamp() <= self.watermark;
            let entry = self.windows.entry((row.0, window)).or_default();
            entry.0.extend(rows);
            entry.0.push(row);
            entry.1 |= reached;
        }
        if !taken && self.is_late(timestamp) {
            self.late.push((row, timestamp));
        }
    }

    /// What the epoch emits, with timestamps, sorted.
    pub(crate) fn end_epoch(&mut self, rows: &[(Row, i64)], watermark: i64) -> Vec<(Out, i64)> {
        rows.iter()
            .for_each(|(row, timestamp)| self.add(*row, *timestamp));
        let before = self.watermark;
        self.watermark = self.watermark.max(watermark);
        let mut out = Vec::new();
        for ((key, window), (rows, reached)) in &mut self.windows {
            let last = window.max_timestamp();
            if *reached || (before < last && last <= self.watermark) {
                out.push((result(*key, *window, rows), last));
            }
            *reached = false;
        }
        let watermark = self.watermark;
        let lateness = self.lateness;
        self.windows
            .retain(|(_, window), _| window.max_timestamp() + lateness > watermark);
        out.sort_unstable();
        out
    }
}

/// Checks an operator on `epochs` against the model; late rows go to side output 1.
pub(crate) fn check<O, F, A>(
    make: F,
    assigner: A,
    lateness: i64,
    epochs: Vec<Epoch>,
) -> std::result::Result<(), TestCaseError>
where
    O: crate::operator::EpochOperator,
    F: Fn() -> O,
    A: WindowAssigner<Row, Window = TimeWindow>,
    Row: StreamData,
    u8: StateKey,
{
    use crate::operator::keyed_harness::{KeyedHarness, stamped};

    let mut harness = KeyedHarness::new(make, 2);
    let mut model = Model::new(assigner, lateness);
    let mut watermark = -5;
    let last = (Vec::new(), 1_000, None);
    for (rows, advance, restart) in epochs.into_iter().chain([last]) {
        watermark += advance;
        harness.process(&rows, |row| row.0);
        let (main, side): (Vec<_>, Vec<_>) = harness
            .end_epoch_at(watermark)
            .into_iter()
            .partition(|(port, _)| *port == 0);
        let mut got = stamped::<Out>(main, 0);
        got.sort_unstable();
        prop_assert_eq!(
            got,
            model.end_epoch(&rows, watermark),
            "watermark {}",
            watermark
        );
        let mut late = stamped::<Row>(side, 1);
        late.sort_unstable();
        model.late.sort_unstable();
        prop_assert_eq!(late, std::mem::take(&mut model.late));
        if let Some(instances) = restart {
            harness = harness.restart(instances);
        }
    }
    prop_assert_eq!(
        harness.instance(0).operator().state_size().keys,
        0,
        "all state is gone"
    );
    Ok(())
}
