//! Jobs that fail, are stopped and are restored, with other numbers of workers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use aquifer_runtime::config::options;
use aquifer_runtime::{RestartStrategy, Result, StreamExecutionEnvironment};

use crate::support::sum_per_key;

const ROWS: i64 = 200_000;
const KEYS: i64 = 100;

fn expected() -> BTreeMap<i64, i64> {
    let mut sums = BTreeMap::new();
    (0..ROWS).for_each(|n| *sums.entry(n % KEYS).or_default() += n);
    sums
}

fn environment(workers: usize, folder: &std::path::Path) -> StreamExecutionEnvironment {
    let env = StreamExecutionEnvironment::create_local(workers);
    env.set_checkpoint_directory(folder)
        .enable_checkpointing(Duration::from_millis(1))
        .set(
            &options::EPOCH_MAX_ROWS,
            std::num::NonZeroU64::new(1000).unwrap(),
        )
        .set_restart_strategy(RestartStrategy::FixedDelay {
            attempts: 10,
            delay: Duration::ZERO,
        });
    env
}

#[test]
fn a_job_that_fails_again_and_again_gives_each_result_once() {
    for workers in [1, 2, 4] {
        let folder = tempfile::tempdir().unwrap();
        let env = environment(workers, folder.path());
        // The map runs on all workers; every 40,000th row it sees breaks it.
        let seen = Arc::new(AtomicI64::new(0));
        let failures = Arc::new(AtomicI64::new(0));
        let (counter, broken) = (Arc::clone(&seen), Arc::clone(&failures));
        let rows = env.from_sequence(0, ROWS - 1).uid("numbers").map(move |n| {
            if counter.fetch_add(1, Ordering::SeqCst) % 40_000 == 39_999
                && broken.fetch_add(1, Ordering::SeqCst) < 8
            {
                panic!("broken on purpose");
            }
            (n % KEYS, n)
        });
        let mut results = BTreeMap::new();
        let mut last = BTreeMap::new();
        for row in sum_per_key(&rows, "sums").execute_and_collect().unwrap() {
            let (epoch, key, sum): (u64, i64, i64) = row.unwrap();
            assert!(
                results.insert((key, sum), epoch).is_none(),
                "key {key} reached {sum} twice"
            );
            let before = last.insert(key, sum);
            assert!(
                before.is_none_or(|before| before < sum),
                "key {key} went back from {before:?} to {sum}"
            );
        }
        assert_eq!(last, expected(), "{workers} workers");
        assert!(
            failures.load(Ordering::SeqCst) >= 4,
            "the job must have failed"
        );
    }
}

#[test]
fn a_stopped_job_goes_on_with_any_number_of_workers() {
    let folder = tempfile::tempdir().unwrap();
    let gate = Arc::new(AtomicI64::new(0));
    let mut sums: BTreeMap<i64, i64> = BTreeMap::new();
    let mut savepoint = None;
    for (run, workers) in [2, 1, 4, 3].into_iter().enumerate() {
        let env = StreamExecutionEnvironment::create_local(workers);
        env.set_default_savepoint_directory(folder.path())
            .set(
                &options::EPOCH_MAX_ROWS,
                std::num::NonZeroU64::new(100).unwrap(),
            )
            .set(&options::STATE_RECOVERY_PATH, savepoint.clone());
        let passed = Arc::clone(&gate);
        let rows = env
            .from_sequence(0, ROWS / 10 - 1)
            .uid("numbers")
            .map(move |n| {
                passed.fetch_add(1, Ordering::SeqCst);
                (n % KEYS, n)
            });
        let mut results = sum_per_key(&rows, "sums").execute_and_collect().unwrap();
        if run < 3 {
            let (client, passed) = (results.job_client().clone(), Arc::clone(&gate));
            let stopper = std::thread::spawn(move || {
                while passed.load(Ordering::SeqCst) < (run as i64 + 1) * 4000 {
                    std::thread::yield_now();
                }
                client.stop_with_savepoint(None, false)
            });
            sums.extend(
                results
                    .by_ref()
                    .map(Result::unwrap)
                    .map(|(_, key, sum)| (key, sum)),
            );
            savepoint = Some(stopper.join().unwrap().unwrap());
        } else {
            sums.extend(results.map(Result::unwrap).map(|(_, key, sum)| (key, sum)));
        }
    }
    let mut all = BTreeMap::new();
    (0..ROWS / 10).for_each(|n| *all.entry(n % KEYS).or_default() += n);
    assert_eq!(sums, all);
}

#[test]
fn a_savepoint_does_not_stop_the_job_and_can_be_moved() {
    let folder = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let env = StreamExecutionEnvironment::create_local(2);
    env.socket_text_stream(listener.local_addr().unwrap().to_string())
        .uid("socket")
        .for_each(|_| ())
        .uid("end");
    let client = env.execute_async("savepoints").unwrap();
    let first = client
        .trigger_savepoint(Some(folder.path().to_path_buf()))
        .unwrap();
    let second = client
        .trigger_savepoint(Some(folder.path().to_path_buf()))
        .unwrap();
    assert_ne!(first, second);
    let error = client.trigger_savepoint(None).unwrap_err();
    assert!(error.to_string().contains("savepoint-dir"), "{error}");
    client.cancel().unwrap();
    assert_eq!(client.await_result().unwrap_err().code(), "job.cancelled");
    assert!(client.trigger_savepoint(None).is_err());
    let moved = folder.path().join("moved");
    std::fs::rename(&second, &moved).unwrap();
    let env = StreamExecutionEnvironment::create_local(1);
    env.set(&options::STATE_RECOVERY_PATH, Some(moved));
    env.from_elements([1])
        .uid("socket")
        .for_each(|_| ())
        .uid("end");
    env.execute().unwrap();
}

