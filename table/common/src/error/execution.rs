//! A job that failed, and files or addresses that cannot be used.

use std::sync::Arc;

use aquifer_runtime::RuntimeError;

/// A job that failed or could not be started: what the runtime says.
#[derive(Debug, Clone, thiserror::Error)]
#[error(transparent)]
pub struct ExecutionError {
    /// The runtime's error, with operator, uid, worker and cause where it knows them.
    pub error: RuntimeError,
}

impl ExecutionError {
    /// Wraps the runtime's error.
    pub fn caused_by(error: RuntimeError) -> Self {
        ExecutionError { error }
    }

    /// The code of the runtime's error.
    pub fn code(&self) -> &'static str {
        self.error.code()
    }
}

/// A file or address that cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
#[error("cannot {action} '{place}'")]
pub struct IoError {
    /// What was tried: `read`, `list`, `connect to`.
    pub action: &'static str,
    /// The path or address.
    pub place: String,
    /// What the operating system said.
    #[source]
    pub cause: Arc<std::io::Error>,
}

impl IoError {
    /// `action` failed on `place`.
    pub fn new(action: &'static str, place: impl Into<String>, cause: std::io::Error) -> Self {
        IoError {
            action,
            place: place.into(),
            cause: Arc::new(cause),
        }
    }

    /// The stable code, by the kind of the cause.
    pub fn code(&self) -> &'static str {
        match self.cause.kind() {
            std::io::ErrorKind::NotFound => "io.not_found",
            std::io::ErrorKind::PermissionDenied => "io.permission_denied",
            std::io::ErrorKind::StorageFull => "io.storage_full",
            std::io::ErrorKind::AddrInUse => "io.address_in_use",
            _ => "io.failed",
        }
    }
}
