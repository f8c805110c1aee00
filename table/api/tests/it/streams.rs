//! Streams to tables and back.

use aquifer_runtime::RuntimeError;
use aquifer_table::StreamTableEnvironment;
use aquifer_table_common::Schema;
use aquifer_types::{ChangelogMode, Row, RowKind, Value, row_values};
use serde::{Deserialize, Serialize};

use crate::support::{answer, by_epoch, collect, environment, epochs, with_all_shapes};

#[derive(Debug, Clone, PartialEq, PartialOrd, Serialize, Deserialize)]
struct Reading {
    sensor: String,
    value: Option<f64>,
    place: (i32, i32),
}

fn reading(sensor: &str, value: Option<f64>) -> Reading {
    Reading {
        sensor: sensor.to_string(),
        value,
        place: (1, 2),
    }
}

fn rows_of(t_env: &StreamTableEnvironment, sql: &str) -> Vec<String> {
    answer(&t_env.sql_query(sql).unwrap())
}

#[test]
fn structs_go_in_and_come_out() {
    with_all_shapes(|t_env| {
        let readings = vec![
            reading("a", Some(1.5)),
            reading("b", None),
            reading("a", Some(-2.0)),
        ];
        let table = t_env
            .from_data_stream(&t_env.stream_environment().from_elements(readings.clone()))
            .unwrap();
        assert_eq!(
            table.schema().to_string(),
            "(\n  `sensor` STRING NOT NULL,\n  `value` DOUBLE,\n  `place` ROW<`f0` INT NOT NULL, `f1` INT NOT NULL> NOT NULL\n)"
        );
        let mut back: Vec<Reading> = collect(&t_env.to_data_stream_of(&table).unwrap());
        back.sort_by(|a, b| a.partial_cmp(b).unwrap());
        let mut expected = readings;
        expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(back, expected);
        // By name, in another order and without one of the columns.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        struct Short {
            value: Option<f64>,
            sensor: String,
        }
        let shorts: Vec<Short> = collect(&t_env.to_data_stream_of(&table).unwrap());
        assert_eq!(shorts.len(), 3);
        assert!(shorts.contains(&Short {
            value: None,
            sensor: "b".into()
        }));
    });
}

#[test]
fn numbers_are_widened_on_the_way_out() {
    let t_env = environment(1, 100);
    t_env
        .register_data_stream(
            "t",
            &t_env.stream_environment().from_elements([(1i32, 2i16)]),
        )
        .unwrap();
    let table = t_env.sql_query("SELECT f0, f1 FROM t").unwrap();
    assert_eq!(
        collect(&t_env.to_append_stream::<(i64, f64)>(&table).unwrap()),
        [(1i64, 2.0f64)]
    );
    assert_eq!(
        collect(&t_env.to_append_stream::<(u32, i32)>(&table).unwrap()),
        [(1u32, 2)]
    );
    let error = t_env.to_append_stream::<(i16, i16)>(&table).err().unwrap();
    assert_eq!(error.code(), "schema.type_mismatch");
    assert!(error.to_string().contains("column 'f0'"), "{error}");
    let error = t_env.to_append_stream::<(i32,)>(&table).err().unwrap();
    assert_eq!(error.code(), "schema.column_count");
    #[derive(Debug, Clone, Serialize, Deserialize)]
    struct Other {
        f0: i32,
        f2: i32,
    }
    let error = t_env.to_data_stream_of::<Other>(&table).err().unwrap();
    assert_eq!(error.code(), "validation.unknown_column");
    assert!(error.to_string().contains("'f2'"), "{error}");
}

#[test]
fn rows_take_their_types_from_the_elements() {
    with_all_shapes(|t_env| {
        let env = t_env.stream_environment();
        let rows = [
            Row::of(row_values!["Alice", 12]),
            Row::of(row_values!["Bob", Value::Null]),
        ];
        let table = t_env
            .from_data_stream(&env.from_elements(rows).uid("people"))
            .unwrap();
        assert_eq!(
            table.schema().to_string(),
            "(\n  `f0` STRING,\n  `f1` INT\n)"
        );
        assert_eq!(answer(&table), ["+I[Alice, 12]", "+I[Bob, null]"]);
        let streamed = collect(&t_env.to_data_stream(&table).unwrap());
        let alice = streamed
            .iter()
            .find(|row| row.field(0) == Some(&Value::from("Alice")))
            .unwrap();
        assert_eq!(alice.field_by_name("f1"), Some(&Value::Int(12)));
    });
}

