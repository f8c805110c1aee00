//! Plans are stable, refuse what cannot work, and run.

use std::sync::{Mutex, OnceLock};

use proptest::prelude::*;

use crate::ExecNodeGraph;
use crate::testing::Fixture;
use aquifer_table_common::operation::{ModifyOperation, Operation, OutputMode};

fn plan(fixture: &Fixture, sql: &str) -> aquifer_table_common::Result<ExecNodeGraph> {
    let operations = match fixture.operation(sql)? {
        Operation::Query(child) => vec![ModifyOperation::Collect { child }],
        Operation::Modify(operation) => vec![operation],
        Operation::StatementSet(inserts) => inserts,
        _ => return Ok(ExecNodeGraph::default()),
    };
    fixture.planner.plan(&operations)
}

#[test]
fn a_plan_survives_json() {
    let fixture = Fixture::new();
    for sql in [
        "SELECT customer, COUNT(DISTINCT amount) AS n, SUM(price) FILTER (WHERE id > 1) FROM orders GROUP BY customer",
        "INSERT INTO upsert_sink SELECT c.name, COUNT(*) FROM orders o LEFT JOIN customers c ON o.customer = c.name GROUP BY c.name",
        "SELECT * FROM events UNION ALL SELECT 1, 2, 3, TIMESTAMP '2020-01-01 00:00:00'",
        "VALUES (1, 'a', DATE '2020-01-01', 1.5), (NULL, NULL, NULL, NULL)",
    ] {
        let mut graph = plan(&fixture, sql).unwrap_or_else(|e| panic!("{sql}\n{e:?}"));
        let json = graph.to_json().unwrap();
        let back = ExecNodeGraph::from_json(&json).unwrap_or_else(|e| panic!("{json}\n{e:?}"));
        graph.streams.clear();
        assert_eq!(back, graph, "{sql}");
        assert_eq!(back.to_json().unwrap(), json);
    }
}

#[test]
fn secrets_do_not_reach_a_plan() {
    let fixture = Fixture::new();
    fixture.run_script("CREATE TABLE s (a INT) WITH ('connector' = 'test', 'mode' = 'insert', 'password' = 'hunter2')");
    let json = plan(&fixture, "SELECT a FROM s")
        .unwrap()
        .to_json()
        .unwrap();
    assert!(
        json.contains("password") && !json.contains("hunter2"),
        "{json}"
    );
}

#[test]
fn broken_plans_are_refused() {
    let fixture = Fixture::new();
    let json = plan(&fixture, "SELECT k FROM updates")
        .unwrap()
        .to_json()
        .unwrap();
    for (from, to) in [
        ("\"format_version\": 1", "\"format_version\": 9"),
        ("stream-exec-calc_1", "stream-exec-calc_7"),
        ("stream-exec-output_1", "stream-exec-outputs_1"),
        ("\"roots\": [", "\"roots\": [77, "),
        ("{", "["),
    ] {
        let broken = json.replacen(from, to, 1);
        if broken != json {
            assert_eq!(
                ExecNodeGraph::from_json(&broken).unwrap_err().code(),
                "plan.unreadable",
                "{from}"
            );
        }
    }
}

#[test]
fn common_parts_and_scans_are_shared() {
    let fixture = Fixture::new();
    let graph = plan(
        &fixture,
        "EXECUTE STATEMENT SET BEGIN \
         INSERT INTO append_sink SELECT id, customer FROM orders WHERE id > 1; \
         INSERT INTO append_sink SELECT id, customer FROM orders WHERE id > 1; \
         INSERT INTO append_sink SELECT amount, 'x' FROM orders; END",
    )
    .unwrap();
    let count = |prefix: &str| {
        graph
            .nodes
            .iter()
            .filter(|n| n.kind.type_name().starts_with(prefix))
            .count()
    };
    assert_eq!(count("stream-exec-table-source-scan"), 1);
    assert_eq!(count("stream-exec-sink"), 3);
    let scan = &graph.nodes[0];
    assert_eq!(
        scan.output
            .iter()
            .map(|f| f.name.as_str())
            .collect::<Vec<_>>(),
        ["id", "customer", "amount"]
    );
}

