//! Against sorting each partition anew after every epoch.

use std::collections::BTreeMap;

use aquifer_runtime::operator::MemoryState;
use aquifer_runtime::testing::Harness;
use aquifer_types::{DataTypes, Value};
use proptest::prelude::*;

use super::*;
use crate::testing::{Changes, Instances, accumulate, consolidated};

type TestRow = (Option<i32>, Option<i32>, i32);

fn types() -> Vec<DataType> {
    vec![DataTypes::int(), DataTypes::int(), DataTypes::int()]
}

fn values(row: TestRow) -> Vec<Value> {
    let nullable = |value: Option<i32>| value.map_or(Value::Null, Value::Int);
    vec![nullable(row.0), nullable(row.1), Value::Int(row.2)]
}

fn naive(parameters: &RankParameters, table: &BTreeMap<TestRow, i64>) -> Changes {
    let mut partitions: BTreeMap<Option<i32>, Vec<TestRow>> = BTreeMap::new();
    for (row, count) in table {
        let key = if parameters.partition.is_empty() {
            None
        } else {
            row.0
        };
        partitions
            .entry(key)
            .or_default()
            .extend((0..*count).map(|_| *row));
    }
    let sort = parameters.order[0];
    let mut result = Changes::new();
    for rows in partitions.values_mut() {
        rows.sort_by(|a, b| {
            let nulls = |row: &TestRow| row.1.is_none() != sort.nulls_first;
            let value = a.1.cmp(&b.1);
            nulls(a)
                .cmp(&nulls(b))
                .then(if sort.descending {
                    value.reverse()
                } else {
                    value
                })
                .then(a.cmp(b))
        });
        for (at, row) in rows.iter().enumerate() {
            let position = at as u64 + 1;
            if (parameters.start..=parameters.end).contains(&position) {
                let mut values = values(*row);
                values.extend(
                    parameters
                        .outputs_rank
                        .then_some(Value::BigInt(position as i64)),
                );
                *result.entry(values).or_default() += 1;
            }
        }
    }
    result
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn equals_sorting_anew(
        flags in any::<[bool; 5]>(),
        range in (1u64..3, 0u64..4),
        epochs in proptest::collection::vec(
            proptest::collection::vec(
                (
                    (proptest::option::weighted(0.9, 0i32..3), proptest::option::weighted(0.8, 0i32..5), 0i32..3),
                    proptest::bool::weighted(0.4),
                ),
                0..25,
            ),
            1..8,
        ),
        restore_after in 0usize..8,
        workers in 1usize..4,
    ) {
        let parameters = RankParameters {
            types: types(),
            partition: if flags[0] { vec![0] } else { vec![] },
            order: vec![SortColumn { column: 1, descending: flags[1], nulls_first: flags[2] }],
            start: range.0,
            end: range.0 + range.1,
            outputs_rank: flags[3],
            append_only: flags[4],
        };
        let make = || RankOperator::new(parameters.clone()).unwrap();
        let mut output_types = types();
        output_types.extend(parameters.outputs_rank.then(DataTypes::bigint));
        let mut instances = Instances::new(1, 1, make);
        let (mut table, mut output) = (BTreeMap::new(), Changes::new());
        for (at, epoch) in epochs.iter().enumerate() {
            let mut rows = Vec::new();
            for (row, delete) in epoch {
                let count: &mut i64 = table.entry(*row).or_default();
                let weight = if *delete && !parameters.append_only && *count > 0 { -1 } else { 1 };
                *count += weight;
                rows.push((values(*row), weight));
            }
            table.retain(|_, count| *count != 0);
            for part in rows.chunks(7) {
                instances.process(0, &types(), &parameters.partition, part.to_vec());
            }
            for emitted in instances.end_epoch() {
                accumulate(&mut output, consolidated(emitted, &output_types));
            }
            prop_assert_eq!(&output, &naive(&parameters, &table), "after epoch {}", at);
            if at == restore_after {
                instances = instances.restored(workers, make);
            }
        }
    }
}

#[test]
fn a_large_partition_is_kept_in_order() {
    let parameters = RankParameters {
        types: types(),
        partition: vec![],
        order: vec![SortColumn {
            column: 1,
            descending: true,
            nulls_first: false,
        }],
        start: 1,
        end: 3,
        outputs_rank: true,
        append_only: false,
    };
    let mut instances = Instances::new(1, 1, || RankOperator::new(parameters.clone()).unwrap());
    let (mut table, mut output) = (BTreeMap::new(), Changes::new());
    let mut output_types = types();
    output_types.push(DataTypes::bigint());
    for epoch in 0..20 {
        let rows = |range: std::ops::Range<i32>, weight| {
            range.map(move |i| ((None, Some(i * 7919 % 1000), i), weight))
        };
        let gone = if epoch == 0 {
            0..0
        } else {
            (epoch - 1) * 50..(epoch - 1) * 50 + 25
        };
        let mut changes = Vec::new();
        for (row, weight) in rows(epoch * 50..(epoch + 1) * 50, 1).chain(rows(gone, -1)) {
            *table.entry(row).or_default() += weight;
            changes.push((values(row), weight));
        }
        table.retain(|_, count| *count != 0);
        instances.process(0, &types(), &[], changes);
        accumulate(
            &mut output,
            consolidated(instances.end_epoch().remove(0), &output_types),
        );
        assert_eq!(output, naive(&parameters, &table));
    }
}

#[test]
fn appended_rows_beyond_the_range_are_not_kept() {
    let parameters = RankParameters {
        types: types(),
        partition: vec![0],
        order: vec![SortColumn {
            column: 1,
            descending: false,
            nulls_first: false,
        }],
        start: 1,
        end: 2,
        outputs_rank: false,
        append_only: true,
    };
    let mut harness = Harness::new(RankOperator::new(parameters).unwrap(), 1).unwrap();
    for epoch in 0..10 {
        let rows = (0..100).map(|i| (values((Some(1), Some(i), epoch)), 1));
        harness
            .process(0, crate::testing::changes(&types(), rows))
            .unwrap();
        harness.end_epoch().unwrap();
        assert_eq!(harness.operator().rows.rows().len(), 2);
    }
    let mut state = MemoryState::default();
    harness.snapshot(&mut state).unwrap();
}

#[test]
fn a_sink_gets_one_row_per_primary_key() {
    let make = || RankOperator::new(RankParameters::one_per_key(types(), vec![0], false)).unwrap();
    let mut instances = Instances::new(1, 1, make);
    let row = |value: i32, weight: i64| (values((Some(1), Some(value), 0)), weight);
    let mut table = Changes::new();
    for (changes, kept) in [
        (vec![row(2, 1), row(1, 1)], 1),
        (vec![row(1, -1)], 2),
        (vec![row(3, 1)], 2),
    ] {
        instances.process(0, &types(), &[0], changes);
        accumulate(
            &mut table,
            consolidated(instances.end_epoch().remove(0), &types()),
        );
        assert_eq!(table, [row(kept, 1)].into());
    }
}