#[test]
fn rows_of_unknown_types_need_a_schema() {
    let t_env = environment(1, 100);
    let stream = t_env
        .stream_environment()
        .from_elements([1i64])
        .map(|n| Row::of(row_values![n, "x"]));
    let error = t_env.from_data_stream(&stream).unwrap_err();
    assert_eq!(error.code(), "schema.invalid_schema");
    assert!(
        error.to_string().contains("from_data_stream_with_schema"),
        "{error}"
    );
    let schema = Schema::builder()
        .column("n", "BIGINT")
        .column("name", "STRING")
        .build();
    assert_eq!(
        answer(&t_env.from_data_stream_with_schema(&stream, schema).unwrap()),
        ["+I[1, x]"]
    );
}

fn failure(result: Vec<aquifer_runtime::Result<Row>>) -> RuntimeError {
    result
        .into_iter()
        .find_map(Result::err)
        .expect("the job fails")
}

#[test]
fn kinds_of_rows_are_checked() {
    let t_env = environment(1, 100);
    let env = t_env.stream_environment();
    let rows = [Row::of_kind(RowKind::UpdateAfter, row_values!["Alice"])];
    let table = t_env
        .from_data_stream(&env.from_elements(rows.clone()))
        .unwrap();
    assert_eq!(answer(&table), ["+I[Alice]"]);

    let deleted = [
        Row::of(row_values![1]),
        Row::of_kind(RowKind::Delete, row_values![1]),
    ];
    let table = t_env
        .from_data_stream(&env.from_elements(deleted.clone()))
        .unwrap();
    let result = t_env
        .to_data_stream(&table)
        .unwrap()
        .collect_alone("test")
        .unwrap()
        .collect();
    assert!(
        failure(result)
            .to_string()
            .contains("from_changelog_stream")
    );
    let table = t_env
        .from_changelog_stream(&env.from_elements(deleted))
        .unwrap();
    assert!(answer(&table).is_empty());
    assert_eq!(
        t_env.to_data_stream(&table).err().unwrap().code(),
        "validation.updates_not_accepted"
    );

    t_env
        .config()
        .set("table.exec.source.strict-insert-only", "true")
        .unwrap();
    let table = t_env.from_data_stream(&env.from_elements(rows)).unwrap();
    let result = t_env
        .to_data_stream(&table)
        .unwrap()
        .collect_alone("test")
        .unwrap()
        .collect();
    assert!(failure(result).to_string().contains("+U"));
}

#[test]
fn declared_columns_are_picked_cast_and_computed() {
    with_all_shapes(|t_env| {
        let values = [
            ("2020-01-01T12:00:00".to_string(), 5i32, "x".to_string()),
            ("1999-12-31T00:00:01".to_string(), 7, "y".to_string()),
        ];
        let stream = t_env.stream_environment().from_elements(values);
        let schema = Schema::builder()
            .column("f1", "BIGINT")
            .column_by_expression("twice", "f1 * 2")
            .column("f0", "TIMESTAMP(3)")
            .build();
        let table = t_env.from_data_stream_with_schema(&stream, schema).unwrap();
        assert_eq!(table.schema().column_names(), ["f1", "twice", "f0"]);
        assert_eq!(
            answer(&table),
            [
                "+I[5, 10, 2020-01-01T12:00:00]",
                "+I[7, 14, 1999-12-31T00:00:01]"
            ]
        );
    });
    let t_env = environment(1, 100);
    let stream = t_env
        .stream_environment()
        .from_elements([(1i64, "x".to_string())]);
    let unknown = Schema::builder().column("f9", "INT").build();
    let error = t_env
        .from_data_stream_with_schema(&stream, unknown)
        .unwrap_err();
    assert_eq!(error.code(), "validation.unknown_column");
    let narrow = Schema::builder().column("f0", "INT").build();
    let error = t_env
        .from_data_stream_with_schema(&stream, narrow)
        .unwrap_err();
    assert_eq!(error.code(), "schema.type_mismatch");
    let metadata = Schema::builder()
        .column_by_metadata("offset", "BIGINT")
        .build();
    let error = t_env
        .from_data_stream_with_schema(&stream, metadata)
        .unwrap_err();
    assert!(error.to_string().contains("it offers 'rowtime'"), "{error}");
}

#[test]
fn timestamps_become_a_column_if_asked_for() {
    use aquifer_runtime::time::WatermarkStrategy;
    let t_env = environment(2, 1);
    let stream = t_env
        .stream_environment()
        .from_elements([(7i64, 1_000i64), (8, 2_500)]);
    let schema = || {
        Schema::builder()
            .column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
            .build()
    };
    let untimed = t_env
        .from_data_stream_with_schema(&stream, schema())
        .unwrap();
    let result: Vec<_> = untimed.execute().unwrap().collect().unwrap().collect();
    let error = result.into_iter().find_map(Result::err).unwrap();
    assert!(
        error.report().contains("assign_timestamps_and_watermarks"),
        "{error:?}"
    );

    let strategy = WatermarkStrategy::for_monotonous_timestamps()
        .with_timestamp_assigner(|value: &(i64, i64), _| value.1);
    let timed = stream.assign_timestamps_and_watermarks(strategy);
    let table = t_env
        .from_data_stream_with_schema(&timed, schema())
        .unwrap();
    assert_eq!(table.schema().column_names(), ["f0", "f1", "rowtime"]);
    assert_eq!(
        answer(&table),
        [
            "+I[7, 1000, 1970-01-01T00:00:01Z]",
            "+I[8, 2500, 1970-01-01T00:00:02.500Z]"
        ]
    );
}

