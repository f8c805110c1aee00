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
