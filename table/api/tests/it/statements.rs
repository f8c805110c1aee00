//! Statements by text.

use aquifer_table::{StreamTableEnvironment, TableResult};
use aquifer_table_common::{Schema, TableDescriptor};
use aquifer_types::Row;

use crate::memory::{fresh_list, written};
use crate::support::{answer, environment, with_all_shapes};

fn rows(result: &TableResult) -> Vec<String> {
    result
        .collect()
        .unwrap()
        .map(|row| row.unwrap().to_string())
        .collect()
}

fn run(t_env: &StreamTableEnvironment, sql: &str) -> Vec<String> {
    rows(
        &t_env
            .execute_sql(sql)
            .unwrap_or_else(|error| panic!("{sql}: {error:?}")),
    )
}

fn table(t_env: &StreamTableEnvironment, name: &str, list: &str) {
    let with = format!("WITH ('connector' = 'memory', 'list' = '{list}')");
    run(
        t_env,
        &format!("CREATE TABLE {name} (id BIGINT NOT NULL, name STRING) {with}"),
    );
}

#[test]
fn tables_and_views_are_made_listed_described_and_dropped() {
    let t_env = environment(1, 100);
    run(
        &t_env,
        "CREATE TABLE orders (id BIGINT COMMENT 'the key', price DOUBLE, twice AS price * 2, \
         PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'memory', 'list' = 'unused')",
    );
    run(
        &t_env,
        "CREATE TEMPORARY VIEW cheap AS SELECT id FROM orders WHERE price < 1",
    );
    assert_eq!(run(&t_env, "SHOW TABLES"), ["+I[cheap]", "+I[orders]"]);
    assert_eq!(run(&t_env, "SHOW VIEWS"), ["+I[cheap]"]);
    let functions = run(&t_env, "SHOW FUNCTIONS");
    assert!(
        functions.contains(&"+I[upper]".to_string()) && functions.contains(&"+I[sum]".to_string())
    );
    assert_eq!(
        run(&t_env, "SHOW CURRENT DATABASE"),
        ["+I[default_database]"]
    );
    assert_eq!(
        run(&t_env, "DESCRIBE orders"),
        [
            "+I[id, BIGINT, false, PRI(id), null, null, the key]",
            "+I[price, DOUBLE, true, null, null, null, null]",
            "+I[twice, DOUBLE, true, null, AS price * 2, null, null]",
        ]
    );
    assert_eq!(
        run(&t_env, "DESCRIBE cheap"),
        ["+I[id, BIGINT, false, null, null, null]"]
    );
    assert_eq!(
        run(
            &t_env,
            "CREATE TABLE IF NOT EXISTS orders (a INT) WITH ('connector' = 'memory', 'list' = 'x')"
        ),
        ["+I[OK]"]
    );
    run(&t_env, "DROP TEMPORARY VIEW cheap");
    run(&t_env, "DROP TABLE orders");
    run(&t_env, "DROP TABLE IF EXISTS orders");
    assert!(run(&t_env, "SHOW TABLES").is_empty());
}

#[test]
fn inserts_run_as_jobs_and_wait_if_told_to() {
    with_all_shapes(|t_env| {
        let list = fresh_list();
        table(t_env, "target", &list);
        run(t_env, "SET 'table.dml-sync' = 'true'");
        let result = t_env
            .execute_sql("INSERT INTO target VALUES (1, 'a'), (2, 'b')")
            .unwrap();
        assert_eq!(
            result.schema().column_names(),
            ["default_catalog.default_database.target"]
        );
        assert_eq!(rows(&result), ["+I[-1]"]);
        assert_eq!(written(&list), ["+I[1, a]", "+I[2, b]"]);
        run(t_env, "RESET 'table.dml-sync'");
        let result = t_env
            .execute_sql("INSERT INTO target (name, id) SELECT name, id + 10 FROM target")
            .unwrap();
        result.await_done().unwrap();
        assert_eq!(
            written(&list),
            ["+I[1, a]", "+I[11, a]", "+I[12, b]", "+I[2, b]"]
        );
    });
}

#[test]
fn a_statement_set_is_one_job() {
    with_all_shapes(|t_env| {
        let (first, second) = (fresh_list(), fresh_list());
        table(t_env, "first", &first);
        table(t_env, "second", &second);
        let people = t_env
            .stream_environment()
            .from_elements([(1i64, "a".to_string()), (2, "b".to_string())]);
        t_env
            .register_data_stream_as("people", &people, "id, name")
            .unwrap();
        let set = t_env.create_statement_set();
        set.add_insert_sql("INSERT INTO first SELECT * FROM people WHERE id = 1")
            .unwrap();
        set.add_insert("second", &t_env.from("people").unwrap())
            .unwrap();
        let plan = set.explain(&[]).unwrap();
        assert!(plan.contains("first") && plan.contains("second"), "{plan}");
        let result = set.execute().unwrap();
        assert_eq!(result.schema().len(), 2);
        result.await_done().unwrap();
        assert_eq!(written(&first), ["+I[1, a]"]);
        assert_eq!(written(&second), ["+I[1, a]", "+I[2, b]"]);

        for statement in [
            "BEGIN STATEMENT SET",
            "INSERT INTO first VALUES (7, 'x')",
            "INSERT INTO second VALUES (8, 'y')",
        ] {
            assert_eq!(run(t_env, statement), ["+I[OK]"]);
        }
        assert_eq!(written(&first).len(), 1);
        t_env.execute_sql("END").unwrap().await_done().unwrap();
        assert_eq!(written(&first).len(), 2);
        let result = t_env.execute_sql(
            "EXECUTE STATEMENT SET BEGIN INSERT INTO first VALUES (9, 'z'); INSERT INTO second VALUES (9, 'z'); END",
        );
        result.unwrap().await_done().unwrap();
        assert_eq!((written(&first).len(), written(&second).len()), (3, 4));
    });
}

