//! Queries in, columns and trees or errors out.

use aquifer_table_common::operation::{ModifyOperation, Operation};

use crate::explain::query_tree;
use crate::testing::Fixture;

/// Names and types of a query's columns.
fn columns(fixture: &Fixture, sql: &str) -> String {
    let query = fixture
        .query(sql)
        .unwrap_or_else(|e| panic!("{sql}\n{e:?}"));
    query
        .fields()
        .iter()
        .map(|f| format!("{} {}", f.name, f.data_type))
        .collect::<Vec<_>>()
        .join(", ")
}

#[test]
fn columns_have_the_references_names_and_types() {
    let fixture = Fixture::new();
    let mut wrong = Vec::new();
    for (sql, expected) in [
        // Literals.
        (
            "SELECT 1, 3000000000, 1.50, 1e3, 'abc', TRUE, NULL, X'00ff'",
            "EXPR$0 INT NOT NULL, EXPR$1 BIGINT NOT NULL, EXPR$2 DECIMAL(3, 2) NOT NULL, EXPR$3 DOUBLE NOT NULL, EXPR$4 CHAR(3) NOT NULL, EXPR$5 BOOLEAN NOT NULL, EXPR$6 NULL, EXPR$7 BINARY(2) NOT NULL",
        ),
        (
            "SELECT DATE '2020-01-02' AS d, TIME '10:00:00' AS t, TIMESTAMP '2020-01-02 10:00:00.123' AS ts",
            "d DATE NOT NULL, t TIME(0) NOT NULL, ts TIMESTAMP(3) NOT NULL",
        ),
        (
            "SELECT INTERVAL '1' DAY AS a, INTERVAL '1-2' YEAR TO MONTH AS b, -5 AS c",
            "a INTERVAL SECOND(3) NOT NULL, b INTERVAL MONTH NOT NULL, c INT NOT NULL",
        ),
        // Names.
        (
            "SELECT id, orders.id, id AS x, o.id FROM orders, orders AS o WHERE FALSE",
            "AMBIGUOUS",
        ),
        (
            "SELECT o.id, o.id, o.amount AS id FROM orders AS o",
            "id INT NOT NULL, id0 INT NOT NULL, id1 INT",
        ),
        (
            "SELECT x.a, b FROM (SELECT id, amount FROM orders) AS x (a, b)",
            "a INT NOT NULL, b INT",
        ),
        ("SELECT t.* FROM updates AS t", "k INT, v BIGINT"),
        (
            "SELECT * FROM events",
            "id INT, total INT, offset BIGINT, ts TIMESTAMP(3)",
        ),
        (
            "SELECT default_catalog.default_database.updates.k FROM updates",
            "k INT",
        ),
        ("SELECT * FROM big", "id INT NOT NULL, price DECIMAL(10, 2)"),
        // Expressions.
        (
            "SELECT id + 1 AS a, amount + 1 AS b, id > 1 AS c FROM orders",
            "a INT NOT NULL, b INT, c BOOLEAN NOT NULL",
        ),
        (
            "SELECT CASE WHEN amount > 1 THEN 1 ELSE 2.5 END AS a, CASE amount WHEN 1 THEN 'x' END AS b FROM orders",
            "a DECIMAL(11, 1) NOT NULL, b CHAR(1)",
        ),
        (
            "SELECT CAST(id AS STRING) AS a, TRY_CAST(customer AS INT) AS b FROM orders",
            "a STRING NOT NULL, b INT",
        ),
        (
            "SELECT amount IN (1, 2) AS a, amount BETWEEN 1 AND 2 AS b, customer LIKE 'a%' AS c, amount IS NULL AS d FROM orders",
            "a BOOLEAN, b BOOLEAN, c BOOLEAN, d BOOLEAN NOT NULL",
        ),
        (
            "SELECT ts - INTERVAL '1' DAY AS a FROM orders",
            "a TIMESTAMP(3)",
        ),
        // Grouping.
        (
            "SELECT customer, COUNT(*) AS n, SUM(amount) AS s FROM orders GROUP BY customer",
            "customer STRING, n BIGINT NOT NULL, s INT",
        ),
        (
            "SELECT COUNT(*), MAX(id) FROM orders",
            "EXPR$0 BIGINT NOT NULL, EXPR$1 INT",
        ),
        (
            "SELECT MAX(id) AS m FROM orders GROUP BY customer",
            "m INT NOT NULL",
        ),
        (
            "SELECT amount + 1 AS k, COUNT(DISTINCT customer) AS n FROM orders GROUP BY amount + 1 HAVING COUNT(*) > 1",
            "k INT, n BIGINT NOT NULL",
        ),
        ("SELECT DISTINCT customer FROM orders", "customer STRING"),
        // Joins.
        (
            "SELECT o.id, c.country FROM orders o JOIN customers c ON o.customer = c.name",
            "id INT NOT NULL, country STRING",
        ),
        (
            "SELECT o.id, c.name FROM orders o LEFT JOIN customers c ON o.customer = c.name",
            "id INT NOT NULL, name STRING",
        ),
        (
            "SELECT c.name, o.id FROM orders o RIGHT JOIN customers c ON o.customer = c.name",
            "name STRING NOT NULL, id INT",
        ),
        (
            "SELECT * FROM updates a JOIN updates b USING (k)",
            "k INT, v BIGINT, v0 BIGINT",
        ),
        (
            "SELECT k FROM updates a FULL JOIN updates b USING (k)",
            "k INT",
        ),
        (
            "SELECT * FROM updates a NATURAL JOIN (SELECT k, 1 AS x FROM updates) b",
            "k INT, v BIGINT, x INT NOT NULL",
        ),
        (
            "SELECT a.k FROM updates a CROSS JOIN updates b, updates c",
            "k INT",
        ),
        // Sub-queries.
        (
            "SELECT * FROM updates u WHERE k IN (SELECT id FROM orders) AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.id = u.k)",
            "k INT, v BIGINT",
        ),
        // Windows.
        (
            "SELECT * FROM TABLE(TUMBLE(TABLE instants, DESCRIPTOR(ts), INTERVAL '1' DAY))",
            "id INT, ts TIMESTAMP_LTZ(3), window_start TIMESTAMP(3) NOT NULL, window_end TIMESTAMP(3) NOT NULL, window_time TIMESTAMP_LTZ(3) NOT NULL",
        ),
        (
            "SELECT window_time FROM HOP(TIMECOL => DESCRIPTOR(ts), DATA => TABLE events, SLIDE => INTERVAL '1' MINUTE, SIZE => INTERVAL '1' HOUR) AS w",
            "window_time TIMESTAMP(3) NOT NULL",
        ),
        // Set operations, VALUES, WITH.
        (
            "SELECT id FROM orders UNION ALL SELECT v FROM updates",
            "id BIGINT",
        ),
        (
            "SELECT k FROM updates UNION SELECT 1 UNION ALL SELECT 2",
            "k INT",
        ),
        (
            "VALUES (1, 'a'), (NULL, 'abc')",
            "EXPR$0 INT, EXPR$1 VARCHAR(3) NOT NULL",
        ),
        (
            "SELECT a, b FROM (VALUES (1, 'x')) AS t (a, b)",
            "a INT NOT NULL, b CHAR(1) NOT NULL",
        ),
        (
            "WITH q (a) AS (SELECT 1), r AS (SELECT a + 1 AS b FROM q) SELECT * FROM r, q",
            "b INT NOT NULL, a INT NOT NULL",
        ),
    ] {
        if expected == "AMBIGUOUS" {
            assert_eq!(
                fixture.query(sql).unwrap_err().code(),
                "validation.ambiguous_column"
            );
        } else {
            let found = columns(&fixture, sql);
            if found != expected {
                wrong.push(format!("{sql}\n  found    {found}\n  expected {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn errors_name_the_thing_the_place_and_the_remedy() {
    let fixture = Fixture::new();
    let mut wrong = Vec::new();
    // (text, code, line, column, part of the report)
    for (sql, code, line, column, part) in [
        (
            "SELECT prise FROM orders",
            "validation.unknown_column",
            1,
            8,
            "Did you mean 'price'?",
        ),
        (
            "SELECT o.prise\nFROM orders o",
            "validation.unknown_column",
            1,
            8,
            "in table 'o'",
        ),
        (
            "SELECT x.id FROM orders o",
            "validation.unknown_qualifier",
            1,
            8,
            "Did you mean 'o'?",
        ),
        (
            "SELECT * FROM order",
            "validation.unknown_table",
            1,
            15,
            "Did you mean 'orders'?",
        ),
        (
            "SELECT * FROM ordres",
            "validation.unknown_table",
            1,
            15,
            "Did you mean 'orders'?",
        ),
        (
            "SELECT k FROM updates a, updates b",
            "validation.ambiguous_column",
            1,
            8,
            "such as a.k",
        ),
        (
            "SELECT * FROM updates, updates",
            "validation.duplicate_name",
            1,
            24,
            "updates",
        ),
        (
            "SELECT COALESC(id, 1) FROM orders",
            "validation.unknown_function",
            1,
            8,
            "COALESCE",
        ),
        (
            "SELECT id + customer FROM orders",
            "validation.invalid_arguments",
            1,
            8,
            "INT NOT NULL, STRING",
        ),
        ("SELECT 1 WHERE 1", "schema.type_mismatch", 1, 16, "BOOLEAN"),
        (
            "SELECT id FROM orders GROUP BY customer",
            "validation.not_grouped",
            1,
            8,
            "Add 'id' to GROUP BY",
        ),
        (
            "SELECT * FROM orders GROUP BY customer",
            "validation.not_grouped",
            1,
            8,
            "GROUP BY",
        ),
        (
            "SELECT 1 FROM orders WHERE COUNT(*) > 1",
            "validation.misplaced_aggregate",
            1,
            28,
            "WHERE",
        ),
        (
            "SELECT SUM(COUNT(*)) FROM orders",
            "validation.misplaced_aggregate",
            1,
            12,
            "another aggregate",
        ),
        (
            "SELECT MAX(*) FROM orders",
            "validation.invalid_clause",
            1,
            8,
            "COUNT(*)",
        ),
        (
            "SELECT 1 UNION ALL SELECT 1, 2",
            "schema.column_count",
            1,
            1,
            "expected 1",
        ),
        (
            "SELECT 1 UNION ALL SELECT TRUE",
            "schema.no_common_type",
            1,
            1,
            "BOOLEAN",
        ),
        ("VALUES (1), (1, 2)", "schema.column_count", 1, 14, "VALUES"),
        (
            "SELECT CAST(id AS DATE) FROM orders",
            "schema.invalid_cast",
            1,
            13,
            "DATE",
        ),
        (
            "SELECT DATE '2020-13-01'",
            "schema.invalid_literal",
            1,
            13,
            "2020-12-31",
        ),
        (
            "SELECT INTERVAL '1x' DAY",
            "schema.invalid_literal",
            1,
            17,
            "unit",
        ),
        (
            "SELECT 123456789012345678901234567890123456789.0",
            "schema.invalid_literal",
            1,
            8,
            "38 digits",
        ),
        (
            "SELECT a FROM (SELECT 1) AS t (a, b)",
            "validation.invalid_clause",
            1,
            29,
            "names 2 columns",
        ),
        (
            "SELECT id FROM orders ORDER BY id",
            "unsupported.feature",
            1,
            1,
            "ORDER BY",
        ),
        (
            "SELECT id FROM orders LIMIT 1",
            "unsupported.feature",
            1,
            1,
            "LIMIT",
        ),
        (
            "SELECT id FROM orders WHERE id = 1 OR id IN (SELECT k FROM updates)",
            "unsupported.feature",
            1,
            39,
            "sub-query",
        ),
        (
            "SELECT SUM(id) OVER (PARTITION BY id) FROM orders",
            "unsupported.feature",
            1,
            8,
            "OVER",
        ),
        (
            "SELECT 1 INTERSECT SELECT 2",
            "unsupported.feature",
            1,
            20,
            "INTERSECT",
        ),
        (
            "SELECT 1 FROM orders GROUP BY GROUPING SETS ((id), ())",
            "unsupported.feature",
            1,
            47,
            "GROUPING SETS",
        ),
        (
            "SELECT * FROM TABLE(f(1))",
            "unsupported.feature",
            1,
            21,
            "table function",
        ),
        (
            "WITH RECURSIVE r AS (SELECT 1) SELECT * FROM r",
            "unsupported.feature",
            1,
            1,
            "RECURSIVE",
        ),
        (
            "INSERT INTO append_sink SELECT 1",
            "schema.column_count",
            1,
            13,
            "expected 2",
        ),
        (
            "INSERT INTO append_sink SELECT 'x', 'y'",
            "schema.type_mismatch",
            1,
            13,
            "column 'a'",
        ),
        (
            "INSERT INTO append_sink (a, c) SELECT 1, 2",
            "validation.unknown_column",
            1,
            29,
            "'c'",
        ),
        (
            "INSERT INTO upsert_sink (word) SELECT 'x'",
            "validation.invalid_clause",
            1,
            13,
            "NOT NULL",
        ),
        (
            "CREATE TABLE t (a INT, a INT) WITH ('connector' = 'test')",
            "validation.duplicate_name",
            1,
            24,
            "'a'",
        ),
        (
            "CREATE TABLE t (a DECIMAL(50)) WITH ('connector' = 'test')",
            "types.parse_type",
            1,
            19,
            "38",
        ),
        (
            "CREATE TABLE t (a INT, b AS c + 1) WITH ('connector' = 'test')",
            "validation.unknown_column",
            1,
            29,
            "'c'",
        ),
        (
            "CREATE TABLE t (a INT, PRIMARY KEY (b) NOT ENFORCED)",
            "schema.invalid_schema",
            1,
            14,
            "'b'",
        ),
        (
            "CREATE TABLE t (a INT, WATERMARK FOR a AS a)",
            "schema.type_mismatch",
            1,
            14,
            "TIMESTAMP(3)",
        ),
        (
            "CREATE VIEW v (a, b) AS SELECT 1",
            "validation.invalid_clause",
            1,
            16,
            "2 columns",
        ),
    ] {
        let error = match fixture.operation(sql) {
            Err(error) => error,
            Ok(operation) => panic!("{sql}: {}", operation.summary()),
        };
        let at = error.position().map(|at| (at.line, at.column));
        if error.code() != code || at != Some((line, column)) || !error.report().contains(part) {
            wrong.push(format!("{sql}: {error:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn inserts_bring_columns_to_the_tables_order_and_types() {
    let fixture = Fixture::new();
    let Operation::Modify(ModifyOperation::Sink { child, .. }) = fixture
        .operation("INSERT INTO append_sink (b, a) SELECT 'x', CAST(1 AS TINYINT)")
        .unwrap()
    else {
        panic!()
    };
    let tree = query_tree(&child);
    assert!(
        tree.starts_with("LogicalProject(a=[CAST($1 AS INT)], b=[$0])\n"),
        "{tree}"
    );
}

#[test]
fn views_that_contain_themselves_are_refused() {
    let fixture = Fixture::new();
    fixture.run_script("CREATE VIEW v1 AS SELECT id FROM orders");
    fixture.run_script("CREATE VIEW v2 AS SELECT id FROM v1");
    let path = aquifer_table_common::UnresolvedIdentifier::parse("v1").unwrap();
    let id = fixture.catalogs.qualify(&path);
    fixture.catalogs.drop_table(&id, true, false).unwrap();
    let looping = fixture.operation("CREATE VIEW v1 AS SELECT 1").unwrap();
    let Operation::Create(aquifer_table_common::operation::CreateOperation::View {
        mut view, ..
    }) = looping
    else {
        panic!()
    };
    if let aquifer_table_common::catalog::ViewQuery::Sql { text, .. } = &mut view.query {
        *text = "SELECT id FROM v2".to_string();
    }
    let table = aquifer_table_common::catalog::CatalogBaseTable::View(view);
    fixture.catalogs.create_table(&id, table, false).unwrap();
    let error = fixture.query("SELECT * FROM v1").unwrap_err();
    assert!(error.to_string().contains("contains itself"), "{error:?}");
}

#[test]
fn long_and_deep_expressions_do_not_overflow() {
    let fixture = Fixture::new();
    let ors = vec!["id = 1"; 3000].join(" OR ");
    assert!(
        fixture
            .query(&format!("SELECT id FROM orders WHERE {ors}"))
            .is_ok()
    );
    let sums = vec!["id"; 390].join(" + ");
    assert!(fixture.query(&format!("SELECT {sums} FROM orders")).is_ok());
    let nested = format!(
        "SELECT {}id{} FROM orders",
        "(1 + ".repeat(40),
        ")".repeat(40)
    );
    assert!(fixture.query(&nested).is_ok());
    let unions = vec!["SELECT id FROM orders"; 1000].join(" UNION ALL ");
    assert!(fixture.query(&unions).is_ok());
}
