//! Keeps a process of the job from outliving the launcher.
//!
//! A process is not started directly: the launcher starts itself with a hidden command, which asks the
//! kernel for SIGKILL when its parent dies and then *becomes* the job's program by `exec`. The kernel keeps
//! that wish across `exec`, so it holds even when the launcher dies by SIGKILL and cannot clean up. Setting
//! it between `fork` and `exec` would need unsafe code; a pipe held open would need the job's help.
//! Only Linux has the call; elsewhere the launcher cleans up whenever it can still act.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use crate::error::{LauncherError, Result};

/// The file of this very program, also after it was replaced on disk.
pub(crate) fn own_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        Ok(PathBuf::from("/proc/self/exe"))
    } else {
        std::env::current_exe()
    }
}

/// Turns this process into `program`; comes back only if that is not possible.
pub(crate) fn become_program(parent: i32, program: &[OsString]) -> Result<u8> {
    die_with(parent)?;
    let (file, arguments) = program.split_first().expect("clap asks for a program");
    let source = Command::new(file).args(arguments).exec();
    Err(LauncherError::ProgramNotExecutable {
        path: file.into(),
        reason: source.to_string(),
    })
}

#[cfg(target_os = "linux")]
fn die_with(parent: i32) -> Result<()> {
    use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|source| {
        LauncherError::System {
            action: "tying a process to the launcher",
            source: source.into(),
        }
    })?;
    // The launcher may have died before the call above: then the parent is another one by now.
    if getppid().map(Pid::as_raw_pid) == Some(parent) {
        Ok(())
    } else {
        Err(LauncherError::System {
            action: "tying a process to the launcher",
            source: io::Error::other("the launcher is gone"),
        })
    }
}

#[cfg(not(target_os = "linux"))]
fn die_with(_parent: i32) -> Result<()> {
    Ok(())
}
