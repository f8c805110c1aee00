//! One attempt: all processes of the job, started together, watched and ended together.
//!
//! Each process leads a process group of its own, so that a signal from the terminal reaches it once, by
//! way of the launcher, and so that programs which it starts end with it.

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use std::{io, process};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::ending::{Ending, signal_name};
use crate::error::{LauncherError, Result};
use crate::events::{Event, Events};
use crate::launcher::Settings;
use crate::output::{copy_lines, say};
use crate::secret::Secret;
use crate::{address, guard};

/// How long the others may take to end by themselves after the first ended badly, before they are asked to.
/// A job that fails ends on all processes, and the one that failed first is not always seen first.
const SETTLE: Duration = Duration::from_millis(500);

/// How long the rest of the output may take after the last process ended.
const DRAIN: Duration = Duration::from_secs(2);

/// How an attempt ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    /// For good, with this exit code.
    Finished(u8),
    /// This process died in a way that a restart may cure.
    Died(usize, Ending),
}

/// The processes of one attempt.
pub(crate) struct ProcessSet {
    processes: Vec<Process>,
    output: Receiver<()>,
}

struct Process {
    child: Child,
    pid: Pid,
    ending: Option<Ending>,
}

/// Where an attempt stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// All is well.
    Running,
    /// One ended badly; the others may end by themselves.
    Settling,
    /// All were asked to end.
    Stopping,
    /// All were killed.
    Killed,
}

impl ProcessSet {
    /// Starts the processes of attempt number `attempt`.
    pub(crate) fn start(
        settings: &Settings,
        file: &Path,
        attempt: u32,
        events: &Events,
    ) -> Result<Self> {
        let secret = Secret::new(settings.secret_file.as_deref())?;
        let addresses = address::pick(settings.processes)?;
        let (output_ends, output) = channel();
        let mut set = Self {
            processes: Vec::with_capacity(settings.processes),
            output,
        };
        for index in 0..settings.processes {
            let spawned = command(settings, file, index, attempt, &addresses, &secret)
                .and_then(|mut command| command.spawn());
            let child = spawned.map_err(|source| {
                set.kill();
                LauncherError::Spawn {
                    process: index,
                    program: file.display().to_string(),
                    source,
                }
            })?;
            set.processes
                .push(watch(child, index, events, &output_ends));
        }
        Ok(set)
    }

    /// Waits until all processes ended, and stops the others when one ended badly or a signal came.
    pub(crate) fn supervise(&mut self, grace_period: Duration, events: &Events) -> Result<Outcome> {
        let mut phase = Phase::Running;
        let mut deadline = None;
        let mut died = None;
        let mut failed = None;
        let mut is_stopped_by_user = false;
        while self.is_running() {
            match events.next(deadline) {
                Some(Event::Ended(index)) => {
                    let ending = self.reap(index)?;
                    if ending == Ending::Success
                        || !matches!(phase, Phase::Running | Phase::Settling)
                    {
                        continue;
                    }
                    say(&format!("process {index} {ending}"));
                    if ending.is_restartable() {
                        died = died.or(Some((index, ending)));
                    } else {
                        failed = failed.or(Some(ending));
                    }
                    if phase == Phase::Running {
                        phase = Phase::Settling;
                        deadline = Some(Instant::now() + SETTLE);
                    }
                }
                Some(Event::Signal(signal)) => {
                    is_stopped_by_user = true;
                    say(&format!(
                        "passing {} on to all processes",
                        signal_name(signal)
                    ));
                    self.signal(Signal::from_named_raw(signal).unwrap_or(Signal::TERM));
                    if matches!(phase, Phase::Running | Phase::Settling) {
                        phase = Phase::Stopping;
                        deadline = Some(Instant::now() + grace_period);
                    }
                }
                Some(Event::OutputClosed) => {
                    if phase == Phase::Running {
                        is_stopped_by_user = true;
                        self.signal(Signal::TERM);
                        phase = Phase::Stopping;
                        deadline = Some(Instant::now() + grace_period);
                    }
                }
                None if phase == Phase::Settling => {
                    self.signal(Signal::TERM);
                    phase = Phase::Stopping;
                    deadline = Some(Instant::now() + grace_period);
                }
                None => {
                    say("killing the processes that did not end in time");
                    self.signal(Signal::KILL);
                    phase = Phase::Killed;
                    deadline = None;
                }
            }
        }
        self.drain();
        Ok(match (failed, died) {
            (Some(ending), _) => Outcome::Finished(ending.exit_code()),
            (None, Some((index, ending))) if !is_stopped_by_user => Outcome::Died(index, ending),
            _ => Outcome::Finished(self.exit_code()),
        })
    }

