//! An inner equi-join of two streams that only grow: every pair of rows with one key, once.

use std::collections::HashMap;
use std::sync::Arc;

use aquifer::prelude::{StreamTableEnvironment, TableError};
use aquifer_runtime::Result;
use aquifer_runtime::exchange::{FixedState, key_hash};
use aquifer_runtime::operator::{Collector, KeyedContext, KeyedProcessFunction, RuntimeContext};
use aquifer_runtime::state::{ListState, ListStateDescriptor};
use arrow_array::{ArrayRef, Int64Array};
use serde::{Deserialize, Serialize};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::Operator;

use crate::harness::{Digest, Scale, Variant, compare};
use crate::programs::{digest_rows, environment, rows_stream, run_engine, run_timely};
use crate::tables::{Columns, TableRows, run_sql};

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Part {
    key: i64,
    value: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pair {
    key: i64,
    left: i64,
    right: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Side {
    Left(Part),
    Right(Part),
}

/// Rows of which about one on the other side has the same key.
fn parts(rows: usize, seed: u64) -> Arc<Vec<Part>> {
    let part = |row: u64| {
        let random = (row + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let random = (random ^ (random >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        Part {
            key: (((random >> 32) * rows as u64) >> 32) as i64,
            value: row as i64,
        }
    };
    Arc::new((0..rows as u64).map(part).collect())
}

fn digest(digest: &mut Digest, row: &Pair) {
    digest.add([row.key as u64, row.left as u64, row.right as u64]);
}

/// Keeps the values of both sides of a key.
#[derive(Clone, Default)]
struct Join {
    left: Option<ListState<i64>>,
    right: Option<ListState<i64>>,
}

impl KeyedProcessFunction<i64, Side, Pair> for Join {
    fn open(&mut self, context: &mut RuntimeContext<'_>) -> Result<()> {
        self.left = Some(context.list_state(ListStateDescriptor::new("left"))?);
        self.right = Some(context.list_state(ListStateDescriptor::new("right"))?);
        Ok(())
    }

    fn process_element(
        &mut self,
        side: Side,
        _context: &mut KeyedContext<'_, i64>,
        out: &mut Collector<Pair>,
    ) -> Result<()> {
        let (Some(left), Some(right)) = (&self.left, &self.right) else {
            return Ok(());
        };
        match side {
            Side::Left(Part { key, value }) => {
                left.add(value);
                right.read(|others| {
                    for other in others {
                        out.collect(Pair {
                            key,
                            left: value,
                            right: *other,
                        });
                    }
                });
            }
            Side::Right(Part { key, value }) => {
                right.add(value);
                left.read(|others| {
                    for other in others {
                        out.collect(Pair {
                            key,
                            left: *other,
                            right: value,
                        });
                    }
                });
            }
        }
        Ok(())
    }
}

fn data_stream(left: &Arc<Vec<Part>>, right: &Arc<Vec<Part>>) -> Digest {
    let env = environment(1);
    let left = rows_stream(&env, left).map(Side::Left);
    let right = rows_stream(&env, right).map(Side::Right);
    let pairs = left
        .union([&right])
        .key_by(|side: &Side| match side {
            Side::Left(part) | Side::Right(part) => part.key,
        })
        .process(Join::default());
    run_engine(&pairs, digest)
}

fn by_hand(left: &Arc<Vec<Part>>, right: &Arc<Vec<Part>>) -> Digest {
    type Values = HashMap<i64, Vec<i64>, FixedState>;
    run_timely(
        1,
        vec![Arc::clone(left), Arc::clone(right)],
        |_, mut streams, tally, probe| {
            let (right, left) = (streams.remove(1), streams.remove(0));
            let pairs = left.binary::<_, CapacityContainerBuilder<Vec<Pair>>, _, _, _, _>(
                right,
                Exchange::new(|part: &Part| key_hash(&part.key)),
                Exchange::new(|part: &Part| key_hash(&part.key)),
                "join",
                |_, _| {
                    let (mut lefts, mut rights) = (Values::default(), Values::default());
                    move |left, right, output| {
                        left.for_each(|capability, rows| {
                            let mut session = output.session(&capability);
                            for Part { key, value } in rows.drain(..) {
                                lefts.entry(key).or_default().push(value);
                                for other in rights.get(&key).into_iter().flatten() {
                                    session.give(Pair {
                                        key,
                                        left: value,
                                        right: *other,
                                    });
                                }
                            }
                        });
                        right.for_each(|capability, rows| {
                            let mut session = output.session(&capability);
                            for Part { key, value } in rows.drain(..) {
                                rights.entry(key).or_default().push(value);
                                for other in lefts.get(&key).into_iter().flatten() {
                                    session.give(Pair {
                                        key,
                                        left: *other,
                                        right: value,
                                    });
                                }
                            }
                        });
                    }
                },
            );
            digest_rows(pairs, tally, probe, digest);
        },
    )
}

impl Columns for Part {
    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        vec![
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.key))),
            Arc::new(Int64Array::from_iter_values(
                rows.iter().map(|row| row.value),
            )),
        ]
    }
}

const QUERY: &str = "SELECT l.`key`, l.`value` AS `left`, r.`value` AS `right` \
    FROM lefts AS l JOIN rights AS r ON l.`key` = r.`key`";

fn sql(left: &Arc<Vec<Part>>, right: &Arc<Vec<Part>>) -> Digest {
    let columns = "`key` BIGINT NOT NULL, `value` BIGINT NOT NULL";
    run_sql(
        &environment(1),
        vec![
            TableRows::new("lefts", columns, left),
            TableRows::new("rights", columns, right),
        ],
        QUERY,
        "`key` BIGINT, `left` BIGINT, `right` BIGINT",
    )
}

/// From structs to SQL and back to structs.
fn sql_over_streams(left: &Arc<Vec<Part>>, right: &Arc<Vec<Part>>) -> Digest {
    let env = environment(1);
    let (left, right) = (rows_stream(&env, left), rows_stream(&env, right));
    let pairs = || -> std::result::Result<_, TableError> {
        let t_env = StreamTableEnvironment::create(&env)?;
        t_env.register_data_stream("lefts", &left)?;
        t_env.register_data_stream("rights", &right)?;
        t_env.to_data_stream_of::<Pair>(&t_env.sql_query(QUERY)?)
    };
    run_engine(&pairs().unwrap_or_else(|error| panic!("{error}")), digest)
}

pub(crate) fn run(scale: Scale) {
    let left = parts(scale.rows(2_000_000), 0);
    let right = parts(scale.rows(2_000_000), 1 << 40);
    compare(
        "equi-join",
        left.len() + right.len(),
        scale,
        &[
            Variant::new("timely", || by_hand(&left, &right)),
            Variant::new("DataStream", || data_stream(&left, &right)),
            Variant::new("SQL", || sql(&left, &right)),
            Variant::new("SQL over DataStream", || sql_over_streams(&left, &right)),
        ],
    );
}
