//! The one error type of the runtime.
//!
//! [`RuntimeError`] has one variant per area; an area with several kinds wraps an enum of its own.
//! Every kind has a stable dotted [`code`](RuntimeError::code), which callers and tests match on;
//! texts may improve. `Display` names the thing, the place and the remedy; `source()` is the cause;
//! [`RuntimeError::report`] joins the chain for the edge of a program.
//!
//! Errors are `Clone` because several callers may wait for the end of one job.

use std::error::Error;
use std::fmt::{self, Display};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error as ThisError;

pub use crate::checkpoint::CheckpointError;
pub use crate::cluster::ClusterError;
pub use crate::config::ConfigurationError;
pub use crate::metrics::MetricsError;
pub use crate::state::StateError;

/// The result of a runtime call.
pub type Result<T, E = RuntimeError> = std::result::Result<T, E>;

/// A shared cause of an error.
pub type Cause = Arc<dyn Error + Send + Sync + 'static>;

/// Defines `code()` and the list of all codes of an error enum from one table.
macro_rules! error_codes {
    ($type:ident { $($variant:ident => $code:literal),* $(,)? }) => {
        impl $type {
            /// All codes of this area.
            pub const CODES: &'static [&'static str] = &[$($code),*];

            /// The stable dotted word of this kind of error.
            #[must_use]
            pub const fn code(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $code),* }
            }
        }
    };
}
pub(crate) use error_codes;

/// Everything that can go wrong in the runtime.
///
/// `Display` is the message alone; `Debug` is the whole [`report`](RuntimeError::report) with the code, as `main`
/// prints it when a program ends with an error.
#[derive(Clone, ThisError)]
#[non_exhaustive]
pub enum RuntimeError {
    /// An option is unknown or has a bad value.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// The job graph is not sound.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// An operator failed while it ran.
    #[error("operator '{operator}' (uid '{uid}') failed on worker {worker}: {message}")]
    Operator {
        /// Name of the operator.
        operator: String,
        /// Stable id of the operator.
        uid: String,
        /// Index of the worker.
        worker: usize,
        /// What happened.
        message: String,
        /// The cause, unless the operator panicked.
        source: Option<Cause>,
    },
    /// A checkpoint or savepoint could not be written or read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Keyed state could not be registered, written or read.
    #[error(transparent)]
    State(#[from] StateError),
    /// A source failed.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A sink failed.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// The processes of a cluster could not come together, or lost each other.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// Metrics cannot be served.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    /// A file operation failed.
    #[error("file '{}': {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: Arc<io::Error>,
    },
    /// A job ended otherwise than by success, or a call does not fit its status.
    #[error(transparent)]
    Job(#[from] JobError),
    /// User code reported an error.
    #[error("{message}")]
    User {
        /// What the user code said.
        message: String,
    },
    /// An error that another worker reported: its text and its code.
    #[error("{message}")]
    Reported {
        /// The stable word of the original error.
        code: &'static str,
        /// Its text.
        message: String,
        /// Whether trying again may help.
        retryable: bool,
    },
    /// A broken invariant of the engine itself.
    #[error("internal error: {message}; please report it")]
    Internal {
        /// Which invariant.
        message: String,
    },
}

impl RuntimeError {
    /// An error that user code (a function, a connector) wants to report.
    ///
    /// Retrying does not help against it; operators add their name, uid and worker on the way out.
    pub fn user(message: impl Display) -> Self {
        Self::User {
            message: message.to_string(),
        }
    }

    /// A broken invariant of the engine: a fault to be reported, not one of the user.
    pub fn internal(message: impl Display) -> Self {
        Self::Internal {
            message: message.to_string(),
        }
    }

    /// An error that another worker reported under the word `code`.
    pub(crate) fn reported(code: &str, message: String, retryable: bool) -> Self {
        let code = Self::codes()
            .find(|known| *known == code)
            .unwrap_or("operator.failed");
        Self::Reported {
            code,
            message,
            retryable,
        }
    }

    /// The code of the innermost cause that has one: what went wrong, not who reported it.
    #[must_use]
    pub fn root_code(&self) -> &'static str {
        match self {
            Self::Operator {
                source: Some(cause),
                ..
            } => cause
                .downcast_ref::<RuntimeError>()
                .map_or_else(|| self.code(), RuntimeError::root_code),
            Self::Job(
                JobError::Failed { cause, .. } | JobError::RestartsExhausted { cause, .. },
            ) => cause.root_code(),
            _ => self.code(),
        }
    }

