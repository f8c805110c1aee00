//! Count, sum and largest amount per key, over many keys.
//!
//! `reduce` of a `DataStream` emits the new totals for every row; SQL emits, once per epoch, the totals that changed.
//! Each is compared with a hand-written program that emits the same.

use std::collections::HashMap;
use std::sync::Arc;

use aquifer::prelude::{StreamTableEnvironment, TableError};
use aquifer_runtime::exchange::{FixedState, key_hash};
use arrow_array::{ArrayRef, Int64Array};
use serde::{Deserialize, Serialize};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::Operator;

use crate::harness::{Digest, Scale, Variant, compare};
use crate::programs::{digest_rows, environment, rows_stream, run_engine, run_timely};
use crate::tables::{Columns, TableRows, run_sql};

/// How many keys there are.
pub(crate) const KEYS: u64 = 1_000_000;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sale {
    pub(crate) key: i64,
    pub(crate) amount: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub(crate) key: i64,
    pub(crate) count: i64,
    pub(crate) sum: i64,
    pub(crate) max: i64,
}

/// The sale number `row`: a key by chance.
#[inline]
pub(crate) fn sale(row: u64) -> Sale {
    let random = row.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let random = (random ^ (random >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    Sale {
        key: (((random >> 32) * KEYS) >> 32) as i64,
        amount: (random & 0xFFFF) as i64,
    }
}

pub(crate) fn sales(rows: usize) -> Arc<Vec<Sale>> {
    Arc::new((0..rows as u64).map(sale).collect())
}

#[inline]
pub(crate) fn first(sale: Sale) -> Totals {
    Totals {
        key: sale.key,
        count: 1,
        sum: sale.amount,
        max: sale.amount,
    }
}

#[inline]
pub(crate) fn add(totals: Totals, other: Totals) -> Totals {
    Totals {
        key: totals.key,
        count: totals.count + other.count,
        sum: totals.sum + other.sum,
        max: totals.max.max(other.max),
    }
}

fn words(row: &Totals) -> [u64; 4] {
    [row.key, row.count, row.sum, row.max].map(|word| word as u64)
}

fn digest(digest: &mut Digest, row: &Totals) {
    digest.add(words(row));
}

fn digest_change(digest: &mut Digest, (row, weight): &(Totals, i64)) {
    digest.add_weighted(words(row), *weight);
}

pub(crate) fn data_stream(workers: usize, rows: &Arc<Vec<Sale>>) -> Digest {
    let env = environment(workers);
    let totals = rows_stream(&env, rows)
        .map(first)
        .key_by(|totals: &Totals| totals.key)
        .reduce(add);
    run_engine(&totals, digest)
}

/// The totals after each row.
fn by_hand(workers: usize, rows: &Arc<Vec<Sale>>) -> Digest {
    run_timely(
        workers,
        vec![Arc::clone(rows)],
        |_, mut streams, tally, probe| {
            let totals = streams
                .remove(0)
                .unary::<CapacityContainerBuilder<Vec<Totals>>, _, _, _>(
                    Exchange::new(|sale: &Sale| key_hash(&sale.key)),
                    "totals",
                    |_, _| {
                        let mut state: HashMap<i64, Totals, FixedState> = HashMap::default();
                        move |input, output| {
                            input.for_each(|capability, rows| {
                                let mut session = output.session(&capability);
                                for sale in rows.drain(..) {
                                    let totals = state
                                        .entry(sale.key)
                                        .and_modify(|totals| {
                                            totals.count += 1;
                                            totals.sum += sale.amount;
                                            totals.max = totals.max.max(sale.amount);
                                        })
                                        .or_insert_with(|| first(sale));
                                    session.give(totals.clone());
                                }
                            });
                        }
                    },
                );
            digest_rows(totals, tally, probe, digest);
        },
    )
}

/// The changes of each epoch: the totals that were and those that are.
fn changes_by_hand(rows: &Arc<Vec<Sale>>) -> Digest {
    struct Entry {
        /// As of the end of the last epoch.
        before: Option<Totals>,
        now: Totals,
        changed: bool,
    }
    run_timely(1, vec![Arc::clone(rows)], |_, mut streams, tally, probe| {
        let changes = streams
            .remove(0)
            .unary_frontier::<CapacityContainerBuilder<Vec<(Totals, i64)>>, _, _, _>(
                Exchange::new(|sale: &Sale| key_hash(&sale.key)),
                "totals",
                |_, _| {
                    let mut places: HashMap<i64, usize, FixedState> = HashMap::default();
                    let mut entries: Vec<Entry> = Vec::new();
                    let mut changed: Vec<usize> = Vec::new();
                    let mut capability = None;
                    move |(input, frontier), output| {
                        input.for_each(|held, rows| {
                            if capability.is_none() {
                                capability = held.retain_least(0);
                            }
                            for sale in rows.drain(..) {
                                let place = *places.entry(sale.key).or_insert(entries.len());
                                if place == entries.len() {
                                    entries.push(Entry {
                                        before: None,
                                        now: first(sale),
                                        changed: true,
                                    });
                                    changed.push(place);
                                    continue;
                                }
                                let entry = &mut entries[place];
                                if !entry.changed {
                                    entry.changed = true;
                                    entry.before = Some(entry.now.clone());
                                    changed.push(place);
                                }
                                entry.now = add(entry.now.clone(), first(sale));
                            }
                        });
                        let Some(held) = &capability else { return };
                        if frontier.less_equal(held.time()) {
                            return;
                        }
                        {
                            let mut session = output.session(held);
                            for place in changed.drain(..) {
                                let entry = &mut entries[place];
                                entry.changed = false;
                                if let Some(before) = entry.before.take() {
                                    session.give((before, -1));
                                }
                                session.give((entry.now.clone(), 1));
                            }
                        }
                        capability = None;
                    }
                },
            );
        digest_rows(changes, tally, probe, digest_change);
    })
}

impl Columns for Sale {
    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        vec![
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.key))),
            Arc::new(Int64Array::from_iter_values(
                rows.iter().map(|row| row.amount),
            )),
        ]
    }
}

