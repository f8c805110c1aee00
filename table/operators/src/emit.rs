//! Emission of results that may be large.

use aquifer_runtime::Output;
use aquifer_types::ChangeBatch;

/// How many rows an operator puts into one batch: large enough to spread the fixed cost of a batch, small enough that
/// its columns stay in the processor's cache.
pub(crate) const BATCH: usize = 8192;

/// Emits a batch on the main output, cut into parts of at most [`BATCH`] rows.
pub(crate) fn emit(output: &mut Output, batch: ChangeBatch) {
    if batch.len() <= BATCH {
        output.emit(0, batch);
        return;
    }
    for start in (0..batch.len()).step_by(BATCH) {
        output.emit(0, batch.slice(start, BATCH.min(batch.len() - start)));
    }
}
