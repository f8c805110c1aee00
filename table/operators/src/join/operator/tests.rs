//! Against a nested-loop join of the whole inputs, after every epoch. Finds pairs met twice or never, transient
//! padded rows, match counts that drift, rows that a restore loses or doubles.

use std::collections::BTreeMap;

use aquifer_runtime::testing::Harness;
use aquifer_types::{DataTypes, Value};
use proptest::prelude::*;

use super::*;
use crate::testing::{Changes, Instances, accumulate, changes, consolidated, net};

type TestRow = (Option<i32>, i32);
/// An input and rows to insert or, if true, to delete.
type TestBatch = (usize, Vec<(TestRow, bool)>);

fn types() -> Vec<DataType> {
    vec![DataTypes::int(), DataTypes::int()]
}

fn values(row: TestRow) -> Vec<Value> {
    vec![row.0.map_or(Value::Null, Value::Int), Value::Int(row.1)]
}

#[derive(Clone, Debug)]
struct Case {
    join_type: JoinType,
    null_safe: bool,
    condition: bool,
    append_only: [bool; 2],
    epochs: Vec<Vec<TestBatch>>,
    restore_after: usize,
    workers: usize,
    reversed: bool,
}

fn case() -> impl Strategy<Value = Case> {
    let join_types = [
        JoinType::Inner,
        JoinType::Left,
        JoinType::Right,
        JoinType::Full,
        JoinType::Semi,
        JoinType::Anti,
    ];
    let row = (
        (proptest::option::weighted(0.85, 0i32..4), 0i32..4),
        proptest::bool::weighted(0.4),
    );
    let batch = (0usize..2, proptest::collection::vec(row, 0..12));
    let epochs = proptest::collection::vec(proptest::collection::vec(batch, 0..5), 1..10);
    let flags = any::<[bool; 6]>();
    (
        proptest::sample::select(join_types.to_vec()),
        flags,
        epochs,
        0usize..10,
        1usize..4,
    )
        .prop_map(|(join_type, flags, epochs, restore_after, workers)| Case {
            join_type,
            null_safe: flags[0],
            condition: flags[1],
            append_only: [flags[2] && flags[3], flags[2] && flags[4]],
            epochs,
            restore_after,
            workers,
            reversed: flags[5],
        })
}

impl Case {
    fn operator(&self) -> JoinOperator {
        let input = |append_only| JoinInput {
            types: types(),
            keys: vec![0],
            append_only,
        };
        let condition = self.condition.then(|| {
            let column = |index| ResolvedExpr::input(index, DataTypes::int());
            ResolvedExpr::call("<=", [column(1), column(3)]).unwrap()
        });
        let [left, right] = self.append_only.map(input);
        JoinOperator::new(
            left,
            right,
            self.join_type,
            vec![self.null_safe],
            condition.as_ref(),
            TimeZone::default(),
        )
        .unwrap()
    }

    fn output_types(&self) -> Vec<DataType> {
        match self.join_type {
            JoinType::Semi | JoinType::Anti => types(),
            _ => [types(), types()].concat(),
        }
    }

    fn matches(&self, left: TestRow, right: TestRow) -> bool {
        let keys = left.0 == right.0 && (self.null_safe || left.0.is_some());
        keys && (!self.condition || left.1 <= right.1)
    }

    fn naive(&self, tables: &[BTreeMap<TestRow, i64>; 2]) -> Changes {
        let mut result = Changes::new();
        let mut add = |row: Vec<Value>, weight: i64| *result.entry(row).or_default() += weight;
        let padding = || vec![Value::Null, Value::Null];
        let pads = |left: bool| match self.join_type {
            JoinType::Full => true,
            JoinType::Left => left,
            JoinType::Right => !left,
            _ => false,
        };
        for (left, weight) in &tables[0] {
            let matching: Vec<_> = tables[1]
                .iter()
                .filter(|(right, _)| self.matches(*left, **right))
                .collect();
            match self.join_type {
                JoinType::Semi if !matching.is_empty() => add(values(*left), *weight),
                JoinType::Anti if matching.is_empty() => add(values(*left), *weight),
                JoinType::Semi | JoinType::Anti => (),
                _ if matching.is_empty() && pads(true) => {
                    add([values(*left), padding()].concat(), *weight);
                }
                _ => matching.iter().for_each(|(right, other)| {
                    add([values(*left), values(**right)].concat(), weight * *other);
                }),
            }
        }
        for (right, weight) in &tables[1] {
            if pads(false) && !tables[0].keys().any(|left| self.matches(*left, *right)) {
                add([padding(), values(*right)].concat(), *weight);
            }
        }
        result
    }

