//! A running `aquifer run`, its output read line by line.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

/// A launcher whose standard output is read as it comes.
pub(crate) struct Launcher {
    child: Child,
    stdout: BufReader<ChildStdout>,
    stderr: ChildStderr,
}

/// How a launcher ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its exit code.
    pub(crate) code: Option<i32>,
    /// The lines of standard output that were not read before.
    pub(crate) stdout: Vec<String>,
    /// Standard error.
    pub(crate) stderr: String,
}

impl Launcher {
    /// Starts `aquifer run FLAGS -- /bin/sh -c SCRIPT`.
    pub(crate) fn script(flags: &[&str], script: &str) -> Self {
        Self::start(flags, &["/bin/sh", "-c", script])
    }

    /// Starts `aquifer run FLAGS -- PROGRAM`.
    pub(crate) fn start<S: AsRef<OsStr>>(flags: &[&str], program: &[S]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_aquifer"))
            .arg("run")
            .args(flags)
            .arg("--")
            .args(program)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            stdout: BufReader::new(child.stdout.take().unwrap()),
            stderr: child.stderr.take().unwrap(),
            child,
        }
    }

    /// The next line of standard output.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        assert_ne!(self.stdout.read_line(&mut line).unwrap(), 0, "output ended");
        line.trim_end().to_owned()
    }

    /// The next `count` lines of standard output, sorted.
    pub(crate) fn lines(&mut self, count: usize) -> Vec<String> {
        let mut lines: Vec<String> = (0..count).map(|_| self.line()).collect();
        lines.sort();
        lines
    }

    /// Sends a signal to the launcher itself.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end.
    pub(crate) fn end(mut self) -> Ended {
        let mut stderr = String::new();
        self.stderr.read_to_string(&mut stderr).unwrap();
        let stdout = self.stdout.by_ref().lines().map(Result::unwrap).collect();
        let code = self.child.wait().unwrap().code();
        Ended {
            code,
            stdout,
            stderr,
        }
    }
}

/// Sends a signal to the process whose id stands in a line such as `[p0] pid 123`.
pub(crate) fn signal_line(line: &str, signal: Signal) {
    let pid = line.rsplit(' ').next().unwrap().parse().unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}
