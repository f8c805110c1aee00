//! Convert, select, project: a chain of stateless steps over rows of four fields, of which half are kept.

use std::sync::Arc;

use aquifer::prelude::{StreamTableEnvironment, TableError};
use arrow_array::{ArrayRef, Float64Array, Int64Array};
use serde::{Deserialize, Serialize};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::vec::{Filter, Map};

use crate::harness::{Digest, Scale, Variant, compare};
use crate::programs::{
    digest_rows, environment, rows_repeated, rows_stream, run_engine, run_timely,
};
use crate::tables::{Columns, TableRows, run_sql};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reading {
    pub(crate) id: i64,
    pub(crate) sensor: i64,
    pub(crate) celsius: f64,
    pub(crate) time: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Warm {
    pub(crate) id: i64,
    pub(crate) sensor: i64,
    pub(crate) fahrenheit: f64,
}

pub(crate) fn readings(rows: usize) -> Arc<Vec<Reading>> {
    let row = |id: u64| Reading {
        id: id as i64,
        sensor: (id % 1000) as i64,
        celsius: (id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as f64 / 4.294_967_296e9 * 40.0,
        time: id as i64,
    };
    Arc::new((0..rows as u64).map(row).collect())
}

#[inline]
fn convert(reading: Reading) -> Reading {
    Reading {
        celsius: reading.celsius * 1.8 + 32.0,
        ..reading
    }
}

#[inline]
fn is_warm(reading: &Reading) -> bool {
    reading.celsius > 68.0
}

#[inline]
fn project(reading: Reading) -> Warm {
    Warm {
        id: reading.id,
        sensor: reading.sensor,
        fahrenheit: reading.celsius,
    }
}

fn digest(digest: &mut Digest, row: &Warm) {
    digest.add([row.id as u64, row.sensor as u64, row.fahrenheit.to_bits()]);
}

pub(crate) fn data_stream(workers: usize, rows: &Arc<Vec<Reading>>, passes: usize) -> Digest {
    let env = environment(workers);
    let warm = rows_repeated(&env, rows, passes)
        .map(convert)
        .filter(is_warm)
        .map(project);
    run_engine(&warm, digest)
}

/// With timely's own operators.
fn by_operators(workers: usize, rows: &Arc<Vec<Reading>>) -> Digest {
    run_timely(
        workers,
        vec![Arc::clone(rows)],
        |_, mut streams, tally, probe| {
            let warm = streams.remove(0).map(convert).filter(is_warm).map(project);
            digest_rows(warm, tally, probe, digest);
        },
    )
}

/// As one operator whose loop does all of it.
fn by_one_loop(workers: usize, rows: &Arc<Vec<Reading>>) -> Digest {
    run_timely(
        workers,
        vec![Arc::clone(rows)],
        |_, mut streams, tally, probe| {
            let warm = streams
                .remove(0)
                .unary::<CapacityContainerBuilder<Vec<Warm>>, _, _, _>(
                    Pipeline,
                    "chain",
                    |_, _| {
                        |input, output| {
                            input.for_each(|capability, rows| {
                                output.session(&capability).give_iterator(
                                    rows.drain(..).map(convert).filter(is_warm).map(project),
                                );
                            });
                        }
                    },
                );
            digest_rows(warm, tally, probe, digest);
        },
    )
}

impl Columns for Reading {
    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        vec![
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.id))),
            Arc::new(Int64Array::from_iter_values(
                rows.iter().map(|row| row.sensor),
            )),
            Arc::new(Float64Array::from_iter_values(
                rows.iter().map(|row| row.celsius),
            )),
            Arc::new(Int64Array::from_iter_values(
                rows.iter().map(|row| row.time),
            )),
        ]
    }
}

const QUERY: &str = "SELECT id, sensor, fahrenheit FROM \
    (SELECT id, sensor, celsius * CAST(1.8 AS DOUBLE) + CAST(32 AS DOUBLE) AS fahrenheit FROM readings) AS converted \
    WHERE fahrenheit > CAST(68 AS DOUBLE)";

fn sql(rows: &Arc<Vec<Reading>>) -> Digest {
    run_sql(
        &environment(1),
        vec![TableRows::new(
            "readings",
            "id BIGINT NOT NULL, sensor BIGINT NOT NULL, celsius DOUBLE NOT NULL, `time` BIGINT NOT NULL",
            rows,
        )],
        QUERY,
        "id BIGINT, sensor BIGINT, fahrenheit DOUBLE",
    )
}

/// From structs to SQL and back to structs.
fn sql_over_stream(rows: &Arc<Vec<Reading>>) -> Digest {
    let env = environment(1);
    let readings = rows_stream(&env, rows);
    let warm = || -> Result<_, TableError> {
        let t_env = StreamTableEnvironment::create(&env)?;
        t_env.register_data_stream("readings", &readings)?;
        t_env.to_data_stream_of::<Warm>(&t_env.sql_query(QUERY)?)
    };
    run_engine(&warm().unwrap_or_else(|error| panic!("{error}")), digest)
}

pub(crate) fn run(scale: Scale) {
    let rows = readings(scale.rows(8_000_000));
    compare(
        "stateless chain",
        rows.len(),
        scale,
        &[
            Variant::new("timely operators", || by_operators(1, &rows)),
            Variant::new("timely one loop", || by_one_loop(1, &rows)),
            Variant::new("DataStream", || data_stream(1, &rows, 1)),
            Variant::new("SQL", || sql(&rows)),
            Variant::new("SQL over DataStream", || sql_over_stream(&rows)),
        ],
    );
}