    /// A failed file operation on `path`.
    pub fn io(path: impl AsRef<Path>, source: io::Error) -> Self {
        Self::Io {
            path: path.as_ref().to_path_buf(),
            source: Arc::new(source),
        }
    }

    /// The failure of one operator instance with `cause`. A cause that already names its operator
    /// stays as it is.
    pub fn operator(
        operator: impl Into<String>,
        uid: impl Into<String>,
        worker: usize,
        cause: RuntimeError,
    ) -> Self {
        if matches!(cause, Self::Operator { .. }) {
            return cause;
        }
        Self::Operator {
            operator: operator.into(),
            uid: uid.into(),
            worker,
            message: cause.to_string(),
            source: Some(Arc::new(cause)),
        }
    }

    /// The failure of one operator instance by a panic with `message`.
    pub fn operator_panic(
        operator: impl Into<String>,
        uid: impl Into<String>,
        worker: usize,
        message: impl Display,
    ) -> Self {
        Self::Operator {
            operator: operator.into(),
            uid: uid.into(),
            worker,
            message: format!("panicked: {message}"),
            source: None,
        }
    }

    /// The stable dotted word of this kind of error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Configuration(e) => e.code(),
            Self::Graph(e) => e.code(),
            Self::Operator { .. } => "operator.failed",
            Self::Checkpoint(e) => e.code(),
            Self::State(e) => e.code(),
            Self::Source(e) => e.code(),
            Self::Sink(e) => e.code(),
            Self::Cluster(e) => e.code(),
            Self::Metrics(e) => e.code(),
            Self::Io { .. } => "io.failed",
            Self::Job(e) => e.code(),
            Self::User { .. } => "user.error",
            Self::Reported { code, .. } => code,
            Self::Internal { .. } => "internal.error",
        }
    }

    /// All codes of the runtime, area by area.
    pub fn codes() -> impl Iterator<Item = &'static str> {
        [
            "operator.failed",
            "io.failed",
            "user.error",
            "internal.error",
        ]
        .into_iter()
        .chain(ConfigurationError::CODES.iter().copied())
        .chain(GraphError::CODES.iter().copied())
        .chain(CheckpointError::CODES.iter().copied())
        .chain(StateError::CODES.iter().copied())
        .chain(SourceError::CODES.iter().copied())
        .chain(SinkError::CODES.iter().copied())
        .chain(ClusterError::CODES.iter().copied())
        .chain(MetricsError::CODES.iter().copied())
        .chain(JobError::CODES.iter().copied())
    }

    /// Whether trying the same again may help: connector errors say so themselves, file and
    /// operator errors follow their cause, everything else does not change by itself.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Source(e) => e.failure().retryable,
            Self::Sink(e) => e.failure().retryable,
            Self::Reported { retryable, .. } => *retryable,
            Self::Io { .. } | Self::Cluster(_) => true,
            Self::Operator {
                source: Some(cause),
                ..
            } => cause
                .downcast_ref::<RuntimeError>()
                .is_some_and(RuntimeError::is_retryable),
            _ => false,
        }
    }

    /// The message followed by its causes, each once, as one line for logs and consoles.
    #[must_use]
    pub fn report(&self) -> String {
        join_causes(self.to_string(), self.source())
    }
}

impl fmt::Debug for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.report(), self.root_code())
    }
}

/// `text` followed by the causes that it does not say yet.
pub(crate) fn join_causes(mut text: String, mut cause: Option<&(dyn Error + 'static)>) -> String {
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        cause = error.source();
    }
    text
}

/// Adds the path to the error of a file operation.
pub trait WithPath<T> {
    /// Turns an [`io::Error`] into a [`RuntimeError::Io`] that names `path`.
    ///
    /// # Errors
    /// `io.failed` when `self` is an error.
    fn with_path(self, path: impl AsRef<Path>) -> Result<T>;
}

impl<T> WithPath<T> for io::Result<T> {
    fn with_path(self, path: impl AsRef<Path>) -> Result<T> {
        self.map_err(|source| RuntimeError::io(path, source))
    }
}