const QUERY: &str = "SELECT key, COUNT(*) AS `count`, SUM(amount) AS `sum`, MAX(amount) AS `max` FROM sales GROUP BY key";

fn sql(rows: &Arc<Vec<Sale>>) -> Digest {
    run_sql(
        &environment(1),
        vec![TableRows::new(
            "sales",
            "key BIGINT NOT NULL, amount BIGINT NOT NULL",
            rows,
        )],
        &QUERY.replace("key", "`key`"),
        "`key` BIGINT, `count` BIGINT, `sum` BIGINT, `max` BIGINT",
    )
}

/// From structs to SQL and back to structs.
fn sql_over_stream(rows: &Arc<Vec<Sale>>) -> Digest {
    let env = environment(1);
    let sales = rows_stream(&env, rows);
    let totals = || -> Result<_, TableError> {
        let t_env = StreamTableEnvironment::create(&env)?;
        t_env.register_data_stream("sales", &sales)?;
        t_env.to_retract_stream::<Totals>(&t_env.sql_query(QUERY.replace("key", "`key`"))?)
    };
    run_engine(
        &totals().unwrap_or_else(|error| panic!("{error}")),
        |digest, (is_insert, row)| {
            digest.add_weighted(words(row), if *is_insert { 1 } else { -1 });
        },
    )
}

pub(crate) fn run(scale: Scale) {
    let rows = sales(scale.rows(8_000_000));
    compare(
        "keyed count, sum, max",
        rows.len(),
        scale,
        &[
            Variant::new("timely", || by_hand(1, &rows)),
            Variant::new("DataStream", || data_stream(1, &rows)),
        ],
    );
    compare(
        "keyed, changes by epoch",
        rows.len(),
        scale,
        &[
            Variant::new("timely", || changes_by_hand(&rows)),
            Variant::new("SQL", || sql(&rows)),
            Variant::new("SQL over DataStream", || sql_over_stream(&rows)),
        ],
    );
}
