//! Rewritten trees have the same columns, and conditions and columns stand where they cost least.

use crate::explain::query_tree;
use crate::testing::Fixture;

use super::optimize;

fn check(fixture: &Fixture, sql: &str, expected: &[&str]) {
    let query = fixture
        .query(sql)
        .unwrap_or_else(|e| panic!("{sql}\n{e:?}"));
    let optimized = optimize(&query).unwrap();
    assert_eq!(optimized.fields(), query.fields(), "{sql}");
    let tree = query_tree(&optimized);
    let lines: Vec<&str> = tree.lines().collect();
    assert_eq!(lines, expected, "{sql}\n{tree}");
}

#[test]
fn constants_are_computed_and_empty_filters_removed() {
    let fixture = Fixture::new();
    check(
        &fixture,
        "SELECT 1 + 2 AS a, CASE WHEN TRUE THEN k ELSE 0 END AS b FROM updates WHERE 1 = 1",
        &[
            "LogicalProject(a=[3], b=[$0])",
            "+- LogicalTableScan(table=[[default_catalog, default_database, updates]])",
        ],
    );
    check(
        &fixture,
        "SELECT k FROM updates WHERE 1 = 2",
        &["LogicalValues(tuples=[[]])"],
    );
    check(
        &fixture,
        "SELECT COUNT(*) AS n, SUM(k) AS s FROM updates WHERE FALSE",
        &["LogicalValues(tuples=[[{ 0, NULL }]])"],
    );
}

#[test]
fn filters_move_to_the_scans() {
    let fixture = Fixture::new();
    check(
        &fixture,
        "SELECT * FROM (SELECT a.k, b.v AS w FROM updates a JOIN updates b ON a.k = b.k) WHERE k > 1 AND w < 5",
        &[
            "LogicalProject(k=[$0], w=[$2])",
            "+- LogicalJoin(condition=[($0 = $1)], joinType=[inner])",
            "   :- LogicalFilter(condition=[($0 > 1)])",
            "   :  +- LogicalTableScan(table=[[default_catalog, default_database, updates]])",
            "   +- LogicalFilter(condition=[($1 < 5)])",
            "      +- LogicalTableScan(table=[[default_catalog, default_database, updates]])",
        ],
    );
    // The right side of a left join is padded: its condition stays above.
    check(
        &fixture,
        "SELECT a.k FROM updates a LEFT JOIN updates b ON a.k = b.k AND b.v > 1 WHERE a.v = 2 AND b.v IS NULL",
        &[
            "LogicalProject(k=[$0])",
            "+- LogicalFilter(condition=[$3 IS NULL])",
            "   +- LogicalJoin(condition=[($0 = $2)], joinType=[left])",
            "      :- LogicalFilter(condition=[($1 = 2)])",
            "      :  +- LogicalTableScan(table=[[default_catalog, default_database, updates]])",
            "      +- LogicalFilter(condition=[($1 > 1)])",
            "         +- LogicalTableScan(table=[[default_catalog, default_database, updates]])",
        ],
    );
    check(
        &fixture,
        "SELECT * FROM (SELECT k, COUNT(*) AS n FROM updates GROUP BY k) WHERE k = 1 AND n > 2",
        &[
            "LogicalProject(k=[$0], n=[$1])",
            "+- LogicalFilter(condition=[($1 > 2)])",
            "   +- LogicalAggregate(group=[{0}], COUNT(*) AS EXPR$0)",
            "      +- LogicalFilter(condition=[($0 = 1)])",
            "         +- LogicalTableScan(table=[[default_catalog, default_database, updates]])",
        ],
    );
}

#[test]
fn comma_joins_get_their_condition_and_keys_become_columns() {
    let fixture = Fixture::new();
    check(
        &fixture,
        "SELECT o.id FROM orders o, updates u WHERE o.id + 1 = u.v",
        &[
            "LogicalProject(id=[$0])",
            "+- LogicalJoin(condition=[($1 = $2)], joinType=[inner])",
            "   :- LogicalProject(id=[$0], $k1=[CAST(($0 + 1) AS BIGINT)])",
            "   :  +- LogicalTableScan(table=[[default_catalog, default_database, orders]])",
            "   +- LogicalTableScan(table=[[default_catalog, default_database, updates]])",
        ],
    );
}

