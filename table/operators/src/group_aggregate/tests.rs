//! Against aggregating the whole table anew after every epoch. Finds accumulators that drift under retractions,
//! groups that stay or go wrongly, transient results, and state that a restore loses.

use std::collections::{BTreeMap, BTreeSet};

use aquifer_types::{DataTypes, Value};
use proptest::prelude::*;

use super::*;
use crate::testing::{Changes, Instances, accumulate, consolidated};

/// A key, a value and a flag.
type TestRow = (Option<i32>, Option<i32>, Option<bool>);

fn types() -> Vec<DataType> {
    vec![
        DataTypes::int(),
        DataTypes::int(),
        DataTypes::boolean(),
        DataTypes::string(),
    ]
}

fn values(row: TestRow) -> Vec<Value> {
    let int = |value: Option<i32>| value.map_or(Value::Null, Value::Int);
    let text = row
        .0
        .map_or(Value::Null, |key| Value::from(format!("key {}", key % 2)));
    vec![
        int(row.0),
        int(row.1),
        row.2.map_or(Value::Null, Value::Boolean),
        text,
    ]
}

fn call(
    function: &str,
    arguments: &[usize],
    distinct: bool,
    filter: Option<usize>,
) -> AggregateCall {
    AggregateCall {
        function: function.to_string(),
        arguments: arguments.to_vec(),
        distinct,
        filter,
    }
}

fn calls() -> Vec<AggregateCall> {
    vec![
        call("COUNT", &[], false, None),
        call("COUNT", &[1], false, None),
        call("SUM", &[1], false, None),
        call("MIN", &[1], false, None),
        call("MAX", &[1], false, None),
        call("COUNT", &[1], true, None),
        call("SUM", &[1], false, Some(2)),
    ]
}

fn output_types(keys: &[usize]) -> Vec<DataType> {
    let mut output: Vec<DataType> = keys.iter().map(|key| types()[*key].clone()).collect();
    let (int, bigint) = (DataTypes::int(), DataTypes::bigint());
    output.extend([
        bigint.clone(),
        bigint.clone(),
        int.clone(),
        int.clone(),
        int.clone(),
        bigint,
        int,
    ]);
    output
}

fn naive(keys: &[usize], table: &BTreeMap<TestRow, i64>) -> Changes {
    let mut groups: BTreeMap<Vec<Value>, Vec<TestRow>> = BTreeMap::new();
    for (row, count) in table {
        let key = keys.iter().map(|key| values(*row)[*key].clone()).collect();
        groups
            .entry(key)
            .or_default()
            .extend((0..*count).map(|_| *row));
    }
    let int = |value: Option<i32>| value.map_or(Value::Null, Value::Int);
    let sum = |values: &[i32]| {
        if values.is_empty() {
            None
        } else {
            Some(values.iter().sum())
        }
    };
    let mut result = Changes::new();
    for (mut key, rows) in groups {
        let all: Vec<i32> = rows.iter().filter_map(|row| row.1).collect();
        let flagged: Vec<i32> = rows
            .iter()
            .filter(|row| row.2 == Some(true))
            .filter_map(|row| row.1)
            .collect();
        key.extend([
            Value::BigInt(rows.len() as i64),
            Value::BigInt(all.len() as i64),
            int(sum(&all)),
            int(all.iter().min().copied()),
            int(all.iter().max().copied()),
            Value::BigInt(all.iter().collect::<BTreeSet<_>>().len() as i64),
            int(sum(&flagged)),
        ]);
        result.insert(key, 1);
    }
    result
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn equals_aggregating_anew(
        keys in proptest::sample::select(vec![vec![], vec![0], vec![0, 1], vec![3], vec![3, 0]]),
        append_only in any::<bool>(),
        epochs in proptest::collection::vec(
            proptest::collection::vec(
                (
                    (
                        proptest::option::weighted(0.9, 0i32..4),
                        proptest::option::weighted(0.8, -3i32..4),
                        proptest::option::weighted(0.8, any::<bool>()),
                    ),
                    proptest::bool::weighted(0.45),
                ),
                0..25,
            ),
            1..8,
        ),
        restore_after in 0usize..8,
        workers in 1usize..4,
    ) {
        let parameters =
            GroupAggregateParameters { types: types(), keys: keys.clone(), calls: calls(), append_only };
        let make = || GroupAggregateOperator::new(&parameters).unwrap();
        let output_types = output_types(&keys);
        let mut instances = Instances::new(1, 1, make);
        let (mut table, mut output) = (BTreeMap::new(), Changes::new());
        for (at, epoch) in epochs.iter().enumerate() {
            let mut rows = Vec::new();
            for (row, delete) in epoch {
                let count: &mut i64 = table.entry(*row).or_default();
                let weight = if *delete && !append_only && *count > 0 { -1 } else { 1 };
                *count += weight;
                rows.push((values(*row), weight));
            }
            table.retain(|_, count| *count != 0);
            for part in rows.chunks(7) {
                instances.process(0, &types(), &keys, part.to_vec());
            }
            for emitted in instances.end_epoch() {
                accumulate(&mut output, consolidated(emitted, &output_types));
            }
            prop_assert_eq!(&output, &naive(&keys, &table), "after epoch {}", at);
            if at == restore_after {
                instances = instances.restored(workers, make);
            }
        }
        let living: u64 = instances.instances().iter_mut().map(|i| i.operator().state_size().keys).sum();
        prop_assert_eq!(living, output.len() as u64, "groups without rows are forgotten");
    }
}

