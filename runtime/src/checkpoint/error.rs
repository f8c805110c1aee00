//! What can go wrong with a checkpoint.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;

use crate::error::error_codes;

/// Why a checkpoint or savepoint could not be written or read.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file is no state file.
    #[error("'{}' is not a state file of a checkpoint: it starts with other bytes", path.display())]
    NotAStateFile {
        /// The file.
        path: PathBuf,
    },
    /// The file or manifest has a format this version cannot read.
    #[error(
        "'{}' has format version {found}, this program reads version {supported}; use the version that wrote it, or one that reads both",
        path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version of this program.
        supported: u32,
    },
    /// The file ends too early.
    #[error("'{}' ends at byte {length}, in the middle of {part} that starts at byte {offset}", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Where the incomplete part starts.
        offset: u64,
        /// Length of the file.
        length: u64,
        /// What is incomplete.
        part: &'static str,
    },
    /// The file's content is damaged.
    #[error("'{}' is damaged at byte {offset}: {reason}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Where the damaged part starts.
        offset: u64,
        /// What does not fit.
        reason: String,
    },
    /// The manifest cannot be understood.
    #[error("manifest '{}' cannot be read: {reason}", path.display())]
    Manifest {
        /// The manifest file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// There is no completed checkpoint or savepoint.
    #[error("'{}' holds no completed checkpoint or savepoint", path.display())]
    NotFound {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A file could not be written.
    #[error("cannot write '{}': {cause}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        #[source]
        cause: Arc<io::Error>,
    },
    /// State could not be encoded.
    #[error("state '{state}' of operator '{uid}' cannot be encoded: {reason}")]
    Encode {
        /// The operator's uid.
        uid: String,
        /// Name of the state.
        state: String,
        /// Why not.
        reason: String,
    },
    /// The state in a checkpoint does not fit the job.
    #[error(
        "'{}' does not fit the job: {}; to drop state that is not used, set 'execution.state-recovery.ignore-unclaimed-state'",
        path.display(),
        join(problems)
    )]
    Incompatible {
        /// The checkpoint's folder.
        path: PathBuf,
        /// Everything that does not fit.
        problems: Vec<StateProblem>,
    },
    /// Parts of one checkpoint contradict each other.
    #[error("checkpoint {id} is inconsistent: {reason}")]
    Inconsistent {
        /// The checkpoint.
        id: u64,
        /// What contradicts what.
        reason: String,
    },
    /// A checkpoint was given up.
    #[error("checkpoint {id} failed: {reason}")]
    Failed {
        /// The checkpoint.
        id: u64,
        /// Why.
        reason: String,
    },
}

error_codes!(CheckpointError {
    NotAStateFile => "checkpoint.not_a_state_file",
    Version => "checkpoint.version",
    Truncated => "checkpoint.truncated",
    Corrupt => "checkpoint.corrupt",
    Manifest => "checkpoint.manifest",
    NotFound => "checkpoint.not_found",
    Write => "checkpoint.write",
    Encode => "checkpoint.encode",
    Incompatible => "checkpoint.incompatible",
    Inconsistent => "checkpoint.inconsistent",
    Failed => "checkpoint.failed",
});

/// One way in which stored state does not fit a job.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateProblem {
    /// The job has an operator that the checkpoint does not know, while state of others is unclaimed.
    NewOperator {
        /// The operator's uid.
        uid: String,
    },
    /// The checkpoint has the state of an operator that the job lacks.
    UnclaimedOperator {
        /// The operator's uid.
        uid: String,
        /// The name it had.
        operator: String,
    },
    /// The checkpoint has a state that the job's operator does not use.
    UnclaimedState {
        /// The operator's uid.
        uid: String,
        /// Name of the state.
        state: String,
    },
    /// The keys were routed by another hash function, so their records would not be found.
    Routing {
        /// Version of the program that wrote the checkpoint.
        engine_version: String,
    },
}

impl fmt::Display for StateProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Routing { engine_version } => write!(
                f,
                "its keys were routed by version {engine_version}, which hashes otherwise than this one"
            ),
            Self::NewOperator { uid } => write!(
                f,
                "operator '{uid}' of the job is not in it; if it is one of the others, give it its old uid"
            ),
            Self::UnclaimedOperator { uid, operator } => write!(
                f,
                "no operator of the job has uid '{uid}' (it was '{operator}')"
            ),
            Self::UnclaimedState { uid, state } => {
                write!(f, "operator '{uid}' has no state '{state}' in the job")
            }
        }
    }
}

fn join(problems: &[StateProblem]) -> String {
    let texts: Vec<_> = problems.iter().map(ToString::to_string).collect();
    texts.join("; ")
}
