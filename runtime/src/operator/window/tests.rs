//! The general window operator against the naive model, and its triggers and evictors one by one.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::operator::OutputTag;
use crate::testing::{Harness, values};
use crate::time::MAX_WATERMARK;
use crate::window::model::{Out, Row, Statistics, WithWindow, check, epochs};
use crate::window::*;

fn millis(ms: i64) -> Duration {
    Duration::from_millis(ms as u64)
}

/// An operator with `trigger` whose late rows go to side output 1.
fn operator<A, R, C, P, O>(
    assigner: A,
    trigger: R,
    aggregation: C,
    function: P,
    lateness: i64,
) -> impl EpochOperator
where
    O: StreamData,
    A: WindowAssigner<Row>,
    R: Trigger<Row, A::Window>,
    C: WindowAggregation<Row, A::Window>,
    P: ProcessWindowFunction<C::Result, O, u8, A::Window>,
{
    let (tag, ports) = (OutputTag::new("late"), SideOutputPorts::new());
    ports.port::<Row>(&tag);
    let late_data = LateData::default()
        .with_allowed_lateness(lateness)
        .with_side_output(tag);
    let parts = WindowParts {
        assigner,
        trigger,
        aggregation,
        late_data,
    };
    WindowOperator::new(KeySelector::new(|row: &Row| row.0), parts, function, ports)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn time_windows_agree_with_the_model(
        size in 1i64..20, slide in 1i64..20, lateness in 0i64..12, epochs in epochs()
    ) {
        let assigner = SlidingEventTimeWindows::of(millis(size), millis(slide));
        let reduced = || operator(assigner, EventTimeTrigger, AggregateElements::new(Statistics), WithWindow, lateness);
        check(reduced, assigner, lateness, epochs.clone())?;
        let listed = || operator::<_, _, _, _, Out>(assigner, EventTimeTrigger, Elements::<Row>::new(), WithWindow, lateness);
        check(listed, assigner, lateness, epochs)?;
    }

    #[test]
    fn sessions_agree_with_the_model(gap in 1i64..12, lateness in 0i64..12, epochs in epochs()) {
        let assigner = EventTimeSessionWindows::with_gap(millis(gap));
        let reduced = || operator(assigner, EventTimeTrigger, AggregateElements::new(Statistics), WithWindow, lateness);
        check(reduced, assigner, lateness, epochs.clone())?;
        let dynamic = EventTimeSessionWindows::with_dynamic_gap(|row: &Row| millis(1 + row.1.abs()));
        let listed =
            || operator::<_, _, _, _, Out>(dynamic.clone(), EventTimeTrigger, Elements::<Row>::new(), WithWindow, lateness);
        check(listed, dynamic.clone(), lateness, epochs)?;
    }
}

fn sums() -> ReduceElements<fn(Row, Row) -> Row> {
    ReduceElements::new(|a, b| (a.0, a.1 + b.1))
}

/// Feeds one batch per epoch and answers what each emitted.
fn run(operator: impl EpochOperator, epochs: &[(&[(Row, i64)], i64)]) -> Vec<Vec<Row>> {
    let mut harness = Harness::new(operator, 1).unwrap();
    let mut out = Vec::new();
    for (rows, watermark) in epochs {
        let mut batch = StreamBatch::new();
        rows.iter()
            .for_each(|(row, timestamp)| batch.push_at(*row, *timestamp));
        harness.process(0, batch).unwrap();
        out.push(values::<Row>(harness.end_epoch_at(*watermark).unwrap(), 0));
    }
    out
}

#[test]
fn count_windows_fire_by_count_and_keep_no_state_when_purged() {
    let trigger = PurgingTrigger::of(CountTrigger::of(2));
    let mut harness =
        Harness::new(operator(GlobalWindows, trigger, sums(), EmitResults, 0), 1).unwrap();
    harness
        .process(
            0,
            StreamBatch::from_values(vec![(1u8, 1i64), (2, 5), (1, 2), (1, 3)]),
        )
        .unwrap();
    assert_eq!(values::<Row>(harness.end_epoch().unwrap(), 0), [(1, 3)]);
    assert_eq!(harness.operator().state_size().keys, 2);
    harness
        .process(0, StreamBatch::from_values(vec![(2u8, 5i64), (1, 4)]))
        .unwrap();
    assert_eq!(
        values::<Row>(harness.end_epoch().unwrap(), 0),
        [(2, 10), (1, 7)]
    );
    assert_eq!(harness.operator().state_size().keys, 0);
    assert!(
        values::<Row>(harness.finish().unwrap(), 0).is_empty(),
        "unfinished counts are dropped"
    );
}

#[test]
fn sliding_count_windows_evict() {
    let evicting = Evicting::new(Arc::new(CountEvictor::of(3)), sums());
    let out = run(
        operator(GlobalWindows, CountTrigger::of(2), evicting, EmitResults, 0),
        &[(
            &[
                ((1, 1), 0),
                ((1, 2), 0),
                ((1, 4), 0),
                ((1, 8), 0),
                ((1, 16), 0),
                ((1, 32), 0),
            ],
            0,
        )],
    );
    assert_eq!(out, [[(1, 3), (1, 14), (1, 56)]]);
}

