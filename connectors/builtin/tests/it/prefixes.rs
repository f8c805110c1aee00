//! Random changes, epoch cuts and workers: what a sink holds after each epoch is the answer of a naive model for the
//! input up to it.
//!
//! Finds: rows of an outer join that show only for a moment, updates of which one half is in another epoch,
//! aggregates that forget a retraction, rows routed to a worker that does not hold their key.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use aquifer_connectors::values;
use aquifer_types::{Row, RowKind, Value, row_values};
use proptest::prelude::*;

use crate::support::environment;

/// A row of a table with a key and a value, which may be NULL.
type Pair = (Option<i64>, Option<i64>);

/// How often each row is there.
type Bag<R> = BTreeMap<R, i64>;

/// Changes that never take back what is not there: epochs of rows with +1 or -1.
fn changes() -> impl Strategy<Value = Vec<Vec<(Pair, i64)>>> {
    let small = || prop::option::weighted(0.85, 0_i64..4);
    let change = (
        (small(), small()),
        any::<bool>(),
        any::<prop::sample::Index>(),
    );
    prop::collection::vec(prop::collection::vec(change, 0..6), 1..6).prop_map(|epochs| {
        let mut live: Vec<Pair> = Vec::new();
        let mut made = Vec::new();
        for epoch in epochs {
            let mut rows = Vec::new();
            for (pair, is_delete, index) in epoch {
                if is_delete && !live.is_empty() {
                    rows.push((live.swap_remove(index.index(live.len())), -1));
                } else {
                    live.push(pair);
                    rows.push((pair, 1));
                }
            }
            made.push(rows);
        }
        made
    })
}

fn rows(epochs: &[Vec<(Pair, i64)>]) -> Vec<Vec<Row>> {
    let row = |((key, value), weight): &(Pair, i64)| {
        let kind = if *weight > 0 {
            RowKind::Insert
        } else {
            RowKind::Delete
        };
        Row::of_kind(kind, row_values![*key, *value])
    };
    epochs
        .iter()
        .map(|rows| rows.iter().map(row).collect())
        .collect()
}

/// The rows of each prefix, longest last.
fn prefixes(epochs: &[Vec<(Pair, i64)>], count: usize) -> Vec<Bag<Pair>> {
    let mut bag = Bag::new();
    let mut all = Vec::new();
    for epoch in 0..count {
        for (pair, weight) in epochs.get(epoch).into_iter().flatten() {
            *bag.entry(*pair).or_default() += weight;
        }
        bag.retain(|_, count| *count != 0);
        all.push(bag.clone());
    }
    all
}

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Runs `query` over the tables `l` and `r`; the contents of its sink after each epoch that changed it.
fn run(
    query: &str,
    columns: &str,
    left: &[Vec<(Pair, i64)>],
    right: &[Vec<(Pair, i64)>],
    workers: usize,
) -> Vec<Bag<Vec<Value>>> {
    let id = format!("prefixes {}", NEXT.fetch_add(1, Ordering::Relaxed));
    let t_env = environment(workers, 1000);
    for (name, epochs) in [("l", left), ("r", right)] {
        values::register_epochs(format!("{id} {name}"), rows(epochs));
        t_env
            .execute_sql(format!(
                "CREATE TABLE {name} (k BIGINT, v BIGINT) WITH ('connector' = 'values', 'data-id' = '{id} {name}', \
                 'changelog-mode' = 'I,D')"
            ))
            .unwrap();
    }
    t_env
        .execute_sql(format!(
            "CREATE TABLE t ({columns}) WITH ('connector' = 'values', 'sink-id' = '{id}')"
        ))
        .unwrap();
    t_env
        .execute_sql(format!("INSERT INTO t {query}"))
        .unwrap()
        .await_done()
        .unwrap();
    let mut bag = Bag::new();
    let mut states = Vec::new();
    for (_, rows) in values::result(&id).epochs() {
        for row in rows {
            *bag.entry(row.fields().to_vec()).or_default() += row.kind().weight();
        }
        bag.retain(|_, count| *count != 0);
        assert!(
            bag.values().all(|count| *count > 0),
            "a row is taken back that is not there"
        );
        states.push(bag.clone());
    }
    values::clear_result(&id);
    visible(states)
}

