//! Slices against the naive model.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::operator::OutputTag;
use crate::testing::{Harness, values};
use crate::window::model::{Out, Row, Statistics, WithWindow, check, epochs};
use crate::window::{
    AggregateElements, EmitResults, ReduceElements, SlidingEventTimeWindows, WindowAssigner,
};

fn sliding(size: i64, slide: i64, offset: i64) -> SlidingEventTimeWindows {
    let millis = |ms: i64| Duration::from_millis(ms as u64);
    SlidingEventTimeWindows::of(millis(size), millis(slide)).offset(offset)
}

fn slicing(assigner: &SlidingEventTimeWindows) -> SlicedWindows<TimeWindow> {
    WindowAssigner::<Row>::slicing(assigner).unwrap()
}

fn operator(slicing: SlicedWindows<TimeWindow>, lateness: i64) -> impl EpochOperator {
    let (tag, ports) = (OutputTag::new("late"), SideOutputPorts::new());
    ports.port::<Row>(&tag);
    let late_data = LateData::default()
        .with_allowed_lateness(lateness)
        .with_side_output(tag);
    let aggregation = AggregateElements::new(Statistics);
    let selector = KeySelector::new(|row: &Row| row.0);
    SliceWindowOperator::<u8, Row, TimeWindow, Out, _, _>::new(
        selector,
        slicing,
        aggregation,
        late_data,
        WithWindow,
        ports,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn windows_agree_with_the_model(
        size in 1i64..20, slide in 1i64..20, offset in 0i64..4, lateness in 0i64..12, epochs in epochs()
    ) {
        let assigner = sliding(size, slide, offset);
        let slicing = slicing(&assigner);
        check(|| operator(slicing, lateness), assigner, lateness, epochs.clone())?;
        check(|| operator(slicing, 0), assigner, 0, epochs)?;
    }
}

#[test]
fn results_come_in_the_order_of_windows_and_keys_and_late_rows_are_counted() {
    let reduce = ReduceElements::new(|a: Row, b: Row| (a.0, a.1 + b.1));
    let operator = SliceWindowOperator::<u8, Row, TimeWindow, Row, _, _>::new(
        KeySelector::new(|row: &Row| row.0),
        slicing(&sliding(10, 10, 0)),
        reduce,
        LateData::default(),
        EmitResults,
        SideOutputPorts::new(),
    );
    let mut harness = Harness::new(operator, 1).unwrap();
    let rows: Vec<Row> = vec![(2, 1), (1, 10), (2, 2), (9, 5)];
    harness
        .process(0, StreamBatch::from_parts(rows, vec![3, 4, 5, 15]))
        .unwrap();
    assert_eq!(
        values::<Row>(harness.end_epoch_at(20).unwrap(), 0),
        [(2, 3), (1, 10), (9, 5)]
    );
    harness
        .process(0, StreamBatch::from_parts(vec![(1u8, 1i64)], vec![7]))
        .unwrap();
    assert_eq!(
        harness
            .metrics()
            .late_records
            .load(std::sync::atomic::Ordering::Relaxed),
        1
    );
    let error = harness
        .process(0, StreamBatch::from_values(vec![(1u8, 1i64)]))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("assign_timestamps_and_watermarks"),
        "{error}"
    );
}

#[test]
fn far_apart_and_extreme_times_do_no_harm() {
    for (size, slide) in [(10, 10), (60_000, 1_000), (7, 3)] {
        let mut harness = Harness::new(operator(slicing(&sliding(size, slide, 0)), 5), 1).unwrap();
        let times = vec![-1 << 61, -4_000_000_000_000, 0, 4_000_000_000_000, 1 << 61];
        let rows: Vec<Row> = (0..times.len() as i64).map(|value| (0u8, value)).collect();
        harness
            .process(0, StreamBatch::from_parts(rows, times))
            .unwrap();
        harness.end_epoch_at(0).unwrap();
        let emitted = harness.finish().unwrap();
        assert!(!values::<Out>(emitted, 0).is_empty());
        let beyond = StreamBatch::from_parts(vec![(0u8, 0i64)], vec![i64::MAX]);
        assert!(harness.process(0, beyond).is_err());
    }
}