    fn is_running(&self) -> bool {
        self.processes
            .iter()
            .any(|process| process.ending.is_none())
    }

    /// The code of the first process, by index, that did not end with 0.
    fn exit_code(&self) -> u8 {
        let mut endings = self.processes.iter().filter_map(|process| process.ending);
        endings
            .find(|ending| *ending != Ending::Success)
            .map_or(0, Ending::exit_code)
    }

    fn signal(&self, signal: Signal) {
        for process in self
            .processes
            .iter()
            .filter(|process| process.ending.is_none())
        {
            // A group that is gone already needs no signal.
            let _ = kill_process_group(process.pid, signal);
        }
    }

    /// Takes the status of a process that ended. What is left of its group dies first: until the process is
    /// reaped nobody else can have its id.
    fn reap(&mut self, index: usize) -> Result<Ending> {
        let process = &mut self.processes[index];
        let _ = kill_process_group(process.pid, Signal::KILL);
        let status = process
            .child
            .wait()
            .map_err(|source| LauncherError::System {
                action: "waiting for a process",
                source,
            })?;
        let ending = Ending::of(status);
        process.ending = Some(ending);
        Ok(ending)
    }

    fn kill(&mut self) {
        self.signal(Signal::KILL);
        for process in &mut self.processes {
            if process.ending.is_none() {
                let _ = process.child.wait();
            }
        }
    }

    /// Waits for the last lines. A program that left its group may hold the pipes open: it is not waited
    /// for long.
    fn drain(&self) {
        let end = self.output.recv_timeout(DRAIN);
        debug_assert!(!matches!(end, Ok(())), "nothing is ever sent");
        if end == Err(RecvTimeoutError::Timeout) {
            say(
                "a program that outlived its process still holds the output open; not waiting for it",
            );
        }
    }
}

impl Drop for ProcessSet {
    fn drop(&mut self) {
        self.kill();
    }
}

fn command(
    settings: &Settings,
    file: &Path,
    index: usize,
    attempt: u32,
    addresses: &[SocketAddr],
    secret: &Secret,
) -> io::Result<Command> {
    let hosts: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let (secret_name, secret_value) = secret.variable();
    let mut command = Command::new(guard::own_program()?);
    command
        .args(["__guard", "--parent", &process::id().to_string(), "--"])
        .arg(file)
        .args(&settings.program[1..])
        .env_remove("AQUIFER_HOSTFILE")
        .env_remove("AQUIFER_SECRET")
        .env_remove("AQUIFER_SECRET_FILE")
        .env("AQUIFER_PROCESSES", settings.processes.to_string())
        .env("AQUIFER_PROCESS", index.to_string())
        .env("AQUIFER_WORKERS", settings.workers.to_string())
        .env("AQUIFER_HOSTS", hosts.join(","))
        .env("AQUIFER_ATTEMPT", attempt.to_string())
        .env(secret_name, secret_value)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(folder) = &settings.checkpoint_dir {
        command.env("AQUIFER_EXECUTION_CHECKPOINTING_DIR", folder);
    }
    if attempt > 0 {
        command.env("AQUIFER_RECOVER", "latest");
    }
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    Ok(command)
}

/// Starts the threads that follow one process.
fn watch(mut child: Child, index: usize, events: &Events, output_ends: &Sender<()>) -> Process {
    let pid = Pid::from_child(&child);
    let label = format!("[p{index}] ");
    if let Some(stdout) = child.stdout.take() {
        follow(events, output_ends, label.clone(), move |label| {
            copy_lines(stdout, label, |line| io::stdout().lock().write_all(line))
        });
    }
    if let Some(stderr) = child.stderr.take() {
        follow(events, output_ends, label, move |label| {
            copy_lines(stderr, label, |line| io::stderr().lock().write_all(line))
        });
    }
    let to_queue = events.sender();
    thread::spawn(move || {
        // Only looks: the status stays for `reap`.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
        // The queue is gone only when the launcher ends.
        let _ = to_queue.send(Event::Ended(index));
    });
    Process {
        child,
        pid,
        ending: None,
    }
}

fn follow(
    events: &Events,
    output_ends: &Sender<()>,
    label: String,
    copy: impl FnOnce(&str) -> io::Result<()> + Send + 'static,
) {
    let (to_queue, end) = (events.sender(), output_ends.clone());
    thread::spawn(move || {
        if copy(&label).is_err() {
            let _ = to_queue.send(Event::OutputClosed);
        }
        drop(end);
    });
}