#[test]
fn targets_that_cannot_take_updates_are_refused_with_the_cause() {
    let fixture = Fixture::new();
    let query = fixture
        .query("SELECT customer, COUNT(*) FROM orders GROUP BY customer")
        .unwrap();
    let operation = ModifyOperation::OutputConversion {
        child: query,
        mode: OutputMode::Append,
    };
    let error = fixture.planner.plan(&[operation]).unwrap_err();
    assert_eq!(error.code(), "validation.updates_not_accepted");
    assert!(error.report().contains("GROUP BY customer"), "{error:?}");

    for (sql, cause) in [
        (
            "SELECT k, 'x' FROM updates",
            "table `default_catalog`.`default_database`.`updates`",
        ),
        (
            "SELECT o.id, c.name FROM orders o LEFT JOIN big ON o.id = big.id, customers c",
            "LeftOuterJoin",
        ),
    ] {
        let operation = fixture
            .operation(&format!("INSERT INTO append_sink {sql}"))
            .unwrap();
        let Operation::Modify(operation) = operation else {
            panic!()
        };
        let environment = aquifer_runtime::StreamExecutionEnvironment::create_local(1);
        let factories = fixture.factories.read().clone();
        let context = crate::TranslateContext {
            environment: &environment,
            factories: &factories,
            time_zone: aquifer_types::temporal::TimeZone::default(),
            idle_timeout_ms: None,
        };
        let error = fixture
            .planner
            .translate(&[operation], &context)
            .unwrap_err();
        assert_eq!(error.code(), "validation.updates_not_accepted");
        assert!(error.report().contains(cause), "{sql}: {error:?}");
    }
}

/// Two small tables for queries that run.
const T: &str =
    "(VALUES (1, 'a', 10), (2, 'b', 20), (2, 'a', 5), (3, CAST(NULL AS STRING), 7)) AS t (k, s, v)";
const U: &str = "(VALUES (1, 'x'), (2, 'y'), (2, 'z'), (9, 'w')) AS u (k, name)";

/// Runs queries with one and two workers. `{T}` and `{U}` stand for the tables.
fn check_rows(cases: &[(&str, &[&str])]) {
    let fixture = Fixture::new();
    for (sql, expected) in cases {
        let sql = sql.replace("{T}", T).replace("{U}", U);
        for workers in [1, 2] {
            let rows = fixture
                .rows(&sql, workers)
                .unwrap_or_else(|e| panic!("{sql}\n{e:?}"));
            assert_eq!(rows, *expected, "{sql} with {workers} workers");
        }
    }
}

#[test]
fn queries_give_their_final_rows() {
    check_rows(&[
        ("SELECT 1 + 1, NULLIF('a', 'b')", &["2, a"]),
        ("SELECT s, v * 2 FROM {T} WHERE k = 2", &["a, 10", "b, 40"]),
        (
            "SELECT t.v, u.name FROM {T} JOIN {U} ON t.k = u.k",
            &["10, x", "20, y", "20, z", "5, y", "5, z"],
        ),
        (
            "SELECT t.k, u.name FROM {T} LEFT JOIN {U} ON t.k = u.k AND u.name <> 'y'",
            &["1, x", "2, z", "2, z", "3, null"],
        ),
        (
            "SELECT k, t.v, u.name FROM {T} FULL JOIN {U} USING (k) WHERE v IS NULL OR name IS NULL",
            &["3, 7, null", "9, null, w"],
        ),
        (
            "SELECT k FROM {T} UNION ALL SELECT k FROM {U} WHERE k > 2",
            &["1", "2", "2", "3", "9"],
        ),
        (
            "SELECT * FROM (VALUES (1), (2)) AS a (x) CROSS JOIN (VALUES (3)) AS b (y)",
            &["1, 3", "2, 3"],
        ),
        ("SELECT a FROM (VALUES (1)) AS t (a) WHERE a > 5", &[]),
    ]);
}

