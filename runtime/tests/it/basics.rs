//! What streams compute, whatever the number of workers and with serialised exchanges.

use aquifer_runtime::{DataStream, Result, StreamExecutionEnvironment};

fn sorted<T: aquifer_runtime::StreamData + Ord>(stream: &DataStream<T>) -> Vec<T> {
    let mut values = stream
        .execute_and_collect()
        .unwrap()
        .collect::<Result<Vec<T>>>()
        .unwrap();
    values.sort();
    values
}

fn on_each_environment(check: impl Fn(StreamExecutionEnvironment)) {
    for workers in [1, 2, 4] {
        check(StreamExecutionEnvironment::create_local(workers));
        let env = StreamExecutionEnvironment::create_local(workers);
        env.serialize_exchanges();
        check(env);
    }
}

#[test]
fn stateless_steps() {
    on_each_environment(|env| {
        let stream = env
            .from_sequence(1, 100_000)
            .map(|n| n * 3)
            .filter(|n| n % 2 == 0)
            .flat_map(|n| [n, n + 1])
            .rebalance()
            .map(|n| n.to_string());
        let expected: Vec<i64> = (1..=100_000)
            .map(|n| n * 3)
            .filter(|n| n % 2 == 0)
            .flat_map(|n| [n, n + 1])
            .collect();
        let mut expected: Vec<String> = expected.iter().map(i64::to_string).collect();
        expected.sort();
        assert_eq!(sorted(&stream), expected);
    });
}

#[test]
fn every_exchange_keeps_the_values() {
    on_each_environment(|env| {
        let workers = env.workers();
        let numbers = env.from_sequence(0, 9_999);
        let expected: Vec<i64> = (0..10_000).collect();
        assert_eq!(sorted(&numbers.shuffle().map(|n| n)), expected);
        assert_eq!(sorted(&numbers.global().map(|n| n)), expected);
        assert_eq!(
            sorted(
                &numbers
                    .partition_custom(|key, workers| *key as usize % workers, |n| *n)
                    .map(|n| n)
            ),
            expected
        );
        assert_eq!(
            sorted(&numbers.map(|n| n).set_parallelism(1).map(|n| n)),
            expected
        );
        let broadcast = sorted(&numbers.broadcast().map(|n| n));
        assert_eq!(broadcast.len(), workers * expected.len());
    });
}

#[test]
fn union_and_streams_used_twice() {
    on_each_environment(|env| {
        let left = env.from_elements(0..5i64);
        let right = left.map(|n| n + 100);
        let all = left.union([&right, &left]);
        assert_eq!(
            sorted(&all),
            [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 100, 101, 102, 103, 104]
        );
    });
}

#[test]
fn text_files_are_read_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("a.txt"),
        "one\r\ntwo\n\nlast without end",
    )
    .unwrap();
    std::fs::write(folder.path().join("b.txt"), "three\n").unwrap();
    on_each_environment(|env| {
        assert_eq!(
            sorted(&env.read_text_file(folder.path())),
            ["", "last without end", "one", "three", "two"]
        );
    });
}

#[test]
fn several_jobs_one_after_another_and_side_by_side() {
    let env = StreamExecutionEnvironment::create_local(2);
    for round in 0..3 {
        assert_eq!(sorted(&env.from_elements([round])), [round]);
    }
    let clients: Vec<_> = (0..4)
        .map(|_| {
            env.from_sequence(0, 100_000).for_each(|_| ());
            env.execute_async("side by side").unwrap()
        })
        .collect();
    for client in clients {
        client.await_result().unwrap();
    }
}
