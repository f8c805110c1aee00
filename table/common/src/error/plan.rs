//! Errors of plans: compiled, loaded or being made.

/// An error of a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A plan text that cannot be read.
    #[error("plan cannot be read: {reason}")]
    Unreadable {
        /// What is wrong.
        reason: String,
    },
    /// A plan node of a type or version that this engine does not know.
    #[error("plan node {id} has type '{node_type}', which this version does not know")]
    UnknownNode {
        /// The node's id.
        id: u32,
        /// Its type.
        node_type: String,
    },
    /// A stream input without a uid in a plan that shall be stored.
    #[error("stream '{stream}' has no uid, so a plan cannot name it")]
    MissingUid {
        /// The stream's name.
        stream: String,
    },
    /// A plan that names a stream that is not registered.
    #[error("plan reads stream '{uid}', but no stream of that uid is registered")]
    UnknownStream {
        /// The uid.
        uid: String,
    },
    /// A broken invariant of the planner.
    #[error("internal planner error: {message}; please report it")]
    Internal {
        /// What was found.
        message: String,
    },
}

impl PlanError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "plan.unreadable",
            Self::UnknownNode { .. } => "plan.unknown_node",
            Self::MissingUid { .. } => "plan.missing_uid",
            Self::UnknownStream { .. } => "plan.unknown_stream",
            Self::Internal { .. } => "plan.internal",
        }
    }

    /// What to do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::MissingUid { .. } => Some("Give the stream a name with uid(..).".to_string()),
            Self::UnknownStream { .. } => {
                Some("Register it with register_data_stream_by_uid(..).".to_string())
            }
            _ => None,
        }
    }
}
