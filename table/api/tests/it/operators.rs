//! Queries written as calls.

use aquifer_table_common::expression::{col, lit};

use crate::support::{answer, environment, with_all_shapes};

#[test]
fn columns_are_computed_filtered_and_renamed() {
    with_all_shapes(|t_env| {
        let stream = t_env
            .stream_environment()
            .from_elements([(1i64, "a".to_string()), (2, "b".to_string())]);
        let table = t_env.from_data_stream_as(&stream, "id, name").unwrap();
        let query = table
            .filter(col("id").is_greater(lit(1)))
            .unwrap()
            .select([col("*"), (col("id") + 1).alias("next")]);
        assert_eq!(answer(&query.unwrap()), ["+I[2, b, 3]"]);
        let old = table
            .r#where("id > 1 OR name = 'a'")
            .unwrap()
            .select("name, id * (2 + 1) AS thrice")
            .unwrap();
        assert_eq!(old.schema().column_names(), ["name", "thrice"]);
        assert_eq!(answer(&old), ["+I[a, 3]", "+I[b, 6]"]);
        let renamed = table.alias("x").unwrap();
        assert_eq!(renamed.schema().column_names(), ["x", "name"]);
        assert_eq!(answer(&renamed), ["+I[1, a]", "+I[2, b]"]);
    });
}

#[test]
fn what_is_wrong_is_told_at_once() {
    let t_env = environment(1, 100);
    let table = t_env
        .from_values([(1, "a")])
        .unwrap()
        .alias(["id", "name"])
        .unwrap();
    let code =
        |result: aquifer_table_common::Result<aquifer_table::Table>| result.unwrap_err().code();
    assert_eq!(
        code(table.select([col("ids")])),
        "validation.unknown_column"
    );
    assert_eq!(
        code(table.select("id, name AS id")),
        "validation.duplicate_name"
    );
    assert_eq!(code(table.filter(col("id"))), "schema.type_mismatch");
    assert_eq!(code(table.filter("id >")), "parse.syntax");
    assert_eq!(code(table.alias("a, b, c")), "schema.column_count");
    assert_eq!(code(table.alias("name")), "validation.duplicate_name");
}
