//! States, timers, side outputs and restores against a model.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::batch::StreamBatch;
use crate::operator::MemoryState;
use crate::operator::keyed_harness::{KeyedHarness, stamped};
use crate::state::{
    AggregatingState, AggregatingStateDescriptor, ListState, ListStateDescriptor, MapState,
    MapStateDescriptor, ReducingState, ReducingStateDescriptor, StateTtlConfig, ValueState,
    ValueStateDescriptor,
};
use crate::testing::{Harness, values};
use crate::time::MAX_WATERMARK;

type Row = (String, i64);

/// Counts and collects per key; a timer at the end of each ten of event time reports and clears.
#[derive(Clone, Default)]
struct Report {
    count: ValueState<u64>,
    list: ListState<i64>,
    map: MapState<i64, i64>,
    sum: ReducingState<i64>,
    mean: AggregatingState<i64, (i64, i64), i64>,
}

#[derive(Clone)]
struct Mean;

impl crate::operator::AggregateFunction<i64> for Mean {
    type Accumulator = (i64, i64);
    type Output = i64;
    fn create_accumulator(&self) -> (i64, i64) {
        (0, 0)
    }
    fn add(&self, value: i64, (sum, count): &mut (i64, i64)) {
        *sum += value;
        *count += 1;
    }
    fn result(&self, (sum, count): &(i64, i64)) -> i64 {
        sum / count
    }
    fn merge(&self, accumulator: &mut (i64, i64), later: (i64, i64)) {
        accumulator.0 += later.0;
        accumulator.1 += later.1;
    }
}

type Out = (String, u64, Vec<i64>, Vec<(i64, i64)>, i64, i64);

fn every() -> OutputTag<i64> {
    OutputTag::new("every")
}

impl KeyedProcessFunction<String, Row, Out> for Report {
    fn open(&mut self, context: &mut RuntimeContext<'_>) -> Result<()> {
        self.count = context.state(ValueStateDescriptor::new("count"))?;
        self.list = context.list_state(ListStateDescriptor::new("list"))?;
        self.map = context.map_state(MapStateDescriptor::new("map"))?;
        self.sum = context.reducing_state(ReducingStateDescriptor::new("sum", |a, b| a + b))?;
        self.mean = context.aggregating_state(AggregatingStateDescriptor::new("mean", Mean))?;
        Ok(())
    }

    fn process_element(
        &mut self,
        (key, value): Row,
        context: &mut KeyedContext<'_, String>,
        _out: &mut Collector<Out>,
    ) -> Result<()> {
        assert_eq!(&key, context.current_key());
        self.count.update(self.count.value().unwrap_or(0) + 1);
        self.list.add(value);
        self.map.put(value % 3, value);
        self.sum.add(value);
        self.mean.add(value);
        context.output(&every(), value);
        let timestamp = context.timestamp().unwrap_or(0);
        context
            .timer_service()
            .register_event_time_timer(timestamp.div_euclid(10) * 10 + 9);
        Ok(())
    }

    fn on_timer(
        &mut self,
        timestamp: i64,
        context: &mut OnTimerContext<'_, String>,
        out: &mut Collector<Out>,
    ) -> Result<()> {
        assert_eq!(context.timestamp(), Some(timestamp));
        let Some(count) = self.count.value() else {
            return Ok(());
        };
        out.collect((
            context.current_key().clone(),
            count,
            self.list.values(),
            self.map.entries(),
            self.sum.value().unwrap(),
            self.mean.value().unwrap(),
        ));
        self.count.clear();
        self.list.clear();
        self.map.clear();
        self.sum.clear();
        self.mean.clear();
        Ok(())
    }
}

fn report() -> KeyedProcessOperator<String, Row, Out, Report> {
    let ports = SideOutputPorts::new();
    ports.port(&every());
    KeyedProcessOperator::new(
        KeySelector::new(|row: &Row| row.0.clone()),
        Report::default(),
        ports,
    )
}

/// The same by hand: one map, timers by time.
#[derive(Default)]
struct Model {
    rows: BTreeMap<String, Vec<i64>>,
    timers: BTreeMap<(i64, String), ()>,
}

