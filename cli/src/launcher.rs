//! Runs the job attempt after attempt until it ends for good.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fs, io};

use crate::ending::{Ending, signal_exit_code, signal_name};
use crate::error::{LauncherError, Result};
use crate::events::{Event, Events};
use crate::output::say;
use crate::process_set::{Outcome, ProcessSet};
use crate::program;

/// What to run, and how.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Number of processes, at least 1.
    pub(crate) processes: usize,
    /// Worker threads in each process, at least 1.
    pub(crate) workers: usize,
    /// The user's own secret.
    pub(crate) secret_file: Option<PathBuf>,
    /// Folder for checkpoints.
    pub(crate) checkpoint_dir: Option<PathBuf>,
    /// Restarts before giving up.
    pub(crate) max_restarts: u32,
    /// Pause before a restart.
    pub(crate) restart_delay: Duration,
    /// Time between asking a process to end and killing it.
    pub(crate) grace_period: Duration,
    /// The program and its arguments; not empty.
    pub(crate) program: Vec<OsString>,
}

/// Runs the job and gives the launcher's exit code.
///
/// # Errors
/// When the job cannot be started or watched.
pub(crate) fn run(settings: &Settings) -> Result<u8> {
    let file = program::find(&settings.program[0])?;
    let mut settings = settings.clone();
    if let Some(folder) = &mut settings.checkpoint_dir {
        *folder = make_folder(folder)?;
    }
    let events = Events::listen()?;
    for attempt in 0.. {
        let mut set = ProcessSet::start(&settings, &file, attempt, &events)?;
        let (index, ending) = match set.supervise(settings.grace_period, &events)? {
            Outcome::Finished(code) => return Ok(code),
            Outcome::Died(index, ending) => (index, ending),
        };
        if attempt == settings.max_restarts {
            say(&gave_up(index, ending, settings.max_restarts));
            return Ok(ending.exit_code());
        }
        say(&format!(
            "restarting all processes from the last checkpoint in {} ms (restart {} of {})",
            settings.restart_delay.as_millis(),
            attempt + 1,
            settings.max_restarts
        ));
        if let Some(signal) = pause(settings.restart_delay, &events) {
            say(&format!(
                "stopped by {} before the restart",
                signal_name(signal)
            ));
            return Ok(signal_exit_code(signal));
        }
    }
    unreachable!("the loop ends by returning")
}

fn make_folder(folder: &PathBuf) -> Result<PathBuf> {
    fs::create_dir_all(folder)
        .and_then(|()| fs::canonicalize(folder))
        .map_err(|source: io::Error| LauncherError::CheckpointDir {
            path: folder.clone(),
            source,
        })
}

fn gave_up(index: usize, ending: Ending, max_restarts: u32) -> String {
    format!(
        "giving up: process {index} {ending}, and all {max_restarts} restarts are used up (see --max-restarts)"
    )
}

/// Waits, and gives the signal that ended the wait early.
fn pause(delay: Duration, events: &Events) -> Option<i32> {
    let deadline = Instant::now() + delay;
    loop {
        match events.next(Some(deadline)) {
            Some(Event::Signal(signal)) => return Some(signal),
            Some(Event::Ended(_) | Event::OutputClosed) => {}
            None => return None,
        }
    }
}
