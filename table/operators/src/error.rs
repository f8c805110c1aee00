//! How errors of the layers below become errors of the job.

use std::fmt::Display;

use aquifer_runtime::error::RuntimeError;

/// An error that only a fault of the engine can cause, such as columns of an unexpected type.
pub(crate) fn internal(error: impl Display) -> RuntimeError {
    RuntimeError::internal(error)
}

/// An error that the user's data or expressions cause.
pub(crate) fn user(error: impl Display) -> RuntimeError {
    RuntimeError::user(error)
}
