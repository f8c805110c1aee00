//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::launcher::Settings;

/// Runs jobs of the Aquifer stream processor.
#[derive(Debug, Parser)]
#[command(name = "aquifer", version, about)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What the command can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the processes of a job on this machine, watch them and restart them.
    Run(RunArguments),
    /// Become another program that ends with its parent; used by `run`.
    #[command(name = "__guard", hide = true)]
    Guard(GuardArguments),
}

/// Arguments of `aquifer run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each process finds in its environment: AQUIFER_PROCESSES, AQUIFER_PROCESS, AQUIFER_WORKERS, AQUIFER_HOSTS,
AQUIFER_SECRET or AQUIFER_SECRET_FILE, AQUIFER_ATTEMPT (0, 1, ..) and, after a restart,
AQUIFER_RECOVER=latest, upon which the job goes on from its latest checkpoint.

The set is restarted when a process dies by a signal or ends with code 75 (it lost a peer). Any other code
is the job's own word: the rest is stopped and the launcher ends with that code.")]
pub(crate) struct RunArguments {
    /// Number of processes.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = at_least_one)]
    processes: usize,
    /// Number of worker threads in each process.
    #[arg(short = 'w', long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = at_least_one)]
    workers: usize,
    /// File with the secret that the processes share; without it a fresh random one is made for each start.
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
    /// Folder for the job's checkpoints, created if missing; without it the job's own configuration holds.
    #[arg(long, value_name = "DIR")]
    checkpoint_dir: Option<PathBuf>,
    /// How many times the set is restarted before the launcher gives up.
    #[arg(long, value_name = "N", default_value_t = 3)]
    max_restarts: u32,
    /// Pause before a restart, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    restart_delay: u64,
    /// How long a process may take to end after SIGINT or SIGTERM before it is killed, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 10_000)]
    grace_period: u64,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl RunArguments {
    /// The same as the launcher's settings.
    pub(crate) fn into_settings(self) -> Settings {
        Settings {
            processes: self.processes,
            workers: self.workers,
            secret_file: self.secret_file,
            checkpoint_dir: self.checkpoint_dir,
            max_restarts: self.max_restarts,
            restart_delay: Duration::from_millis(self.restart_delay),
            grace_period: Duration::from_millis(self.grace_period),
            program: self.program,
        }
    }
}

/// Arguments of the hidden guard.
#[derive(Debug, Args)]
pub(crate) struct GuardArguments {
    /// Process id of the launcher.
    #[arg(long)]
    pub(crate) parent: i32,
    /// The program and its arguments.
    #[arg(last = true, required = true)]
    pub(crate) program: Vec<OsString>,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(0) => Err("must be at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("expected a whole number of at least 1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use clap::error::ErrorKind;

    use super::*;

    fn refused(arguments: &[&str]) -> ErrorKind {
        Arguments::try_parse_from(arguments).unwrap_err().kind()
    }

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_jobs_own_flags_are_left_alone() {
        let arguments =
            Arguments::try_parse_from(["aquifer", "run", "-n", "2", "--", "./job", "-w", "x"])
                .unwrap();
        let Command::Run(run) = arguments.command else {
            panic!("not a run")
        };
        let settings = run.into_settings();
        assert_eq!((settings.processes, settings.workers), (2, 1));
        assert_eq!(settings.program, ["./job", "-w", "x"]);
    }

    #[test]
    fn bad_numbers_are_refused() {
        let with = |flag: &str, value: &str| refused(&["aquifer", "run", flag, value, "--", "job"]);
        for value in ["0", "-1", "two", ""] {
            assert_eq!(with("-n", value), ErrorKind::ValueValidation, "-n {value}");
            assert_eq!(with("-w", value), ErrorKind::ValueValidation, "-w {value}");
        }
        assert_eq!(with("--max-restarts", "x"), ErrorKind::ValueValidation);
        assert_eq!(with("--restart-delay", "1s"), ErrorKind::ValueValidation);
        assert_eq!(
            refused(&["aquifer", "run", "-n", "2"]),
            ErrorKind::MissingRequiredArgument
        );
    }
}
