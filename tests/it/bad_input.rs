//! What is wrong is told with a stable code, before or while a job runs; nothing panics and nothing hangs.

use std::sync::mpsc;
use std::time::Duration;

use aquifer::connectors::values;
use aquifer::prelude::*;

use crate::oracle::Random;

const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Tables that the statements name.
const SETUP: &[&str] = &[
    "CREATE TABLE t (i INT, l BIGINT, d DOUBLE, s STRING, b BOOLEAN, m DECIMAL(38, 0), ts TIMESTAMP(3)) \
     WITH ('connector' = 'values', 'data-id' = 'bad-input')",
    "CREATE TABLE none (i INT, s STRING) WITH ('connector' = 'values', 'data-id' = 'bad-input-none')",
    "CREATE TABLE appended (n BIGINT) WITH ('connector' = 'values', 'sink-id' = 'bad-input', \
     'sink-changelog-mode' = 'I')",
    "CREATE TABLE required (n BIGINT NOT NULL, s STRING) WITH ('connector' = 'blackhole')",
];

fn register() {
    let row = |i: Option<i32>, text: &str| {
        Row::of(vec![
            i.map_or(Value::Null, Value::Int),
            Value::BigInt(i64::MAX),
            Value::Double(f64::MAX),
            Value::String(text.to_string()),
            Value::Null,
            Value::Decimal("99999999999999999999999999999999999999".parse().unwrap()),
            Value::Null,
        ])
    };
    values::register_data(
        "bad-input",
        vec![row(Some(0), "x"), row(Some(i32::MIN), "12"), row(None, "")],
    );
    values::register_data("bad-input-none", Vec::new());
}

/// The code of the first error, or the number of rows of the last statement.
fn outcome(statements: &str) -> (String, String) {
    let env = StreamExecutionEnvironment::create_local(2);
    let tables = StreamTableEnvironment::create(&env).unwrap();
    for sql in SETUP {
        tables.execute_sql(sql).unwrap();
    }
    let mut rows = 0;
    for sql in statements.split("\n;;\n") {
        let done = tables.execute_sql(sql).and_then(|result| {
            result.await_done()?;
            result.collect()?.collect::<Result<Vec<_>, _>>()
        });
        match done {
            Ok(all) => rows = all.len(),
            Err(error) => return (error.code().to_string(), error.report()),
        }
    }
    (format!("{rows} rows"), String::new())
}

/// Runs on a thread of its own, so that a panic or a hang is one outcome among others.
fn watch(statements: &str) -> (String, String) {
    let (sender, receiver) = mpsc::channel();
    let own = statements.to_string();
    std::thread::spawn(move || {
        let _ = sender.send(outcome(&own));
    });
    match receiver.recv_timeout(TIME_LIMIT) {
        Ok(outcome) => outcome,
        Err(mpsc::RecvTimeoutError::Timeout) => ("hung".to_string(), String::new()),
        Err(mpsc::RecvTimeoutError::Disconnected) => ("panicked".to_string(), String::new()),
    }
}