#[test]
fn sub_queries_give_their_final_rows() {
    check_rows(&[
        (
            "SELECT v FROM {T} WHERE k IN (SELECT k FROM {U})",
            &["10", "20", "5"],
        ),
        (
            "SELECT v FROM {T} WHERE k NOT IN (SELECT k FROM {U})",
            &["7"],
        ),
        (
            "SELECT v FROM {T} WHERE v > 5 AND NOT (k IN (SELECT k FROM {U} WHERE name = 'x'))",
            &["20", "7"],
        ),
        (
            "SELECT v FROM {T} WHERE EXISTS (SELECT 1 FROM {U} WHERE u.k = t.k AND u.name <> 'x')",
            &["20", "5"],
        ),
        (
            "SELECT v FROM {T} WHERE NOT EXISTS (SELECT * FROM {U} WHERE u.k = t.k)",
            &["7"],
        ),
        (
            "SELECT v FROM {T} WHERE EXISTS (SELECT 1 FROM {U} WHERE name = 'q')",
            &[],
        ),
        (
            "SELECT v FROM {T} WHERE NOT EXISTS (SELECT 1 FROM {U} WHERE name = 'q') AND k = 1",
            &["10"],
        ),
        // NULL: nothing is known to differ from it.
        (
            "SELECT v FROM {T} WHERE s NOT IN (SELECT name FROM {U})",
            &["10", "20", "5"],
        ),
        (
            "SELECT v FROM {T} WHERE k NOT IN (SELECT NULLIF(k, 9) FROM {U})",
            &[],
        ),
        (
            "SELECT k FROM {U} WHERE k IN (SELECT k FROM {T} GROUP BY k HAVING COUNT(*) > 1)",
            &["2", "2"],
        ),
        (
            "SELECT v FROM {T} WHERE v IN (SELECT MAX(v) FROM {T} GROUP BY k)",
            &["10", "20", "7"],
        ),
    ]);
}

#[test]
fn aggregations_give_their_final_rows() {
    check_rows(&[
        (
            "SELECT s, COUNT(*), SUM(v) FROM {T} GROUP BY s",
            &["a, 2, 15", "b, 1, 20", "null, 1, 7"],
        ),
        (
            "SELECT COUNT(*), MAX(v), MIN(s), AVG(v) FROM {T}",
            &["4, 20, a, 10"],
        ),
        (
            "SELECT COUNT(DISTINCT k), COUNT(v) FILTER (WHERE v > 6) FROM {T}",
            &["3, 3"],
        ),
        (
            "SELECT k FROM {T} GROUP BY k HAVING SUM(v) > 8",
            &["1", "2"],
        ),
        ("SELECT DISTINCT k FROM {T}", &["1", "2", "3"]),
        (
            "SELECT k FROM {T} UNION SELECT k FROM {U}",
            &["1", "2", "3", "9"],
        ),
        (
            "SELECT COUNT(*) FROM (SELECT k, MAX(v) AS m FROM {T} GROUP BY k) WHERE m > 8",
            &["2"],
        ),
        (
            "SELECT n, COUNT(*) FROM (SELECT k, COUNT(*) AS n FROM {T} GROUP BY k) GROUP BY n",
            &["1, 2", "2, 1"],
        ),
        (
            "SELECT u.name, c.n FROM {U} LEFT JOIN (SELECT k, COUNT(*) AS n FROM {T} GROUP BY k) c ON u.k = c.k",
            &["w, null", "x, 1", "y, 2", "z, 2"],
        ),
        ("SELECT COUNT(*) FROM {T} WHERE v > 100", &[]),
    ]);
}

