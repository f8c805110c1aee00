//! Columns in checkpoints.
//!
//! State is written as list records of up to [`FRAME_ROWS`] rows each, in the wire form of change batches and on the
//! writer's thread. Every instance reads all frames and keeps the rows whose key it owns, so state can be restored
//! with any number of workers. The types of the columns are the schema of the state; state of other types is refused.

use aquifer_runtime::error::{Result, RuntimeError};
use aquifer_runtime::{OperatorContext, Restore, Snapshot};
use aquifer_types::{ChangeBatch, DataType};
use arrow_array::{ArrayRef, BooleanArray};

use super::hash::hash_columns;
use crate::error::internal;

const FRAME_ROWS: usize = 4096;

fn schema_text(types: &[DataType]) -> String {
    let types: Vec<String> = types.iter().map(DataType::to_string).collect();
    types.join(", ")
}

/// Adds the state `name` with the rows of `batch`.
pub(crate) fn snapshot_rows(
    snapshot: &mut Snapshot,
    name: &str,
    types: &[DataType],
    batch: ChangeBatch,
) {
    snapshot.list_deferred(name, schema_text(types), move |sink| {
        let mut bytes = Vec::new();
        for start in (0..batch.len()).step_by(FRAME_ROWS) {
            bytes.clear();
            batch
                .slice(start, FRAME_ROWS.min(batch.len() - start))
                .encode(&mut bytes);
            sink.record(0, &bytes)?;
        }
        Ok(())
    });
}

/// Calls `each` with the rows of the state `name` that this instance owns, frame by frame. A row's key is its columns
/// `keys`; without keys all rows belong to the first instance.
pub(crate) fn restore_rows(
    state: &Restore,
    name: &str,
    types: &[DataType],
    keys: &[usize],
    context: &OperatorContext,
    mut each: impl FnMut(ChangeBatch) -> Result<()>,
) -> Result<()> {
    let expected = schema_text(types);
    if let Some(found) = state.schema(name).filter(|found| *found != expected) {
        return Err(RuntimeError::user(format!(
            "state '{name}' of operator '{}' (uid '{}') holds ({found}), but the operator needs ({expected}): restore \
             with the query that wrote it, or start without this state",
            context.name, context.uid
        )));
    }
    state.read(name, |_, bytes| {
        let batch = ChangeBatch::decode(bytes, types).map_err(|error| {
            RuntimeError::user(format!(
                "state '{name}' of operator '{}': {error}",
                context.name
            ))
        })?;
        let columns: Vec<ArrayRef> = keys.iter().map(|key| batch.column(*key).clone()).collect();
        let own: BooleanArray = if keys.is_empty() {
            vec![context.worker == 0; batch.len()].into()
        } else {
            let hashes = hash_columns(&columns, batch.len()).map_err(internal)?;
            hashes
                .into_iter()
                .map(|hash| Some(context.owns(hash)))
                .collect()
        };
        let batch = batch.filter(&own).map_err(internal)?;
        if batch.is_empty() {
            Ok(())
        } else {
            each(batch)
        }
    })
}
