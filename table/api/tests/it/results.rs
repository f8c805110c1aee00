//! Results: iterators, printing, waiting.

use aquifer_table::ResultKind;

use aquifer_runtime::JobStatus;

use crate::support::{endless, environment};

fn printed(result: &aquifer_table::TableResult) -> String {
    let mut out = Vec::new();
    result.print_to(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn queries_print_as_changelogs_and_definitions_as_ok() {
    let t_env = environment(1, 100);
    let result = t_env
        .execute_sql("SELECT * FROM (VALUES ('Bob', 12)) AS t(name, age)")
        .unwrap();
    assert_eq!(result.kind(), ResultKind::SuccessWithContent);
    let text = printed(&result);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[1].starts_with("| op |") && lines[1].ends_with(" age |"),
        "{text}"
    );
    assert!(
        lines[3].starts_with("| +I |") && lines[3].ends_with(" 12 |"),
        "{text}"
    );
    assert_eq!(lines[5], "1 row in set");
    let error = result.collect().err().unwrap();
    assert_eq!(error.code(), "validation.invalid_clause");

    let result = t_env
        .execute_sql("CREATE VIEW v AS SELECT 1 AS one")
        .unwrap();
    assert_eq!(result.kind(), ResultKind::Success);
    assert!(result.job_client().is_none());
    assert_eq!(printed(&result), "OK\n");
    assert_eq!(
        printed(&t_env.execute_sql("SHOW VIEWS").unwrap()),
        "+-----------+\n| view name |\n+-----------+\n|         v |\n+-----------+\n1 row in set\n"
    );
}

#[test]
fn waiting_for_a_query_keeps_its_first_row() {
    let t_env = environment(2, 1);
    let result = t_env.from_values([1, 2, 3]).unwrap().execute().unwrap();
    result.await_done().unwrap();
    result.await_done().unwrap();
    assert_eq!(result.collect().unwrap().count(), 3);
    result.job_client().unwrap().await_result().unwrap();
}

#[test]
fn a_job_that_fails_says_why() {
    let t_env = environment(2, 1);
    let stream = t_env
        .stream_environment()
        .from_elements(["1".to_string(), "x".to_string()]);
    t_env.register_data_stream("t", &stream).unwrap();
    let result = t_env.execute_sql("SELECT CAST(f0 AS INT) FROM t").unwrap();
    let error = result.collect().unwrap().find_map(Result::err).unwrap();
    assert!(error.report().contains('x'), "{error:?}");
}

#[test]
fn a_query_without_an_end_stops_when_nobody_reads_it() {
    for workers in [1, 2] {
        let t_env = environment(workers, 10);
        t_env
            .register_data_stream_as("numbers", &endless(t_env.stream_environment()), "n")
            .unwrap();
        let result = t_env
            .execute_sql("SELECT MAX(n) AS most FROM numbers WHERE n % 2 = 0")
            .unwrap();
        let client = result.job_client().unwrap().clone();
        let rows: Vec<String> = result
            .collect()
            .unwrap()
            .take(3)
            .map(|row| row.unwrap().to_string())
            .collect();
        assert_eq!(rows, ["+I[0]", "-U[0]", "+U[2]"]);
        assert_eq!(client.await_result().unwrap_err().code(), "job.cancelled");
        assert_eq!(client.status(), JobStatus::Canceled);
    }
}
