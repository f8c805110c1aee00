//! Against assigning every row to its windows and sorting out late rows one by one.

use std::collections::BTreeMap;

use aquifer_types::{Timestamp, Value};
use proptest::prelude::*;

use super::*;
use crate::testing::{Changes, Instances, accumulate, changes, consolidated};

type TestRow = (Option<i32>, i64, i32);
/// The key, if there is one, start and end.
type TestWindow = (Option<Option<i32>>, i64, i64);

fn types() -> Vec<DataType> {
    vec![DataTypes::int(), DataTypes::timestamp(3), DataTypes::int()]
}

fn timestamp(millis: i64) -> Value {
    Value::Timestamp(Timestamp::from_millis(millis))
}

fn values(row: TestRow) -> Vec<Value> {
    vec![
        row.0.map_or(Value::Null, Value::Int),
        timestamp(row.1),
        Value::Int(row.2),
    ]
}

fn call(function: &str, arguments: &[usize]) -> AggregateCall {
    AggregateCall {
        function: function.to_string(),
        arguments: arguments.to_vec(),
        distinct: false,
        filter: None,
    }
}

fn kinds() -> impl Strategy<Value = WindowKind> {
    (1i64..6, 1i64..5, -3i64..3, 0usize..3).prop_map(|(slide, steps, offset_ms, kind)| match kind {
        0 => WindowKind::Tumble {
            size_ms: slide * steps,
            offset_ms,
        },
        1 => WindowKind::Hop {
            size_ms: slide * steps + 1,
            slide_ms: slide,
            offset_ms,
        },
        _ => WindowKind::Cumulate {
            max_size_ms: slide * steps,
            step_ms: slide,
            offset_ms,
        },
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn equals_assigning_row_by_row(
        kind in kinds(),
        keyed in any::<bool>(),
        append_only in any::<bool>(),
        linear in any::<bool>(),
        epochs in proptest::collection::vec(
            (
                proptest::collection::vec(
                    ((proptest::option::weighted(0.9, 0i32..3), -8i64..8, 0i32..3), proptest::bool::weighted(0.3)),
                    0..20,
                ),
                0i64..4,
            ),
            1..8,
        ),
        restore_after in 0usize..8,
        workers in 1usize..4,
    ) {
        let keys = if keyed { vec![0] } else { vec![] };
        let parameters = WindowAggregateParameters {
            types: types(),
            keys: keys.clone(),
            calls: vec![call("COUNT", &[]), call("SUM", &[2]), call(if linear { "AVG" } else { "MAX" }, &[2])],
            window: WindowSource::Assigned { kind, time: WindowTime::Rowtime(1) },
            properties: vec![WindowProperty::Start, WindowProperty::End, WindowProperty::Time],
            append_only,
            zone: TimeZone::default(),
        };
        let make = || WindowAggregateOperator::new(parameters.clone()).unwrap();
        let mut output_types: Vec<DataType> = keys.iter().map(|key| types()[*key].clone()).collect();
        output_types.extend([DataTypes::bigint(), DataTypes::int(), DataTypes::int()]);
        output_types.extend(vec![DataTypes::timestamp(3); 3]);

        let mut instances = Instances::new(1, 1, make);
        // Per key and window the rows that count and how often.
        let mut windows: BTreeMap<TestWindow, BTreeMap<i32, i64>> = BTreeMap::new();
        let mut tables: BTreeMap<TestRow, i64> = BTreeMap::new();
        let mut output = Changes::new();
        let (mut base, mut watermark) = (-10, i64::MIN);
        let last = epochs.len() - 1;
        for (at, (epoch, advance)) in epochs.iter().enumerate() {
            let mut rows = Vec::new();
            for ((key, offset, value), delete) in epoch {
                // Times move on with the watermark, so that some rows are late and some are early.
                let row = (*key, base + offset, *value);
                let count = tables.entry(row).or_default();
                let weight = if *delete && !append_only && *count > 0 { -1 } else { 1 };
                *count += weight;
                rows.push((values(row), weight));
                kind.for_each(row.1, |start, end| {
                    if end - 1 > watermark {
                        let window = windows.entry((keyed.then_some(row.0), start, end)).or_default();
                        *window.entry(row.2).or_default() += weight;
                    }
                });
            }
            for part in rows.chunks(6) {
                instances.process(0, &types(), &keys, part.to_vec());
            }
            base += advance;
            watermark = if at == last { i64::MAX } else { base };
            let mut expected = Changes::new();
            windows.retain(|(key, start, end), values| {
                values.retain(|_, count| *count != 0);
                if end - 1 > watermark {
                    return true;
                }
                let count: i64 = values.values().sum();
                if count > 0 {
                    let sum: i64 = values.iter().map(|(value, count)| i64::from(*value) * count).sum();
                    let largest = values.keys().next_back().copied().unwrap_or_default();
                    let mut row: Vec<Value> =
                        key.iter().map(|key| key.map_or(Value::Null, Value::Int)).collect();
                    let last = if linear { (sum / count) as i32 } else { largest };
                    row.extend([Value::BigInt(count), Value::Int(sum as i32), Value::Int(last)]);
                    row.extend([timestamp(*start), timestamp(*end), timestamp(end - 1)]);
                    expected.insert(row, 1);
                }
                false
            });
            let mut emitted = Changes::new();
            for part in instances.end_epoch_at(watermark) {
                accumulate(&mut emitted, consolidated(part, &output_types));
            }
            prop_assert_eq!(&emitted, &expected, "epoch {}", at);
            accumulate(&mut output, emitted);
            if at == restore_after && at != last {
                instances = instances.restored(workers, make);
            }
        }
        let open: u64 = instances.instances().iter_mut().map(|i| i.operator().state_size().keys).sum();
        prop_assert_eq!(open, 0, "no state is left behind");
    }
}

fn count_in(
    window: WindowSource,
    types: &[DataType],
    zone: &str,
) -> aquifer_runtime::testing::Harness<WindowAggregateOperator> {
    let parameters = WindowAggregateParameters {
        types: types.to_vec(),
        keys: vec![],
        calls: vec![call("COUNT", &[])],
        window,
        properties: vec![
            WindowProperty::Start,
            WindowProperty::End,
            WindowProperty::Time,
        ],
        append_only: true,
        zone: zone.parse().unwrap(),
    };
    aquifer_runtime::testing::Harness::new(WindowAggregateOperator::new(parameters).unwrap(), 1)
        .unwrap()
}

fn instant(millis: i64) -> Value {
    Value::TimestampLtz(Timestamp::from_millis(millis))
}

#[test]
fn processing_time_closes_windows_when_their_end_has_come() {
    let types = [DataTypes::int()];
    let kind = WindowKind::Tumble {
        size_ms: 10,
        offset_ms: 0,
    };
    let window = WindowSource::Assigned {
        kind,
        time: WindowTime::Proctime,
    };
    let mut harness = count_in(window, &types, "UTC");
    let out = [
        DataTypes::bigint(),
        DataTypes::timestamp(3),
        DataTypes::timestamp(3),
        DataTypes::timestamp_ltz(3),
    ];
    let row = || changes(&types, [(vec![Value::Int(1)], 1)]);
    let result = |count: i64, start: i64| -> Changes {
        [(
            vec![
                Value::BigInt(count),
                timestamp(start),
                timestamp(start + 10),
                instant(start + 9),
            ],
            1,
        )]
        .into()
    };
    for now in [3, 9, 9] {
        harness.set_processing_time(now);
        harness.process(0, row()).unwrap();
        assert_eq!(
            consolidated(harness.end_epoch().unwrap(), &out),
            Changes::new()
        );
    }
    harness.set_processing_time(10);
    harness.process(0, row()).unwrap();
    assert_eq!(
        consolidated(harness.end_epoch().unwrap(), &out),
        result(3, 0)
    );
    assert_eq!(
        consolidated(harness.finish().unwrap(), &out),
        result(1, 10),
        "the end of the input loses no row"
    );
}

#[test]
fn days_of_instants_are_local_days() {
    let types = [DataTypes::timestamp_ltz(3)];
    let day = 86_400_000;
    let kind = WindowKind::Tumble {
        size_ms: day,
        offset_ms: 0,
    };
    let mut harness = count_in(
        WindowSource::Assigned {
            kind,
            time: WindowTime::Rowtime(0),
        },
        &types,
        "Asia/Shanghai",
    );
    let out = [
        DataTypes::bigint(),
        DataTypes::timestamp(3),
        DataTypes::timestamp(3),
        DataTypes::timestamp_ltz(3),
    ];
    let hours = |hours: i64| hours * 3_600_000;
    // The local day of this instant began 8 hours before the day in UTC and ends at 16:00 in UTC.
    harness
        .process(0, changes(&types, [(vec![instant(hours(1))], 1)]))
        .unwrap();
    assert!(harness.end_epoch_at(hours(16) - 2).unwrap().is_empty());
    let emitted = consolidated(harness.end_epoch_at(hours(16) - 1).unwrap(), &out);
    let expected = vec![
        Value::BigInt(1),
        timestamp(0),
        timestamp(day),
        instant(hours(16) - 1),
    ];
    assert_eq!(emitted, [(expected, 1)].into());
    harness
        .process(0, changes(&types, [(vec![instant(hours(2))], 1)]))
        .unwrap();
    assert!(harness.finish().unwrap().is_empty());
    assert_eq!(harness.metrics().late_records.load(Ordering::Relaxed), 1);
}

#[test]
fn windows_of_a_window_function_fire_by_their_own_end() {
    let types = [DataTypes::timestamp(3), DataTypes::timestamp(3)];
    let mut harness = count_in(
        WindowSource::Attached {
            start: 0,
            end: 1,
            is_instant: false,
        },
        &types,
        "UTC",
    );
    let out = [
        DataTypes::bigint(),
        DataTypes::timestamp(3),
        DataTypes::timestamp(3),
        DataTypes::timestamp(3),
    ];
    let row = |start: i64, end: i64| (vec![timestamp(start), timestamp(end)], 1);
    harness
        .process(
            0,
            changes(&types, [row(0, 10), row(5, 10), row(5, 15), row(0, 10)]),
        )
        .unwrap();
    let emitted = consolidated(harness.end_epoch_at(9).unwrap(), &out);
    let result = |count: i64, start: i64, end: i64| {
        vec![
            Value::BigInt(count),
            timestamp(start),
            timestamp(end),
            timestamp(end - 1),
        ]
    };
    assert_eq!(
        emitted,
        [(result(2, 0, 10), 1), (result(1, 5, 10), 1)].into()
    );
    assert_eq!(
        consolidated(harness.finish().unwrap(), &out),
        [(result(1, 5, 15), 1)].into()
    );
}

#[test]
fn a_row_without_time_and_impossible_windows_are_refused() {
    let kind = WindowKind::Tumble {
        size_ms: 10,
        offset_ms: 0,
    };
    let window = WindowSource::Assigned {
        kind,
        time: WindowTime::Rowtime(1),
    };
    let mut harness = count_in(window, &types(), "UTC");
    let row = vec![Value::Int(1), Value::Null, Value::Int(1)];
    assert_eq!(
        harness
            .process(0, changes(&types(), [(row, 1)]))
            .unwrap_err()
            .code(),
        "user.error"
    );
    let kind = WindowKind::Cumulate {
        max_size_ms: 10,
        step_ms: 3,
        offset_ms: 0,
    };
    assert!(
        kind.validate()
            .unwrap_err()
            .to_string()
            .contains("multiple")
    );
}
