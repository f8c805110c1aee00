//! A join and a Top-N on top of it, as a job. The changelog of every epoch must be the same whatever the number of
//! workers, and with and without exchanges through bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use aquifer_operators::join::{JoinInput, JoinOperator, JoinType};
use aquifer_operators::{
    ChangesToRows, ChangesToRowsOperator, RankOperator, RankParameters, SortColumn, hash_exchange,
    rows_to_changes,
};
use aquifer_runtime::data_stream::DataStream;
use aquifer_runtime::{
    BatchCodec, EpochOperator, Exchange, OutputPort, StreamCodec, StreamExecutionEnvironment,
    Transformation, TransformationId,
};
use aquifer_types::temporal::TimeZone;
use aquifer_types::{
    ChangeBatchCodec, ChangelogMode, DataType, DataTypes, Row, RowKind, row_values,
};

fn codec(types: &[DataType]) -> Arc<dyn BatchCodec> {
    ChangeBatchCodec::new(types.to_vec())
}

fn port(transformation: TransformationId) -> OutputPort {
    OutputPort {
        transformation,
        port: 0,
    }
}

fn table(
    env: &StreamExecutionEnvironment,
    types: &[DataType],
    epochs: Vec<Vec<Row>>,
) -> OutputPort {
    let rows = env.from_epochs(epochs);
    let step = Transformation::step(
        "to changes",
        rows.edges(0),
        codec(types),
        rows_to_changes(types.to_vec()),
    );
    port(env.add(step))
}

fn rows_out(
    env: &StreamExecutionEnvironment,
    from: OutputPort,
    types: &[DataType],
    key: Option<Vec<usize>>,
) -> DataStream<Row> {
    let types = types.to_vec();
    let edges = vec![aquifer_runtime::Edge::new(from, 0, Exchange::Global)];
    let make = move || -> Box<dyn EpochOperator> {
        let rows = ChangesToRows::new(types.clone(), key.clone(), ChangelogMode::all());
        Box::new(ChangesToRowsOperator::new(rows))
    };
    let operator = Transformation::operator(
        "to rows",
        edges,
        vec![Arc::new(StreamCodec::<Row>::new())],
        Arc::new(make),
    );
    DataStream::from_output(env, env.add(operator), 0)
}

fn join_and_rank(workers: usize, through_bytes: bool) -> Vec<Row> {
    let env = StreamExecutionEnvironment::create_local(workers);
    if through_bytes {
        env.serialize_exchanges();
    }
    let types = vec![DataTypes::string(), DataTypes::int()];
    let row = |kind: RowKind, key: i32, value: i32| {
        Row::of_kind(kind, row_values![format!("key {key}"), value])
    };
    let epochs = |side: i32| -> Vec<Vec<Row>> {
        let epoch = |epoch: i32| {
            let inserts = (0..40).map(|i| {
                row(
                    RowKind::Insert,
                    (i + epoch) % 7,
                    100 * side + epoch * 40 + i,
                )
            });
            let deletes = (0..if epoch == 0 { 0 } else { 20 }).map(|i| {
                row(
                    RowKind::Delete,
                    (i + epoch - 1) % 7,
                    100 * side + (epoch - 1) * 40 + i,
                )
            });
            inserts.chain(deletes).collect()
        };
        (0..5).map(epoch).collect()
    };
    let (left, right) = (
        table(&env, &types, epochs(1)),
        table(&env, &types, epochs(2)),
    );

    let joined = [types.clone(), types.clone()].concat();
    let edge = |from, input| aquifer_runtime::Edge::new(from, input, hash_exchange(vec![0]));
    let make = move || -> Box<dyn EpochOperator> {
        let input = JoinInput {
            types: types.clone(),
            keys: vec![0],
            append_only: false,
        };
        let join = JoinOperator::new(
            input.clone(),
            input,
            JoinType::Inner,
            vec![false],
            None,
            TimeZone::default(),
        );
        Box::new(join.expect("the join is sound"))
    };
    let join = Transformation::operator(
        "join",
        vec![edge(left, 0), edge(right, 1)],
        vec![codec(&joined)],
        Arc::new(make),
    );
    let join = port(env.add(join));

    let ranked = [joined.clone(), vec![DataTypes::bigint()]].concat();
    let parameters = RankParameters {
        types: joined,
        partition: vec![0],
        order: vec![
            SortColumn {
                column: 1,
                descending: true,
                nulls_first: false,
            },
            SortColumn {
                column: 3,
                descending: false,
                nulls_first: false,
            },
        ],
        start: 1,
        end: 3,
        outputs_rank: true,
        append_only: false,
    };
    let make = move || -> Box<dyn EpochOperator> {
        Box::new(RankOperator::new(parameters.clone()).expect("the rank is sound"))
    };
    let rank = Transformation::operator(
        "rank",
        vec![edge(join, 0)],
        vec![codec(&ranked)],
        Arc::new(make),
    );
    let rank = port(env.add(rank));
    let rows = rows_out(&env, rank, &ranked, Some(vec![0, 4]));
    let rows = rows.execute_and_collect().expect("the job starts");
    rows.collect::<Result<Vec<_>, _>>()
        .expect("the job ends well")
}

#[test]
fn the_changelog_does_not_depend_on_workers_or_bytes() {
    let alone = join_and_rank(1, false);
    assert!(alone.iter().any(|row| row.kind() == RowKind::UpdateAfter));
    // Applied in order, no key ever has two rows.
    let mut table: BTreeMap<(String, String), Row> = BTreeMap::new();
    for row in &alone {
        let key = (
            row.field(0).unwrap().to_string(),
            row.field(4).unwrap().to_string(),
        );
        let plain = row.clone().with_kind(RowKind::Insert);
        match row.kind() {
            RowKind::Insert | RowKind::UpdateAfter => {
                assert_eq!(table.insert(key, plain), None, "{row}");
            }
            RowKind::Delete | RowKind::UpdateBefore => {
                assert_eq!(table.remove(&key), Some(plain), "{row}");
            }
        }
    }
    assert_eq!(table.len(), 7 * 3);
    let sorted = |mut rows: Vec<Row>| {
        rows.sort();
        rows
    };
    let expected = sorted(alone);
    for (workers, through_bytes) in [(1, true), (2, false), (2, true), (4, true)] {
        assert_eq!(
            sorted(join_and_rank(workers, through_bytes)),
            expected,
            "{workers} {through_bytes}"
        );
    }
}
