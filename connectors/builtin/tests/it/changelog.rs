//! Changes with explicit epochs: what reaches a sink after each epoch is the answer for that epoch.

use std::collections::BTreeMap;

use aquifer_connectors::values;
use aquifer_runtime::StreamExecutionEnvironment;
use aquifer_runtime::config::options::STATE_RECOVERY_PATH;
use aquifer_types::{Row, RowKind, Value, row_values};

use crate::support::{environment, over};

/// The sums per name after each epoch.
fn model(epochs: &[Vec<Row>]) -> Vec<BTreeMap<String, (i64, i64)>> {
    let mut sums: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    let mut states = Vec::new();
    for rows in epochs {
        for row in rows {
            let name = row.fields()[0].as_str().unwrap().to_string();
            let amount = row.fields()[1].as_i64().unwrap();
            let weight = row.kind().weight();
            let entry = sums.entry(name).or_default();
            entry.0 += weight;
            entry.1 += weight * amount;
        }
        sums.retain(|_, (count, _)| *count != 0);
        states.push(sums.clone());
    }
    states
}

#[test]
fn each_epoch_leaves_the_answer_of_its_prefix() {
    let row = |kind, name: &str, amount: i64| Row::of_kind(kind, row_values![name, amount]);
    let epochs = vec![
        vec![
            row(RowKind::Insert, "a", 5),
            row(RowKind::Insert, "b", 1),
            row(RowKind::Insert, "a", 2),
        ],
        vec![
            row(RowKind::UpdateBefore, "a", 5),
            row(RowKind::UpdateAfter, "a", 50),
        ],
        vec![row(RowKind::Delete, "b", 1)],
        vec![],
        vec![
            row(RowKind::Delete, "a", 2),
            row(RowKind::Insert, "c", 9),
            row(RowKind::Delete, "a", 50),
        ],
    ];
    values::register_epochs("amounts", epochs.clone());
    for workers in [1, 2] {
        let id = format!("sums of {workers}");
        let t_env = environment(workers, 1000);
        t_env
            .execute_sql(
                "CREATE TABLE amounts (name STRING, amount BIGINT) WITH ('connector' = 'values', \
                 'data-id' = 'amounts', 'changelog-mode' = 'I,UB,UA,D')",
            )
            .unwrap();
        t_env
            .execute_sql(format!(
                "CREATE TABLE sums (name STRING, n BIGINT, total BIGINT, PRIMARY KEY (name) NOT ENFORCED) \
                 WITH ('connector' = 'values', 'sink-id' = '{id}')"
            ))
            .unwrap();
        let insert =
            "INSERT INTO sums SELECT name, COUNT(*), SUM(amount) FROM amounts GROUP BY name";
        t_env.execute_sql(insert).unwrap().await_done().unwrap();

        let mut state: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        let mut states = Vec::new();
        for (_, rows) in values::result(&id).epochs() {
            for row in rows {
                let [Value::String(name), n, total] = row.fields() else {
                    panic!("{row}")
                };
                match row.kind() {
                    RowKind::Insert | RowKind::UpdateAfter => {
                        state.insert(name.clone(), (n.as_i64().unwrap(), total.as_i64().unwrap()));
                    }
                    RowKind::UpdateBefore => {}
                    RowKind::Delete => assert!(state.remove(name).is_some()),
                }
            }
            states.push(state.clone());
        }
        let mut expected = model(&epochs);
        expected.dedup();
        assert_eq!(states, expected, "{workers} workers");
        let rows: Vec<String> = values::result(&id)
            .materialized()
            .iter()
            .map(Row::to_string)
            .collect();
        assert_eq!(rows, ["+I[c, 1, 9]"]);
    }
}

#[test]
fn a_sink_of_insertions_refuses_a_changelog_when_the_job_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let t_env = environment(1, 1000);
    values::register_data("refused", vec![Row::of(row_values!["a", 1_i64])]);
    t_env
        .execute_sql("CREATE TABLE s (name STRING, amount BIGINT) WITH ('connector' = 'values', 'data-id' = 'refused')")
        .unwrap();
    crate::support::file_table(
        &t_env,
        "t",
        "name STRING, n BIGINT",
        folder.path(),
        "'format' = 'json'",
    );
    let error = t_env
        .execute_sql("INSERT INTO t SELECT name, COUNT(*) FROM s GROUP BY name")
        .err()
        .unwrap();
    assert_eq!(error.code(), "validation.updates_not_accepted");
}

#[test]
fn a_source_without_an_end_can_be_stopped_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let id = "endless result";
    let row = |n: i64| vec![Row::of(row_values![n])];
    let mut savepoint = None;
    for (epochs, workers) in [(2, 2), (4, 1)] {
        values::register_epochs("endless", (0..epochs).map(row).collect());
        let env = StreamExecutionEnvironment::create_local(workers);
        env.set_default_savepoint_directory(folder.path())
            .set(&STATE_RECOVERY_PATH, savepoint.clone());
        let t_env = over(&env);
        let source = "CREATE TABLE s (n BIGINT) WITH ('connector' = 'values', 'data-id' = 'endless', 'bounded' = 'false')";
        t_env.execute_sql(source).unwrap();
        let sink =
            format!("CREATE TABLE t (n BIGINT) WITH ('connector' = 'values', 'sink-id' = '{id}')");
        t_env.execute_sql(sink).unwrap();
        let result = t_env.execute_sql("INSERT INTO t SELECT n FROM s").unwrap();
        let client = result.job_client().unwrap();
        while values::result(id).changelog().len() < epochs as usize {
            assert!(!client.status().is_terminal(), "{:?}", result.await_done());
            std::thread::yield_now();
        }
        savepoint = Some(client.stop_with_savepoint(None, false).unwrap());
    }
    let rows: Vec<String> = values::result(id)
        .changelog()
        .iter()
        .map(Row::to_string)
        .collect();
    assert_eq!(rows, ["+I[0]", "+I[1]", "+I[2]", "+I[3]"]);
}
