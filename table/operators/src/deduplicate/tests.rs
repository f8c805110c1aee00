//! Against scanning all rows in order of arrival.

use std::collections::BTreeMap;

use aquifer_runtime::testing::Harness;
use aquifer_types::{DataTypes, Timestamp, Value};
use proptest::prelude::*;

use super::*;
use crate::testing::{Changes, Instances, accumulate, changes, consolidated};

type TestRow = (Option<i32>, i64, i32);

fn types() -> Vec<DataType> {
    vec![DataTypes::int(), DataTypes::timestamp(3), DataTypes::int()]
}

fn values(row: TestRow) -> Vec<Value> {
    let key = row.0.map_or(Value::Null, Value::Int);
    vec![
        key,
        Value::Timestamp(Timestamp::from_micros(row.1 * 1000)),
        Value::Int(row.2),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn keeps_the_row_a_scan_keeps(
        by_time in any::<bool>(),
        last in any::<bool>(),
        epochs in proptest::collection::vec(
            proptest::collection::vec((proptest::option::weighted(0.9, 0i32..4), -3i64..3, 0i32..3), 0..20),
            1..8,
        ),
        restore_after in 0usize..8,
        workers in 1usize..4,
    ) {
        let keep = if last { Keep::Last } else { Keep::First };
        let make = || DeduplicateOperator::new(types(), vec![0], by_time.then_some(1), keep).unwrap();
        let mut instances = Instances::new(1, 1, make);
        let mut table: BTreeMap<Option<i32>, TestRow> = BTreeMap::new();
        let mut output = Changes::new();
        for (at, epoch) in epochs.iter().enumerate() {
            for row in epoch {
                let kept = table.entry(row.0).or_insert(*row);
                let replaces = match (by_time, keep) {
                    (false, Keep::First) => false,
                    (false, Keep::Last) => true,
                    (true, Keep::First) => row.1 < kept.1,
                    (true, Keep::Last) => row.1 >= kept.1,
                };
                if replaces {
                    *kept = *row;
                }
            }
            for part in epoch.chunks(6) {
                instances.process(0, &types(), &[0], part.iter().map(|row| (values(*row), 1)).collect());
            }
            for emitted in instances.end_epoch() {
                let change = consolidated(emitted, &types());
                prop_assert!(by_time || last || change.values().all(|weight| *weight > 0), "append-only");
                accumulate(&mut output, change);
            }
            let expected: Changes = table.values().map(|row| (values(*row), 1)).collect();
            prop_assert_eq!(&output, &expected, "after epoch {}", at);
            if at == restore_after {
                instances = instances.restored(workers, make);
            }
        }
    }
}

#[test]
fn a_row_without_time_is_refused() {
    let operator = DeduplicateOperator::new(types(), vec![0], Some(1), Keep::Last).unwrap();
    let mut harness = Harness::new(operator, 1).unwrap();
    let row = (vec![Value::Int(1), Value::Null, Value::Int(2)], 1);
    assert!(
        harness
            .process(0, changes(&types(), [row]))
            .unwrap_err()
            .to_string()
            .contains("NULL")
    );
}
