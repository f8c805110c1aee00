//! Jobs that fail or are stopped: files hold each row once.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aquifer_runtime::config::options::{EPOCH_MAX_ROWS, STATE_RECOVERY_PATH};
use aquifer_runtime::{RestartStrategy, StreamExecutionEnvironment};

use crate::support::{file_table, hidden, lines, over};

fn write_input(folder: &Path, name: &str, ids: std::ops::Range<u32>) {
    let text: String = ids.map(|id| format!("{id},row {id}\n")).collect();
    // Complete when it appears.
    let hidden = folder.join(format!(".{name}"));
    fs::write(&hidden, text).unwrap();
    fs::rename(hidden, folder.join(name)).unwrap();
}

fn expected(ids: std::ops::Range<u32>) -> Vec<String> {
    let mut lines: Vec<String> = ids.map(|id| format!("{id},row {id}")).collect();
    lines.sort();
    lines
}

fn environment(workers: usize) -> StreamExecutionEnvironment {
    let env = StreamExecutionEnvironment::create_local(workers);
    env.set(&EPOCH_MAX_ROWS, std::num::NonZeroU64::new(200).unwrap());
    env
}

const COLUMNS: &str = "id INT, name STRING";

#[test]
fn a_job_that_fails_again_and_again_writes_each_row_once() {
    const ROWS: u32 = 20_000;
    for workers in [1, 2, 4] {
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("in"), folder.path().join("out"));
        fs::create_dir(&input).unwrap();
        for file in 0..5 {
            write_input(
                &input,
                &file.to_string(),
                file * ROWS / 5..(file + 1) * ROWS / 5,
            );
        }
        let env = environment(workers);
        env.set_checkpoint_directory(folder.path().join("checkpoints"))
            .enable_checkpointing(Duration::from_millis(1))
            .set_restart_strategy(RestartStrategy::FixedDelay {
                attempts: 10,
                delay: Duration::ZERO,
            });
        let t_env = over(&env);
        file_table(&t_env, "source", COLUMNS, &input, "'format' = 'csv'");
        file_table(&t_env, "target", COLUMNS, &output, "'format' = 'csv'");
        let rows = t_env.sql_query("SELECT id, name FROM source").unwrap();
        let (seen, failures) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (counter, broken) = (Arc::clone(&seen), Arc::clone(&failures));
        let stream = t_env
            .to_append_stream::<(i32, String)>(&rows)
            .unwrap()
            .map(move |row| {
                let nth = counter.fetch_add(1, Ordering::SeqCst);
                if nth % 7_000 == 6_999 && broken.fetch_add(1, Ordering::SeqCst) < 6 {
                    panic!("broken on purpose");
                }
                row
            });
        let table = t_env.from_data_stream(&stream.uid("flaky")).unwrap();
        table
            .execute_insert("target")
            .unwrap()
            .await_done()
            .unwrap();
        assert!(
            failures.load(Ordering::SeqCst) >= 2,
            "the job must have failed"
        );
        assert_eq!(lines(&output), expected(0..ROWS), "{workers} workers");
    }
}

#[test]
fn a_stopped_job_goes_on_with_another_number_of_workers() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    fs::create_dir(&input).unwrap();
    let mut savepoint = None;
    for (run, workers) in [(1, 2), (2, 1), (3, 3)] {
        let env = environment(workers);
        env.set_checkpoint_directory(folder.path().join("checkpoints"))
            .enable_checkpointing(Duration::from_millis(5))
            .set_default_savepoint_directory(folder.path())
            .set(&STATE_RECOVERY_PATH, savepoint.clone());
        let t_env = over(&env);
        file_table(
            &t_env,
            "source",
            COLUMNS,
            &input,
            "'format' = 'csv', 'source.monitor-interval' = '1 ms'",
        );
        file_table(&t_env, "target", COLUMNS, &output, "'format' = 'csv'");
        let result = t_env
            .execute_sql("INSERT INTO target SELECT id, name FROM source")
            .unwrap();
        write_input(&input, &format!("file {run}"), (run - 1) * 1000..run * 1000);
        while lines(&output).len() < run as usize * 1000 {
            assert!(
                !result.job_client().unwrap().status().is_terminal(),
                "{:?}",
                result.await_done()
            );
            std::thread::yield_now();
        }
        savepoint = Some(
            result
                .job_client()
                .unwrap()
                .stop_with_savepoint(None, false)
                .unwrap(),
        );
        assert_eq!(lines(&output), expected(0..run * 1000), "run {run}");
        assert_eq!(hidden(&output), 0);
    }
}
