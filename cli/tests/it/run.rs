//! `aquifer run`: environment, output, exit codes, signals and restarts.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use crate::launcher::{Ended, Launcher, signal_line};

/// Restart at once.
const AT_ONCE: &[&str] = &["-n", "2", "--restart-delay", "0"];

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn processes_learn_their_place() {
    let script = r#"
        echo "$AQUIFER_PROCESS of $AQUIFER_PROCESSES with $AQUIFER_WORKERS attempt $AQUIFER_ATTEMPT recover ${AQUIFER_RECOVER-none}"
        echo "$AQUIFER_HOSTS"
        echo "${#AQUIFER_SECRET} $AQUIFER_SECRET" | sha256sum
        echo "${#AQUIFER_SECRET} ${AQUIFER_SECRET_FILE-none} $*"
    "#;
    let flags = ["-n", "2", "-w", "3"];
    let launcher = Launcher::start(&flags, &["/bin/sh", "-c", script, "job", "-n", "a b"]);
    let Ended {
        code,
        stdout,
        stderr,
    } = launcher.end();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let of = |process: usize| -> Vec<&str> {
        let label = format!("[p{process}] ");
        stdout
            .iter()
            .filter_map(|line| line.strip_prefix(&label))
            .collect()
    };
    let (first, second) = (of(0), of(1));
    assert_eq!(first[0], "0 of 2 with 3 attempt 0 recover none");
    assert_eq!(second[0], "1 of 2 with 3 attempt 0 recover none");
    assert_eq!(first[1], second[1]);
    let hosts: Vec<&str> = first[1].split(',').collect();
    assert_eq!(hosts.len(), 2);
    assert_ne!(hosts[0], hosts[1]);
    assert!(hosts.iter().all(|host| host.starts_with("127.0.0.1:")));
    assert_eq!(first[2], second[2], "one secret for all");
    assert_eq!(first[3], "64 none -n a b");
}

#[test]
fn a_given_secret_is_passed_on_by_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret");
    fs::write(&path, "correct horse battery staple").unwrap();
    let flags = ["--secret-file", path.to_str().unwrap()];
    let script = r#"echo "${AQUIFER_SECRET-none}"; cat "$AQUIFER_SECRET_FILE""#;
    let ended = Launcher::script(&flags, script).end();
    assert_eq!(
        ended.stdout,
        ["[p0] none", "[p0] correct horse battery staple"]
    );
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn lines_stay_whole_and_streams_apart() {
    let script = r#"
        i=0
        while [ $i -lt 300 ]; do
            printf 'out '; printf '%s of %s\n' $i $AQUIFER_PROCESS
            printf 'err '>&2; printf '%s of %s\n' $i $AQUIFER_PROCESS >&2
            i=$((i+1))
        done
        printf 'no end'
    "#;
    let ended = Launcher::script(&["-n", "3"], script).end();
    assert_eq!(ended.code, Some(0));
    assert_eq!(ended.stdout.len(), 3 * 301);
    for process in 0..3 {
        let check = |lines: &mut dyn Iterator<Item = &str>, word: &str, last: Option<&str>| {
            let label = format!("[p{process}] ");
            let found: Vec<&str> = lines
                .filter_map(|line| line.strip_prefix(label.as_str()))
                .collect();
            let wanted: Vec<String> = (0..300)
                .map(|i| format!("{word} {i} of {process}"))
                .chain(last.map(ToOwned::to_owned))
                .collect();
            assert_eq!(found, wanted);
        };
        let mut stdout = ended.stdout.iter().map(String::as_str);
        check(&mut stdout, "out", Some("no end"));
        check(&mut ended.stderr.lines(), "err", None);
    }
}

