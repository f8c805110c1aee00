//! Count and sum per key and window of event time: tumbling windows of a minute, and windows of an hour that slide by
//! a minute, over rows that are up to five seconds out of order.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use aquifer_runtime::exchange::{FixedState, key_hash};
use aquifer_runtime::operator::{AggregateFunction, Collector};
use aquifer_runtime::time::WatermarkStrategy;
use aquifer_runtime::window::{
    ProcessWindowFunction, SlidingEventTimeWindows, TimeWindow, TumblingEventTimeWindows,
    WindowAssigner, WindowContext,
};
use aquifer_runtime::{DataStream, Result};
use arrow_array::{ArrayRef, Int64Array};
use serde::{Deserialize, Serialize};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::Operator;

use crate::harness::{Digest, Scale, Variant, compare};
use crate::programs::{MemorySource, digest_rows, environment, run_engine, run_timely};
use crate::tables::{Columns, TableRows, run_sql};

const MINUTE: i64 = 60_000;
const DISORDER: i64 = 5_000;
const KEYS: u64 = 1_000;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Click {
    key: u64,
    time: i64,
    amount: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Total {
    key: u64,
    start: i64,
    count: i64,
    sum: i64,
}

/// Clicks in the order of their time but for `DISORDER`, `step` milliseconds apart.
fn clicks(rows: usize, step: i64) -> Arc<Vec<Click>> {
    let click = |row: u64| {
        let random = row.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let random = (random ^ (random >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        Click {
            key: ((random >> 32) * KEYS) >> 32,
            time: row as i64 * step + DISORDER - (random % DISORDER as u64) as i64,
            amount: (random & 0xFFF) as i64,
        }
    };
    Arc::new((0..rows as u64).map(click).collect())
}

fn digest(digest: &mut Digest, row: &Total) {
    digest.add([row.key, row.start as u64, row.count as u64, row.sum as u64]);
}

#[derive(Clone)]
struct CountAndSum;

impl AggregateFunction<Click> for CountAndSum {
    type Accumulator = (i64, i64);
    type Output = (i64, i64);

    fn create_accumulator(&self) -> (i64, i64) {
        (0, 0)
    }

    fn add(&self, click: Click, accumulator: &mut (i64, i64)) {
        accumulator.0 += 1;
        accumulator.1 += click.amount;
    }

    fn result(&self, accumulator: &(i64, i64)) -> (i64, i64) {
        *accumulator
    }

    fn merge(&self, accumulator: &mut (i64, i64), later: (i64, i64)) {
        accumulator.0 += later.0;
        accumulator.1 += later.1;
    }
}

/// Adds the key and the window's start to a result.
#[derive(Clone)]
struct WithWindow;

impl ProcessWindowFunction<(i64, i64), Total, u64, TimeWindow> for WithWindow {
    fn process(
        &mut self,
        key: &u64,
        context: &mut WindowContext<'_, TimeWindow>,
        results: &[(i64, i64)],
        out: &mut Collector<Total>,
    ) -> Result<()> {
        for &(count, sum) in results {
            out.collect(Total {
                key: *key,
                start: context.window().start,
                count,
                sum,
            });
        }
        Ok(())
    }
}

fn data_stream<A>(rows: &Arc<Vec<Click>>, windows: A) -> Digest
where
    A: WindowAssigner<Click, Window = TimeWindow>,
{
    let env = environment(1);
    let strategy =
        WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_millis(DISORDER as u64))
            .with_timestamp_assigner(|click: &Click, _| click.time);
    let source = MemorySource {
        rows: Arc::clone(rows),
        passes: 1,
    };
    let clicks: DataStream<Click> = env.from_source(source, strategy, "clicks");
    let totals = clicks
        .key_by(|click: &Click| click.key)
        .window(windows)
        .aggregate_with(CountAndSum, WithWindow);
    run_engine(&totals, digest)
}

type Totals = HashMap<u64, (i64, i64), FixedState>;

/// A running total over the slices of the open window, from which slices are taken away as they leave it.
struct Slices {
    size: i64,
    slices: BTreeMap<i64, Totals>,
    running: Totals,
    /// The end of the last window that was emitted.
    emitted: i64,
    highest: i64,
}

impl Slices {
    fn new(size: i64) -> Self {
        Slices {
            size,
            slices: BTreeMap::new(),
            running: Totals::default(),
            emitted: i64::MIN,
            highest: i64::MIN,
        }
    }

    fn add(&mut self, click: &Click) {
        self.highest = self.highest.max(click.time);
        let slice = self
            .slices
            .entry(click.time.div_euclid(MINUTE) * MINUTE)
            .or_default();
        let total = slice.entry(click.key).or_default();
        total.0 += 1;
        total.1 += click.amount;
    }

    /// Emits the windows up to `watermark`.
    fn fire(&mut self, watermark: i64, mut emit: impl FnMut(Total)) {
        loop {
            // The first slice that no window has taken in yet, or the next end of a window that slices are in.
            let end = if self.running.is_empty() {
                match self.slices.range(self.emitted..).next() {
                    Some((start, _)) => start + MINUTE,
                    None => return,
                }
            } else {
                self.emitted + MINUTE
            };
            if end - 1 > watermark {
                return;
            }
            let start = end - self.size;
            if let Some(slice) = self.slices.get(&(end - MINUTE)) {
                for (key, (count, sum)) in slice {
                    let total = self.running.entry(*key).or_default();
                    total.0 += count;
                    total.1 += sum;
                }
            }
            for (key, (count, sum)) in &self.running {
                emit(Total {
                    key: *key,
                    start,
                    count: *count,
                    sum: *sum,
                });
            }
            if let Some(slice) = self.slices.remove(&start) {
                for (key, (count, sum)) in slice {
                    let total = self.running.entry(key).or_default();
                    total.0 -= count;
                    total.1 -= sum;
                    if total.0 == 0 {
                        self.running.remove(&key);
                    }
                }
            }
            self.emitted = end;
        }
    }
}

fn by_hand(rows: &Arc<Vec<Click>>, size: i64) -> Digest {
    run_timely(
        1,
        vec![Arc::clone(rows)],
        move |_, mut streams, tally, probe| {
            let totals = streams
                .remove(0)
                .unary_frontier::<CapacityContainerBuilder<Vec<Total>>, _, _, _>(
                    Exchange::new(|click: &Click| key_hash(&click.key)),
                    "windows",
                    |first, _| {
                        let mut slices = Slices::new(size);
                        let mut capability = Some(first);
                        move |(input, frontier), output| {
                            input.for_each(|_, rows| {
                                rows.drain(..).for_each(|click| slices.add(&click));
                            });
                            let Some(held) = capability.as_mut() else {
                                return;
                            };
                            let next = frontier.frontier().first().copied();
                            if next.is_some_and(|next| next <= *held.time()) {
                                return;
                            }
                            let watermark = match next {
                                Some(_) => slices.highest - DISORDER - 1,
                                None => i64::MAX,
                            };
                            {
                                let mut session = output.session(&*held);
                                slices.fire(watermark, |total| session.give(total));
                            }
                            match next {
                                Some(next) => held.downgrade(&next),
                                None => capability = None,
                            }
                        }
                    },
                );
            digest_rows(totals, tally, probe, digest);
        },
    )
}

impl Columns for Click {
    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        let column = |value: fn(&Click) -> i64| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values(rows.iter().map(value)))
        };
        vec![
            column(|row| row.key as i64),
            column(|row| row.time),
            column(|row| row.amount),
        ]
    }
}

