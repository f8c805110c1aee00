//! Processes that are killed at any moment while they copy files by SQL: the copy is complete and without duplicates.
//!
//! Finds: source positions and committed files of different epochs; prepared files that are not committed after a
//! crash between manifest and commit, or committed twice; files of a dead run that are shown or stay behind.

use std::fs;
use std::net::TcpListener;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use aquifer_runtime::StreamExecutionEnvironment;
use aquifer_runtime::config::options::EPOCH_MAX_ROWS;

use crate::support::{file_table, hidden, lines, over};

const FOLDER: &str = "AQUIFER_TEST_COPY_FOLDER";
const PROCESSES: usize = 2;
const CRASHES: u64 = 12;
const FILES: u32 = 8;
const ROWS_OF_A_FILE: u32 = 10_000;

/// The program of the child processes; does nothing when it runs as a test.
#[test]
fn copy() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    run(&folder);
    std::process::exit(0);
}

/// Ends when the workers of all processes have.
fn run(folder: &Path) {
    let env = StreamExecutionEnvironment::get_execution_environment().unwrap();
    env.set_checkpoint_directory(folder.join("checkpoints"))
        .enable_checkpointing(Duration::from_millis(10))
        .set(&EPOCH_MAX_ROWS, NonZeroU64::new(50).unwrap());
    let t_env = over(&env);
    let columns = "id INT, name STRING";
    file_table(
        &t_env,
        "source",
        columns,
        &folder.join("in"),
        "'format' = 'csv'",
    );
    file_table(
        &t_env,
        "target",
        columns,
        &folder.join("out"),
        "'format' = 'csv'",
    );
    let result = t_env.execute_sql("INSERT INTO target SELECT id, name FROM source");
    result.unwrap().await_done().unwrap();
}

fn start(folder: &Path, connect_timeout: &str) -> Vec<Child> {
    let listeners: Vec<TcpListener> = (0..PROCESSES)
        .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    let hosts: Vec<String> = listeners
        .iter()
        .map(|listener| listener.local_addr().unwrap().to_string())
        .collect();
    drop(listeners);
    let start = |process: usize| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::copy", "--nocapture", "--quiet"])
            .env(FOLDER, folder)
            .env("AQUIFER_PROCESSES", PROCESSES.to_string())
            .env("AQUIFER_PROCESS", process.to_string())
            .env("AQUIFER_WORKERS", "2")
            .env("AQUIFER_HOSTS", hosts.join(","))
            .env("AQUIFER_SECRET", "a secret for tests")
            .env("AQUIFER_RECOVER", "latest")
            .env("AQUIFER_CLUSTER_CONNECT_TIMEOUT", connect_timeout)
            .env("RUST_BACKTRACE", "0")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    (0..PROCESSES).map(start).collect()
}

/// The number of committed files.
fn committed(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    let names = entries.map(|entry| entry.unwrap().file_name());
    names
        .filter(|name| name.as_encoded_bytes()[0] != b'.')
        .count()
}

#[test]
fn a_copy_is_complete_and_without_duplicates_after_crashes() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    fs::create_dir(&input).unwrap();
    for file in 0..FILES {
        let ids = file * ROWS_OF_A_FILE..(file + 1) * ROWS_OF_A_FILE;
        let text: String = ids.map(|id| format!("{id},row {id}\n")).collect();
        fs::write(input.join(format!("{file}.csv")), text).unwrap();
    }
    // A fixed sequence of victims; the moments vary with the machine's load.
    let mut random = 7_u64;
    let mut next = |bound: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % bound
    };
    let mut crashes = 0;
    for _ in 0..CRASHES {
        // A process that waits for one that was killed before they met gives up soon.
        let mut children = start(folder.path(), "2 s");
        let goal = committed(&output) + next(5) as usize;
        let mut ended = false;
        while committed(&output) < goal && !ended {
            ended = children[0].try_wait().unwrap().is_some();
            std::thread::yield_now();
        }
        let victim = &mut children[next(PROCESSES as u64) as usize];
        crashes += u32::from(victim.try_wait().unwrap().is_none());
        victim.kill().unwrap();
        for child in children {
            child.wait_with_output().unwrap();
        }
    }
    assert!(crashes >= 3, "the job was too fast to be killed");
    for child in start(folder.path(), "30 s") {
        let ended = child.wait_with_output().unwrap();
        assert_eq!(
            ended.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&ended.stderr)
        );
    }
    let mut expected: Vec<String> = (0..FILES * ROWS_OF_A_FILE)
        .map(|id| format!("{id},row {id}"))
        .collect();
    expected.sort();
    let found = lines(&output);
    assert_eq!(found.len(), expected.len());
    assert!(found == expected);
    println!("{crashes} crashes, {} files left behind", hidden(&output));
}