impl Model {
    fn end_epoch(&mut self, rows: &[(Row, i64)], watermark: i64) -> Vec<(Out, i64)> {
        for ((key, value), timestamp) in rows {
            self.rows.entry(key.clone()).or_default().push(*value);
            self.timers
                .insert((timestamp.div_euclid(10) * 10 + 9, key.clone()), ());
        }
        let mut out = Vec::new();
        while let Some(first) = self
            .timers
            .first_entry()
            .filter(|entry| entry.key().0 <= watermark)
        {
            let ((time, key), ()) = first.remove_entry();
            let Some(values) = self.rows.remove(&key) else {
                continue;
            };
            let sum: i64 = values.iter().sum();
            let mut map: Vec<(i64, i64)> = Vec::new();
            for value in &values {
                match map.iter_mut().find(|(at, _)| *at == value % 3) {
                    Some((_, last)) => *last = *value,
                    None => map.push((value % 3, *value)),
                }
            }
            let count = values.len() as u64;
            out.push(((key, count, values, map, sum, sum / count as i64), time));
        }
        out
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn agrees_with_the_model_over_restarts(
        epochs in proptest::collection::vec(
            (proptest::collection::vec((0u8..12, 0i64..100, 0i64..60), 0..12), 0i64..80, 0usize..8), 1..12)
    ) {
        let mut harness = KeyedHarness::new(report, 2);
        let mut model = Model::default();
        let mut watermark = 0;
        for (rows, advance, restart) in epochs {
            watermark = advance.max(watermark);
            let rows: Vec<(Row, i64)> =
                rows.into_iter().map(|(key, value, time)| ((format!("k{key}"), value), time)).collect();
            harness.process(&rows, |row| row.0.clone());
            let emitted = harness.end_epoch_at(watermark);
            let (main, side): (Vec<_>, Vec<_>) = emitted.into_iter().partition(|(port, _)| *port == 0);
            let mut got = stamped::<Out>(main, 0);
            let mut expected = model.end_epoch(&rows, watermark);
            got.sort();
            expected.sort();
            prop_assert_eq!(got, expected);
            let mut side = stamped::<i64>(side, 1);
            let mut every: Vec<_> = rows.iter().map(|((_, value), time)| (*value, *time)).collect();
            side.sort_unstable();
            every.sort_unstable();
            prop_assert_eq!(side, every);
            if (1..=3).contains(&restart) {
                harness = harness.restart(restart);
            }
        }
        harness.end_epoch_at(MAX_WATERMARK);
        prop_assert_eq!(harness.instance(0).operator().state_size().keys, 0, "every key was given back");
    }
}

/// Registers what `open` is told to.
#[derive(Clone)]
struct Opens(fn(&mut RuntimeContext<'_>) -> Result<()>);

impl KeyedProcessFunction<u8, u8, u8> for Opens {
    fn open(&mut self, context: &mut RuntimeContext<'_>) -> Result<()> {
        (self.0)(context)
    }
    fn process_element(
        &mut self,
        _: u8,
        _: &mut KeyedContext<'_, u8>,
        _: &mut Collector<u8>,
    ) -> Result<()> {
        Ok(())
    }
}

fn keyed<F: KeyedProcessFunction<u8, u8, u8>>(function: F) -> KeyedProcessOperator<u8, u8, u8, F> {
    KeyedProcessOperator::new(
        KeySelector::new(|value| *value),
        function,
        SideOutputPorts::new(),
    )
}

#[test]
fn states_that_do_not_fit_are_refused_by_name() {
    let mut state = MemoryState::default();
    let written: fn(&mut RuntimeContext<'_>) -> Result<()> = |context| {
        context
            .state(ValueStateDescriptor::<u64>::new("count"))
            .map(|_| ())
    };
    Harness::new(keyed(Opens(written)), 1)
        .unwrap()
        .snapshot(&mut state)
        .unwrap();

    let code_of = |open: fn(&mut RuntimeContext<'_>) -> Result<()>| {
        let error = Harness::new(keyed(Opens(open)), 1)
            .and_then(|mut harness| harness.restore(&state))
            .err();
        error.map(|error| (error.code(), error.to_string()))
    };
    assert_eq!(code_of(written), None);
    let (code, text) = code_of(|context| {
        context
            .state(ValueStateDescriptor::<i32>::new("count"))
            .map(|_| ())
    })
    .unwrap();
    assert_eq!(code, "state.schema");
    assert!(
        text.contains("ValueState<u64>") && text.contains("ValueState<i32>"),
        "{text}"
    );
    let (code, _) = code_of(|context| {
        context.state(ValueStateDescriptor::<u64>::new("count"))?;
        context
            .list_state(ListStateDescriptor::<u64>::new("count"))
            .map(|_| ())
    })
    .unwrap();
    assert_eq!(code, "state.duplicate");
    let added = code_of(|context| {
        context.state(ValueStateDescriptor::<u64>::new("count"))?;
        context
            .list_state(ListStateDescriptor::<u64>::new("new"))
            .map(|_| ())
    });
    assert_eq!(added, None, "a state may be added");
}

/// Emits the size of what it remembers, then remembers the value.
#[derive(Clone, Default)]
struct Forgets {
    last: ValueState<u8>,
    list: ListState<u8>,
    map: MapState<u8, u8>,
}

impl KeyedProcessFunction<u8, u8, u8> for Forgets {
    fn open(&mut self, context: &mut RuntimeContext<'_>) -> Result<()> {
        let ttl = StateTtlConfig::new(Duration::from_millis(10));
        self.last = context.state(ValueStateDescriptor::new("last").with_ttl(ttl))?;
        self.list = context.list_state(ListStateDescriptor::new("list").with_ttl(ttl))?;
        self.map = context.map_state(MapStateDescriptor::new("map").with_ttl(ttl))?;
        Ok(())
    }
    fn process_element(
        &mut self,
        value: u8,
        _: &mut KeyedContext<'_, u8>,
        out: &mut Collector<u8>,
    ) -> Result<()> {
        let list = self.list.values().len() as u8;
        let map = self.map.len() as u8;
        out.collect(u8::from(self.last.value().is_some()) * 100 + list * 10 + map);
        self.last.update(value);
        self.list.add(value);
        self.map.put(list + map, value);
        Ok(())
    }
}

#[test]
fn expired_state_is_not_read_and_goes_away() {
    let mut harness = Harness::new(keyed(Forgets::default()), 1).unwrap();
    let mut step = |now: i64, values_in: &[u8]| {
        harness.set_processing_time(now);
        harness
            .process(0, StreamBatch::from_values(values_in.to_vec()))
            .unwrap();
        let out = values::<u8>(harness.end_epoch().unwrap(), 0);
        (out, harness.operator().state_size().keys)
    };
    assert_eq!(step(0, &[7]), (vec![0], 1));
    assert_eq!(step(6, &[7]), (vec![111], 1));
    assert_eq!(
        step(10, &[7]),
        (vec![111], 1),
        "the elements of time 0 are gone, those of time 6 live"
    );
    assert_eq!(
        step(30, &[8]),
        (vec![0], 1),
        "key 7 was cleaned up in the background"
    );
    assert_eq!(step(40, &[]), (vec![], 0));
}

/// Fires on processing time, again and again.
#[derive(Clone)]
struct Ticks;

impl KeyedProcessFunction<u8, u8, i64> for Ticks {
    fn process_element(
        &mut self,
        value: u8,
        context: &mut KeyedContext<'_, u8>,
        _: &mut Collector<i64>,
    ) -> Result<()> {
        let now = context.timer_service().current_processing_time();
        context
            .timer_service()
            .register_processing_time_timer(now + i64::from(value));
        context
            .timer_service()
            .register_processing_time_timer(now + 1000);
        context
            .timer_service()
            .delete_processing_time_timer(now + 1000);
        Ok(())
    }
    fn on_timer(
        &mut self,
        timestamp: i64,
        context: &mut OnTimerContext<'_, u8>,
        out: &mut Collector<i64>,
    ) -> Result<()> {
        assert_eq!(context.time_domain(), TimeDomain::ProcessingTime);
        out.collect(timestamp);
        let now = context.timer_service().current_processing_time();
        context.timer_service().register_processing_time_timer(now);
        Ok(())
    }
}

#[test]
fn processing_timers_fire_once_per_epoch_even_when_they_ask_for_now() {
    let operator = KeyedProcessOperator::new(
        KeySelector::new(|value: &u8| *value),
        Ticks,
        SideOutputPorts::new(),
    );
    let mut harness = Harness::new(operator, 1).unwrap();
    harness.set_processing_time(100);
    harness
        .process(0, StreamBatch::from_values(vec![5u8, 3]))
        .unwrap();
    assert_eq!(
        values::<i64>(harness.end_epoch().unwrap(), 0),
        Vec::<i64>::new()
    );
    harness.set_processing_time(105);
    assert_eq!(values::<i64>(harness.end_epoch().unwrap(), 0), [103, 105]);
    harness.set_processing_time(2000);
    assert_eq!(values::<i64>(harness.end_epoch().unwrap(), 0), [105, 105]);
}
