//! Files to SQL to files.

use std::fs;

use crate::support::{environment, file_table, hidden, lines};

#[test]
fn csv_to_sql_to_csv_with_any_number_of_workers() {
    let input = tempfile::tempdir().unwrap();
    let mut expected = Vec::new();
    for file in 0..3 {
        let mut text = "id,name,price\n".to_string();
        for id in (file * 1000)..(file * 1000 + 700) {
            let name = if id % 3 == 0 {
                "\"a, \"\"b\"\"\"".to_string()
            } else {
                format!("n{id}")
            };
            text.push_str(&format!("{id},{name},{}.50\n", id % 10));
            if id % 10 > 4 {
                let name = if id % 3 == 0 {
                    "\"A, \"\"B\"\"\"".to_string()
                } else {
                    format!("N{id}")
                };
                expected.push(format!("{},{name},{}.50", id * 2, id % 10));
            }
        }
        fs::write(input.path().join(format!("{file}.csv")), text).unwrap();
    }
    expected.sort();
    for (workers, max_rows) in [(1, 10_000), (2, 100), (4, 1000)] {
        let output = tempfile::tempdir().unwrap();
        let t_env = environment(workers, max_rows);
        let columns = "id BIGINT, name STRING, price DECIMAL(10, 2)";
        file_table(
            &t_env,
            "source",
            columns,
            input.path(),
            "'format' = 'csv', 'csv.header' = 'true'",
        );
        file_table(&t_env, "target", columns, output.path(), "'format' = 'csv'");
        let insert =
            "INSERT INTO target SELECT id * 2, UPPER(name), price FROM source WHERE price > 5";
        t_env.execute_sql(insert).unwrap().await_done().unwrap();
        assert_eq!(lines(output.path()), expected, "{workers} workers");
        assert_eq!(hidden(output.path()), 0);
    }
}

#[test]
fn json_in_ranges_with_metadata_to_json() {
    let input = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for id in 0..40_000 {
        text.push_str(&format!(
            "{{\"id\":{id},\"at\":\"2024-01-01 00:00:00\",\"tags\":[\"x\",\"{id}\"]}}\n"
        ));
    }
    assert!(text.len() > 2 << 20, "the file is read in ranges");
    fs::write(input.path().join("big.json"), text).unwrap();
    for workers in [1, 3] {
        let output = tempfile::tempdir().unwrap();
        let t_env = environment(workers, 4000);
        let source =
            "tags ARRAY<STRING>, id BIGINT, at TIMESTAMP(3), `file.name` STRING NOT NULL METADATA";
        file_table(&t_env, "source", source, input.path(), "'format' = 'json'");
        let target = "id BIGINT, file STRING, at TIMESTAMP(3), tags ARRAY<STRING>";
        file_table(
            &t_env,
            "target",
            target,
            output.path(),
            "'format' = 'json', 'json.timestamp-format.standard' = 'ISO-8601'",
        );
        let insert =
            "INSERT INTO target SELECT id, `file.name`, at, tags FROM source WHERE id >= 39998";
        t_env.execute_sql(insert).unwrap().await_done().unwrap();
        let line = |id| {
            format!(
                "{{\"id\":{id},\"file\":\"big.json\",\"at\":\"2024-01-01T00:00:00\",\"tags\":[\"x\",\"{id}\"]}}"
            )
        };
        assert_eq!(lines(output.path()), [line(39998), line(39999)]);
    }
}

#[test]
fn one_program_reads_what_another_wrote() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..2 {
        let t_env = environment(2, 1000);
        let generated = "CREATE TABLE generated (id BIGINT, word STRING) WITH ('connector' = 'datagen', \
             'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '5000', \
             'fields.word.length' = '5', 'rows-per-second' = '1000000000')";
        t_env.execute_sql(generated).unwrap();
        file_table(
            &t_env,
            "files",
            "id BIGINT, word STRING",
            folder.path(),
            "'format' = 'csv'",
        );
        let write = t_env.execute_sql("INSERT INTO files SELECT id, word FROM generated");
        write.unwrap().await_done().unwrap();
        // The second run adds its files to those of the first.
        let copies = round + 1;
        let count =
            "SELECT COUNT(*), COUNT(DISTINCT id), SUM(id), MAX(CHAR_LENGTH(word)) FROM files";
        let mut last = String::new();
        for row in t_env
            .sql_query(count)
            .unwrap()
            .execute()
            .unwrap()
            .collect()
            .unwrap()
        {
            last = row.unwrap().to_string();
        }
        let (rows, sum) = (5000 * copies, 5000 * 5001 / 2 * copies);
        assert!(
            last.ends_with(&format!("[{rows}, 5000, {sum}, 5]")),
            "{last}"
        );
    }
}