#[test]
fn the_jobs_own_failure_is_not_restarted() {
    let script = "if [ $AQUIFER_PROCESS = 1 ]; then echo bad >&2; exit 3; fi; exec sleep 600";
    let ended = Launcher::script(AT_ONCE, script).end();
    assert_eq!(ended.code, Some(3));
    assert_eq!(count(&ended.stderr, "[p1] bad"), 1, "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("[aquifer] process 1 failed with exit code 3"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_failure_is_not_mistaken_for_the_lost_peer_it_causes() {
    // Process 0 sees that its peer is gone before the launcher sees why.
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
        if [ $AQUIFER_PROCESS = 0 ]; then mkfifo "$0/go"; : > "$0/go"; exit 75; fi
        while [ ! -p "$0/go" ]; do :; done; : < "$0/go"; exit 1
    "#;
    let program = ["/bin/sh", "-c", script, folder.path().to_str().unwrap()];
    let ended = Launcher::start(AT_ONCE, &program).end();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
}

#[test]
fn all_are_restarted_when_one_is_killed() {
    let script = r#"
        echo "attempt $AQUIFER_ATTEMPT recover ${AQUIFER_RECOVER-none}"
        [ $AQUIFER_ATTEMPT = 0 ] || exit 0
        [ $AQUIFER_PROCESS = 1 ] || exec sleep 600
        echo "pid $$"
        exec sleep 600
    "#;
    let mut launcher = Launcher::script(AT_ONCE, script);
    let lines = launcher.lines(3);
    assert_eq!(
        lines[..2],
        ["[p0] attempt 0 recover none", "[p1] attempt 0 recover none"]
    );
    signal_line(&lines[2], Signal::KILL);
    assert_eq!(
        launcher.lines(2),
        [
            "[p0] attempt 1 recover latest",
            "[p1] attempt 1 recover latest"
        ]
    );
    let ended = launcher.end();
    assert_eq!(ended.code, Some(0));
    assert!(
        ended
            .stderr
            .contains("[aquifer] process 1 was killed by SIGKILL\n"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("(restart 1 of 3)"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_lost_peer_is_restarted_until_restarts_are_used_up() {
    let script = r#"[ $AQUIFER_PROCESS = 0 ] && echo "attempt $AQUIFER_ATTEMPT"; exit 75"#;
    let flags = ["-n", "2", "--restart-delay", "0", "--max-restarts", "2"];
    let ended = Launcher::script(&flags, script).end();
    assert_eq!(ended.code, Some(75));
    assert_eq!(
        ended.stdout,
        ["[p0] attempt 0", "[p0] attempt 1", "[p0] attempt 2"]
    );
    assert!(
        ended.stderr.contains("all 2 restarts are used up"),
        "{}",
        ended.stderr
    );
}

#[test]
fn signals_are_passed_on() {
    let script = r#"
        trap 'echo stopped; exit 5' TERM
        trap 'echo interrupted; exit 6' INT
        echo ready
        while :; do sleep 600 & wait $!; done
    "#;
    for (signal, code, word) in [
        (Signal::TERM, 5, "stopped"),
        (Signal::INT, 6, "interrupted"),
    ] {
        let mut launcher = Launcher::script(AT_ONCE, script);
        assert_eq!(launcher.lines(2), ["[p0] ready", "[p1] ready"]);
        launcher.signal(signal);
        let mut ended = launcher.end();
        ended.stdout.sort();
        assert_eq!(
            ended.stdout,
            [format!("[p0] {word}"), format!("[p1] {word}")]
        );
        assert_eq!(ended.code, Some(code), "{}", ended.stderr);
    }
}

#[test]
fn a_process_that_ignores_the_signal_is_killed() {
    let script = "trap '' TERM; echo ready; while :; do sleep 600; done";
    let flags = ["-n", "2", "--grace-period", "0"];
    let mut launcher = Launcher::script(&flags, script);
    launcher.lines(2);
    launcher.signal(Signal::TERM);
    let ended = launcher.end();
    assert_eq!(ended.code, Some(137), "{}", ended.stderr);
}

#[test]
fn a_signal_ends_the_pause_before_a_restart() {
    let flags = ["--restart-delay", "600000"];
    let mut launcher = Launcher::script(&flags, "echo pid $$; exec sleep 600");
    let line = launcher.line();
    signal_line(&line, Signal::KILL);
    launcher.signal(Signal::TERM);
    // Before or in the pause: either way it ends by the signal or by the death, and soon.
    let ended = launcher.end();
    assert!(matches!(ended.code, Some(143 | 137)), "{ended:?}");
}

#[test]
fn nothing_outlives_a_killed_launcher() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("held");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    // Each process holds the fifo open for writing, so its reader sees the end when both are gone.
    let script = r#"exec 3> "$0"; echo ready; exec sleep 600"#;
    let program = ["/bin/sh", "-c", script, fifo.to_str().unwrap()];
    let mut launcher = Launcher::start(&["-n", "2"], &program);
    let mut held = fs::File::open(&fifo).unwrap();
    launcher.lines(2);
    launcher.signal(Signal::KILL);
    assert_eq!(held.read_to_end(&mut Vec::new()).unwrap(), 0);
}

#[test]
fn helpers_of_a_process_end_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("held");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let script = r#"sleep 600 3> "$0" & echo started"#;
    let program = ["/bin/sh", "-c", script, fifo.to_str().unwrap()];
    let launcher = Launcher::start(&[], &program);
    let mut held = fs::File::open(&fifo).unwrap();
    let ended = launcher.end();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(held.read_to_end(&mut Vec::new()).unwrap(), 0);
}

#[test]
fn the_checkpoint_folder_is_made_and_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b");
    let flags = ["--checkpoint-dir", path.to_str().unwrap()];
    let script = r#"echo "$AQUIFER_EXECUTION_CHECKPOINTING_DIR""#;
    let ended = Launcher::script(&flags, script).end();
    let wanted = format!("[p0] {}", fs::canonicalize(&path).unwrap().display());
    assert_eq!(ended.stdout, [wanted]);
}

#[test]
fn what_cannot_start_is_one_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    fs::write(&plain, "no program").unwrap();
    let plain = plain.to_str().unwrap();
    let check = |flags: &[&str], program: &str, code: i32, text: &str| {
        let ended = Launcher::start(flags, &[program]).end();
        assert_eq!(ended.code, Some(code), "{}", ended.stderr);
        assert_eq!(count(&ended.stderr, text), 1, "{}", ended.stderr);
        assert!(ended.stdout.is_empty());
    };
    let two = &["-n", "2"];
    check(
        two,
        "./no_such_job",
        127,
        "error[launcher.program_not_found]: program './no_such_job'",
    );
    check(two, "no-such-job", 127, "error[launcher.program_not_found]");
    check(two, plain, 126, "error[launcher.program_not_executable]");
    check(&["-n", "0"], "true", 2, "must be at least 1");
    check(&["-w", "many"], "true", 2, "expected a whole number");
    check(
        &["--secret-file", "/nowhere"],
        "true",
        1,
        "error[launcher.secret_file]",
    );
    let below_a_file = format!("{plain}/checkpoints");
    check(
        &["--checkpoint-dir", &below_a_file],
        "true",
        1,
        "error[launcher.checkpoint_dir]",
    );
}

#[test]
fn a_program_that_the_system_refuses_is_not_restarted() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script");
    fs::write(&path, "#!/nowhere/interpreter\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let ended = Launcher::start(AT_ONCE, &[path]).end();
    assert_eq!(ended.code, Some(126), "{}", ended.stderr);
    assert!(
        ended
            .stderr
            .contains("[p0] [aquifer] error[launcher.program_not_executable]"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_real_job_goes_on_from_its_last_checkpoint() {
    // `cargo test` builds examples beside the launcher.
    let folder = tempfile::tempdir().unwrap();
    let job = Path::new(env!("CARGO_BIN_EXE_aquifer")).with_file_name("examples/killed_once");
    let checkpoints = folder.path().to_str().unwrap();
    let flags = ["-n", "2", "-w", "2", "--restart-delay", "0"];
    let flags = [&flags[..], &["--checkpoint-dir", checkpoints]].concat();
    let ended = Launcher::start(&flags, &[job]).end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(
        ended.stdout,
        ["[p0] sum 200010000, restored true"],
        "{}",
        ended.stderr
    );
    assert_eq!(
        count(&ended.stderr, "process 1 was killed by SIGKILL"),
        1,
        "{}",
        ended.stderr
    );
}
