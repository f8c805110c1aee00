//! Texts in, statements or errors out.

use proptest::prelude::*;

use super::*;

/// Texts that must parse; each is also the seed of mutations.
const GOOD: &[&str] = &[
    "SELECT 1",
    "SELECT a, b AS c, t.*, COUNT(*) FILTER (WHERE a > 1) FROM t WHERE a = 'x''y' GROUP BY a, b HAVING COUNT(*) > 1",
    "SELECT DISTINCT a FROM c.d.t AS x (a, b) LEFT JOIN `my table` u ON x.a = u.a AND u.b < 3",
    "SELECT * FROM (SELECT a FROM t) AS s, (VALUES (1, 'x'), (2, NULL)) AS v (i, s)",
    "WITH q AS (SELECT 1 AS a) SELECT a FROM q UNION ALL SELECT 2",
    "VALUES (1, DATE '2020-01-02', TIMESTAMP '2020-01-01 00:00:00', TIME '10:00:00', X'00ff', U&'\\00e9')",
    "SELECT CAST(a AS ROW<x INT NOT NULL, `y z` ARRAY<MAP<STRING, DECIMAL(10, 2)>>>), TRY_CAST(b AS TIMESTAMP_LTZ(3)) FROM t",
    "SELECT CASE WHEN a THEN 1 ELSE 2 END, CASE a WHEN 1 THEN 'x' END, a IS NOT NULL, b BETWEEN 1 AND 2, c IN (1, 2) FROM t",
    "SELECT CASE a WHEN 1, 2 THEN 'x' ELSE 'y' END, a NOT BETWEEN SYMMETRIC 3 AND 1, TRIM(BOTH FROM b) FROM t",
    "SELECT INTERVAL '1' DAY, INTERVAL '1-2' YEAR TO MONTH, ts - INTERVAL '5' SECOND, MAP['a', 1], ARRAY[1, 2], ROW(1, 2) FROM t",
    "SELECT EXTRACT(YEAR FROM d), FLOOR(ts TO DAY), POSITION('a' IN b), TRIM(BOTH 'x' FROM b), SUBSTRING(b FROM 1 FOR 2), \
     OVERLAY(b PLACING 'x' FROM 1), CURRENT_DATE, a NOT LIKE 'x%' ESCAPE '!' FROM t",
    "CREATE TABLE t (a INT NOT NULL COMMENT 'key', b STRING, c AS a + 1, m TIMESTAMP(3) WITH LOCAL TIME ZONE METADATA FROM 'ts' VIRTUAL, \
     ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (a) NOT ENFORCED) \
     COMMENT 'all' PARTITIONED BY (a) WITH ('connector' = 'datagen', 'x' = 'y')",
    "CREATE TEMPORARY TABLE IF NOT EXISTS c.d.t (a INT PRIMARY KEY NOT ENFORCED) WITH ('connector' = 'print')",
    "CREATE TEMPORARY VIEW IF NOT EXISTS v (a, b) COMMENT 'x' AS SELECT 1, 2",
    "DROP TEMPORARY TABLE IF EXISTS t; DROP VIEW v",
    "INSERT INTO t SELECT * FROM s",
    "INSERT INTO t (a, b) VALUES (1, 2), (3, 4)",
    "INSERT OVERWRITE t PARTITION (a = 1) (SELECT b FROM s)",
    "EXPLAIN CHANGELOG_MODE, JSON_EXECUTION_PLAN SELECT 1",
    "EXPLAIN PLAN FOR INSERT INTO t SELECT 1",
    "EXPLAIN STATEMENT SET BEGIN INSERT INTO a SELECT 1; END",
    "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END;",
    "BEGIN STATEMENT SET; INSERT INTO a SELECT 1; END;",
    "SHOW TABLES; SHOW CURRENT DATABASE; DESCRIBE t; DESC a.b.c; USE CATALOG c; USE c.d",
    "SET 'a' = 'b'; SET; RESET; RESET 'a'",
    "-- a comment\nSELECT /* another */ 1 -- and one more",
    "",
    ";;",
];

#[test]
fn good_texts_parse() {
    for sql in GOOD {
        if let Err(error) = parse_statements(sql) {
            panic!("{sql}\n{error:?}");
        }
    }
}

fn create_table(sql: &str) -> CreateTable {
    match parse_statements(sql).unwrap().remove(0).statement {
        Statement::CreateTable(table) => *table,
        other => panic!("{other:?}"),
    }
}