/// The states as a sink sees them: without those that change nothing.
fn visible(mut states: Vec<Bag<Vec<Value>>>) -> Vec<Bag<Vec<Value>>> {
    states.insert(0, Bag::new());
    states.dedup();
    states.remove(0);
    states
}

fn grouped(bag: &Bag<Pair>) -> Bag<Vec<Value>> {
    let mut groups: BTreeMap<Option<i64>, Vec<Option<i64>>> = BTreeMap::new();
    for ((key, value), count) in bag {
        groups
            .entry(*key)
            .or_default()
            .extend((0..*count).map(|_| *value));
    }
    let answer = |(key, values): (Option<i64>, Vec<Option<i64>>)| {
        let known: Vec<i64> = values.iter().flatten().copied().collect();
        let sum = (!known.is_empty()).then(|| known.iter().sum::<i64>());
        let max = known.iter().max().copied();
        (
            row_values![key, values.len() as i64, known.len() as i64, sum, max],
            1,
        )
    };
    groups.into_iter().map(answer).collect()
}

fn joined(left: &Bag<Pair>, right: &Bag<Pair>) -> Bag<Vec<Value>> {
    let mut rows = Bag::new();
    for ((key, value), count) in left {
        let partners: Vec<(&Pair, &i64)> = right
            .iter()
            .filter(|((other, _), _)| key.is_some() && other == key)
            .collect();
        for ((_, other), copies) in &partners {
            *rows.entry(row_values![*key, *value, *other]).or_default() += count * *copies;
        }
        if partners.is_empty() {
            *rows
                .entry(row_values![*key, *value, None::<i64>])
                .or_default() += count;
        }
    }
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn groups_of_every_prefix(left in changes(), workers in prop::sample::select(vec![1_usize, 2, 4])) {
        let query = "SELECT k, COUNT(*), COUNT(v), SUM(v), MAX(v) FROM l GROUP BY k";
        let columns = "k BIGINT, n BIGINT, m BIGINT, total BIGINT, top BIGINT";
        let expected = prefixes(&left, left.len()).iter().map(grouped).collect();
        prop_assert_eq!(run(query, columns, &left, &[], workers), visible(expected));
    }

    #[test]
    fn outer_joins_of_every_prefix(left in changes(), right in changes(), workers in prop::sample::select(vec![1_usize, 2, 4])) {
        let query = "SELECT l.k, l.v, r.v FROM l LEFT JOIN r ON l.k = r.k";
        let epochs = left.len().max(right.len());
        let expected = prefixes(&left, epochs).iter().zip(prefixes(&right, epochs))
            .map(|(left, right)| joined(left, &right)).collect();
        prop_assert_eq!(run(query, "k BIGINT, v BIGINT, w BIGINT", &left, &right, workers), visible(expected));
    }

    #[test]
    fn groups_of_joins_of_every_prefix(left in changes(), right in changes(), workers in prop::sample::select(vec![1_usize, 2, 4])) {
        let query = "SELECT k, COUNT(*), COUNT(w), SUM(w), MAX(w) FROM \
                     (SELECT l.k AS k, r.v AS w FROM l LEFT JOIN r ON l.k = r.k) GROUP BY k";
        let columns = "k BIGINT, n BIGINT, m BIGINT, total BIGINT, top BIGINT";
        let epochs = left.len().max(right.len());
        let pairs = |joined: Bag<Vec<Value>>| -> Bag<Pair> {
            let mut pairs = Bag::new();
            for (row, count) in joined {
                *pairs.entry((row[0].as_i64(), row[2].as_i64())).or_default() += count;
            }
            pairs
        };
        let expected = prefixes(&left, epochs).iter().zip(prefixes(&right, epochs))
            .map(|(left, right)| grouped(&pairs(joined(left, &right)))).collect();
        prop_assert_eq!(run(query, columns, &left, &right, workers), visible(expected));
    }
}