#[test]
fn windows_are_assigned_by_their_aggregation_and_give_final_rows() {
    let fixture = Fixture::new();
    for (sql, expected) in [
        (
            "SELECT window_start, window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end",
            "WindowAggregate(window=[TUMBLE(size=[10000 ms])], timeCol=[ts], select=[COUNT(*) AS EXPR$0, window_start, window_end])",
        ),
        (
            "SELECT window_end, id, SUM(total) FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '1' MINUTE)) GROUP BY id, window_start, window_end",
            "WindowAggregate(groupBy=[id], window=[HOP(size=[60000 ms], slide=[1000 ms])], timeCol=[ts], select=[id, SUM(total) AS EXPR$0, window_start, window_end])",
        ),
        (
            "SELECT COUNT(*) FROM (SELECT * FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND)) WHERE window_start > TIMESTAMP '2020-01-01 00:00:00') GROUP BY window_start, window_end",
            "WindowAggregate(win_start=[window_start], win_end=[window_end], select=[COUNT(*) AS EXPR$0, window_start, window_end])",
        ),
    ] {
        let query = fixture
            .query(sql)
            .unwrap_or_else(|e| panic!("{sql}\n{e:?}"));
        let operation = ModifyOperation::OutputConversion {
            child: query,
            mode: OutputMode::Append,
        };
        let graph = fixture
            .planner
            .plan(&[operation])
            .unwrap_or_else(|e| panic!("{sql}\n{e:?}"));
        let found: Vec<&str> = graph.nodes.iter().map(|n| n.description.as_str()).collect();
        assert!(found.contains(&expected), "{sql}\n{}", found.join("\n"));
        assert_eq!(
            ExecNodeGraph::from_json(&graph.to_json().unwrap()).unwrap(),
            graph
        );
    }
}

#[test]
fn a_failing_row_fails_the_job_with_the_operator() {
    let fixture = Fixture::new();
    let error = fixture
        .rows("SELECT 1 / a FROM (VALUES (1), (0)) AS t (a)", 1)
        .unwrap_err();
    assert!(error.report().contains("Values(tuples=["), "{error:?}");
}

/// Statements whose mutations are planned; words are exchanged among all of them.
const SEEDS: &[&str] = &[
    "SELECT o . id , COUNT ( * ) AS n FROM orders o JOIN updates u ON o . id = u . k WHERE o . price > 1 GROUP BY o . id HAVING COUNT ( * ) > 1",
    "SELECT customer , SUM ( amount ) FILTER ( WHERE id > 1 ) FROM orders GROUP BY customer",
    "SELECT DISTINCT k , v FROM updates WHERE k IN ( SELECT id FROM orders ) AND v < 5",
    "SELECT * FROM updates a LEFT JOIN updates b ON a . k = b . v AND a . v > 1 WHERE b . k IS NULL",
    "SELECT k FROM updates UNION ALL SELECT id FROM orders WHERE id = 1 OR FALSE",
    "SELECT window_start , MAX ( total ) FROM TABLE ( TUMBLE ( TABLE events , DESCRIPTOR ( ts ) , INTERVAL '1' DAY ) ) GROUP BY window_start , window_end",
    "SELECT a . k , b . n FROM updates a FULL JOIN ( SELECT k , COUNT ( * ) AS n FROM updates GROUP BY k ) b USING ( k )",
    "SELECT CASE WHEN k > 1 THEN v ELSE 0 END FROM updates WHERE NOT EXISTS ( SELECT 1 FROM orders o WHERE o . id = updates . k )",
    "INSERT INTO append_sink SELECT id , customer FROM big JOIN orders USING ( id )",
    "SELECT v FROM ( VALUES ( 1 , 'a' ) , ( 2 , 'b' ) ) AS t ( k , v ) WHERE k = 1 + 1",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn mutated_statements_never_panic_the_planner(
        seed in 0..SEEDS.len(),
        edits in proptest::collection::vec((any::<u16>(), 0usize..4, 0..SEEDS.len(), any::<u16>()), 1..4),
    ) {
        let fixture = FIXTURE.get_or_init(|| Mutex::new(Fixture::new())).lock().unwrap();
        let mut words: Vec<&str> = SEEDS[seed].split(' ').collect();
        for (place, edit, other, from) in edits {
            let at = place as usize % words.len();
            let others: Vec<&str> = SEEDS[other].split(' ').collect();
            let word = others[from as usize % others.len()];
            match edit {
                0 => words[at] = word,
                1 => words.insert(at, word),
                2 if words.len() > 1 => { words.remove(at); }
                _ => { let to = from as usize % words.len(); words.swap(at, to); }
            }
        }
        let sql = words.join(" ");
        if let Ok(graph) = plan(&fixture, &sql) {
            prop_assert_eq!(ExecNodeGraph::from_json(&graph.to_json().unwrap()).unwrap(), graph, "{}", sql);
        }
    }
}

static FIXTURE: OnceLock<Mutex<Fixture>> = OnceLock::new();