#[test]
fn unions_and_distinct_take_filters_and_keep_their_columns() {
    let fixture = Fixture::new();
    check(
        &fixture,
        "SELECT k FROM (SELECT k, v FROM updates UNION ALL SELECT id, 1 FROM orders) WHERE k > 0",
        &[
            "LogicalUnion(all=[true])",
            ":- LogicalFilter(condition=[($0 > 0)])",
            ":  +- LogicalTableScan(table=[[default_catalog, default_database, updates]])",
            "+- LogicalProject(k=[$0])",
            "   +- LogicalFilter(condition=[($0 > 0)])",
            "      +- LogicalTableScan(table=[[default_catalog, default_database, orders]])",
        ],
    );
}

/// Random rows as a table `(k INT, v INT, s STRING)` with NULLs and duplicates.
fn random_table(seed: u64, rows: usize, alias: &str) -> String {
    let mut state = seed;
    let mut next = |bound: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let mut row = || {
        let k = if next(8) == 0 {
            "CAST(NULL AS INT)".to_string()
        } else {
            next(5).to_string()
        };
        let s = if next(6) == 0 {
            "CAST(NULL AS STRING)".to_string()
        } else {
            format!("'{}'", (b'a' + next(4) as u8) as char)
        };
        format!("({k}, {}, {s})", next(10))
    };
    let rows: Vec<String> = (0..rows).map(|_| row()).collect();
    format!("(VALUES {}) AS {alias} (k, v, s)", rows.join(", "))
}

/// Queries over `{A}`, `{B}` and `{C}` in which every rule finds something to do.
const QUERIES: &[&str] = &[
    "SELECT * FROM {A} WHERE k > 1 AND v + 1 < 8 OR s = 'a'",
    "SELECT k + v FROM (SELECT k, v + 1 AS v FROM {A} WHERE s <> 'b') WHERE v > 3",
    "SELECT a.k, b.v FROM {A} JOIN {B} ON a.k = b.k AND a.v < b.v WHERE a.s = b.s AND b.v > 2",
    "SELECT a.k, b.v FROM {A}, {B} WHERE a.k + 1 = b.v AND a.s = 'a'",
    "SELECT a.*, b.s FROM {A} LEFT JOIN {B} ON a.k = b.k AND b.v > 4 AND a.v > 2 WHERE a.s = 'a'",
    "SELECT a.v, b.v FROM {A} LEFT JOIN {B} ON a.k = b.v WHERE b.k IS NULL",
    "SELECT a.k, b.k FROM {A} RIGHT JOIN {B} ON a.v = b.v AND a.k > 1 WHERE b.s = 'c' OR a.k = 2",
    "SELECT k, a.v, b.s FROM {A} FULL JOIN {B} USING (k) WHERE a.v > 3 OR b.s = 'a'",
    "SELECT a.k FROM {A} JOIN {B} ON a.k IS NOT DISTINCT FROM b.k JOIN {C} ON b.v = c.v WHERE c.k < 4",
    "SELECT k FROM (SELECT k, v FROM {A} UNION ALL SELECT v, k FROM {B}) WHERE k > 2",
    "SELECT a.k, b.v, c.s FROM {A} CROSS JOIN {B}, {C} WHERE a.k = c.k AND b.v = a.v",
    "WITH q AS (SELECT k, v FROM {A} WHERE v > 2) SELECT x.v, y.v FROM q x JOIN q y ON x.k = y.k",
    "SELECT CASE WHEN k = 1 THEN s WHEN 1 = 2 THEN 'never' ELSE 'x' END FROM {A} WHERE NOT (k = 3) OR TRUE",
    "SELECT a.k FROM {A} LEFT JOIN {B} ON a.k = b.k AND FALSE",
    "SELECT a.v FROM {A} WHERE a.v > 2 AND a.k + 1 IN (SELECT b.v FROM {B} WHERE b.k > 0)",
    "SELECT a.v, a.s FROM {A} WHERE a.k NOT IN (SELECT b.k FROM {B} WHERE b.s = 'a')",
    "SELECT s FROM (SELECT a.s, a.k FROM {A} WHERE NOT EXISTS (SELECT 1 FROM {B} WHERE b.k = a.k AND b.v > a.v)) WHERE k > 1",
    "SELECT a.k FROM {A} WHERE EXISTS (SELECT 1 FROM {B} JOIN {C} ON b.k = c.k WHERE b.v = a.v AND c.v > 1)",
    "SELECT a.k FROM {A} WHERE NOT EXISTS (SELECT 1 FROM {B} WHERE FALSE) AND a.k IN (SELECT c.k FROM {C} WHERE c.s = a.s)",
    "SELECT a.k FROM {A} JOIN {B} ON a.k = b.k AND a.k > 1 AND b.k < 4",
];

