//! What is wrong is told at once, with a stable code.

use crate::support::environment;

fn check(sql: &str, code: &str, parts: &[&str]) {
    let t_env = environment(1, 100);
    let stream = t_env
        .stream_environment()
        .from_elements([(1i64, "x".to_string())]);
    t_env
        .register_data_stream_as("orders", &stream, "id, name")
        .unwrap();
    t_env.execute_sql("CREATE TABLE sink (id BIGINT, name STRING) WITH ('connector' = 'memory', 'list' = 'errors')").unwrap();
    let bad =
        "CREATE TABLE bad_option (a INT) WITH ('connector' = 'memory', 'list' = 'x', 'lst' = 'y')";
    t_env.execute_sql(bad).unwrap();
    t_env
        .execute_sql("CREATE TABLE no_connector (a INT) WITH ('connector' = 'memry')")
        .unwrap();
    let error = t_env.execute_sql(sql).map(|_| ()).expect_err(sql);
    assert_eq!(error.code(), code, "{sql}: {error:?}");
    for part in parts {
        assert!(
            error.report().contains(part),
            "'{part}' is not in: {error:?}"
        );
    }
}

#[test]
fn texts_that_do_not_parse() {
    check(
        "SELEC id FROM orders",
        "parse.syntax",
        &["line 1, column 1"],
    );
    check("SELECT id FROM", "parse.syntax", &["line 1"]);
    check(
        "SELECT id FROM orders; SELECT 1",
        "validation.wrong_statement",
        &["one statement"],
    );
    check("", "validation.wrong_statement", &[]);
}

#[test]
fn names_that_do_not_exist() {
    check(
        "SELECT ids FROM orders",
        "validation.unknown_column",
        &["'ids'", "Did you mean 'id'?"],
    );
    check(
        "SELECT id FROM order_s",
        "validation.unknown_table",
        &["Did you mean 'orders'?"],
    );
    check(
        "SELECT COLESCE(id, 1) FROM orders",
        "validation.unknown_function",
        &["COLESCE"],
    );
    check(
        "INSERT INTO sinks SELECT * FROM orders",
        "validation.unknown_table",
        &["Did you mean 'sink'?"],
    );
    check("DROP TABLE nothing", "catalog.unknown_object", &["nothing"]);
    check(
        "USE CATALOG nothing",
        "catalog.unknown_catalog",
        &["nothing"],
    );
    check("DESCRIBE nothing", "validation.unknown_table", &["nothing"]);
}

#[test]
fn types_and_columns_that_do_not_fit() {
    check(
        "SELECT id FROM orders WHERE name",
        "schema.type_mismatch",
        &[],
    );
    check(
        "INSERT INTO sink SELECT id FROM orders",
        "schema.column_count",
        &["expected 2 columns, found 1"],
    );
    check(
        "INSERT INTO sink SELECT name, id FROM orders",
        "schema.type_mismatch",
        &["column 'id'"],
    );
    check(
        "SELECT id FROM orders UNION ALL SELECT id, name FROM orders",
        "schema.column_count",
        &[],
    );
}

#[test]
fn options_and_connectors_that_do_not_exist() {
    check(
        "SELECT * FROM bad_option",
        "validation.unknown_option",
        &["'lst'"],
    );
    check(
        "SELECT * FROM no_connector",
        "validation.unknown_factory",
        &["'memry'", "memory"],
    );
    check("INSERT INTO bad SELECT 1", "validation.unknown_table", &[]);
    check(
        "SET 'pipeline.epoch.max-rows' = 'many'",
        "validation.invalid_option",
        &["many"],
    );
    check(
        "SET 'table.local-time-zone' = 'Nowhere/City'",
        "types.parse_value",
        &["Nowhere/City"],
    );
    check("END", "validation.invalid_clause", &["BEGIN STATEMENT SET"]);
}

#[test]
fn statements_in_the_wrong_place() {
    let t_env = environment(1, 100);
    assert_eq!(
        t_env.sql_query("SHOW TABLES").unwrap_err().code(),
        "validation.wrong_statement"
    );
    let set = t_env.create_statement_set();
    assert_eq!(
        set.add_insert_sql("SELECT 1").err().unwrap().code(),
        "validation.wrong_statement"
    );
    assert_eq!(
        set.execute().err().unwrap().code(),
        "validation.wrong_statement"
    );
    assert_eq!(
        t_env.from("a.b.c.d").unwrap_err().code(),
        "validation.invalid_identifier"
    );
    let one = t_env.from_values([1, 2]).unwrap();
    assert_eq!(
        one.insert_into("nothing").err().unwrap().code(),
        "validation.unknown_table"
    );
    t_env.create_temporary_view("v", &one).unwrap();
    assert_eq!(
        one.insert_into("v").err().unwrap().code(),
        "catalog.wrong_kind"
    );
}
