//! Convert, select, project: a chain of stateless steps over rows of four fields, of which half are kept.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::vec::{Filter, Map};

use crate::harness::{Digest, Scale, Variant, compare};
use crate::programs::{digest_rows, environment, rows_stream, run_engine, run_timely};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reading {
    pub(crate) id: u64,
    pub(crate) sensor: u32,
    pub(crate) celsius: f64,
    pub(crate) time: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Warm {
    pub(crate) id: u64,
    pub(crate) sensor: u32,
    pub(crate) fahrenheit: f64,
}

pub(crate) fn readings(rows: usize) -> Arc<Vec<Reading>> {
    let row = |id: u64| Reading {
        id,
        sensor: (id % 1000) as u32,
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
    digest.add([row.id, u64::from(row.sensor), row.fahrenheit.to_bits()]);
}

pub(crate) fn data_stream(workers: usize, rows: &Arc<Vec<Reading>>) -> Digest {
    let env = environment(workers);
    let warm = rows_stream(&env, rows)
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

pub(crate) fn run(scale: Scale) {
    let rows = readings(scale.rows(8_000_000));
    compare(
        "stateless chain",
        rows.len(),
        scale,
        &[
            Variant::new("timely operators", || by_operators(1, &rows)),
            Variant::new("timely one loop", || by_one_loop(1, &rows)),
            Variant::new("DataStream", || data_stream(1, &rows)),
        ],
    );
}
