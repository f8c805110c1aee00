//! Queries that are stopped and go on from their savepoint with another number of workers.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use aquifer_runtime::StreamExecutionEnvironment;
use aquifer_runtime::config::options;
use aquifer_table::StreamTableEnvironment;

const ROWS: i64 = 12_000;
const KEYS: i64 = 50;

type Answer = (i64, Option<String>, i64, i64, i64, i64);

fn expected() -> BTreeMap<Answer, i64> {
    let name = |key: i64| (key % 2 == 0).then(|| format!("key {key}"));
    let answer = |key: i64| {
        let values: Vec<i64> = (0..ROWS)
            .filter(|n| n % KEYS == key)
            .map(|n| n - 1000)
            .collect();
        let (min, max) = (values[0], values[values.len() - 1]);
        (
            (
                key,
                name(key),
                values.len() as i64,
                values.iter().sum(),
                min,
                max,
            ),
            1,
        )
    };
    (0..KEYS).map(answer).collect()
}

#[test]
fn a_stopped_query_goes_on_with_any_number_of_workers() {
    let folder = tempfile::tempdir().unwrap();
    let passed = Arc::new(AtomicI64::new(0));
    let mut seen: BTreeMap<Answer, i64> = BTreeMap::new();
    let mut savepoint = None;
    for (run, workers) in [2, 1, 4].into_iter().enumerate() {
        let env = StreamExecutionEnvironment::create_local(workers);
        env.set_default_savepoint_directory(folder.path())
            .set(&options::EPOCH_MAX_ROWS, NonZeroU64::new(100).unwrap())
            .set(&options::STATE_RECOVERY_PATH, savepoint.clone());
        let t_env = StreamTableEnvironment::create(&env).unwrap();
        let counter = Arc::clone(&passed);
        let numbers = env.from_sequence(0, ROWS - 1).uid("numbers").map(move |n| {
            counter.fetch_add(1, Ordering::SeqCst);
            (n % KEYS, n - 1000)
        });
        t_env
            .register_data_stream_as("numbers", &numbers, "k, n")
            .unwrap();
        let names = (0..KEYS).step_by(2).map(|key| (key, format!("key {key}")));
        let names = env.from_elements(names.collect::<Vec<_>>()).uid("names");
        t_env
            .register_data_stream_as("names", &names, "k, name")
            .unwrap();
        let query = t_env
            .sql_query(
                "SELECT t.k, names.name, t.c, t.s, t.least, t.most FROM \
                 (SELECT k, COUNT(*) AS c, SUM(n) AS s, MIN(n) AS least, MAX(n) AS most FROM numbers GROUP BY k) AS t \
                 LEFT JOIN names ON t.k = names.k",
            )
            .unwrap();
        let results = t_env.to_retract_stream::<Answer>(&query).unwrap();
        let results = results.execute_and_collect().unwrap();
        let stopper = (run < 2).then(|| {
            let (client, passed) = (results.job_client().clone(), Arc::clone(&passed));
            std::thread::spawn(move || {
                while passed.load(Ordering::SeqCst) < (run as i64 + 1) * 3000 {
                    std::thread::yield_now();
                }
                client.stop_with_savepoint(None, false)
            })
        });
        for change in results {
            let (add, row) = change.unwrap();
            let count = seen.entry(row.clone()).or_default();
            *count += if add { 1 } else { -1 };
            assert!(
                *count >= 0,
                "run {run} takes back {row:?}, which was not there"
            );
            if *count == 0 {
                seen.remove(&row);
            }
        }
        savepoint = stopper.map(|stopper| stopper.join().unwrap().unwrap());
    }
    assert_eq!(seen, expected());
}
