//! What goes wrong is said, and the process lives on.

use aquifer_runtime::{JobStatus, Result, StreamExecutionEnvironment};

#[test]
fn a_panic_in_user_code_fails_its_job_only() {
    for workers in [1, 2] {
        let env = StreamExecutionEnvironment::create_local(workers);
        env.from_sequence(0, 1000)
            .map(|n| if n == 500 { panic!("five hundred") } else { n })
            .name("breaks")
            .uid("breaks-uid")
            .for_each(|_| ());
        let error = env.execute().unwrap_err();
        assert_eq!(error.code(), "job.failed");
        let text = error.to_string();
        for part in ["five hundred", "breaks", "breaks-uid", "worker"] {
            assert!(text.contains(part), "{part} is missing in: {text}");
        }
        let after: Vec<i64> = env
            .from_elements([7])
            .execute_and_collect()
            .unwrap()
            .collect::<Result<_>>()
            .unwrap();
        assert_eq!(after, [7]);
    }
}

#[test]
fn an_error_in_user_code_fails_the_job_with_its_message() {
    let env = StreamExecutionEnvironment::create_local(2);
    let parsed = env
        .from_elements(["1", "x"].map(String::from))
        .try_map(|text| text.parse::<i64>());
    let error = parsed
        .execute_and_collect()
        .unwrap()
        .find_map(Result::err)
        .unwrap();
    assert!(error.to_string().contains("invalid digit"), "{error}");
}

#[test]
fn a_job_without_a_sink_is_refused() {
    let env = StreamExecutionEnvironment::create_local(1);
    let _ = env.from_elements([1]);
    assert_eq!(env.execute().unwrap_err().code(), "graph.empty");
}

#[test]
fn a_uid_used_twice_is_refused_with_both_names() {
    let env = StreamExecutionEnvironment::create_local(1);
    env.from_elements([1])
        .uid("same")
        .map(|n| n)
        .name("second")
        .uid("same")
        .for_each(|_| ());
    let error = env.execute().unwrap_err();
    assert_eq!(error.code(), "graph.duplicate_uid");
    assert!(error.to_string().contains("second"), "{error}");
}

#[test]
fn a_missing_file_is_named() {
    let env = StreamExecutionEnvironment::create_local(2);
    env.read_text_file("/no/such/file.txt").for_each(|_| ());
    let error = env.execute().unwrap_err();
    assert_eq!(
        (error.code(), error.root_code()),
        ("job.failed", "io.failed")
    );
    assert!(error.to_string().contains("/no/such/file.txt"), "{error}");
}

#[test]
fn an_endless_job_can_be_cancelled() {
    for workers in [1, 2] {
        let env = StreamExecutionEnvironment::create_local(workers);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        env.socket_text_stream(listener.local_addr().unwrap().to_string())
            .for_each(|_| ());
        let client = env.execute_async("endless").unwrap();
        client.cancel().unwrap();
        assert_eq!(client.await_result().unwrap_err().code(), "job.cancelled");
        assert_eq!(client.status(), JobStatus::Canceled);
    }
}

#[test]
fn dropping_the_iterator_early_ends_the_job() {
    let env = StreamExecutionEnvironment::create_local(2);
    assert_eq!(
        env.from_sequence(0, i64::MAX)
            .execute_and_collect_n(3)
            .unwrap()
            .len(),
        3
    );
}

#[test]
fn a_full_disk_fails_the_job_with_the_path() {
    let env = StreamExecutionEnvironment::create_local(2);
    env.from_sequence(0, 10_000)
        .map(|n| (n as u64, n))
        .sink_to(crate::crash::Files::in_one_file("/dev/full"));
    let error = env.execute().unwrap_err().to_string();
    assert!(
        error.contains("/dev/full") && error.contains("space"),
        "{error}"
    );
}

#[test]
fn a_slow_reader_holds_the_job_back_without_wasting_the_worker() {
    let env = StreamExecutionEnvironment::create_local(1);
    let mut rows = env
        .from_sequence(0, i64::MAX)
        .execute_and_collect()
        .unwrap();
    rows.next().unwrap().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let metrics = rows.job_client().metrics();
    let sent: u64 = metrics
        .operators
        .iter()
        .map(|operator| operator.records_out)
        .sum();
    let limit = 64 * 262_144;
    assert!(sent < limit, "{sent} rows were read ahead");
}
