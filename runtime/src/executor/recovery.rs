//! Where a job starts from: nothing, a savepoint, or the newest checkpoint of an earlier run.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::checkpoint::{CheckpointStorage, RestoredState};
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
    let state = RestoredState::open(manifest, options.allow_unclaimed);
    state.check(&operators_with_state(&definition.graph))?;
    let manifest = state.manifest();
    Ok(Start {
        next_checkpoint: next_checkpoint.max(manifest.checkpoint_id + 1),
        folder: Some(manifest.folder().to_path_buf()),
    })
}

/// The uids of the operators that may have state.
fn operators_with_state(graph: &StreamGraph) -> BTreeSet<&str> {
    let nodes = graph.nodes.iter();
    nodes
        .filter(|node| !matches!(node.kind, NodeKind::Chain(_)))
        .map(|node| node.uid.as_str())
        .collect()
}
