//! Count, sum and largest amount per key, over many keys.
//!
//! `reduce` of a `DataStream` emits the new totals for every row; SQL emits, once per epoch, the totals that changed.
//! Each is compared with a hand-written program that emits the same.

use std::collections::HashMap;
use std::sync::Arc;

use aquifer_runtime::exchange::{FixedState, key_hash};
use serde::{Deserialize, Serialize};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::Operator;

use crate::harness::{Digest, Scale, Variant, compare};
use crate::programs::{digest_rows, environment, rows_stream, run_engine, run_timely};

/// How many keys there are.
pub(crate) const KEYS: u64 = 1_000_000;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sale {
    pub(crate) key: u64,
    pub(crate) amount: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub(crate) key: u64,
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
        key: ((random >> 32) * KEYS) >> 32,
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

fn digest(digest: &mut Digest, row: &Totals) {
    digest.add([row.key, row.count as u64, row.sum as u64, row.max as u64]);
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
                        let mut state: HashMap<u64, Totals, FixedState> = HashMap::default();
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
}
