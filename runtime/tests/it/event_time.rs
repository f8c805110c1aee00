//! Keyed state, timers and windows in whole jobs: several workers, exchanges through bytes, failures.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use aquifer_runtime::config::options;
use aquifer_runtime::operator::{
    Collector, KeyedCoProcessFunction, KeyedContext, KeyedProcessFunction, OnTimerContext,
    OutputTag, RuntimeContext,
};
use aquifer_runtime::state::{MapState, MapStateDescriptor, ValueState, ValueStateDescriptor};
use aquifer_runtime::time::WatermarkStrategy;
use aquifer_runtime::window::{
    EventTimeSessionWindows, SlidingEventTimeWindows, TimeWindow, TumblingEventTimeWindows,
};
use aquifer_runtime::{DataStream, RestartStrategy, Result, StreamExecutionEnvironment};

/// Key, value, event time.
type Event = (u8, i64, i64);

const DISORDER: i64 = 20;

/// Times rise with some disorder.
fn events() -> Vec<Event> {
    let mut random = 7u64;
    (0..3_000i64)
        .map(|n| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (
                ((random >> 33) % 10) as u8,
                n,
                n + ((random >> 40) % DISORDER as u64) as i64,
            )
        })
        .collect()
}

fn timed(stream: &DataStream<Event>, disorder: i64) -> DataStream<Event> {
    stream.assign_timestamps_and_watermarks(
        WatermarkStrategy::for_bounded_out_of_orderness(Duration::from_millis(disorder as u64))
            .with_timestamp_assigner(|event: &Event, _| event.2),
    )
}

fn epochs() -> Vec<Vec<Event>> {
    events().chunks(137).map(<[Event]>::to_vec).collect()
}