/// Why a job graph is refused.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum GraphError {
    /// Two operators have the same uid.
    #[error(
        "uid '{uid}' is used by operator '{first}' and by operator '{second}'; uids must be unique in a job"
    )]
    DuplicateUid {
        /// The uid.
        uid: String,
        /// Name of the operator that had it first.
        first: String,
        /// Name of the other operator.
        second: String,
    },
    /// Operators feed each other in a circle.
    #[error("operators form a cycle: {}; only an iteration may loop", path.join(" -> "))]
    Cycle {
        /// Names of the operators on the cycle.
        path: Vec<String>,
    },
    /// The job has nothing to run.
    #[error("job '{job}' has no sinks: no operator was added to run")]
    Empty {
        /// Name of the job.
        job: String,
    },
    /// A parallelism cannot be served.
    #[error(
        "operator '{operator}' wants parallelism {parallelism}, but the job has {workers} workers; set it between 1 and {workers}"
    )]
    Parallelism {
        /// Name of the operator.
        operator: String,
        /// What it asks for.
        parallelism: usize,
        /// Number of workers.
        workers: usize,
    },
    /// Two pieces do not fit together.
    #[error("operator '{operator}' cannot read '{input}': {reason}")]
    Connection {
        /// Name of the reading operator.
        operator: String,
        /// Name of its input.
        input: String,
        /// Why not.
        reason: String,
    },
    /// An operator is described in a way that cannot run.
    #[error("operator '{operator}' cannot be used like this: {reason}")]
    Operator {
        /// Name of the operator.
        operator: String,
        /// Why not, and what to do instead.
        reason: String,
    },
}

error_codes!(GraphError {
    DuplicateUid => "graph.duplicate_uid",
    Cycle => "graph.cycle",
    Empty => "graph.empty",
    Parallelism => "graph.parallelism",
    Connection => "graph.connection",
    Operator => "graph.operator",
});

/// Whose fault the failure of a connector is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The user's: wrong options or data.
    User,
    /// The other system's, or the way to it.
    External,
    /// Our own: please report.
    Internal,
}

/// What a connector says about one failure.
#[derive(Clone, Debug)]
pub struct ConnectorFailure {
    /// Name of the source or sink.
    pub connector: String,
    /// What happened, where (split, file, offset, topic) and what to do.
    pub message: String,
    /// Whose fault it is.
    pub fault: Fault,
    /// Whether trying again may help.
    pub retryable: bool,
    /// The cause.
    pub cause: Option<Cause>,
}

impl ConnectorFailure {
    /// A failure by the user's options or data; trying again does not help.
    pub fn user(connector: impl Into<String>, message: impl Display) -> Self {
        Self::new(connector, message, Fault::User, false)
    }

    /// A failure of the other system; trying again may help.
    pub fn external(connector: impl Into<String>, message: impl Display) -> Self {
        Self::new(connector, message, Fault::External, true)
    }

    /// A broken invariant of the connector; trying again does not help.
    pub fn internal(connector: impl Into<String>, message: impl Display) -> Self {
        Self::new(connector, message, Fault::Internal, false)
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_cause(mut self, cause: impl Error + Send + Sync + 'static) -> Self {
        self.cause = Some(Arc::new(cause));
        self
    }

    fn new(
        connector: impl Into<String>,
        message: impl Display,
        fault: Fault,
        retryable: bool,
    ) -> Self {
        Self {
            connector: connector.into(),
            message: message.to_string(),
            fault,
            retryable,
            cause: None,
        }
    }
}

impl Display for ConnectorFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}': {}", self.connector, self.message)
    }
}

impl Error for ConnectorFailure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause
            .as_ref()
            .map(|cause| cause.as_ref() as &(dyn Error + 'static))
    }
}

