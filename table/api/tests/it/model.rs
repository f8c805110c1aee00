//! Queries against a naive model: for random changes, epoch cuts and numbers of workers the final answer is the
//! model's on all input, and what an epoch leaves is the model's answer on the input up to that epoch.
//!
//! Finds: retractions that miss their row, rows that differ from what was sent before, groups that are not removed,
//! NULL keys that join, outer rows that stay when a match comes, state that depends on the worker or the batch.

use std::collections::BTreeMap;

use aquifer_types::{Row, RowKind, Value};
use proptest::prelude::*;

use crate::support::{by_epoch, environment, numbered_epochs};

/// A row of one of the two tables: key and value.
type Record = (Option<i32>, Option<i32>);
/// A table, as often as each row occurs.
type Bag = BTreeMap<Record, i64>;

/// A change: which table, added or removed, which row.
#[derive(Debug, Clone)]
struct Change {
    right: bool,
    add: bool,
    record: Record,
}

fn record() -> impl Strategy<Value = Record> {
    (
        prop::option::weighted(0.9, 0..4i32),
        prop::option::weighted(0.85, -3..4i32),
    )
}

/// Epochs of changes; a removal takes back a row that is there, else it is left out.
fn epochs() -> impl Strategy<Value = Vec<Vec<Change>>> {
    let change = (any::<bool>(), prop::bool::weighted(0.65), record())
        .prop_map(|(right, add, record)| Change { right, add, record });
    prop::collection::vec(prop::collection::vec(change, 0..12), 1..6).prop_map(|mut epochs| {
        let mut bags = [Bag::new(), Bag::new()];
        for epoch in &mut epochs {
            epoch.retain(|change| {
                let count = bags[usize::from(change.right)]
                    .entry(change.record)
                    .or_default();
                *count += if change.add { 1 } else { -1 };
                let is_valid = *count >= 0;
                *count = (*count).max(0);
                is_valid
            });
        }
        epochs
    })
}

fn apply(bags: &mut [Bag; 2], change: &Change) {
    let bag = &mut bags[usize::from(change.right)];
    let count = bag.entry(change.record).or_default();
    *count += if change.add { 1 } else { -1 };
    if *count == 0 {
        bag.remove(&change.record);
    }
}

fn rows(bag: &Bag) -> Vec<Record> {
    bag.iter()
        .flat_map(|(record, count)| std::iter::repeat_n(*record, *count as usize))
        .collect()
}

fn text(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "null".to_string(), |value| value.to_string())
}

fn groups(records: &[Record]) -> BTreeMap<Option<i32>, Vec<Option<i32>>> {
    let mut groups: BTreeMap<Option<i32>, Vec<Option<i32>>> = BTreeMap::new();
    for (key, value) in records {
        groups.entry(*key).or_default().push(*value);
    }
    groups
}

/// The pairs of a join, with the left rows that have no match if asked for.
fn joined(left: &[Record], right: &[Record], outer: bool) -> Vec<(Record, Option<Record>)> {
    let mut pairs = Vec::new();
    for l in left {
        let matches: Vec<_> = right
            .iter()
            .filter(|r| l.0.is_some() && l.0 == r.0)
            .collect();
        if matches.is_empty() && outer {
            pairs.push((*l, None));
        }
        pairs.extend(matches.into_iter().map(|r| (*l, Some(*r))));
    }
    pairs
}

/// A query and its answer by the model.
struct Case {
    sql: &'static str,
    answer: fn(&[Record], &[Record]) -> Vec<String>,
}