fn collect<T: aquifer_runtime::StreamData>(stream: &DataStream<T>) -> Vec<T> {
    stream
        .execute_and_collect()
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

fn millis(ms: i64) -> Duration {
    Duration::from_millis(ms as u64)
}

/// Sums per key and window, for windows that start at `starts(time)`.
fn sums(size: i64, slide: i64) -> BTreeSet<(u8, i64, i64)> {
    let mut sums: BTreeMap<(u8, i64), i64> = BTreeMap::new();
    for (key, value, time) in events() {
        let last = time.div_euclid(slide) * slide;
        let starts = (0..)
            .map(|at| last - at * slide)
            .take_while(|start| start + size > time);
        starts.for_each(|start| *sums.entry((key, start)).or_default() += value);
    }
    sums.into_iter()
        .map(|((key, start), sum)| (key, start, sum))
        .collect()
}

#[test]
fn windows_are_the_same_on_any_number_of_workers() {
    for workers in [1, 2, 4] {
        let env = StreamExecutionEnvironment::create_local(workers);
        env.serialize_exchanges();
        let keyed = timed(&env.from_epochs(epochs()), DISORDER).key_by(|event| event.0);
        let windows = SlidingEventTimeWindows::of(millis(120), millis(50));
        // By slices, and by the operator that keeps all elements.
        let sliced = keyed
            .window(windows)
            .sum(|event| &mut event.1)
            .map(|(key, sum, _)| (key, 0, sum));
        let listed =
            keyed
                .window(windows)
                .apply(|key: &u8, window: &TimeWindow, events: &[Event], out| {
                    out.collect((
                        *key,
                        window.start,
                        events.iter().map(|event| event.1).sum::<i64>(),
                    ));
                    Ok(())
                });
        let mut rows: Vec<(u8, i64, i64)> = collect(&listed);
        let distinct: BTreeSet<_> = rows.iter().copied().collect();
        assert_eq!(distinct.len(), rows.len(), "a window fires once");
        assert_eq!(distinct, sums(120, 50), "{workers} workers");
        let mut sliced = collect(&sliced);
        rows.iter_mut().for_each(|row| row.1 = 0);
        rows.sort_unstable();
        sliced.sort_unstable();
        assert_eq!(sliced, rows, "{workers} workers");
    }
}

#[test]
fn late_records_come_out_at_the_side() {
    let env = StreamExecutionEnvironment::create_local(2);
    let tag = OutputTag::new("late");
    let windows = timed(&env.from_epochs(epochs()), 0)
        .key_by(|event| event.0)
        .window(TumblingEventTimeWindows::of(millis(10)))
        .side_output_late_data(&tag)
        .aggregate_with(Count, Plain);
    let late = windows.side_output(&tag).unwrap().map(|_| 1u64);
    let counts = collect(&windows.union([&late]));
    assert_eq!(
        counts.iter().sum::<u64>(),
        3_000,
        "every record is counted or late"
    );
    assert!(
        windows.map(|n| n).side_output(&tag).is_err(),
        "a map has no side outputs"
    );
}

#[derive(Clone)]
struct Count;

impl aquifer_runtime::operator::AggregateFunction<Event> for Count {
    type Accumulator = u64;
    type Output = u64;
    fn create_accumulator(&self) -> u64 {
        0
    }
    fn add(&self, _: Event, count: &mut u64) {
        *count += 1;
    }
    fn result(&self, count: &u64) -> u64 {
        *count
    }
    fn merge(&self, count: &mut u64, later: u64) {
        *count += later;
    }
}

#[derive(Clone)]
struct Plain;

impl aquifer_runtime::window::ProcessWindowFunction<u64, u64, u8, TimeWindow> for Plain {
    fn process(
        &mut self,
        _: &u8,
        _: &mut aquifer_runtime::window::WindowContext<'_, TimeWindow>,
        counts: &[u64],
        out: &mut Collector<u64>,
    ) -> Result<()> {
        counts.iter().for_each(|count| out.collect(*count));
        Ok(())
    }
}

/// Sums the values of each hundred of event time, and emits the sum when the watermark has reached its end.
#[derive(Clone, Default)]
struct Hundreds {
    sums: MapState<i64, i64>,
}

impl KeyedProcessFunction<u8, Event, (u8, i64, i64)> for Hundreds {
    fn open(&mut self, context: &mut RuntimeContext<'_>) -> Result<()> {
        self.sums = context.map_state(MapStateDescriptor::new("sums"))?;
        Ok(())
    }
    fn process_element(
        &mut self,
        event: Event,
        context: &mut KeyedContext<'_, u8>,
        _: &mut Collector<(u8, i64, i64)>,
    ) -> Result<()> {
        let end = event.2.div_euclid(100) * 100 + 99;
        self.sums
            .put(end, self.sums.get(&end).unwrap_or(0) + event.1);
        context.timer_service().register_event_time_timer(end);
        Ok(())
    }
    fn on_timer(
        &mut self,
        time: i64,
        context: &mut OnTimerContext<'_, u8>,
        out: &mut Collector<(u8, i64, i64)>,
    ) -> Result<()> {
        out.collect((
            *context.current_key(),
            time,
            self.sums.get(&time).unwrap_or(0),
        ));
        self.sums.remove(&time);
        Ok(())
    }
}

/// The streams of one job with state of every kind; `broken` fails it now and then.
fn stateful(
    env: &StreamExecutionEnvironment,
    broken: impl Fn(Event) -> Event + Send + Sync + 'static,
) -> Vec<(u8, i64, i64)> {
    let events = timed(
        &env.from_epochs(epochs()).uid("events").map(broken),
        DISORDER,
    )
    .uid("times");
    let keyed = events.key_by(|event| event.0);
    let sums = keyed.process(Hundreds::default()).uid("hundreds");
    let sliding = keyed.window(SlidingEventTimeWindows::of(millis(90), millis(30)));
    let sliding = sliding
        .sum(|event| &mut event.1)
        .uid("sliding")
        .map(|(key, sum, _)| (key, -1, sum));
    let sessions = keyed.window(EventTimeSessionWindows::with_gap(millis(25)));
    let sessions = sessions
        .max(|event| &mut event.1)
        .uid("sessions")
        .map(|(key, max, _)| (key, -2, max));
    let running = keyed
        .min_by(|event| -event.1)
        .uid("running")
        .map(|(key, max, _)| (key, -3, max));
    let mut rows = collect(&sums.union([&sliding, &sessions, &running]));
    rows.sort_unstable();
    rows
}

#[test]
fn state_timers_and_windows_survive_failures_exactly_once() {
    let expected = stateful(&StreamExecutionEnvironment::create_local(1), |event| event);
    assert!(expected.len() > 3_000);
    for workers in [1, 3] {
        let folder = tempfile::tempdir().unwrap();
        let env = StreamExecutionEnvironment::create_local(workers);
        env.set_checkpoint_directory(folder.path())
            .enable_checkpointing(Duration::from_millis(1))
            .set(&options::PIPELINE_NAME, Some("stateful".to_string()))
            .set_restart_strategy(RestartStrategy::FixedDelay {
                attempts: 10,
                delay: Duration::ZERO,
            });
        let (seen, failures) = (Arc::new(AtomicI64::new(0)), AtomicI64::new(0));
        let rows = stateful(&env, move |event| {
            if seen.fetch_add(1, Ordering::SeqCst) % 700 == 699
                && failures.fetch_add(1, Ordering::SeqCst) < 6
            {
                panic!("broken on purpose");
            }
            event
        });
        assert_same(&rows, &expected, workers);
    }
}

fn assert_same(rows: &[(u8, i64, i64)], expected: &[(u8, i64, i64)], workers: usize) {
    let only = |these: &[(u8, i64, i64)], others: &[(u8, i64, i64)]| {
        let mut rest: Vec<_> = others.to_vec();
        let mut only = these.to_vec();
        only.retain(|row| match rest.iter().position(|other| other == row) {
            Some(at) => {
                rest.swap_remove(at);
                false
            }
            None => true,
        });
        only.truncate(20);
        only
    };
    let (more, missing) = (only(rows, expected), only(expected, rows));
    assert!(
        more.is_empty() && missing.is_empty(),
        "{workers} workers: got {more:?}, missing {missing:?}"
    );
}

/// Joins each order with the latest price of its key.
#[derive(Clone, Default)]
struct Latest {
    price: ValueState<i64>,
}

impl KeyedCoProcessFunction<u8, (u8, i64), (u8, i64), (u8, i64, i64)> for Latest {
    fn open(&mut self, context: &mut RuntimeContext<'_>) -> Result<()> {
        self.price = context.state(ValueStateDescriptor::new("price"))?;
        Ok(())
    }
    fn process_element1(
        &mut self,
        price: (u8, i64),
        _: &mut KeyedContext<'_, u8>,
        _: &mut Collector<(u8, i64, i64)>,
    ) -> Result<()> {
        self.price.update(price.1);
        Ok(())
    }
    fn process_element2(
        &mut self,
        order: (u8, i64),
        _: &mut KeyedContext<'_, u8>,
        out: &mut Collector<(u8, i64, i64)>,
    ) -> Result<()> {
        out.collect((order.0, order.1, self.price.value().unwrap_or(-1)));
        Ok(())
    }
}

#[test]
fn connected_streams_share_state_and_the_first_comes_first_in_an_epoch() {
    for workers in [1, 3] {
        let env = StreamExecutionEnvironment::create_local(workers);
        let prices = env.from_epochs([vec![(1u8, 10i64), (2, 20)], vec![(1, 11)], vec![]]);
        let orders = env.from_epochs([
            vec![(1u8, 1i64), (3, 1)],
            vec![(1, 2), (2, 2)],
            vec![(1, 3)],
        ]);
        let joined = prices
            .connect(&orders)
            .key_by(|price| price.0, |order| order.0)
            .process(Latest::default());
        let mut rows = collect(&joined);
        rows.sort_unstable();
        assert_eq!(
            rows,
            [(1, 1, 10), (1, 2, 11), (1, 3, 11), (2, 2, 20), (3, 1, -1)]
        );
        let mut texts = collect(
            &prices
                .connect(&orders.map(|order| order.1.to_string()))
                .map(
                    |price| format!("price {}", price.1),
                    |order| format!("order {order}"),
                ),
        );
        texts.sort();
        assert_eq!(texts.len(), 8);
        assert_eq!(texts[0], "order 1");
    }
}