#[test]
fn event_time_goes_in_and_comes_out() {
    with_all_shapes(|t_env| {
        let values = [
            (7i64, "1970-01-01T00:00:01.500".to_string()),
            (8, "1969-12-31T23:59:59.999".to_string()),
        ];
        let stream = t_env.stream_environment().from_elements(values);
        let schema = Schema::builder()
            .column("f0", "BIGINT")
            .column("f1", "TIMESTAMP(3)")
            .watermark("f1", "f1 - INTERVAL '1' SECOND")
            .build();
        let table = t_env.from_data_stream_with_schema(&stream, schema).unwrap();
        t_env.create_temporary_view("timed", &table).unwrap();
        let query = t_env
            .sql_query("SELECT f1, f0 * 2 AS twice FROM timed WHERE f0 > 0")
            .unwrap();
        let out = t_env.to_data_stream_of::<(String, i64)>(&query).unwrap();
        let schema = Schema::builder()
            .column("f1", "BIGINT")
            .column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
            .build();
        assert_eq!(
            answer(&t_env.from_data_stream_with_schema(&out, schema).unwrap()),
            [
                "+I[14, 1970-01-01T00:00:01.500Z]",
                "+I[16, 1969-12-31T23:59:59.999Z]"
            ]
        );
    });
}

#[test]
fn names_can_be_given_or_picked() {
    let t_env = environment(1, 100);
    let stream = t_env
        .stream_environment()
        .from_elements([(1i64, "x".to_string())]);
    t_env
        .register_data_stream_as("renamed", &stream, "id, name")
        .unwrap();
    assert_eq!(
        rows_of(&t_env, "SELECT name, id FROM renamed"),
        ["+I[x, 1]"]
    );
    t_env
        .register_data_stream_as("picked", &stream, ["f1"])
        .unwrap();
    assert_eq!(rows_of(&t_env, "SELECT * FROM picked"), ["+I[x]"]);
    assert_eq!(
        t_env
            .from_data_stream_as(&stream, "a, b, c")
            .unwrap_err()
            .code(),
        "schema.column_count"
    );
    assert_eq!(
        t_env
            .from_data_stream_as(&stream, "a, a")
            .unwrap_err()
            .code(),
        "validation.duplicate_name"
    );
    assert_eq!(
        t_env
            .register_data_stream("picked", &stream)
            .unwrap_err()
            .code(),
        "catalog.object_exists"
    );
}

/// `(1, "a")` is replaced by `(1, "b")` in the second epoch, and `(2, "c")` comes and goes within it.
fn changes() -> Vec<Vec<Row>> {
    let row = |kind, id: i32, text: &str| Row::of_kind(kind, row_values![id, text]);
    vec![
        vec![row(RowKind::Insert, 1, "a")],
        vec![
            row(RowKind::Insert, 2, "c"),
            row(RowKind::UpdateAfter, 1, "b"),
            row(RowKind::Delete, 2, "c"),
            row(RowKind::UpdateBefore, 1, "a"),
        ],
        vec![row(RowKind::Delete, 1, "b")],
    ]
}

#[test]
fn an_epoch_leaves_netted_and_takes_back_first() {
    for workers in [1, 2] {
        let t_env = environment(workers, 100);
        let stream = epochs(t_env.stream_environment(), changes());
        let schema = Schema::builder()
            .column("id", "INT NOT NULL")
            .column("text", "STRING")
            .primary_key(["id"])
            .build();
        let table = t_env
            .from_changelog_stream_with_schema(&stream, schema)
            .unwrap();

        let retract = t_env.to_retract_stream::<(i32, String)>(&table).unwrap();
        let retract: Vec<Vec<(bool, (i32, String))>> = by_epoch(&retract)
            .into_iter()
            .map(|(_, values)| values)
            .collect();
        let (a, b) = ((1, "a".to_string()), (1, "b".to_string()));
        assert_eq!(
            retract,
            [
                vec![(true, a.clone())],
                vec![(false, a), (true, b.clone())],
                vec![(false, b)]
            ]
        );

        let changelog = by_epoch(&t_env.to_changelog_stream(&table).unwrap());
        let changelog: Vec<String> = changelog
            .iter()
            .map(|(_, rows)| rows.iter().map(Row::to_string).collect::<String>())
            .collect();
        assert_eq!(changelog, ["+I[1, a]", "-U[1, a]+U[1, b]", "-D[1, b]"]);
    }
}

