//! The `aquifer` command.
//!
//! `aquifer run -n 2 -w 2 -- ./my_job args` starts the processes of one job on this machine, watches them
//! as one unit and restarts the whole set from the last checkpoint when one of them dies.
//!
//! Layers, each using only those above it: [`error`], [`ending`] (how a process ended), [`program`],
//! [`address`], [`secret`] (what a process needs to start), [`guard`] (keeps a process from outliving the
//! launcher), [`output`] (labelled lines), [`events`], [`process_set`] (one attempt), [`launcher`] (attempt
//! after attempt), [`arguments`].

mod address;
mod arguments;
mod ending;
mod error;
mod events;
mod guard;
mod launcher;
mod output;
mod process_set;
mod program;
mod secret;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Command};

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Run(run) => launcher::run(&run.into_settings()),
        Command::Guard(guard) => guard::become_program(guard.parent, &guard.program),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            output::say(&error.report());
            ExitCode::from(error.exit_code())
        }
    }
}
