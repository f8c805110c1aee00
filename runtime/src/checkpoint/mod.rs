//! Checkpoints and savepoints: files of state, and the manifest that makes a set of them one cut.
//!
//! This module stores and finds records; it does not know timely, and of operators only their
//! [`Snapshot`](crate::operator::Snapshot) and [`Restore`](crate::operator::Restore). The way of a checkpoint:
//!
//! 1. [`CheckpointStorage::begin`] names the folder; every worker's operators put closures that encode their
//!    states into a `Snapshot`.
//! 2. Off the worker threads, [`CheckpointStorage::write_operator`] runs them into one file per operator,
//!    state and worker, and gives an [`OperatorAck`] that travels to worker 0.
//! 3. When all acks are in, [`CheckpointStorage::complete`] writes the [`Manifest`], last and atomically:
//!    a folder without a manifest is no checkpoint.
//!
//! And back: [`CheckpointStorage::latest`] or [`CheckpointStorage::open`] finds a manifest,
//! [`RestoredState::check`] compares it with the job, and [`RestoredState::restore`] gives each
//! operator instance its `Restore`. Keyed records carry the routing hash of their key in front, so any
//! number of workers can pick theirs without decoding; records of list state go to every instance.
//!
//! Invariants: what the manifest names is on disk before the manifest is; paths in it are relative, so a
//! folder may be moved; every byte is covered by a checksum; nothing is allocated by a length that is
//! larger than the file.

mod error;
mod format;
mod frame_reader;
mod frame_writer;
mod manifest;
mod names;
mod restore;
mod schema;
mod storage;

pub use error::{CheckpointError, StateProblem};
pub use manifest::{
    CheckpointKind, MANIFEST_FILE, Manifest, ManifestFile, ManifestOperator, ManifestState,
};
pub use restore::{KeyFilter, Record, RestoredState, StateReader};
pub use schema::StateSchema;
pub use storage::{CheckpointStorage, CheckpointTarget, OperatorAck, StateAck};

#[cfg(test)]
mod tests;