/// What went wrong in a source.
#[derive(Clone, Debug, ThisError)]
#[non_exhaustive]
pub enum SourceError {
    /// The source could not be opened.
    #[error("cannot open source {0}")]
    Open(#[source] Box<ConnectorFailure>),
    /// Reading failed.
    #[error("cannot read from source {0}")]
    Read(#[source] Box<ConnectorFailure>),
    /// A record could not be decoded.
    #[error("bad record in source {0}")]
    Record(#[source] Box<ConnectorFailure>),
    /// A completed checkpoint's offsets could not be committed.
    #[error("cannot commit offsets of source {0}")]
    Commit(#[source] Box<ConnectorFailure>),
}

error_codes!(SourceError {
    Open => "source.open",
    Read => "source.read",
    Record => "source.record",
    Commit => "source.commit",
});

impl SourceError {
    /// What the connector says.
    #[must_use]
    pub fn failure(&self) -> &ConnectorFailure {
        match self {
            Self::Open(f) | Self::Read(f) | Self::Record(f) | Self::Commit(f) => f,
        }
    }
}

/// What went wrong in a sink.
#[derive(Clone, Debug, ThisError)]
#[non_exhaustive]
pub enum SinkError {
    /// The sink could not be opened.
    #[error("cannot open sink {0}")]
    Open(#[source] Box<ConnectorFailure>),
    /// Writing failed.
    #[error("cannot write to sink {0}")]
    Write(#[source] Box<ConnectorFailure>),
    /// A record could not be encoded.
    #[error("bad record for sink {0}")]
    Record(#[source] Box<ConnectorFailure>),
    /// A pre-committed transaction could not be committed.
    #[error("cannot commit sink {0}")]
    Commit(#[source] Box<ConnectorFailure>),
}

error_codes!(SinkError {
    Open => "sink.open",
    Write => "sink.write",
    Record => "sink.record",
    Commit => "sink.commit",
});

impl SinkError {
    /// What the connector says.
    #[must_use]
    pub fn failure(&self) -> &ConnectorFailure {
        match self {
            Self::Open(f) | Self::Write(f) | Self::Record(f) | Self::Commit(f) => f,
        }
    }
}

/// How a job ended, or why a call does not fit its status.
#[derive(Clone, Debug, ThisError)]
#[non_exhaustive]
pub enum JobError {
    /// The job failed and is not restarted.
    #[error("job '{job}' failed: {cause}")]
    Failed {
        /// Name of the job.
        job: String,
        /// What failed.
        #[source]
        cause: Arc<RuntimeError>,
    },
    /// The restart strategy gave up.
    #[error("job '{job}' failed and was restarted {restarts} times; the last failure: {cause}")]
    RestartsExhausted {
        /// Name of the job.
        job: String,
        /// How many times it was restarted.
        restarts: usize,
        /// The last failure.
        #[source]
        cause: Arc<RuntimeError>,
    },
    /// The job was cancelled.
    #[error("job '{job}' was cancelled")]
    Cancelled {
        /// Name of the job.
        job: String,
    },
    /// The call needs a job in another status.
    #[error("cannot {action} job '{job}': it is {status}")]
    Status {
        /// Name of the job.
        job: String,
        /// What was asked.
        action: String,
        /// The status it has.
        status: String,
    },
    /// The workers have been shut down.
    #[error("the workers of this program have ended; job '{job}' cannot run")]
    WorkersEnded {
        /// Name of the job.
        job: String,
    },
    /// The result did not come in time.
    #[error("job '{job}' did not {action} within {waited_ms} ms")]
    Timeout {
        /// Name of the job.
        job: String,
        /// What was waited for.
        action: String,
        /// How long.
        waited_ms: u64,
    },
}

error_codes!(JobError {
    Failed => "job.failed",
    RestartsExhausted => "job.restarts_exhausted",
    Cancelled => "job.cancelled",
    Status => "job.status",
    WorkersEnded => "job.workers_ended",
    Timeout => "job.timeout",
});

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_unique_dotted_words() {
        let mut seen = BTreeSet::new();
        for code in RuntimeError::codes() {
            assert!(seen.insert(code), "code '{code}' is used twice");
            let (area, kind) = code.split_once('.').expect("a dot");
            assert!(
                [area, kind].iter().all(|word| !word.is_empty()
                    && word.chars().all(|c| c.is_ascii_lowercase() || c == '_')),
                "code '{code}'"
            );
        }
    }

    #[test]
    fn report_joins_each_cause_once() {
        let cause = ConnectorFailure::external("orders", "partition 3 is gone")
            .with_cause(io::Error::other("connection reset"));
        let error = RuntimeError::operator(
            "read orders",
            "src",
            2,
            SourceError::Read(cause.into()).into(),
        );
        assert_eq!(error.code(), "operator.failed");
        assert!(error.is_retryable());
        assert_eq!(
            error.report(),
            "operator 'read orders' (uid 'src') failed on worker 2: cannot read from source 'orders': \
             partition 3 is gone: connection reset"
        );
    }

    #[test]
    fn operator_context_is_added_once() {
        let inner = RuntimeError::operator("map", "m", 0, RuntimeError::user("division by zero"));
        let outer = RuntimeError::operator("outer", "o", 1, inner);
        assert_eq!(
            outer.to_string(),
            "operator 'map' (uid 'm') failed on worker 0: division by zero"
        );
        assert!(!outer.is_retryable());
    }

    #[test]
    fn io_errors_name_the_path() {
        let error = std::fs::read("/no/such/file")
            .with_path("/no/such/file")
            .expect_err("missing");
        assert_eq!(error.code(), "io.failed");
        assert!(error.to_string().starts_with("file '/no/such/file': "));
    }
}
