//! Where a job starts from: nothing, a savepoint, or the newest checkpoint of an earlier run.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::checkpoint::{CheckpointError, CheckpointStorage, Manifest, StateProblem};
use crate::error::Result;
use crate::executor::job::JobDefinition;
use crate::stream_graph::{NodeKind, StreamGraph};

/// See [`find_state`].
pub(crate) struct Start {
    /// The checkpoint or savepoint to restore.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) next_checkpoint: u64,
}

/// Finds the state the options ask for and checks that it fits the job.
///
/// # Errors
/// When the state asked for is missing, cannot be read, or does not fit.
pub(crate) fn find_state(definition: &JobDefinition, storage: &CheckpointStorage) -> Result<Start> {
    let options = &definition.options;
    let latest = if options.restore_latest {
        storage.latest()?
    } else {
        None
    };
    let manifest = match (latest, &options.restore) {
        (Some(manifest), _) => Some(manifest),
        (None, Some(path)) => Some(CheckpointStorage::open(path)?),
        (None, None) => None,
    };
    let next_checkpoint = storage.next_id()?;
    let Some(manifest) = manifest else {
        return Ok(Start {
            folder: None,
            next_checkpoint,
        });
    };
    check(&definition.graph, &manifest, options.allow_unclaimed)?;
    Ok(Start {
        next_checkpoint: next_checkpoint.max(manifest.checkpoint_id + 1),
        folder: Some(manifest.folder().to_path_buf()),
    })
}

/// Compares the operators of a job with those of a checkpoint. What each operator's state holds is checked by the
/// operator when it reads it.
fn check(graph: &StreamGraph, manifest: &Manifest, allow_unclaimed: bool) -> Result<()> {
    let has_state = |kind: &NodeKind| !matches!(kind, NodeKind::Chain(_));
    let own: BTreeSet<&str> = graph
        .nodes
        .iter()
        .filter(|node| has_state(&node.kind))
        .map(|node| node.uid.as_str())
        .collect();
    let stored: BTreeSet<&str> = manifest
        .operators
        .iter()
        .map(|operator| operator.uid.as_str())
        .collect();
    let mut problems: Vec<StateProblem> = manifest
        .operators
        .iter()
        .filter(|operator| !operator.states.is_empty() && !own.contains(operator.uid.as_str()))
        .map(|operator| StateProblem::UnclaimedOperator {
            uid: operator.uid.clone(),
            operator: operator.name.clone(),
        })
        .collect();
    if problems.is_empty() || allow_unclaimed {
        return Ok(());
    }
    // New operators may start empty, but beside state that nobody claims they are most likely the same ones renamed.
    problems.extend(own.difference(&stored).map(|uid| StateProblem::Missing {
        uid: (*uid).to_string(),
        state: "all states".to_string(),
    }));
    Err(CheckpointError::Incompatible {
        path: manifest.folder().to_path_buf(),
        problems,
    }
    .into())
}
