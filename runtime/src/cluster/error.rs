//! What can go wrong between the processes of a cluster.

use std::io;
use std::sync::Arc;

use thiserror::Error;

use crate::error::error_codes;

/// Why the processes of a cluster could not come together, or lost each other.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// An argument, variable or option about the cluster is wrong.
    #[error("{argument}: {reason}")]
    Argument {
        /// Where the value comes from, as the user wrote it.
        argument: String,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A process ended its program while others still run jobs.
    #[error(
        "process {process} has ended its program and takes no part in further jobs; all processes must run the same jobs"
    )]
    ProcessLeft {
        /// Index of the process.
        process: usize,
    },
    /// This process cannot listen.
    #[error("process {process} cannot listen on '{address}': {cause}")]
    Bind {
        /// Index of this process.
        process: usize,
        /// The address.
        address: String,
        /// Why not.
        #[source]
        cause: Arc<io::Error>,
    },
    /// Listening on a public address without a secret is refused.
    #[error(
        "process {process} would listen on '{address}', which other machines can reach, without a secret; set 'cluster.secret-file' or use a loopback address"
    )]
    SecretNeeded {
        /// Index of this process.
        process: usize,
        /// The address.
        address: String,
    },
    /// Some peers did not come in time.
    #[error("after {waited_ms} ms these peers are missing: {}", missing.join("; "))]
    ConnectTimeout {
        /// How long was waited.
        waited_ms: u64,
        /// The missing peers, each with its address and the last thing seen of it.
        missing: Vec<String>,
    },
    /// The peer proved another secret.
    #[error("{peer} has another secret; give all processes the same")]
    WrongSecret {
        /// The peer.
        peer: String,
    },
    /// The peer runs something that does not fit.
    #[error("{peer} has {what} {theirs}, this process has {ours}; start all processes alike")]
    Mismatch {
        /// The peer.
        peer: String,
        /// What differs.
        what: &'static str,
        /// Our value.
        ours: String,
        /// The peer's value.
        theirs: String,
    },
    /// Two processes claim one index.
    #[error("{peer} says it is process {index}, which is taken; give each process its own index")]
    DuplicateProcess {
        /// The second one.
        peer: String,
        /// The index.
        index: usize,
    },
    /// The peer refused this process.
    #[error("{peer} refused this process: {reason}")]
    Refused {
        /// The peer.
        peer: String,
        /// What it said.
        reason: String,
    },
    /// A peer went away while the job ran.
    #[error("lost the connection to {peer}: {reason}")]
    PeerLost {
        /// The peer.
        peer: String,
        /// What happened.
        reason: String,
    },
}

error_codes!(ClusterError {
    ProcessLeft => "cluster.process_left",
    Argument => "cluster.argument",
    Bind => "cluster.bind",
    SecretNeeded => "cluster.secret_needed",
    ConnectTimeout => "cluster.connect_timeout",
    WrongSecret => "cluster.wrong_secret",
    Mismatch => "cluster.mismatch",
    DuplicateProcess => "cluster.duplicate_process",
    Refused => "cluster.refused",
    PeerLost => "cluster.peer_lost",
});
