//! What workers and coordinator tell each other.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::driver::{Failure, Report};
use crate::epoch::Announcement;
use crate::metrics::MetricsSnapshot;

/// The number of a job in its program: the n-th call that runs one. The same in all processes.
pub(crate) type JobNumber = u64;

/// One run of a job; a restart is a new attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct AttemptId {
    pub(crate) job: JobNumber,
    pub(crate) attempt: u32,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Outcome {
    Finished,
    Canceled,
    /// The last failure, and how often the job had been restarted before.
    Failed {
        failure: Failure,
        restarts: usize,
    },
}

/// From the coordinator to every worker, in one order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Command {
    /// Build the job's dataflow, with the state found at a place.
    Build {
        attempt: AttemptId,
        restore: Option<PathBuf>,
    },
    /// An epoch of the job.
    Announce {
        attempt: AttemptId,
        announcement: Announcement,
    },
    /// A checkpoint is complete.
    Commit { attempt: AttemptId, checkpoint: u64 },
    /// Drop the attempt's dataflow.
    Drop { attempt: AttemptId },
    /// The job has another status.
    Status { job: JobNumber, status: JobStatus },
    /// The job is over.
    Ended { job: JobNumber, outcome: Outcome },
    /// The answer to a request of one process.
    Reply {
        process: usize,
        request: u64,
        answer: Result<String, Failure>,
    },
    /// No job will come any more.
    Shutdown,
}

/// From a worker, or from a user's call in a process, to the coordinator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// About an attempt, from a worker.
    Report {
        attempt: AttemptId,
        worker: usize,
        report: Report,
    },
    /// A process runs the job (every process of a program does).
    Submit { process: usize, job: JobNumber },
    /// A user's call.
    Request {
        process: usize,
        request: u64,
        job: JobNumber,
        action: Action,
    },
    /// What a process measured, from time to time.
    Metrics {
        process: usize,
        job: JobNumber,
        metrics: Box<MetricsSnapshot>,
    },
    /// The process needs its workers no longer.
    Leave { process: usize },
}

/// What a user can ask of a running job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Action {
    Cancel,
    Savepoint {
        directory: Option<PathBuf>,
    },
    StopWithSavepoint {
        directory: Option<PathBuf>,
        drain: bool,
    },
}

/// Where a job is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum JobStatus {
    /// Submitted, not yet on all workers.
    Created,
    /// Its dataflow runs.
    Running,
    /// It failed and will be started again.
    Restarting,
    /// Its input ended, or it was stopped with a savepoint.
    Finished,
    /// It was cancelled.
    Canceled,
    /// It failed for good.
    Failed,
}

impl JobStatus {
    /// True when nothing more will happen.
    pub fn is_terminal(self) -> bool {
        matches!(
            self,
            JobStatus::Finished | JobStatus::Canceled | JobStatus::Failed
        )
    }
}

impl std::fmt::Display for JobStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            JobStatus::Created => "created",
            JobStatus::Running => "running",
            JobStatus::Restarting => "restarting",
            JobStatus::Finished => "finished",
            JobStatus::Canceled => "cancelled",
            JobStatus::Failed => "failed",
        })
    }
}
