//! Checkpoints and savepoints: files of state, and the manifest that makes a set of them one cut.
//!
//! This module stores and finds bytes; it knows neither timely nor operators.

mod error;

pub use error::{CheckpointError, StateProblem};