fn check_against_written(queries: &[&str]) {
    let fixture = Fixture::new();
    for (seed, query) in (1..4).flat_map(|seed| queries.iter().map(move |q| (seed, q))) {
        let sql = query
            .replace("{A}", &random_table(seed, 9, "a"))
            .replace("{B}", &random_table(seed + 100, 7, "b"))
            .replace("{C}", &random_table(seed + 200, 5, "c"));
        let written = fixture
            .rows_as_written(&sql)
            .unwrap_or_else(|e| panic!("{sql}\n{e:?}"));
        let optimized = fixture
            .rows(&sql, 2)
            .unwrap_or_else(|e| panic!("{sql}\n{e:?}"));
        assert_eq!(optimized, written, "{sql}");
    }
}

#[test]
fn optimised_queries_give_the_same_rows_as_written_ones() {
    check_against_written(QUERIES);
}

/// The same with aggregations, which the rules move filters and columns through.
const AGGREGATIONS: &[&str] = &[
    "SELECT k, COUNT(*), SUM(v), MIN(s), MAX(v) FROM {A} WHERE v > 1 GROUP BY k HAVING COUNT(*) > 1 AND k > 0",
    "SELECT n FROM (SELECT k, s, COUNT(*) AS n, SUM(v) AS unused FROM {A} GROUP BY k, s) WHERE k = 1 AND n < 3",
    "SELECT COUNT(DISTINCT v), AVG(v), COUNT(s) FILTER (WHERE k > 1) FROM {A}",
    "SELECT DISTINCT k FROM (SELECT k, v FROM {A} UNION ALL SELECT v, k FROM {B}) WHERE k > 1",
    "SELECT a.k, b.n FROM {A} LEFT JOIN (SELECT k, COUNT(*) AS n FROM {B} GROUP BY k) b ON a.k = b.k WHERE a.v > 2",
    "SELECT n, COUNT(*) FROM (SELECT k, COUNT(*) AS n FROM {A} GROUP BY k) GROUP BY n",
    "SELECT a.k + 1 AS x, SUM(a.v * b.v) FROM {A} JOIN {B} ON a.k = b.k GROUP BY a.k + 1",
    "SELECT s, MAX(n) FROM (SELECT s, k, COUNT(*) AS n FROM {A} GROUP BY s, k) GROUP BY s",
    "SELECT x.k FROM (SELECT k, COUNT(*) AS n FROM {A} GROUP BY k) x JOIN (SELECT k, COUNT(*) AS n FROM {B} GROUP BY k) y \
     ON x.k = y.k AND x.n > y.n",
    "SELECT k FROM {A} UNION SELECT k FROM {B} UNION ALL SELECT v FROM {C}",
];

#[test]
fn optimised_aggregations_give_the_same_rows_as_written_ones() {
    check_against_written(AGGREGATIONS);
}