#[test]
fn statements_run_beside_a_stream_program() {
    with_all_shapes(|t_env| {
        let (second, third) = (fresh_list(), fresh_list());
        let env = t_env.stream_environment();
        t_env
            .register_data_stream(
                "t1",
                &env.from_elements([(1i64, "a".to_string()), (2, "b".to_string())]),
            )
            .unwrap();
        table(t_env, "t2", &second);
        let set = t_env.create_statement_set();
        let anonymous = TableDescriptor::for_connector("memory")
            .option("list", &third)
            .build();
        set.add_insert_sql("INSERT INTO t2 SELECT * FROM t1")
            .unwrap()
            .add_insert(anonymous, &t_env.from("t1").unwrap())
            .unwrap();
        set.attach_as_data_stream().unwrap();
        // A query between is a job of its own and leaves the attached statements alone.
        assert_eq!(answer(&t_env.from("t1").unwrap()).len(), 2);
        assert!(written(&second).is_empty());
        let seen = t_env
            .to_retract_stream::<(i64, String)>(&t_env.sql_query("SELECT * FROM t1").unwrap())
            .unwrap();
        let mut seen: Vec<(bool, (i64, String))> = seen
            .execute_and_collect()
            .unwrap()
            .collect::<aquifer_runtime::Result<_>>()
            .unwrap();
        seen.sort();
        assert_eq!(
            seen,
            [(true, (1, "a".to_string())), (true, (2, "b".to_string()))]
        );
        assert_eq!(written(&second), ["+I[1, a]", "+I[2, b]"]);
        assert_eq!(written(&third), written(&second));
    });
}

#[test]
fn descriptors_pipelines_and_values() {
    let t_env = environment(2, 1);
    let schema = Schema::builder()
        .column("id", "BIGINT")
        .column("name", "STRING")
        .build();
    let descriptor = TableDescriptor::for_connector("memory")
        .schema(schema)
        .option("list", "descriptors")
        .build();
    t_env
        .create_temporary_table("memory", descriptor.clone())
        .unwrap();
    let values = t_env.from_values([(1, "one"), (2, "two")]).unwrap();
    assert_eq!(
        values.schema().to_string(),
        "(\n  `f0` INT NOT NULL,\n  `f1` STRING NOT NULL\n)"
    );
    let pipeline = values.insert_into("memory").unwrap();
    assert_eq!(pipeline.sink_identifier().unwrap().object, "memory");
    assert!(pipeline.explain(&[]).unwrap().contains("Sink"));
    pipeline.execute().unwrap().await_done().unwrap();
    values
        .execute_insert(descriptor.clone())
        .unwrap()
        .await_done()
        .unwrap();
    assert_eq!(written("descriptors").len(), 4);
    assert_eq!(answer(&t_env.from_descriptor(descriptor).unwrap()).len(), 4);
    assert!(t_env.drop_temporary_table("memory").unwrap());
    assert!(!t_env.drop_temporary_table("memory").unwrap());
    assert_eq!(
        answer(&t_env.from_values([1.5, 2.0]).unwrap()),
        ["+I[1.5]", "+I[2.0]"]
    );
    let mixed = [Row::of(vec![1.into()]), Row::of(vec!["x".into()])];
    assert_eq!(
        t_env.from_values(mixed).unwrap_err().code(),
        "schema.no_common_type"
    );
}

#[test]
fn a_table_can_be_written_into_a_text() {
    let t_env = environment(1, 100);
    let table = t_env.from_values([3, 4]).unwrap();
    let both = t_env
        .sql_query(format!(
            "SELECT * FROM {table} UNION ALL SELECT f0 * 10 FROM {table}"
        ))
        .unwrap();
    assert_eq!(answer(&both), ["+I[30]", "+I[3]", "+I[40]", "+I[4]"]);
}

#[test]
fn plans_show_every_stage() {
    let t_env = environment(1, 100);
    table(&t_env, "source", "plans");
    let plan = &run(
        &t_env,
        "EXPLAIN SELECT id + 1 AS next FROM source WHERE id > 1 + 1",
    )[0];
    for part in [
        "== Abstract Syntax Tree ==",
        "== Optimized Physical Plan ==",
        "== Optimized Execution Plan ==",
    ] {
        assert!(plan.contains(part), "{plan}");
    }
    assert_eq!(
        t_env
            .explain_sql("SELECT id + 1 AS next FROM source WHERE id > 1 + 1")
            .unwrap(),
        plan[3..plan.len() - 1]
    );
    assert!(run(&t_env, "EXPLAIN INSERT INTO source SELECT * FROM source")[0].contains("Sink"));
}

#[test]
fn options_are_set_listed_and_reset() {
    let t_env = environment(1, 100);
    run(&t_env, "SET 'table.local-time-zone' = 'Asia/Shanghai'");
    run(&t_env, "SET 'my.secret' = 'hunter2'");
    let listed = run(&t_env, "SET");
    assert!(
        listed.contains(&"+I[table.local-time-zone, Asia/Shanghai]".to_string()),
        "{listed:?}"
    );
    assert!(!listed.join("").contains("hunter2"), "{listed:?}");
    assert_eq!(
        t_env.config().local_time_zone().unwrap().to_string(),
        "Asia/Shanghai"
    );
    run(&t_env, "RESET 'table.local-time-zone'");
    assert!(t_env.config().local_time_zone().unwrap().is_utc());
    run(&t_env, "RESET");
    // What was set before the session stays.
    assert_eq!(run(&t_env, "SET"), ["+I[pipeline.epoch.max-rows, 100]"]);
}