#[test]
fn create_table_keeps_every_part() {
    let table = create_table(GOOD[11]);
    let kinds: Vec<String> = table
        .columns
        .iter()
        .map(|c| match &c.kind {
            ColumnKindSyntax::Physical(t) => format!("{} {}", c.name.value, t.text),
            ColumnKindSyntax::Computed(e) => format!("{} AS {}", c.name.value, e.text),
            ColumnKindSyntax::Metadata {
                data_type,
                key,
                is_virtual,
            } => {
                format!(
                    "{} {} METADATA {key:?} {is_virtual}",
                    c.name.value, data_type.text
                )
            }
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "a INT NOT NULL",
            "b STRING",
            "c AS a + 1",
            "m TIMESTAMP(3) WITH LOCAL TIME ZONE METADATA Some(\"ts\") true",
            "ts TIMESTAMP(3)"
        ]
    );
    let (column, watermark) = table.watermark.unwrap();
    assert_eq!(
        (column.value.as_str(), watermark.text.as_str()),
        ("ts", "ts - INTERVAL '5' SECOND")
    );
    let (name, columns) = table.primary_key.unwrap();
    assert_eq!(
        (name.unwrap().value.as_str(), columns[0].value.as_str()),
        ("pk", "a")
    );
    assert_eq!(table.comment.as_deref(), Some("all"));
    assert_eq!(table.options[1], ("x".to_string(), "y".to_string()));
}

#[test]
fn types_keep_a_text_that_the_type_layer_reads() {
    for (sql, expected) in [
        (
            "ROW<a INT, `b c` ARRAY<ARRAY<INT>> NOT NULL>",
            "ROW<`a` INT, `b c` ARRAY<ARRAY<INT>> NOT NULL>",
        ),
        ("ROW(a INT NOT NULL)", "ROW<`a` INT NOT NULL>"),
        (
            "MULTISET<MAP<STRING, ROW<x BIGINT>>>",
            "MULTISET<MAP<STRING, ROW<`x` BIGINT>>>",
        ),
        ("timestamp_ltz(3)", "TIMESTAMP_LTZ(3)"),
        ("DECIMAL( 10 ,2 )", "DECIMAL(10, 2)"),
        ("VARCHAR(10) NOT NULL", "VARCHAR(10) NOT NULL"),
        ("INTERVAL DAY TO SECOND(3)", "INTERVAL DAY TO SECOND(3)"),
        ("DOUBLE PRECISION", "DOUBLE"),
        ("INT ARRAY", "ARRAY<INT>"),
    ] {
        let table = create_table(&format!("CREATE TABLE t (a {sql})"));
        let ColumnKindSyntax::Physical(syntax) = &table.columns[0].kind else {
            panic!("{sql}")
        };
        let parsed: aquifer_types::DataType = syntax.text.parse().unwrap();
        assert_eq!(
            parsed,
            expected.parse().unwrap(),
            "{sql} as {}",
            syntax.text
        );
    }
}

#[test]
fn the_view_keeps_its_text() {
    let sql = "CREATE VIEW v AS\n  SELECT 'é' AS a -- c\n  FROM t ; SELECT 1";
    let Statement::CreateView(view) = parse_statements(sql).unwrap().remove(0).statement else {
        panic!()
    };
    assert_eq!(view.query_text, "SELECT 'é' AS a -- c\n  FROM t");
}