/// Statements with what comes of them: a code, or a number of rows.
const CASES: &[(&str, &str)] = &[
    ("", "validation.wrong_statement"),
    (";", "validation.wrong_statement"),
    (";;;", "validation.wrong_statement"),
    ("-- only a comment", "validation.wrong_statement"),
    ("/* open", "parse.syntax"),
    ("SELECT 'open", "parse.syntax"),
    ("SELECT `open", "parse.syntax"),
    ("SELECT \"x\"", "parse.syntax"),
    ("SELECT 1 FROM", "parse.syntax"),
    ("SELECT", "parse.syntax"),
    ("SELECT * FROM t WHERE", "parse.syntax"),
    ("(", "parse.syntax"),
    (")", "parse.syntax"),
    ("SELECT 1;;;", "1 rows"),
    (
        "SELECT ((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))",
        "1 rows",
    ),
    (
        "SELECT 1e9999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999",
        "schema.invalid_literal",
    ),
    ("SELECT 99999999999999999999999999999999999999", "1 rows"),
    (
        "SELECT 999999999999999999999999999999999999999",
        "schema.invalid_literal",
    ),
    ("SELECT 9223372036854775807", "1 rows"),
    ("SELECT 9223372036854775808", "1 rows"),
    ("SELECT -9223372036854775808", "1 rows"),
    ("SELECT -2147483648", "1 rows"),
    ("SELECT 2147483648", "1 rows"),
    ("SELECT X'abc'", "schema.invalid_literal"),
    ("SELECT X'zz'", "schema.invalid_literal"),
    ("SELECT 0x1F", "1 rows"),
    ("SELECT straße FROM t", "validation.unknown_column"),
    ("SELECT 1 AS straße", "1 rows"),
    ("SELECT `日本` FROM (SELECT 1 AS `日本`)", "1 rows"),
    ("SELECT 日本 FROM t", "validation.unknown_column"),
    (
        "CREATE TABLE `ünï` (`ö` INT) WITH ('connector' = 'blackhole')\n;;\nINSERT INTO `ünï` SELECT 1",
        "1 rows",
    ),
    ("SELECT s FROM t WHERE s = 'ä", "parse.syntax"),
    (
        "SELECT s FROM t WHERE s = '😀' AND x = 1",
        "validation.unknown_column",
    ),
    ("SELECT 1 / 0", "job.failed"),
    ("SELECT 1 / i FROM t", "job.failed"),
    ("SELECT l / i FROM t", "job.failed"),
    ("SELECT MOD(1, i) FROM t", "job.failed"),
    ("SELECT 1 % 0", "job.failed"),
    ("SELECT d / 0 FROM t", "3 rows"),
    ("SELECT m / 0 FROM t", "job.failed"),
    ("SELECT m / i FROM t", "job.failed"),
    ("SELECT i / -1 FROM t", "3 rows"),
    ("SELECT -i FROM t", "3 rows"),
    ("SELECT ABS(i) FROM t", "3 rows"),
    ("SELECT l + 1 FROM t", "3 rows"),
    ("SELECT l * l FROM t", "3 rows"),
    ("SELECT SUM(l) FROM t", "1 rows"),
    ("SELECT SUM(m) FROM t", "job.failed"),
    ("SELECT m + m FROM t", "3 rows"),
    ("SELECT m * m FROM t", "3 rows"),
    ("SELECT AVG(l), AVG(m), AVG(d) FROM t", "job.failed"),
    ("SELECT MOD(i, -1) FROM t", "3 rows"),
    ("SELECT i % -1 FROM t", "3 rows"),
    ("SELECT CAST(l AS INT) FROM t", "3 rows"),
    ("SELECT CAST(m AS INT) FROM t", "3 rows"),
    ("SELECT CAST(m AS DECIMAL(3,1)) FROM t", "3 rows"),
    ("SELECT CAST(s AS INT) FROM t", "job.failed"),
    ("SELECT TRY_CAST(s AS INT) FROM t", "3 rows"),
    ("SELECT CAST(s AS TIMESTAMP) FROM t", "job.failed"),
    ("SELECT CAST(s AS BOOLEAN) FROM t", "job.failed"),
    ("SELECT CAST('99999-01-01' AS DATE)", "1 rows"),
    ("SELECT CAST(i AS DATE) FROM t", "schema.invalid_cast"),
    ("SELECT CAST(b AS TIMESTAMP) FROM t", "schema.invalid_cast"),
    ("SELECT CAST(s AS BYTES) FROM t", "3 rows"),
    ("SELECT CAST(1 AS DECIMAL(39, 0))", "types.parse_type"),
    ("SELECT CAST(1 AS DECIMAL(3, 5))", "types.parse_type"),
    ("SELECT CAST(1 AS DECIMAL(0, 0))", "types.parse_type"),
    ("SELECT CAST(1 AS VARCHAR(0))", "types.parse_type"),
    ("SELECT CAST(1 AS TIMESTAMP(10))", "types.parse_type"),
    ("SELECT CAST(1 AS NOTHING)", "parse.syntax"),
    (
        "SELECT CAST(1 AS VARCHAR(99999999999999))",
        "types.parse_type",
    ),
    ("SELECT DATE '2020-02-30'", "schema.invalid_literal"),
    (
        "SELECT TIMESTAMP '2020-13-01 00:00:00'",
        "schema.invalid_literal",
    ),
    ("SELECT TIME '25:00:00'", "schema.invalid_literal"),
    ("SELECT DATE ''", "schema.invalid_literal"),
    ("SELECT INTERVAL '1' FORTNIGHT", "parse.syntax"),
    ("SELECT INTERVAL 'x' DAY", "schema.invalid_literal"),
    (
        "SELECT INTERVAL '99999999999999999999' DAY",
        "schema.invalid_literal",
    ),
    (
        "SELECT INTERVAL '9223372036854775807' DAY",
        "schema.invalid_literal",
    ),
    (
        "SELECT INTERVAL '2147483647' YEAR",
        "schema.invalid_literal",
    ),
    (
        "SELECT TIMESTAMP '9999-12-31 00:00:00' + INTERVAL '99999999' DAY",
        "1 rows",
    ),
    (
        "SELECT DATE '9999-12-31' + INTERVAL '99999' MONTH",
        "1 rows",
    ),
    (
        "SELECT DATE '9999-12-31' + INTERVAL '178956970' YEAR",
        "1 rows",
    ),
    ("SELECT DATE '0001-01-01' - INTERVAL '9999' YEAR", "1 rows"),
    (
        "SELECT TIMESTAMPADD(MONTH, 2147483647, TIMESTAMP '2020-01-01 00:00:00')",
        "1 rows",
    ),
    (
        "SELECT TIMESTAMPADD(DAY, i, TIMESTAMP '2020-01-01 00:00:00') FROM t",
        "3 rows",
    ),
    ("SELECT TO_TIMESTAMP_LTZ(l, 0) FROM t", "3 rows"),
    ("SELECT TO_TIMESTAMP_LTZ(l, 3) FROM t", "3 rows"),
    ("SELECT FROM_UNIXTIME(l) FROM t", "3 rows"),
    ("SELECT TO_TIMESTAMP(s) FROM t", "3 rows"),
    ("SELECT DATE_FORMAT(ts, 'qqqq{') FROM t", "user.error"),
    (
        "SELECT DATE_FORMAT(TIMESTAMP '2020-01-01 00:00:00', 'bad {{ pattern''')",
        "validation.invalid_clause",
    ),
    ("SELECT SUBSTR(s, i, i) FROM t", "3 rows"),
    ("SELECT SUBSTR(s, 2147483647, 2147483647) FROM t", "3 rows"),
    (
        "SELECT SUBSTR('ä€x', 2, 1), SUBSTR('ä€x', -1), SUBSTR('abc', 0)",
        "1 rows",
    ),
    ("SELECT REPEAT(s, 2147483647) FROM t", "job.failed"),
    ("SELECT LPAD(s, 2147483647, 'x') FROM t", "job.failed"),
    ("SELECT LPAD(s, -1, 'x'), RPAD(s, i, '') FROM t", "3 rows"),
    (
        "SELECT OVERLAY(s PLACING 'x' FROM i FOR i) FROM t",
        "3 rows",
    ),
    ("SELECT LEFT(s, i), RIGHT(s, i) FROM t", "3 rows"),
    ("SELECT REGEXP_REPLACE(s, '(', 'x') FROM t", "job.failed"),
    ("SELECT REGEXP_EXTRACT(s, '(', 1) FROM t", "job.failed"),
    (
        "SELECT REGEXP_EXTRACT(s, '(x)', 99), REGEXP_EXTRACT(s, '(x)', i) FROM t",
        "3 rows",
    ),
    ("SELECT s LIKE 'a' ESCAPE 'xx' FROM t", "user.error"),
    ("SELECT s LIKE 'a\\' ESCAPE '\\' FROM t", "user.error"),
    ("SELECT s SIMILAR TO '(' FROM t", "user.error"),
    ("SELECT SPLIT_INDEX(s, 'x', i) FROM t", "3 rows"),
    (
        "SELECT POWER(d, d), EXP(d), LN(-1), LN(0), LOG10(0), SQRT(-1), ACOS(2) FROM t",
        "3 rows",
    ),
    (
        "SELECT FLOOR(d), CEIL(d), SIGN(d), FLOOR(m), CEIL(m) FROM t",
        "3 rows",
    ),
    ("SELECT CHR(i), ASCII(s), HEX(i), BIN(i) FROM t", "3 rows"),
    (
        "SELECT FROM_BASE64('!!'), UNHEX('zz'), DECODE(X'ff', 'UTF-8'), DECODE(X'ff', 'nothing')",
        "job.failed",
    ),
    ("SELECT ENCODE(s, 'nothing') FROM t", "job.failed"),
    ("SELECT SHA2(s, 7) FROM t", "job.failed"),
    (
        "SELECT JSON_VALUE('{', '$.a'), JSON_VALUE('{}', 'bad path')",
        "job.failed",
    ),
    (
        "SELECT ARRAY[1,2][0], ARRAY[1,2][3], ARRAY[1,2][-1]",
        "validation.invalid_arguments",
    ),
    ("SELECT ARRAY[1,2][i] FROM t", "3 rows"),
    (
        "SELECT MAP['a', 1]['b'], MAP['a']",
        "validation.invalid_arguments",
    ),
    ("SELECT ARRAY[1, 'x']", "validation.invalid_arguments"),
    ("SELECT ELEMENT(ARRAY[1,2])", "job.failed"),
    ("SELECT CARDINALITY(NULL)", "validation.invalid_arguments"),
    ("SELECT ROW(1,2).f7", "validation.unknown_column"),
    ("SELECT i.x FROM t", "schema.type_mismatch"),
    (
        "SELECT LOCATE('', s, i), INSTR(s, ''), POSITION('' IN s) FROM t",
        "3 rows",
    ),
    (
        "SELECT PARSE_URL(s, 'NOTHING') FROM t",
        "validation.unknown_function",
    ),
    (
        "SELECT CONV(s, 99, i) FROM t",
        "validation.unknown_function",
    ),
    ("SELECT RAND_INTEGER(0), RAND_INTEGER(-1)", "job.failed"),
    ("SELECT RAND_INTEGER(i) FROM t", "job.failed"),
    ("SELECT STR_TO_MAP(s, '(', '[') FROM t", "3 rows"),
    ("SELECT SPACE(2147483647)", "validation.unknown_function"),
    ("SELECT EXTRACT(FORTNIGHT FROM ts) FROM t", "parse.syntax"),
    (
        "SELECT EXTRACT(YEAR FROM i) FROM t",
        "validation.invalid_arguments",
    ),
    ("SELECT BTRIM(s, ''), TRIM(BOTH '' FROM s) FROM t", "3 rows"),
    (
        "SELECT PRINTF('%s %d', 1), FORMAT('x')",
        "validation.unknown_function",
    ),
    (
        "SELECT ARRAY_SLICE(ARRAY[1,2], i, i), ARRAY_REMOVE(ARRAY[1], NULL) FROM t",
        "3 rows",
    ),
    (
        "SELECT SEQUENCE(1, 2147483647)",
        "validation.unknown_function",
    ),
    (
        "SELECT ELT(i, 'a', 'b'), TRANSLATE(s, 'abc', '') FROM t",
        "3 rows",
    ),
    (
        "SELECT UNIX_TIMESTAMP(s), UNIX_TIMESTAMP(s, '[') FROM t",
        "3 rows",
    ),
    (
        "SELECT PERCENTILE(i, 2) FROM t",
        "validation.unknown_function",
    ),
    (
        "SELECT LISTAGG(s, i) FROM t",
        "validation.invalid_arguments",
    ),
    ("SELECT NTH_VALUE(i) FROM t", "validation.unknown_function"),
    ("SELECT FIRST_VALUE(i), LAST_VALUE(s) FROM t", "1 rows"),
    (
        "SELECT STDDEV_POP(l), VAR_SAMP(l), STDDEV_SAMP(d) FROM t",
        "1 rows",
    ),
    (
        "INSERT INTO appended SELECT COUNT(*) FROM t",
        "validation.updates_not_accepted",
    ),
    (
        "INSERT INTO appended SELECT i, l FROM t",
        "schema.column_count",
    ),
    (
        "INSERT INTO appended (n, n) SELECT l, l FROM t",
        "validation.duplicate_name",
    ),
    (
        "INSERT INTO appended (x) SELECT l FROM t",
        "validation.unknown_column",
    ),
    ("INSERT INTO appended () SELECT l FROM t", "parse.syntax"),
    (
        "INSERT INTO appended SELECT s FROM t",
        "schema.type_mismatch",
    ),
    (
        "INSERT INTO appended VALUES (1), (1, 2)",
        "schema.column_count",
    ),
    ("INSERT INTO appended VALUES ()", "parse.syntax"),
    ("INSERT INTO required SELECT i, s FROM t", "job.failed"),
    (
        "INSERT INTO required SELECT CAST(NULL AS BIGINT), 'x'",
        "job.failed",
    ),
    (
        "INSERT INTO required (s) SELECT s FROM t",
        "validation.invalid_clause",
    ),
    ("INSERT INTO nothing SELECT 1", "validation.unknown_table"),
    ("INSERT INTO t SELECT 1", "schema.column_count"),
    (
        "INSERT INTO appended SELECT l FROM t ORDER BY l",
        "unsupported.feature",
    ),
    ("SELECT l FROM appended", "validation.invalid_option"),
    (
        "INSERT INTO appended SELECT l FROM t\n;;\nSELECT 1 FROM t HAVING 1",
        "schema.type_mismatch",
    ),
    (
        "CREATE TABLE x (a INT) WITH ('connector' = 'nothing')\n;;\nSELECT * FROM x",
        "validation.unknown_factory",
    ),
    (
        "CREATE TABLE x (a INT)\n;;\nSELECT * FROM x",
        "validation.missing_option",
    ),
    (
        "CREATE TABLE x (a INT) WITH ('connector' = 'filesystem')\n;;\nSELECT * FROM x",
        "validation.missing_option",
    ),
    (
        "CREATE TABLE x (a INT) WITH ('connector' = 'filesystem', 'path' = '/nowhere/at/all', 'format' = 'csv')\n;;\nSELECT * FROM x",
        "io.not_found",
    ),
    (
        "CREATE TABLE x (a INT) WITH ('connector' = 'filesystem', 'path' = '/tmp', 'format' = 'nothing')\n;;\nSELECT * FROM x",
        "validation.unknown_factory",
    ),
    (
        "CREATE TABLE x (a INT) WITH ('connector' = 'filesystem', 'path' = '/tmp', 'format' = 'csv', 'csv.nothing' = 'x')\n;;\nSELECT * FROM x",
        "validation.unknown_option",
    ),
    (
        "CREATE TABLE x (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = 'many')\n;;\nSELECT * FROM x",
        "validation.invalid_option",
    ),
    (
        "CREATE TABLE x (a INT) WITH ('connector' = 'datagen', 'fields.b.kind' = 'random')\n;;\nSELECT * FROM x",
        "validation.unknown_option",
    ),
    (
        "CREATE TABLE x (a INT) WITH ('connector' = 'datagen', 'fields.a.kind' = 'sequence')\n;;\nSELECT * FROM x",
        "validation.missing_option",
    ),
    (
        "CREATE TABLE x (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '3', 'fields.a.min' = '9', 'fields.a.max' = '1')\n;;\nSELECT * FROM x",
        "validation.invalid_option",
    ),
    (
        "CREATE TABLE x (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '-3')\n;;\nSELECT * FROM x",
        "validation.invalid_option",
    ),
    (
        "CREATE TABLE x (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '0')\n;;\nSELECT * FROM x",
        "0 rows",
    ),
    (
        "CREATE TABLE x (a INT) WITH ('connector' = 'datagen', 'rows-per-second' = '0', 'number-of-rows' = '3')\n;;\nSELECT * FROM x",
        "validation.invalid_option",
    ),
    (
        "CREATE TABLE x (a TINYINT) WITH ('connector' = 'datagen', 'number-of-rows' = '3', 'fields.a.max' = '999')\n;;\nSELECT * FROM x",
        "validation.invalid_option",
    ),
    (
        "CREATE TABLE x (a STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '3', 'fields.a.length' = '-1')\n;;\nSELECT * FROM x",
        "validation.invalid_option",
    ),
    (
        "CREATE TABLE x (a INT) WITH ('connector' = 'values', 'data-id' = 'nothing')\n;;\nSELECT * FROM x",
        "validation.invalid_option",
    ),
    (
        "CREATE TABLE x (a INT) WITH ('connector' = 'values', 'data-id' = 'bad-input')\n;;\nSELECT * FROM x",
        "types.column_count",
    ),
    (
        "CREATE TABLE x (a INT) WITH ('connector' = 'print')\n;;\nSELECT * FROM x",
        "validation.wrong_role",
    ),
    (
        "CREATE TABLE x (a INT) WITH ('connector' = 'blackhole', 'x' = 'y')\n;;\nINSERT INTO x SELECT 1",
        "validation.unknown_option",
    ),
    (
        "CREATE TABLE x (a INT, a STRING) WITH ('connector' = 'blackhole')",
        "validation.duplicate_name",
    ),
    (
        "CREATE TABLE x () WITH ('connector' = 'blackhole')",
        "parse.syntax",
    ),
    (
        "CREATE TABLE x (a INT, PRIMARY KEY (b) NOT ENFORCED) WITH ('connector' = 'blackhole')",
        "schema.invalid_schema",
    ),
    (
        "CREATE TABLE x (a INT, PRIMARY KEY (a, a) NOT ENFORCED) WITH ('connector' = 'blackhole')",
        "schema.invalid_schema",
    ),
    (
        "CREATE TABLE x (a INT, PRIMARY KEY (a)) WITH ('connector' = 'blackhole')",
        "parse.syntax",
    ),
    (
        "CREATE TABLE x (a INT PRIMARY KEY NOT ENFORCED, b INT PRIMARY KEY NOT ENFORCED) WITH ('connector' = 'blackhole')",
        "parse.syntax",
    ),
    (
        "CREATE TABLE x (a INT, WATERMARK FOR b AS b) WITH ('connector' = 'datagen')",
        "validation.unknown_column",
    ),
    (
        "CREATE TABLE x (a INT, WATERMARK FOR a AS a) WITH ('connector' = 'datagen')",
        "schema.type_mismatch",
    ),
    (
        "CREATE TABLE x (a TIMESTAMP(9), WATERMARK FOR a AS a) WITH ('connector' = 'datagen')",
        "schema.type_mismatch",
    ),
    (
        "CREATE TABLE x (a TIMESTAMP(3), WATERMARK FOR a AS a - 1) WITH ('connector' = 'datagen')",
        "validation.invalid_arguments",
    ),
    (
        "CREATE TABLE x (a INT, c AS c + 1) WITH ('connector' = 'datagen')",
        "validation.unknown_column",
    ),
    (
        "CREATE TABLE x (a INT, c AS e, e AS c) WITH ('connector' = 'datagen')",
        "validation.unknown_column",
    ),
    (
        "CREATE TABLE x (a INT, c AS COUNT(a)) WITH ('connector' = 'datagen')",
        "validation.misplaced_aggregate",
    ),
    (
        "CREATE TABLE x (a INT) PARTITIONED BY (b) WITH ('connector' = 'blackhole')",
        "schema.invalid_schema",
    ),
    (
        "CREATE TABLE t (a INT) WITH ('connector' = 'blackhole')",
        "catalog.object_exists",
    ),
    (
        "CREATE TABLE x (a INT) WITH ('connector' = 'blackhole', 'connector' = 'print')",
        "validation.duplicate_name",
    ),
    (
        "CREATE TABLE a.b.c.d (a INT) WITH ('connector' = 'blackhole')",
        "validation.invalid_identifier",
    ),
    (
        "CREATE TABLE nothing.x (a INT) WITH ('connector' = 'blackhole')",
        "catalog.unknown_database",
    ),
    (
        "CREATE TABLE `` (a INT) WITH ('connector' = 'blackhole')",
        "validation.invalid_identifier",
    ),
    (
        "CREATE VIEW v AS SELECT * FROM v",
        "validation.unknown_table",
    ),
    (
        "CREATE VIEW v AS SELECT 1 AS a\n;;\nCREATE VIEW w AS SELECT * FROM v\n;;\nDROP VIEW v\n;;\nCREATE VIEW v AS SELECT * FROM w\n;;\nSELECT * FROM v",
        "validation.unknown_table",
    ),
    (
        "CREATE VIEW v AS SELECT 1 AS a\n;;\nDROP VIEW v\n;;\nSELECT * FROM v",
        "validation.unknown_table",
    ),
    (
        "CREATE VIEW v AS SELECT * FROM t\n;;\nDROP TABLE t\n;;\nSELECT * FROM v",
        "validation.unknown_table",
    ),
    (
        "CREATE VIEW v (a, b) AS SELECT 1",
        "validation.invalid_clause",
    ),
    (
        "CREATE VIEW v (a, a) AS SELECT 1, 2",
        "validation.duplicate_name",
    ),
    (
        "CREATE VIEW v AS INSERT INTO appended SELECT 1",
        "unsupported.feature",
    ),
    ("DROP VIEW t", "catalog.wrong_kind"),
    ("DROP TABLE none, t", "parse.syntax"),
    (
        "CREATE VIEW v AS SELECT 1 AS a\n;;\nINSERT INTO v SELECT 1",
        "catalog.wrong_kind",
    ),
    ("SELECT * FROM t, t", "validation.duplicate_name"),
    ("SELECT i FROM t AS x, t AS x", "validation.duplicate_name"),
    (
        "SELECT x.i FROM t AS x, t AS x",
        "validation.duplicate_name",
    ),
    ("SELECT i FROM t x, t y", "validation.ambiguous_column"),
    (
        "SELECT * FROM t x JOIN t y ON x.i = z.i",
        "validation.unknown_qualifier",
    ),
    (
        "SELECT * FROM t x JOIN t y USING (nothing)",
        "validation.unknown_column",
    ),
    ("SELECT * FROM t x JOIN none y", "validation.invalid_clause"),
    (
        "SELECT * FROM t x JOIN none y ON i = i",
        "validation.ambiguous_column",
    ),
    ("SELECT * FROM t x LEFT JOIN none y ON x.i < y.i", "3 rows"),
    ("SELECT * FROM t x FULL JOIN none y ON TRUE", "3 rows"),
    ("SELECT * FROM t x LEFT JOIN none y ON FALSE", "3 rows"),
    ("SELECT * FROM t x LEFT JOIN none y ON NULL", "3 rows"),
    (
        "SELECT * FROM t x JOIN none y ON x.i = y.s",
        "validation.invalid_arguments",
    ),
    (
        "SELECT * FROM t x JOIN none y ON x.b = y.i",
        "validation.invalid_arguments",
    ),
    (
        "SELECT * FROM t x JOIN none y ON COUNT(*) = 1",
        "validation.misplaced_aggregate",
    ),
    ("SELECT t.* FROM t x", "validation.unknown_qualifier"),
    ("SELECT nothing.* FROM t", "validation.unknown_qualifier"),
    ("SELECT *", "validation.invalid_clause"),
    ("SELECT * FROM none", "0 rows"),
    ("SELECT COUNT(*) FROM none", "0 rows"),
    ("SELECT i, COUNT(*) FROM none GROUP BY i", "0 rows"),
    ("SELECT i, COUNT(*) FROM t", "validation.not_grouped"),
    ("SELECT i FROM t GROUP BY l", "validation.not_grouped"),
    (
        "SELECT COUNT(COUNT(*)) FROM t",
        "validation.misplaced_aggregate",
    ),
    (
        "SELECT i FROM t WHERE COUNT(*) > 1",
        "validation.misplaced_aggregate",
    ),
    (
        "SELECT COUNT(*) FROM t GROUP BY COUNT(*)",
        "validation.misplaced_aggregate",
    ),
    ("SELECT SUM(s) FROM t", "validation.invalid_arguments"),
    ("SELECT SUM(DISTINCT) FROM t", "parse.syntax"),
    ("SELECT SUM(*) FROM t", "validation.invalid_clause"),
    ("SELECT MAX(i, l) FROM t", "validation.invalid_arguments"),
    ("SELECT i + s FROM t", "validation.invalid_arguments"),
    ("SELECT i + b FROM t", "validation.invalid_arguments"),
    ("SELECT NOT i FROM t", "validation.invalid_arguments"),
    ("SELECT -s FROM t", "validation.invalid_arguments"),
    (
        "SELECT b < b, s < s, s BETWEEN 1 AND 'x' FROM t",
        "validation.invalid_arguments",
    ),
    ("SELECT i = s FROM t", "validation.invalid_arguments"),
    (
        "SELECT i IN (1, 'x') FROM t",
        "validation.invalid_arguments",
    ),
    ("SELECT i IN () FROM t", "parse.syntax"),
    (
        "SELECT i IN (SELECT i, s FROM none) FROM t",
        "unsupported.feature",
    ),
    (
        "SELECT i FROM t WHERE i IN (SELECT i, s FROM none)",
        "validation.invalid_clause",
    ),
    (
        "SELECT i FROM t WHERE i IN (SELECT s FROM none)",
        "validation.invalid_arguments",
    ),
    (
        "SELECT i FROM t WHERE EXISTS (SELECT * FROM none WHERE nothing = 1)",
        "validation.unknown_column",
    ),
    (
        "SELECT i FROM t WHERE (i, s) IN (SELECT i, s FROM none)",
        "validation.invalid_clause",
    ),
    (
        "SELECT i FROM t WHERE i > (SELECT MAX(i) FROM none)",
        "unsupported.feature",
    ),
    ("SELECT (SELECT 1)", "unsupported.feature"),
    (
        "SELECT i FROM t WHERE i IN (SELECT i FROM none) OR b",
        "unsupported.feature",
    ),
    (
        "SELECT CASE WHEN 1 THEN 2 END",
        "validation.invalid_arguments",
    ),
    (
        "SELECT CASE WHEN b THEN 1 ELSE 'x' END FROM t",
        "schema.no_common_type",
    ),
    ("SELECT CASE WHEN b THEN NULL END FROM t", "3 rows"),
    ("SELECT NULL", "1 rows"),
    ("SELECT COALESCE()", "validation.invalid_arguments"),
    ("SELECT COALESCE(NULL, NULL)", "1 rows"),
    (
        "SELECT COALESCE(i, s) FROM t",
        "validation.invalid_arguments",
    ),
    ("SELECT NULLIF(i, s) FROM t", "validation.invalid_arguments"),
    (
        "SELECT NULL = NULL, NULL + 1, NULL || 'x', NOT NULL",
        "1 rows",
    ),
    ("SELECT MAX(NULL), SUM(NULL), COUNT(NULL) FROM t", "1 rows"),
    ("SELECT NULL AS a FROM t GROUP BY NULL", "1 rows"),
    ("SELECT DISTINCT NULL FROM t", "1 rows"),
    ("SELECT NULL UNION SELECT NULL", "1 rows"),
    ("SELECT 1 UNION ALL SELECT 'x'", "schema.no_common_type"),
    ("SELECT 1 UNION ALL SELECT NULL", "2 rows"),
    ("SELECT 1 UNION SELECT 1, 2", "schema.column_count"),
    ("SELECT 1 EXCEPT SELECT 2", "unsupported.feature"),
    ("SELECT i FROM t ORDER BY i", "unsupported.feature"),
    ("SELECT i FROM t LIMIT 1", "unsupported.feature"),
    ("SELECT i FROM t OFFSET 1", "unsupported.feature"),
    (
        "SELECT i, ROW_NUMBER() OVER (PARTITION BY i ORDER BY l) FROM t",
        "unsupported.feature",
    ),
    (
        "SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(i), INTERVAL '1' DAY))",
        "validation.invalid_clause",
    ),
    (
        "SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' DAY))",
        "validation.invalid_clause",
    ),
    (
        "SELECT * FROM TABLE(NOTHING(TABLE t))",
        "unsupported.feature",
    ),
    ("SELECT * FROM UNNEST(ARRAY[1])", "unsupported.feature"),
    (
        "WITH a AS (SELECT 1), a AS (SELECT 2) SELECT * FROM a",
        "validation.duplicate_name",
    ),
    (
        "WITH a AS (SELECT * FROM a) SELECT * FROM a",
        "validation.unknown_table",
    ),
    (
        "WITH RECURSIVE a AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM a) SELECT * FROM a",
        "unsupported.feature",
    ),
    (
        "WITH a (x, y) AS (SELECT 1) SELECT * FROM a",
        "validation.invalid_clause",
    ),
    ("VALUES (1), (1, 2)", "schema.column_count"),
    ("VALUES (1), ('x')", "schema.no_common_type"),
    ("VALUES (NULL), (1)", "2 rows"),
    (
        "SELECT * FROM (VALUES (1, 2)) AS v (a)",
        "validation.invalid_clause",
    ),
    (
        "SELECT * FROM (VALUES (1, 2)) AS v (a, a)",
        "validation.duplicate_name",
    ),
    (
        "SELECT GROUPING(i) FROM t GROUP BY i",
        "validation.unknown_function",
    ),
    (
        "SELECT COUNT(*) FROM t GROUP BY GROUPING SETS ((i), ())",
        "unsupported.feature",
    ),
    ("SELECT COUNT(*) FROM t GROUP BY 1", "1 rows"),
    (
        "SELECT i AS x FROM t GROUP BY x",
        "validation.unknown_column",
    ),
    (
        "SELECT i AS x FROM t WHERE x = 1",
        "validation.unknown_column",
    ),
    ("SELECT COUNT(*) FROM t GROUP BY ()", "1 rows"),
    ("SELECT i FROM t HAVING i > 1", "validation.not_grouped"),
    (
        "SELECT COUNT(*) FILTER (WHERE i) FROM t",
        "schema.type_mismatch",
    ),
    (
        "SELECT ABS(i) FILTER (WHERE b) FROM t",
        "validation.invalid_clause",
    ),
    ("SELECT ABS(DISTINCT i) FROM t", "validation.invalid_clause"),
    (
        "SELECT COUNT(DISTINCT *) FROM t",
        "validation.invalid_clause",
    ),
    ("SELECT COUNT(DISTINCT i, s) FROM t", "1 rows"),
    ("SELECT ABS() FROM t", "validation.invalid_arguments"),
    ("SELECT ABS(i, i) FROM t", "validation.invalid_arguments"),
    ("SELECT ABS(s) FROM t", "validation.invalid_arguments"),
    ("SELECT UPPER(i) FROM t", "validation.invalid_arguments"),
    ("SELECT NOTHING(i) FROM t", "validation.unknown_function"),
    (
        "SELECT a.b.c.NOTHING(i) FROM t",
        "validation.unknown_function",
    ),
    ("SELECT * FROM t FOR UPDATE", "unsupported.feature"),
    ("SELECT * FROM t TABLESAMPLE (10)", "unsupported.feature"),
    ("SET 'nothing.at.all' = 'x'", "1 rows"),
    (
        "SET 'parallelism.default' = 'x'",
        "validation.invalid_option",
    ),
    ("SET 'table.local-time-zone' = ''", "types.parse_value"),
    ("RESET 'nothing.at.all'", "1 rows"),
    ("USE nothing", "catalog.unknown_database"),
    ("USE CATALOG nothing", "catalog.unknown_catalog"),
    ("DESCRIBE nothing", "validation.unknown_table"),
    ("EXPLAIN nothing", "parse.syntax"),
    ("EXPLAIN SELECT * FROM nothing", "validation.unknown_table"),
    ("EXPLAIN EXPLAIN SELECT 1", "parse.syntax"),
    ("SHOW NOTHING", "parse.syntax"),
    ("SHOW CREATE TABLE nothing", "parse.syntax"),
    ("EXECUTE STATEMENT SET BEGIN END", "parse.syntax"),
    ("EXECUTE STATEMENT SET BEGIN SELECT 1; END", "parse.syntax"),
    (
        "EXECUTE STATEMENT SET BEGIN INSERT INTO appended SELECT 1; INSERT INTO nothing SELECT 1; END",
        "validation.unknown_table",
    ),
    ("BEGIN STATEMENT SET\n;;\nSELECT 1", "1 rows"),
    ("END", "validation.invalid_clause"),
    ("DELETE FROM t", "parse.syntax"),
    ("UPDATE t SET i = 1", "parse.syntax"),
    ("TRUNCATE TABLE t", "parse.syntax"),
    (
        "MERGE INTO t USING none ON TRUE WHEN MATCHED THEN DELETE",
        "parse.syntax",
    ),
    ("ALTER TABLE t ADD x INT", "parse.syntax"),
    ("GRANT ALL ON t TO x", "parse.syntax"),
    ("SELECT 1; SELECT 2", "validation.wrong_statement"),
    ("DROP TABLE nothing", "catalog.unknown_object"),
    ("DROP TABLE IF EXISTS nothing", "1 rows"),
    ("CALL nothing()", "parse.syntax"),
];