#[test]
fn a_mode_limits_the_kinds() {
    let t_env = environment(1, 100);
    let stream = epochs(t_env.stream_environment(), changes());
    let schema = || {
        Schema::builder()
            .column("id", "INT")
            .column("text", "STRING")
    };
    let mode = ChangelogMode::of([RowKind::Insert, RowKind::Delete]);
    let table = t_env
        .from_changelog_stream_with_mode(&stream, schema().build(), mode)
        .unwrap();
    let result: Vec<_> = table.execute().unwrap().collect().unwrap().collect();
    assert!(
        result
            .into_iter()
            .find_map(Result::err)
            .unwrap()
            .report()
            .contains("is of kind")
    );
    let error = t_env
        .from_changelog_stream_with_mode(&stream, schema().build(), ChangelogMode::upsert())
        .unwrap_err();
    assert_eq!(error.code(), "schema.invalid_schema");
}

#[test]
fn upserts_become_changes() {
    for workers in [1, 2] {
        let t_env = environment(workers, 100);
        let row = |kind, id: i32, text: &str| Row::of_kind(kind, row_values![id, text]);
        let input = vec![
            vec![row(RowKind::Insert, 1, "a"), row(RowKind::Insert, 2, "x")],
            vec![
                row(RowKind::UpdateAfter, 1, "b"),
                row(RowKind::Delete, 2, "x"),
            ],
        ];
        let stream = epochs(t_env.stream_environment(), input);
        let schema = Schema::builder()
            .column("id", "INT")
            .column("text", "STRING")
            .primary_key(["id"])
            .build();
        let table = t_env
            .from_changelog_stream_with_mode(&stream, schema, ChangelogMode::upsert())
            .unwrap();
        let mut changes: Vec<Vec<String>> = by_epoch(&t_env.to_changelog_stream(&table).unwrap())
            .into_iter()
            .map(|(_, rows)| rows.iter().map(Row::to_string).collect())
            .collect();
        changes.iter_mut().for_each(|rows| rows.sort());
        assert_eq!(
            changes,
            [
                vec!["+I[1, a]", "+I[2, x]"],
                vec!["+U[1, b]", "-D[2, x]", "-U[1, a]"]
            ]
        );
    }
}

#[test]
fn a_changelog_can_have_a_schema_and_a_mode_of_its_own() {
    let t_env = environment(1, 100);
    let stream = epochs(t_env.stream_environment(), changes());
    let key = || {
        Schema::builder()
            .column("id", "INT NOT NULL")
            .column("text", "STRING")
            .primary_key(["id"])
    };
    let table = t_env
        .from_changelog_stream_with_schema(&stream, key().build())
        .unwrap();
    let wider = Schema::builder()
        .column("text", "STRING")
        .column("id", "BIGINT")
        .build();
    let rows = by_epoch(
        &t_env
            .to_changelog_stream_with_schema(&table, wider.clone())
            .unwrap(),
    );
    assert_eq!(rows[0].1[0].fields(), row_values!["a", 1i64]);
    let upserts =
        t_env.to_changelog_stream_with_mode(&table, key().build(), ChangelogMode::upsert());
    let rows: Vec<String> = by_epoch(&upserts.unwrap())
        .iter()
        .map(|(_, rows)| rows.iter().map(Row::to_string).collect::<String>())
        .collect();
    assert_eq!(rows, ["+I[1, a]", "+U[1, b]", "-D[1, b]"]);
    let unkeyed = t_env.to_changelog_stream_with_mode(&table, wider, ChangelogMode::upsert());
    assert_eq!(unkeyed.err().unwrap().code(), "schema.invalid_schema");
    let unknown = Schema::builder().column("name", "STRING").build();
    let error = t_env
        .to_changelog_stream_with_schema(&table, unknown)
        .err()
        .unwrap();
    assert_eq!(error.code(), "validation.unknown_column");
}

#[test]
fn null_needs_an_option() {
    let t_env = environment(1, 100);
    let stream = t_env
        .stream_environment()
        .from_elements([(Some(1i64),), (None,)]);
    let table = t_env.from_data_stream(&stream).unwrap();
    let values: Vec<Option<i64>> = collect(&t_env.to_data_stream_of(&table).unwrap());
    assert_eq!(values, [Some(1), None]);
    let result: Vec<aquifer_runtime::Result<i64>> = t_env
        .to_data_stream_of(&table)
        .unwrap()
        .collect_alone("test")
        .unwrap()
        .collect();
    let error = result.into_iter().find_map(Result::err).unwrap();
    assert!(
        error.to_string().contains("is no Option") || format!("{error:?}").contains("is no Option"),
        "{error:?}"
    );
}