#[test]
fn time_evictors_keep_what_is_recent() {
    let evicting = Evicting::new(Arc::new(TimeEvictor::of(millis(3))), sums());
    let windows = TumblingEventTimeWindows::of(millis(10));
    let out = run(
        operator(windows, EventTimeTrigger, evicting, EmitResults, 0),
        &[(&[((1, 1), 1), ((1, 2), 5), ((1, 4), 7), ((1, 8), 8)], 9)],
    );
    assert_eq!(out, [[(1, 12)]]);
}

#[test]
fn continuous_triggers_fire_early_and_at_the_end() {
    let windows = TumblingEventTimeWindows::of(millis(10));
    let trigger = ContinuousEventTimeTrigger::of(millis(4));
    let out = run(
        operator(windows, trigger, sums(), EmitResults, 0),
        &[
            (&[((1, 1), 1)], 3),
            (&[((1, 2), 2)], 4),
            (&[], 5),
            (&[((1, 4), 6)], 8),
            (&[((1, 8), 9)], 9),
        ],
    );
    assert_eq!(
        out,
        [vec![], vec![(1, 3)], vec![], vec![(1, 7)], vec![(1, 15)]]
    );
}

#[test]
fn purging_sessions_keep_their_extent() {
    let windows = EventTimeSessionWindows::with_gap(millis(10));
    let trigger = PurgingTrigger::of(CountTrigger::of(2));
    let mut harness = Harness::new(
        operator::<_, _, _, _, Out>(windows, trigger, Elements::<Row>::new(), WithWindow, 0),
        1,
    )
    .unwrap();
    harness
        .process(
            0,
            StreamBatch::from_parts(vec![(1u8, 1i64), (1, 2), (1, 3), (1, 4)], vec![0, 1, 2, 3]),
        )
        .unwrap();
    let out = values::<Out>(harness.end_epoch_at(0).unwrap(), 0);
    assert_eq!(
        out,
        [
            (1, TimeWindow::new(0, 11), 3, 2, 2),
            (1, TimeWindow::new(0, 13), 7, 4, 2)
        ]
    );
    harness.end_epoch_at(MAX_WATERMARK).unwrap();
    assert_eq!(harness.operator().state_size().keys, 0);
}

#[test]
fn processing_time_windows_follow_the_announced_clock() {
    let windows = TumblingProcessingTimeWindows::of(millis(10));
    let mut harness = Harness::new(
        operator(windows, ProcessingTimeTrigger, sums(), EmitResults, 0),
        1,
    )
    .unwrap();
    for (now, value, expected) in [
        (3, 1i64, vec![]),
        (8, 2, vec![]),
        (9, 4, vec![(1u8, 7i64)]),
        (12, 8, vec![]),
    ] {
        harness.set_processing_time(now);
        harness
            .process(0, StreamBatch::from_values(vec![(1u8, value)]))
            .unwrap();
        assert_eq!(
            values::<Row>(harness.end_epoch().unwrap(), 0),
            expected,
            "at {now}"
        );
    }
    harness.set_processing_time(50);
    assert_eq!(values::<Row>(harness.end_epoch().unwrap(), 0), [(1, 8)]);
    assert_eq!(harness.operator().state_size().keys, 0);
}

#[test]
fn triggers_that_cannot_merge_are_refused() {
    #[derive(Clone)]
    struct Stubborn;
    impl<W: Window> Trigger<Row, W> for Stubborn {
        type State = ();
        fn on_element(
            &self,
            _: &Row,
            _: i64,
            _: &W,
            (): &mut (),
            _: &mut TriggerContext<'_, W>,
        ) -> TriggerResult {
            TriggerResult::Fire
        }
        fn on_event_time(
            &self,
            _: i64,
            _: &W,
            (): &mut (),
            _: &mut TriggerContext<'_, W>,
        ) -> TriggerResult {
            TriggerResult::Continue
        }
        fn on_processing_time(
            &self,
            _: i64,
            _: &W,
            (): &mut (),
            _: &mut TriggerContext<'_, W>,
        ) -> TriggerResult {
            TriggerResult::Continue
        }
    }
    let windows = EventTimeSessionWindows::with_gap(millis(1));
    let error = Harness::new(operator(windows, Stubborn, sums(), EmitResults, 0), 1)
        .err()
        .unwrap();
    assert!(error.to_string().contains("Stubborn"), "{error}");
    let every = run(
        operator(
            TumblingEventTimeWindows::of(millis(10)),
            Stubborn,
            sums(),
            EmitResults,
            0,
        ),
        &[(&[((1, 1), 1), ((1, 2), 2)], 0)],
    );
    assert_eq!(every, [[(1, 1), (1, 3)]]);
}