/// Texts that are long or deep.
fn large() -> Vec<(String, &'static str)> {
    let nest = |open: &str, inner: &str, close: &str, depth: usize| {
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    let fold = |depth: usize, inner: &str, step: &dyn Fn(&str) -> String| {
        (0..depth).fold(inner.to_string(), |query, _| step(&query))
    };
    let subtractions = " - 1".repeat(300);
    let views: Vec<String> = (0..12)
        .map(|n| {
            format!(
                "CREATE VIEW v{} AS SELECT x{subtractions} AS x FROM v{n}",
                n + 1
            )
        })
        .collect();
    vec![
        (format!("SELECT {}", nest("(", "1", ")", 50)), "1 rows"),
        (
            format!("SELECT {}", nest("(", "1", ")", 5000)),
            "parse.syntax",
        ),
        (
            format!("SELECT {} FROM t", nest("ABS(", "i", ")", 5000)),
            "parse.syntax",
        ),
        (
            format!("SELECT * FROM {}", nest("(SELECT * FROM ", "t", ")", 40)),
            "3 rows",
        ),
        (
            format!("SELECT * FROM {}", nest("(SELECT * FROM ", "t", ")", 3000)),
            "parse.syntax",
        ),
        (
            format!("SELECT {}TRUE", "NOT ".repeat(10_000)),
            "parse.syntax",
        ),
        (format!("SELECT {}1", "- ".repeat(10_000)), "parse.syntax"),
        (format!("SELECT i{} FROM t", " + 1".repeat(300)), "3 rows"),
        (
            format!("SELECT i{} FROM t", " + 1".repeat(10_000)),
            "parse.syntax",
        ),
        // Each bracket is short, but all together are one chain.
        (
            format!(
                "SELECT {} FROM t",
                fold(30, "i", &|inner| format!("({inner}{subtractions})"))
            ),
            "parse.syntax",
        ),
        (
            format!(
                "SELECT {} FROM t",
                fold(30, "i", &|inner| format!(
                    "ABS({inner}{})",
                    " + 1".repeat(12)
                ))
            ),
            "3 rows",
        ),
        (
            format!("SELECT i FROM t WHERE i = 1{}", " OR i = 2".repeat(3000)),
            "0 rows",
        ),
        (
            format!("SELECT i FROM t WHERE i = 1{}", " OR i = 2".repeat(30_000)),
            "parse.syntax",
        ),
        (
            format!(
                "SELECT i FROM t {}",
                "UNION ALL SELECT i FROM t ".repeat(100)
            ),
            "303 rows",
        ),
        (
            format!("SELECT CASE{} END FROM t", " WHEN i = 1 THEN 2".repeat(500)),
            "3 rows",
        ),
        (
            format!(
                "SELECT {} FROM t",
                nest("CASE WHEN b THEN ", "1", " ELSE 2 END", 500)
            ),
            "parse.syntax",
        ),
        // What stands above would double with each level, or grow without end.
        (
            format!(
                "SELECT x FROM {} WHERE x > 0",
                fold(40, "(SELECT i AS x FROM t)", &|from| format!(
                    "(SELECT x + x AS x FROM {from})"
                ))
            ),
            "0 rows",
        ),
        (
            format!(
                "SELECT x FROM {} WHERE x > 0",
                fold(40, "(SELECT i AS x FROM t)", &|from| format!(
                    "(SELECT x{subtractions} AS x FROM {from})"
                ))
            ),
            "1 rows",
        ),
        (
            format!(
                "CREATE VIEW v0 AS SELECT l AS x FROM t WHERE i IS NULL\n;;\n{}\n;;\n\
                 SELECT x FROM v12 WHERE x > 0",
                views.join("\n;;\n")
            ),
            "1 rows",
        ),
        (
            format!("CREATE TABLE x (a {})", nest("ARRAY<", "INT", ">", 5000)),
            "parse.syntax",
        ),
        (
            format!("SELECT {}", "9".repeat(1000)),
            "schema.invalid_literal",
        ),
        (
            format!("SELECT 1e{}", "9".repeat(100)),
            "schema.invalid_literal",
        ),
        (format!("SELECT '{}'", "x".repeat(1_000_000)), "1 rows"),
        (
            format!("SELECT {} FROM t", "a".repeat(100_000)),
            "validation.unknown_column",
        ),
    ]
}

fn check<'a>(cases: impl IntoIterator<Item = (&'a str, &'a str)>) {
    register();
    let mut faults = Vec::new();
    for (statements, expected) in cases {
        let (code, report) = watch(statements);
        if code != expected || report.contains("panicked") {
            let start: String = statements.chars().take(200).collect();
            faults.push(format!(
                "{start}\nexpected {expected}, got {code}: {report}\n"
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn wrong_statements_have_a_code() {
    check(CASES.iter().copied());
}

#[test]
fn large_statements_end() {
    let cases = large();
    check(
        cases
            .iter()
            .map(|(sql, expected)| (sql.as_str(), *expected)),
    );
}

#[test]
fn an_aggregate_that_fails_is_named() {
    register();
    let (_, report) = watch("SELECT AVG(i), SUM(m) FROM t");
    assert!(report.contains(": SUM: a sum of type DECIMAL"), "{report}");
}

/// Values at the ends of what their types hold, as columns and as literals.
const VALUES: &[&str] = &[
    "i",
    "l",
    "d",
    "s",
    "b",
    "m",
    "ts",
    "NULL",
    "0",
    "-1",
    "CAST(-2147483648 AS INT)",
    "2147483647",
    "CAST('-9223372036854775808' AS BIGINT)",
    "CAST(127 AS TINYINT)",
    "CAST('NaN' AS DOUBLE)",
    "CAST('-Infinity' AS DOUBLE)",
    "1e308",
    "CAST(1e38 AS FLOAT)",
    "-99999999999999999999999999999999999999",
    "CAST(0.00000000000000000001 AS DECIMAL(38, 37))",
    "''",
    "'ä€😀'",
    "'yyyy-MM-dd'",
    "'$.a'",
    "'{\"a\": [1]}'",
    "'('",
    "X''",
    "X'ff80'",
    "TRUE",
    "DATE '0001-01-01'",
    "DATE '9999-12-31'",
    "TIME '23:59:59'",
    "TIMESTAMP '0001-01-01 00:00:00'",
    "TIMESTAMP '9999-12-31 23:59:59.999999999'",
    "TO_TIMESTAMP_LTZ(0, 3)",
    "INTERVAL '9999' YEAR",
    "INTERVAL '-99999' DAY",
    "ARRAY[i, 1, NULL]",
    "ARRAY['a', '']",
    "MAP['a', i]",
    "ROW(i, s)",
];

#[test]
fn functions_of_any_arguments_end() {
    register();
    let env = StreamExecutionEnvironment::create_local(1);
    let tables = StreamTableEnvironment::create(&env).unwrap();
    for sql in SETUP {
        tables.execute_sql(sql).unwrap();
    }
    let names = tables
        .execute_sql("SHOW FUNCTIONS")
        .unwrap()
        .collect()
        .unwrap();
    let mut names: Vec<String> = names
        .map(|row| match &row.unwrap().fields()[0] {
            Value::String(name) => name.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    names.extend(["+", "-", "*", "/", "%", "||", "=", "<"].map(str::to_string));
    let rounds: usize = std::env::var("AQUIFER_ROUNDS").map_or(6, |rounds| rounds.parse().unwrap());
    let mut random = Random(42);
    let mut below = |bound: usize| random.below(bound);
    let mut ran = 0;
    for name in &names {
        let is_word = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let mut accepted = 0;
        for _ in 0..rounds * 20 {
            let arguments = if is_word { below(5) } else { 2 };
            let arguments: Vec<&str> = (0..arguments)
                .map(|_| VALUES[below(VALUES.len())])
                .collect();
            let call = if is_word {
                format!("{name}({})", arguments.join(", "))
            } else {
                arguments.join(&format!(" {name} "))
            };
            let sql = format!("SELECT {call} FROM t");
            let run = || match tables.execute_sql(&sql) {
                Ok(result) => match result.collect().unwrap().collect::<Result<Vec<_>, _>>() {
                    Ok(_) => (true, String::new()),
                    Err(error) => (true, error.report()),
                },
                Err(error) => (false, error.report()),
            };
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
            let (is_accepted, report) = outcome.unwrap_or_else(|_| (true, "panicked".to_string()));
            assert!(!report.contains("panicked"), "{sql}: {report}");
            accepted += usize::from(is_accepted);
            if accepted >= rounds {
                break;
            }
        }
        ran += accepted;
    }
    assert!(ran > names.len(), "only {ran} calls were accepted");
}

/// Words that take the place of others.
const WORDS: &[&str] = &[
    "NULL",
    "NOT",
    "(",
    ")",
    ",",
    "*",
    "SELECT",
    "FROM",
    "t",
    "none",
    "i",
    "s",
    "b",
    "ts",
    "COUNT(*)",
    "SUM(i)",
    "DISTINCT",
    "GROUP BY",
    "HAVING",
    "WHERE",
    "UNION",
    "JOIN",
    "LEFT JOIN none ON",
    "IN",
    "BETWEEN",
    "AND",
    "OR",
    "CASE",
    "WHEN",
    "END",
    "AS x",
    "1",
    "-1",
    "'x'",
    "=",
    "<",
    "+",
    "||",
    "IS",
    "LIKE",
    "EXISTS (SELECT 1 FROM none)",
    "FILTER (WHERE b)",
    "OVER ()",
    "USING (i)",
    "ROW(i, s)",
    "ARRAY[i]",
    "CAST(i AS STRING)",
    "INTERVAL '1' DAY",
];

/// Statements whose words are changed.
const SEEDS: &[&str] = &[
    "SELECT i , COUNT(*) , SUM(l) FILTER ( WHERE b ) FROM t WHERE s LIKE 'x%' GROUP BY i HAVING COUNT(*) > 1",
    "SELECT x . i , y . s FROM t AS x LEFT JOIN none AS y ON x . i = y . i AND x . s <> y . s WHERE x . b IS NOT TRUE",
    "SELECT i FROM t WHERE i IN ( SELECT i FROM none WHERE none . s = t . s ) AND NOT EXISTS ( SELECT 1 FROM none )",
    "SELECT DISTINCT x FROM ( SELECT CASE WHEN b THEN i ELSE 1 END AS x FROM t UNION ALL SELECT i FROM none ) AS q",
    "WITH q AS ( SELECT i , MAX(s) AS s FROM t GROUP BY i ) SELECT * FROM q JOIN none USING ( i )",
    "INSERT INTO required SELECT l , COALESCE ( s , 'x' ) FROM t WHERE i BETWEEN 1 AND 2",
    "CREATE VIEW v ( a , b ) AS SELECT i , s FROM t",
    "SELECT * FROM ( VALUES ( 1 , 'a' ) , ( NULL , 'b' ) ) AS v ( n , t ) WHERE n IS NOT NULL",
];

#[test]
fn changed_statements_end() {
    register();
    let rounds: usize =
        std::env::var("AQUIFER_ROUNDS").map_or(100, |rounds| rounds.parse().unwrap());
    let mut random = Random(rounds as u64);
    let mut accepted = 0;
    for seed in SEEDS {
        for _ in 0..rounds {
            let mut words: Vec<&str> = seed.split(' ').collect();
            for _ in 0..1 + random.below(3) {
                let at = random.below(words.len());
                let other = words[random.below(words.len())];
                let word = WORDS[random.below(WORDS.len())];
                match random.below(5) {
                    0 => drop(words.remove(at)),
                    1 => words.insert(at, word),
                    2 => words[at] = other,
                    _ => words[at] = word,
                }
            }
            let sql = words.join(" ");
            let (code, report) = watch(&sql);
            accepted += usize::from(code.ends_with(" rows"));
            assert!(
                !["hung", "panicked"].contains(&code.as_str()) && !report.contains("panicked"),
                "{sql}\n{code}: {report}"
            );
        }
    }
    assert!(accepted > 0, "no statement was accepted");
}
