//! What a worker tells the coordinator about a job.

use std::error::Error as _;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::checkpoint::OperatorAck;
use crate::error::{RuntimeError, join_causes};

/// A failure in a form that travels between processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    operator: Option<(String, String, usize)>,
    code: String,
    message: String,
    retryable: bool,
}

impl From<&RuntimeError> for Failure {
    fn from(error: &RuntimeError) -> Self {
        let (operator, message) = match error {
            RuntimeError::Operator {
                operator,
                uid,
                worker,
                message,
                ..
            } => (
                Some((operator.clone(), uid.clone(), *worker)),
                // The causes do not travel, so what they say must be in the message.
                join_causes(message.clone(), error.source()),
            ),
            _ => (None, error.report()),
        };
        Failure {
            operator,
            code: error.root_code().to_string(),
            message,
            retryable: error.is_retryable(),
        }
    }
}

impl Failure {
    /// What happened, with its operator.
    pub(crate) fn message(&self) -> String {
        RuntimeError::from(self.clone()).to_string()
    }
}

impl From<Failure> for RuntimeError {
    fn from(failure: Failure) -> Self {
        let Failure {
            operator,
            code,
            message,
            retryable,
        } = failure;
        let cause = RuntimeError::reported(&code, message.clone(), retryable);
        match operator {
            Some((operator, uid, worker)) => RuntimeError::Operator {
                operator,
                uid,
                worker,
                message,
                source: Some(Arc::new(cause)),
            },
            None => cause,
        }
    }
}

/// One message of a worker about one attempt of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The first rows of an epoch were emitted.
    Work { epoch: u64 },
    /// A source has emitted all it may in an epoch, or asks for its end.
    Full { epoch: u64 },
    /// The reader of one source on this worker will emit no more rows.
    SourceFinished,
    /// One operator's part of a checkpoint is written.
    Snapshot { checkpoint: u64, ack: OperatorAck },
    /// One operator is ready for a checkpoint of which nothing is kept.
    Prepared { checkpoint: u64 },
    /// One operator's part of a checkpoint could not be written.
    SnapshotFailed { checkpoint: u64, failure: Failure },
    /// All operators of this worker have committed.
    Committed { checkpoint: u64 },
    /// The job failed on this worker.
    Failed(Failure),
    /// The attempt's dataflow is gone from this worker.
    Dropped,
}

/// The panic's message.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_string())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_string())
}
