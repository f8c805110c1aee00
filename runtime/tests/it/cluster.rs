//! Several processes. Each test starts this test program again, once per process, to run [`job`].

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};

use aquifer_runtime::{PEER_LOST_EXIT_CODE, StreamExecutionEnvironment};

use crate::support::sum_per_key;

const JOB: &str = "AQUIFER_TEST_JOB";

/// The program of the child processes; does nothing when it runs as a test.
#[test]
fn job() {
    let Ok(job) = std::env::var(JOB) else { return };
    let code = match run(&job) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{} [{}]", error.report(), error.code());
            1
        }
    };
    std::process::exit(code);
}

fn run(job: &str) -> aquifer_runtime::Result<()> {
    let env = StreamExecutionEnvironment::get_execution_environment()?;
    match job {
        "sums" => {
            let rows = env.from_sequence(0, 99_999).map(|n| (n % 10, n));
            let mut last = BTreeMap::new();
            for row in sum_per_key(&rows, "sums").execute_and_collect()? {
                let (_, key, sum) = row?;
                last.insert(key, sum);
            }
            println!("sums {last:?}");
            // A second job on the same workers.
            println!(
                "second {:?}",
                env.from_elements([1]).execute_and_collect()?.count()
            );
        }
        "panics" => {
            env.from_sequence(0, 1000)
                .map(|n| if n == 900 { panic!("nine hundred") } else { n })
                .for_each(|_| ());
            env.execute()?;
        }
        "endless" => {
            env.from_sequence(0, i64::MAX)
                .map(|n| (n % 10, n))
                .for_each(|_| ());
            env.execute_async("endless").map(|client| {
                println!("started");
                client.await_result()
            })??;
        }
        "leaves" => {
            env.from_elements([1]).for_each(|_| ());
            env.execute()?;
            if env.process() == 0 {
                env.from_elements([1]).for_each(|_| ());
                env.execute()?;
            }
        }
        "crash" => crate::crash::run(&env)?,
        other => panic!("no such job: {other}"),
    }
    Ok(())
}

pub(crate) struct Cluster {
    pub children: Vec<Child>,
}

impl Cluster {
    pub(crate) fn start(job: &str, processes: usize, change: impl Fn(usize, &mut Command)) -> Self {
        let listeners: Vec<_> = (0..processes)
            .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
            .collect();
        let hosts: Vec<_> = listeners
            .iter()
            .map(|l| l.local_addr().unwrap().to_string())
            .collect();
        drop(listeners);
        let start = |process: usize| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command
                .args(["--exact", "cluster::job", "--nocapture", "--quiet"])
                .env(JOB, job)
                .env("AQUIFER_PROCESSES", processes.to_string())
                .env("AQUIFER_PROCESS", process.to_string())
                .env("AQUIFER_WORKERS", "2")
                .env("AQUIFER_HOSTS", hosts.join(","))
                .env("AQUIFER_SECRET", "a secret for tests")
                .env("RUST_BACKTRACE", "0")
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            change(process, &mut command);
            command.spawn().unwrap()
        };
        Cluster {
            children: (0..processes).map(start).collect(),
        }
    }

    pub(crate) fn wait(self) -> Vec<Output> {
        self.children
            .into_iter()
            .map(|child| child.wait_with_output().unwrap())
            .collect()
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn two_processes_run_jobs_together() {
    let outputs = Cluster::start("sums", 2, |_, _| ()).wait();
    for output in &outputs {
        assert_eq!(
            output.status.code(),
            Some(0),
            "{} {}",
            text(&output.stdout),
            text(&output.stderr)
        );
    }
    let expected: BTreeMap<i64, i64> = (0..10)
        .map(|key| (key, (0..10_000).map(|n| n * 10 + key).sum()))
        .collect();
    assert!(
        text(&outputs[0].stdout).contains(&format!("sums {expected:?}")),
        "{}",
        text(&outputs[0].stdout)
    );
    assert!(text(&outputs[0].stdout).contains("second 1"));
    assert!(
        text(&outputs[1].stdout).contains("sums {}"),
        "results arrive in process 0 only"
    );
}

#[test]
fn a_failure_ends_the_job_in_both_processes_with_one_message() {
    for output in Cluster::start("panics", 2, |_, _| ()).wait() {
        assert_eq!(output.status.code(), Some(1));
        let stderr = text(&output.stderr);
        assert!(
            stderr.contains("nine hundred") && stderr.contains("job.failed"),
            "{stderr}"
        );
    }
}

#[test]
fn a_killed_process_takes_the_others_down_with_a_fixed_code() {
    let mut cluster = Cluster::start("endless", 2, |_, _| ());
    let mut seen = String::new();
    {
        use std::io::{BufRead, BufReader};
        let stdout = cluster.children[0].stdout.take().unwrap();
        for line in BufReader::new(stdout).lines() {
            seen = line.unwrap();
            if seen.contains("started") {
                break;
            }
        }
    }
    assert!(seen.contains("started"), "{seen}");
    cluster.children[1].kill().unwrap();
    let outputs = cluster.wait();
    assert_eq!(
        outputs[0].status.code(),
        Some(PEER_LOST_EXIT_CODE),
        "{}",
        text(&outputs[0].stderr)
    );
    assert!(
        text(&outputs[0].stderr).contains("lost a peer"),
        "{}",
        text(&outputs[0].stderr)
    );
}

#[test]
fn a_wrong_secret_is_refused_on_both_sides() {
    let outputs = Cluster::start("sums", 2, |process, command| {
        command.env("AQUIFER_SECRET", format!("secret {process}"));
    })
    .wait();
    for output in outputs {
        assert_eq!(output.status.code(), Some(1));
        assert!(
            text(&output.stderr).contains("secret"),
            "{}",
            text(&output.stderr)
        );
    }
}

#[test]
fn a_second_process_that_never_comes_is_named() {
    let mut cluster = Cluster::start("sums", 2, |_, command| {
        command.env("AQUIFER_CLUSTER_CONNECT_TIMEOUT", "300 ms");
    });
    cluster.children[1].kill().unwrap();
    let outputs = cluster.wait();
    assert_eq!(outputs[0].status.code(), Some(1));
    assert!(
        text(&outputs[0].stderr).contains("process 1"),
        "{}",
        text(&outputs[0].stderr)
    );
}

#[test]
fn a_job_that_another_process_does_not_run_fails() {
    let outputs = Cluster::start("leaves", 2, |_, _| ()).wait();
    assert_eq!(
        outputs[1].status.code(),
        Some(0),
        "{}",
        text(&outputs[1].stderr)
    );
    assert_eq!(outputs[0].status.code(), Some(1));
    let stderr = text(&outputs[0].stderr);
    assert!(stderr.contains("process 1 has ended"), "{stderr}");
}
