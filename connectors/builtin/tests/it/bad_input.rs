//! What is not valid, from the user's side: where it is found, and what is said.

use std::fs;
use std::process::{Command, Stdio};

use crate::support::{environment, file_table, lines};

#[test]
fn a_missing_path_is_found_before_the_job_starts() {
    let folder = tempfile::tempdir().unwrap();
    let t_env = environment(1, 1000);
    file_table(
        &t_env,
        "s",
        "id INT",
        &folder.path().join("nowhere"),
        "'format' = 'csv'",
    );
    t_env
        .execute_sql("CREATE TABLE t (id INT) WITH ('connector' = 'blackhole')")
        .unwrap();
    let error = t_env
        .execute_sql("INSERT INTO t SELECT id FROM s")
        .err()
        .unwrap();
    assert_eq!(error.code(), "io.not_found");
    assert!(error.report().contains("nowhere"), "{error:?}");
}

#[test]
fn a_bad_record_fails_the_job_with_file_line_column_and_value() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.csv");
    fs::write(&path, "1,a\n2,b\nx,c\n").unwrap();
    for workers in [1, 2] {
        let t_env = environment(workers, 1000);
        file_table(
            &t_env,
            "s",
            "id INT, name STRING",
            &path,
            "'format' = 'csv'",
        );
        t_env
            .execute_sql("CREATE TABLE t (id INT, name STRING) WITH ('connector' = 'blackhole')")
            .unwrap();
        let result = t_env
            .execute_sql("INSERT INTO t SELECT id, name FROM s")
            .unwrap();
        let report = result.await_done().unwrap_err().report();
        let expected = format!("{}:3, column 'id', value 'x'", path.display());
        assert!(report.contains(&expected), "{report}");
    }
}

#[test]
fn bad_records_are_skipped_when_asked_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in.csv"), folder.path().join("out"));
    fs::write(&input, "1,a\nx,b\n2\n3,c\n").unwrap();
    let t_env = environment(2, 1000);
    file_table(
        &t_env,
        "s",
        "id INT, name STRING",
        &input,
        "'format' = 'csv', 'csv.ignore-parse-errors' = 'true'",
    );
    file_table(
        &t_env,
        "t",
        "id INT, name STRING",
        &output,
        "'format' = 'csv'",
    );
    let result = t_env
        .execute_sql("INSERT INTO t SELECT id, name FROM s")
        .unwrap();
    let client = result.job_client().unwrap().clone();
    result.await_done().unwrap();
    assert_eq!(lines(&output), ["1,a", "3,c"]);
    let skipped = client
        .metrics()
        .operators
        .iter()
        .map(|operator| operator.skipped_records)
        .sum::<u64>();
    assert_eq!(skipped, 2);
}

#[test]
fn wrong_options_are_found_when_the_table_is_used() {
    let t_env = environment(1, 1000);
    t_env
        .execute_sql("CREATE TABLE t (id INT) WITH ('connector' = 'blackhole')")
        .unwrap();
    for (options, code, hint) in [
        (
            "'connector' = 'filesytem'",
            "validation.unknown_factory",
            "Did you mean 'filesystem'?",
        ),
        (
            "'connector' = 'datagen', 'rows-per-secnd' = '1'",
            "validation.unknown_option",
            "'rows-per-second'",
        ),
        ("'connector' = 'print'", "validation.wrong_role", "print"),
        (
            "'connector' = 'values', 'data-id' = 'nothing'",
            "validation.invalid_option",
            "nothing",
        ),
    ] {
        t_env
            .execute_sql(format!("CREATE TABLE s (id INT) WITH ({options})"))
            .unwrap();
        let error = t_env
            .execute_sql("INSERT INTO t SELECT id FROM s")
            .err()
            .unwrap();
        assert_eq!(error.code(), code, "{options}");
        assert!(error.report().contains(hint), "{options}: {error:?}");
        t_env.execute_sql("DROP TABLE s").unwrap();
    }
}

/// A file system of a few pages, unmounted at the end.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Nothing where the test may not mount.
    fn mount(size: &str) -> Option<SmallDisk> {
        let folder = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        match mount {
            Ok(status) if status.success() => Some(SmallDisk(folder)),
            _ => None,
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_fails_the_job_with_the_path_and_shows_no_part_of_the_result() {
    let Some(disk) = SmallDisk::mount("256k") else {
        println!("skipped: this user may not mount a small file system");
        return;
    };
    let output = disk.0.path().join("out");
    let t_env = environment(2, 1000);
    t_env
        .execute_sql(
            "CREATE TABLE s (id BIGINT, name STRING) WITH ('connector' = 'datagen', \
             'number-of-rows' = '20000', 'rows-per-second' = '1000000000')",
        )
        .unwrap();
    file_table(
        &t_env,
        "t",
        "id BIGINT, name STRING",
        &output,
        "'format' = 'csv'",
    );
    let result = t_env
        .execute_sql("INSERT INTO t SELECT id, name FROM s")
        .unwrap();
    let report = result.await_done().unwrap_err().report();
    assert!(report.contains(&output.display().to_string()), "{report}");
    assert!(report.contains("No space left on device"), "{report}");
    assert!(lines(&output).is_empty());
}

#[test]
fn metadata_of_files_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let t_env = environment(1, 1000);
    let statement =
        "CREATE TABLE s (id INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1')";
    t_env.execute_sql(statement).unwrap();
    let columns = "id INT, `file.size` BIGINT METADATA";
    file_table(&t_env, "t", columns, folder.path(), "'format' = 'csv'");
    let error = t_env
        .execute_sql("INSERT INTO t SELECT id, 1 FROM s")
        .err()
        .unwrap();
    assert_eq!(error.code(), "validation.invalid_clause");
    assert!(error.report().contains("METADATA VIRTUAL"), "{error:?}");
}