#[test]
fn a_changed_program_is_refused_with_the_names_of_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let env = StreamExecutionEnvironment::create_local(1);
    env.set_checkpoint_directory(folder.path());
    let sums = sum_per_key(&env.from_elements([(1, 1)]).uid("numbers"), "sums");
    sums.for_each(|_| ()).uid("end");
    env.execute_named("changes").unwrap();

    let renamed = || {
        let env = StreamExecutionEnvironment::create_local(1);
        env.set(
            &options::STATE_RECOVERY_PATH,
            Some(folder.path().join("changes")),
        );
        let sums = sum_per_key(&env.from_elements([(1, 1)]).uid("numbers"), "renamed");
        sums.for_each(|_| ()).uid("end");
        env
    };
    let error = renamed().execute().unwrap_err().to_string();
    assert!(
        error.contains("sums") && error.contains("renamed"),
        "{error}"
    );
    let allowing = renamed();
    allowing.set(&options::IGNORE_UNCLAIMED_STATE, true);
    allowing.execute().unwrap();
}

#[test]
fn a_missing_or_corrupt_checkpoint_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let run = |path: std::path::PathBuf| {
        let env = StreamExecutionEnvironment::create_local(2);
        env.set(&options::STATE_RECOVERY_PATH, Some(path));
        let sums = sum_per_key(&env.from_elements([(1, 1), (2, 2)]).uid("numbers"), "sums");
        sums.for_each(|_| ()).uid("end");
        env.execute_named("corrupt")
    };
    let missing = run(folder.path().join("nowhere")).unwrap_err();
    assert!(missing.to_string().contains("nowhere"), "{missing}");

    let env = StreamExecutionEnvironment::create_local(1);
    env.set_checkpoint_directory(folder.path());
    sum_per_key(&env.from_elements([(1, 1), (2, 2)]).uid("numbers"), "sums")
        .for_each(|_| ())
        .uid("end");
    env.execute_named("corrupt").unwrap();
    let checkpoint = folder.path().join("corrupt").join("chk-1");
    run(checkpoint.clone()).unwrap();
    let state = checkpoint.join("sums").join("sums.w0");
    let mut bytes = std::fs::read(&state).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    std::fs::write(&state, bytes).unwrap();
    let error = run(checkpoint).unwrap_err().to_string();
    assert!(error.contains("sums.w0"), "{error}");
}

#[test]
fn an_interval_without_a_folder_is_refused() {
    let env = StreamExecutionEnvironment::create_local(1);
    env.enable_checkpointing(Duration::from_millis(1));
    env.from_elements([1]).for_each(|_| ());
    assert_eq!(env.execute().unwrap_err().code(), "configuration.conflict");
}

#[test]
fn jobs_of_one_name_do_not_share_checkpoints() {
    let folder = tempfile::tempdir().unwrap();
    let env = environment(2, folder.path());
    let clients: Vec<_> = (0..3)
        .map(|_| {
            sum_per_key(&env.from_sequence(0, 50_000).map(|n| (n % 7, n)), "sums").for_each(|_| ());
            env.execute_async("twin").unwrap()
        })
        .collect();
    clients
        .iter()
        .for_each(|client| drop(client.await_result().unwrap()));
    for name in ["twin", "twin 2", "twin 3"] {
        let complete = |entry: std::fs::DirEntry| entry.path().join("manifest.json").exists();
        let escaped = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap())
            .find(|entry| entry.file_name().to_string_lossy().replace("%20", " ") == name)
            .unwrap_or_else(|| panic!("no folder for {name}"));
        assert!(
            std::fs::read_dir(escaped.path())
                .unwrap()
                .any(|entry| complete(entry.unwrap())),
            "{name}"
        );
    }
}

#[test]
fn values_are_handed_over_when_a_job_fails_between_a_checkpoint_and_its_commit() {
    struct FailsToCommit(Arc<AtomicI64>);
    impl aquifer_runtime::EpochOperator for FailsToCommit {
        fn process(
            &mut self,
            _: usize,
            _: aquifer_runtime::Batch,
            _: &mut aquifer_runtime::Output,
        ) -> Result<()> {
            Ok(())
        }
        fn commit(&mut self, _checkpoint: u64) -> Result<()> {
            match self.0.fetch_add(1, Ordering::SeqCst) {
                n if n % 3 == 1 && n < 12 => {
                    Err(aquifer_runtime::RuntimeError::user("no commit today"))
                }
                _ => Ok(()),
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let env = environment(1, folder.path());
    let rows = env.from_sequence(0, 99_999).uid("numbers").map(|n| n);
    let commits = Arc::new(AtomicI64::new(0));
    let counter = Arc::clone(&commits);
    let sink = aquifer_runtime::Transformation::operator(
        "FailsToCommit",
        rows.edges(0),
        Vec::new(),
        Arc::new(move || Box::new(FailsToCommit(Arc::clone(&counter)))),
    );
    env.add_sink(sink);
    let values: Vec<i64> = rows
        .execute_and_collect()
        .unwrap()
        .collect::<Result<_>>()
        .unwrap();
    assert_eq!(values, (0..100_000).collect::<Vec<_>>());
    assert!(commits.load(Ordering::SeqCst) > 3);
}