    fn run(&self) {
        let output_types = self.output_types();
        let mut instances = Instances::new(1, 2, || self.operator());
        let mut tables: [BTreeMap<TestRow, i64>; 2] = Default::default();
        let mut output = Changes::new();
        for (at, epoch) in self.epochs.iter().enumerate() {
            let mut batches = Vec::new();
            for (input, rows) in epoch {
                let mut part = Vec::new();
                for (row, delete) in rows {
                    let count = tables[*input].entry(*row).or_default();
                    let weight = if *delete && !self.append_only[*input] && *count > 0 {
                        -1
                    } else {
                        1
                    };
                    *count += weight;
                    part.push((values(*row), weight));
                }
                tables[*input].retain(|_, weight| *weight != 0);
                batches.push((*input, part));
            }
            if self.reversed {
                // Retractions then come before the rows that they retract.
                batches.reverse();
            }
            for (input, part) in batches {
                instances.process(input, &types(), &[0], part);
            }
            for emitted in instances.end_epoch() {
                // Equal rows of an append-only side are kept apart, so changes by the other side are netted
                // for each of them alone.
                let mixed = self.append_only[0] != self.append_only[1];
                let net = if mixed { net } else { consolidated };
                accumulate(&mut output, net(emitted, &output_types));
            }
            assert_eq!(output, self.naive(&tables), "after epoch {at}");
            if at == self.restore_after {
                instances = instances.restored(self.workers, || self.operator());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn equals_the_nested_loop_join(case in case()) {
        case.run();
    }
}

#[test]
fn many_pairs_of_one_key_are_all_emitted() {
    for append_only in [true, false] {
        let case = Case {
            join_type: JoinType::Inner,
            null_safe: false,
            condition: true,
            append_only: [append_only; 2],
            epochs: vec![vec![
                (0, (0..150).map(|i| ((Some(1), i), false)).collect()),
                (1, (0..150).map(|i| ((Some(1), i), false)).collect()),
            ]],
            restore_after: 9,
            workers: 1,
            reversed: false,
        };
        case.run();
    }
}

#[test]
fn state_goes_when_its_rows_go() {
    let input = JoinInput {
        types: types(),
        keys: vec![0],
        append_only: false,
    };
    let operator = JoinOperator::new(
        input.clone(),
        input,
        JoinType::Full,
        vec![false],
        None,
        TimeZone::default(),
    );
    let mut harness = Harness::new(operator.unwrap(), 2).unwrap();
    for weight in [1, -1] {
        for input in 0..2 {
            let rows = (0..100).map(|i| (values((Some(i), i)), weight));
            harness.process(input, changes(&types(), rows)).unwrap();
        }
        harness.end_epoch().unwrap();
        assert_eq!(
            harness.operator().state_size().keys,
            if weight == 1 { 100 } else { 0 }
        );
    }
}

#[test]
fn a_retraction_on_an_append_only_input_is_refused() {
    let input = JoinInput {
        types: types(),
        keys: vec![0],
        append_only: true,
    };
    let operator = JoinOperator::new(
        input.clone(),
        input,
        JoinType::Inner,
        vec![false],
        None,
        TimeZone::default(),
    );
    let mut harness = Harness::new(operator.unwrap(), 2).unwrap();
    let error = harness
        .process(0, changes(&types(), [(values((Some(1), 1)), -1)]))
        .unwrap_err();
    assert_eq!(error.code(), "internal.error");
}