const CASES: &[Case] = &[
    Case {
        sql: "SELECT k, v + 1 FROM a WHERE v > 0 UNION ALL SELECT k, v FROM b",
        answer: |a, b| {
            let filtered = a.iter().filter(|(_, v)| v.is_some_and(|v| v > 0));
            let mut out: Vec<String> = filtered
                .map(|(k, v)| format!("{}, {}", text(*k), text(v.map(|v| v + 1))))
                .collect();
            out.extend(b.iter().map(|(k, v)| format!("{}, {}", text(*k), text(*v))));
            out
        },
    },
    Case {
        sql: "SELECT k, COUNT(*), COUNT(v), SUM(v), MIN(v), MAX(v) FROM a GROUP BY k",
        answer: |a, _| {
            let group = |(k, values): (Option<i32>, Vec<Option<i32>>)| {
                let known: Vec<i32> = values.iter().flatten().copied().collect();
                let sum = (!known.is_empty()).then(|| known.iter().sum::<i32>());
                format!(
                    "{}, {}, {}, {}, {}, {}",
                    text(k),
                    values.len(),
                    known.len(),
                    text(sum),
                    text(known.iter().min()),
                    text(known.iter().max())
                )
            };
            groups(a).into_iter().map(group).collect()
        },
    },
    Case {
        sql: "SELECT k, COUNT(DISTINCT v) FROM a GROUP BY k HAVING COUNT(*) > 1",
        answer: |a, _| {
            let kept = groups(a).into_iter().filter(|(_, values)| values.len() > 1);
            kept.map(|(k, values)| {
                let distinct: std::collections::BTreeSet<i32> =
                    values.into_iter().flatten().collect();
                format!("{}, {}", text(k), distinct.len())
            })
            .collect()
        },
    },
    Case {
        sql: "SELECT COUNT(*), MAX(v) FROM a",
        answer: |a, _| {
            let max = a.iter().filter_map(|(_, v)| *v).max();
            vec![format!("{}, {}", a.len(), text(max))]
        },
    },
    Case {
        sql: "SELECT DISTINCT v FROM a",
        answer: |a, _| {
            let distinct: std::collections::BTreeSet<Option<i32>> =
                a.iter().map(|(_, v)| *v).collect();
            distinct.into_iter().map(text).collect()
        },
    },
    Case {
        sql: "SELECT a.k, a.v, b.v FROM a JOIN b ON a.k = b.k",
        answer: |a, b| {
            let pair = |((k, v), r): (Record, Option<Record>)| {
                format!("{}, {}, {}", text(k), text(v), text(r.and_then(|r| r.1)))
            };
            joined(a, b, false).into_iter().map(pair).collect()
        },
    },
    Case {
        sql: "SELECT a.k, a.v, b.k, b.v FROM a LEFT JOIN b ON a.k = b.k",
        answer: |a, b| {
            let pair = |((k, v), r): (Record, Option<Record>)| {
                format!(
                    "{}, {}, {}, {}",
                    text(k),
                    text(v),
                    text(r.and_then(|r| r.0)),
                    text(r.and_then(|r| r.1))
                )
            };
            joined(a, b, true).into_iter().map(pair).collect()
        },
    },
    Case {
        sql: "SELECT a.v, COUNT(b.v), SUM(b.v) FROM a LEFT JOIN b ON a.k = b.k GROUP BY a.v",
        answer: |a, b| {
            let pairs: Vec<Record> = joined(a, b, true)
                .iter()
                .map(|(l, r)| (l.1, r.and_then(|r| r.1)))
                .collect();
            let group = |(v, values): (Option<i32>, Vec<Option<i32>>)| {
                let known: Vec<i32> = values.into_iter().flatten().collect();
                let sum = (!known.is_empty()).then(|| known.iter().sum::<i32>());
                format!("{}, {}, {}", text(v), known.len(), text(sum))
            };
            groups(&pairs).into_iter().map(group).collect()
        },
    },
];

fn count(rows: Vec<String>) -> BTreeMap<String, i64> {
    let mut bag = BTreeMap::new();
    for row in rows {
        *bag.entry(format!("+I[{row}]")).or_default() += 1;
    }
    bag
}

fn check(case: &Case, workers: usize, epochs: &[Vec<Change>]) {
    let t_env = environment(workers, 10_000);
    if workers == 4 {
        t_env.stream_environment().serialize_exchanges();
    }
    let to_row = |change: &Change| {
        let kind = if change.add {
            RowKind::Insert
        } else {
            RowKind::Delete
        };
        let (k, v) = change.record;
        Row::of_kind(
            kind,
            vec![Value::from(change.right), Value::from(k), Value::from(v)],
        )
    };
    let input = epochs
        .iter()
        .map(|epoch| epoch.iter().map(to_row).collect())
        .collect();
    let (stream, numbers) = numbered_epochs(t_env.stream_environment(), input);
    let schema = aquifer_table_common::Schema::builder()
        .column("r", "BOOLEAN NOT NULL")
        .column("k", "INT")
        .column("v", "INT")
        .build();
    let both = t_env
        .from_changelog_stream_with_schema(&stream.rebalance(), schema)
        .unwrap();
    t_env.create_temporary_view("both_sides", &both).unwrap();
    t_env
        .execute_sql("CREATE TEMPORARY VIEW a AS SELECT k, v FROM both_sides WHERE NOT r")
        .unwrap();
    t_env
        .execute_sql("CREATE TEMPORARY VIEW b AS SELECT k, v FROM both_sides WHERE r")
        .unwrap();
    let result = t_env
        .to_retract_stream::<Row>(&t_env.sql_query(case.sql).unwrap())
        .unwrap();
    let output = by_epoch(&result);

    let mut bags = [Bag::new(), Bag::new()];
    let mut seen: BTreeMap<String, i64> = BTreeMap::new();
    let mut output = output.into_iter().peekable();
    let numbers = numbers.lock().clone();
    assert_eq!(numbers.len(), epochs.len());
    for (epoch, number) in epochs.iter().zip(numbers) {
        epoch.iter().for_each(|change| apply(&mut bags, change));
        while let Some((_, changes)) = output.next_if(|(at, _)| *at <= number) {
            for (add, row) in changes {
                let row = row.to_string();
                let count = seen.entry(row.clone()).or_default();
                *count += if add { 1 } else { -1 };
                assert!(
                    *count >= 0,
                    "{}: {row} is taken back, but was not there",
                    case.sql
                );
                if *count == 0 {
                    seen.remove(&row);
                }
            }
        }
        let expected = count((case.answer)(&rows(&bags[0]), &rows(&bags[1])));
        // As in the reference, an aggregate without groups has no row as long as there is no input.
        let nothing_yet = seen.is_empty() && expected == count((case.answer)(&[], &[]));
        assert!(
            seen == expected || nothing_yet,
            "{}: after epoch {number}\n{seen:?}\nbut the model says\n{expected:?}",
            case.sql
        );
    }
    assert!(
        output.next().is_none(),
        "{}: an answer after the last epoch",
        case.sql
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_epoch_is_the_answer_for_its_prefix(epochs in epochs()) {
        for case in CASES {
            for workers in [1, 2, 4] {
                check(case, workers, &epochs);
            }
        }
    }
}