/// `windows` is a window table function's name with its sizes.
fn sql(rows: &Arc<Vec<Click>>, windows: &str, sizes: &str) -> Digest {
    let columns = "`key` BIGINT NOT NULL, `time` BIGINT NOT NULL, amount BIGINT NOT NULL, \
                   at AS TO_TIMESTAMP_LTZ(`time`, 3), WATERMARK FOR at AS at - INTERVAL '5' SECOND";
    let query = format!(
        "SELECT `key`, \
                CAST(TIMESTAMPDIFF(SECOND, TIMESTAMP '1970-01-01 00:00:00', window_start) AS BIGINT) * 1000, \
                COUNT(*), SUM(amount) \
         FROM TABLE({windows}(TABLE clicks, DESCRIPTOR(at), {sizes})) \
         GROUP BY `key`, window_start, window_end"
    );
    run_sql(
        &environment(1),
        vec![TableRows::new("clicks", columns, rows)],
        &query,
        "`key` BIGINT, `start` BIGINT, `count` BIGINT, `sum` BIGINT",
    )
}

pub(crate) fn run(scale: Scale) {
    let rows = clicks(scale.rows(8_000_000), 1);
    compare(
        "tumbling windows",
        rows.len(),
        scale,
        &[
            Variant::new("timely", || by_hand(&rows, MINUTE)),
            Variant::new("DataStream", || {
                data_stream(&rows, TumblingEventTimeWindows::of(Duration::from_secs(60)))
            }),
            Variant::new("SQL", || sql(&rows, "TUMBLE", "INTERVAL '1' MINUTE")),
        ],
    );
    let rows = clicks(scale.rows(8_000_000), 4);
    compare(
        "sliding windows 1:60",
        rows.len(),
        scale,
        &[
            Variant::new("timely", || by_hand(&rows, 60 * MINUTE)),
            Variant::new("DataStream", || {
                data_stream(
                    &rows,
                    SlidingEventTimeWindows::of(Duration::from_secs(3600), Duration::from_secs(60)),
                )
            }),
            Variant::new("SQL", || {
                sql(&rows, "HOP", "INTERVAL '1' MINUTE, INTERVAL '1' HOUR")
            }),
        ],
    );
}
