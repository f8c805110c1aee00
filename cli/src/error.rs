//! What can go wrong in the launcher itself, as opposed to in the job.

use std::error::Error;
use std::io;
use std::path::PathBuf;

/// A failure of the launcher.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LauncherError {
    /// No file of that name, neither as a path nor in `PATH`.
    #[error(
        "program '{program}' does not exist (check the path; a name without '/' is searched in PATH)"
    )]
    ProgramNotFound {
        /// The name as given.
        program: String,
    },
    /// The file is there but cannot be run.
    #[error(
        "program '{}' cannot be executed: {reason} (give the path of a built program, or set its mode with 'chmod +x')",
        path.display()
    )]
    ProgramNotExecutable {
        /// The file.
        path: PathBuf,
        /// What stands in the way.
        reason: String,
    },
    /// The operating system refused to start a process.
    #[error("process {process} of '{program}' cannot be started")]
    Spawn {
        /// Index of the process.
        process: usize,
        /// The program.
        program: String,
        /// The cause.
        source: io::Error,
    },
    /// No loopback port could be reserved.
    #[error("no free port on 127.0.0.1 for process {process}")]
    Port {
        /// Index of the process.
        process: usize,
        /// The cause.
        source: io::Error,
    },
    /// The secret's file is missing, unreadable or empty.
    #[error("secret file '{}' cannot be used: {reason}", path.display())]
    SecretFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The operating system gave no random bytes.
    #[error(
        "no random bytes for the secret of the processes: {reason} (give one with --secret-file)"
    )]
    Random {
        /// What the operating system said.
        reason: String,
    },
    /// The folder for checkpoints cannot be made.
    #[error("checkpoint folder '{}' cannot be created", path.display())]
    CheckpointDir {
        /// The folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A call that watches the processes failed.
    #[error("{action} failed")]
    System {
        /// What was tried.
        action: &'static str,
        /// The cause.
        source: io::Error,
    },
}

/// Shorthand for results of the launcher.
pub(crate) type Result<T, E = LauncherError> = std::result::Result<T, E>;

impl LauncherError {
    /// Stable name of this kind of error.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::ProgramNotFound { .. } => "launcher.program_not_found",
            Self::ProgramNotExecutable { .. } => "launcher.program_not_executable",
            Self::Spawn { .. } => "launcher.spawn",
            Self::Port { .. } => "launcher.port",
            Self::SecretFile { .. } => "launcher.secret_file",
            Self::Random { .. } => "launcher.random",
            Self::CheckpointDir { .. } => "launcher.checkpoint_dir",
            Self::System { .. } => "launcher.system",
        }
    }

    /// The exit code of the launcher: the shell's own for programs that cannot run, 1 otherwise.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::ProgramNotFound { .. } => 127,
            Self::ProgramNotExecutable { .. } => 126,
            _ => 1,
        }
    }

    /// The whole chain of causes in one line, with the code.
    pub(crate) fn report(&self) -> String {
        let mut text = format!("error[{}]: {self}", self.code());
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}