#[test]
fn errors_show_place_and_expectation() {
    // (text, line, column, part of the message)
    for (sql, line, column, part) in [
        ("SELECT FROM t", 1, 8, "expected"),
        ("SELECT a\nFROM", 2, 5, "the end of the text"),
        ("SELEC 1", 1, 1, "expected a statement such as SELECT"),
        ("SELECT 1 SELECT 2", 1, 10, ""),
        ("SELECT \"a\" FROM t", 1, 8, "double quotes"),
        ("SELECT 'abc", 1, 8, "nterminated string"),
        ("SELECT `abc", 1, 8, "delimiter"),
        ("SELECT /* abc", 1, 14, "comment"),
        (
            "CREATE TABLE t (a FOO)",
            1,
            19,
            "expected a type, found FOO",
        ),
        (
            "CREATE TABLE t (a INT, PRIMARY KEY (a))",
            1,
            39,
            "NOT ENFORCED",
        ),
        (
            "CREATE TABLE t (a INT) WITH (x = 'y')",
            1,
            30,
            "expected a string in single quotes, found x",
        ),
        ("CREATE TABLE t (a ARRAY<INT>>)", 1, 28, "one '>' too many"),
        ("INSERT t SELECT 1", 1, 8, "INTO"),
        ("DROP TABEL t", 1, 6, "expected TABLE or VIEW"),
        ("EXPLAIN DROP TABLE t", 1, 9, "expected a query"),
        ("SELECT 1;\nSHOW NOTHING", 2, 6, "expected CATALOGS"),
        ("SELECT INTERVAL '1'", 1, 20, ""),
        (
            "SELECT CASE a THEN 1 END",
            1,
            15,
            "expected WHEN, found THEN",
        ),
        (
            "SELECT CASE WHEN a THEN 1 FROM t",
            1,
            27,
            "expected END, found FROM",
        ),
        (
            "INSERT INTO t SELECT 1 ON CONFLICT DO NOTHING",
            1,
            24,
            "ON CONFLICT",
        ),
        (
            "CREATE DATABASE d",
            1,
            8,
            "CREATE DATABASE is not supported",
        ),
    ] {
        let error = parse_statements(sql).expect_err(sql);
        let at = error.position().expect(sql);
        assert_eq!((at.line, at.column), (line, column), "{sql}: {error:?}");
        assert!(error.to_string().contains(part), "{sql}: {error:?}");
    }
}

#[test]
fn hints_are_refused_and_not_ignored() {
    let error = parse_statements("SELECT * FROM t /*+ OPTIONS('a' = 'b') */").unwrap_err();
    assert_eq!(error.code(), "unsupported.feature");
}

#[test]
fn depth_and_length_are_limited_without_overflow() {
    for (open, close) in [
        ("(", ")"),
        ("(SELECT ", ")"),
        ("CASE WHEN ", ""),
        ("ABS(", ")"),
        ("NOT ", ""),
        ("- ", ""),
        ("ARRAY[", "]"),
    ] {
        let sql = format!("SELECT {}1{}", open.repeat(5_000), close.repeat(5_000));
        assert_eq!(
            parse_statements(&sql).expect_err(open).code(),
            "parse.syntax"
        );
    }
    let deep_type = format!(
        "CREATE TABLE t (a {}INT{})",
        "ARRAY<".repeat(5_000),
        ">".repeat(5_000)
    );
    assert!(parse_statements(&deep_type).is_err());
    for operator in ["+", "AND", "||", "UNION ALL SELECT"] {
        let sql = format!("SELECT 1 {}", format!("{operator} 1 ").repeat(50_000));
        assert_eq!(
            parse_statements(&sql).expect_err(operator).code(),
            "parse.syntax"
        );
    }
    let many_rows = format!("VALUES {}", vec!["(1, -1)"; 20_000].join(", "));
    assert!(parse_statements(&many_rows).is_ok());
    let many_terms = format!("SELECT {}", vec!["a = 1"; 300].join(" OR "));
    assert!(parse_statements(&many_terms).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn random_text_never_panics(text in "\\PC{0,80}") {
        let _ = parse_statements(&text);
        let _ = parse_expression(&text);
    }

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        let _ = parse_statements(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn mutated_statements_never_panic(
        seed in 0..GOOD.len(),
        edits in proptest::collection::vec((any::<u16>(), 0usize..6, 0..GOOD.len()), 1..6),
    ) {
        let mut words: Vec<&str> = GOOD[seed].split_inclusive([' ', ',', '(', ')', '<', '>']).collect();
        for (place, edit, other) in edits {
            let at = place as usize % words.len().max(1);
            if words.is_empty() {
                break;
            }
            match edit {
                0 => { words.remove(at); }
                1 => words.insert(at, ["SELECT ", "(", ")", ", ", "'", "`", "CASE ", "/*", "<", ">> ", "NULL ", "1e9 "][other % 12]),
                2 => { let word = words[at]; words.insert(at, word); }
                3 => words.truncate(at),
                4 => { let b = other % words.len(); words.swap(at, b); }
                _ => words.extend(GOOD[other].split_inclusive(' ').take(3)),
            }
        }
        let text = words.concat();
        if let Err(error) = parse_statements(&text) {
            let _ = error.report();
        }
    }
}
