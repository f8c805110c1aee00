//! The sample of `ARCHITECTURE.md`: what the document shows of it is what it prints.

use std::fs;
use std::path::Path;

use aquifer::prelude::*;

const QUERY: &str = "SELECT o.fruit, SUM(o.pieces * p.price) AS total
     FROM orders AS o JOIN prices AS p ON o.fruit = p.fruit
     WHERE o.pieces > 1 + 1 GROUP BY o.fruit";

/// Each line that is printed stands in the document.
fn assert_shown(printed: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    let document = fs::read_to_string(path).unwrap();
    for line in printed.lines().map(str::trim) {
        assert!(
            document.lines().any(|shown| shown.trim() == line),
            "ARCHITECTURE.md does not show '{line}' of:\n{printed}"
        );
    }
}

/// The part of an EXPLAIN under a heading.
fn section<'a>(explained: &'a str, heading: &str) -> &'a str {
    let (_, rest) = explained.split_once(heading).unwrap();
    rest.trim_start_matches([' ', '=', '\n'])
        .split("\n\n")
        .next()
        .unwrap()
}

#[test]
fn the_sample_prints_what_the_document_shows() {
    let folder = tempfile::tempdir().unwrap();
    let prices = folder.path().join("prices.csv");
    fs::write(&prices, "pear,2\nplum,1\n").unwrap();

    let env = StreamExecutionEnvironment::create_local(2);
    let t_env = StreamTableEnvironment::create(&env).unwrap();
    let orders = env
        .from_elements([("pear", 3), ("plum", 5), ("pear", 4)].map(|(f, n)| (f.to_string(), n)))
        .uid("orders");
    t_env
        .register_data_stream_as("orders", &orders, "fruit, pieces")
        .unwrap();
    t_env
        .execute_sql(format!(
            "CREATE TABLE prices (fruit STRING, price INT) \
             WITH ('connector' = 'filesystem', 'path' = '{}', 'format' = 'csv')",
            prices.display()
        ))
        .unwrap();
    let totals = t_env.sql_query(QUERY).unwrap();

    let explained = totals.explain(&[ExplainDetail::ChangelogMode]).unwrap();
    assert_shown(section(&explained, "Abstract Syntax Tree"));
    assert_shown(section(&explained, "Optimized Execution Plan"));

    let changes = t_env
        .to_retract_stream::<(String, Option<i32>)>(&totals)
        .unwrap()
        .uid("changes");
    changes.print();
    assert_shown(env.execution_plan().unwrap().trim());

    // What the epochs were decides whether a first answer is taken back; the last answer is the same.
    let mut answer = Vec::new();
    for change in changes.execute_and_collect().unwrap() {
        match change.unwrap() {
            (true, row) => answer.push(row),
            (false, row) => answer.retain(|other| *other != row),
        }
    }
    assert_eq!(answer.len(), 2);
    for row in answer {
        assert_shown(&format!("(true, {row:?})"));
    }
}