#[test]
fn a_distinct_query_needs_no_calls() {
    let parameters = GroupAggregateParameters {
        types: types(),
        keys: vec![0],
        calls: Vec::new(),
        append_only: false,
    };
    let mut instances = Instances::new(1, 1, || GroupAggregateOperator::new(&parameters).unwrap());
    let row = |key: i32, weight: i64| (values((Some(key), None, None)), weight);
    instances.process(0, &types(), &[0], vec![row(1, 1), row(1, 1), row(2, 1)]);
    let output = consolidated(instances.end_epoch().remove(0), &[DataTypes::int()]);
    assert_eq!(
        output,
        [(vec![Value::Int(1)], 1), (vec![Value::Int(2)], 1)].into()
    );
    instances.process(0, &types(), &[0], vec![row(1, -1), row(2, -1)]);
    let output = consolidated(instances.end_epoch().remove(0), &[DataTypes::int()]);
    assert_eq!(output, [(vec![Value::Int(2)], -1)].into());
}

#[test]
fn the_result_over_no_rows_is_there_from_the_start_if_asked_for() {
    let parameters = GroupAggregateParameters {
        types: types(),
        keys: vec![],
        calls: vec![
            call("COUNT", &[], false, None),
            call("SUM", &[1], false, None),
        ],
        append_only: false,
    };
    let types_out = [DataTypes::bigint(), DataTypes::int()];
    let make = || {
        GroupAggregateOperator::new(&parameters)
            .unwrap()
            .emitting_empty_result()
    };
    let mut instances = Instances::new(2, 1, make);
    let row = |weight: i64| (values((Some(1), Some(5), None)), weight);
    let mut output = Changes::new();
    let empty: Changes = [(vec![Value::BigInt(0), Value::Null], 1)].into();
    instances
        .end_epoch()
        .into_iter()
        .for_each(|e| accumulate(&mut output, consolidated(e, &types_out)));
    assert_eq!(output, empty);
    instances.process(0, &types(), &[], vec![row(1)]);
    instances
        .end_epoch()
        .into_iter()
        .for_each(|e| accumulate(&mut output, consolidated(e, &types_out)));
    assert_eq!(output, [(vec![Value::BigInt(1), Value::Int(5)], 1)].into());
    let mut instances = instances.restored(3, make);
    instances.process(0, &types(), &[], vec![row(-1)]);
    instances
        .end_epoch()
        .into_iter()
        .for_each(|e| accumulate(&mut output, consolidated(e, &types_out)));
    assert_eq!(output, empty);
}

#[test]
fn a_retraction_of_what_was_never_there_is_ignored() {
    let parameters = GroupAggregateParameters {
        types: types(),
        keys: vec![0],
        calls: vec![
            call("COUNT", &[], false, None),
            call("SUM", &[1], false, None),
        ],
        append_only: false,
    };
    let types_out = [DataTypes::int(), DataTypes::bigint(), DataTypes::int()];
    let mut instances = Instances::new(1, 1, || GroupAggregateOperator::new(&parameters).unwrap());
    let row = |value: i32, weight: i64| (values((Some(1), Some(value), None)), weight);
    instances.process(0, &types(), &[0], vec![row(1, -1)]);
    assert!(instances.end_epoch().remove(0).is_empty());
    instances.process(0, &types(), &[0], vec![row(5, 1)]);
    let output = consolidated(instances.end_epoch().remove(0), &types_out);
    let expected = vec![Value::Int(1), Value::BigInt(1), Value::Int(5)];
    assert_eq!(output, [(expected, 1)].into());
}
