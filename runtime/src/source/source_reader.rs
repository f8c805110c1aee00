//! What reads input into a job, as the driver sees it.
//!
//! A reader is polled on its worker's thread and never blocks: it emits what is there, at most the number of rows
//! it is given, and says how to go on. The driver closes the epoch around it, so a reader knows nothing of epochs
//! except that [`SourceReader::end_epoch`] is called at each boundary and that a snapshot is taken there.

use std::sync::Arc;
use std::time::Duration;

use crate::error::Result;
use crate::operator::{OperatorContext, Output, Restore, Snapshot};

/// Whether a source ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Boundedness {
    /// It has a last row.
    Bounded,
    /// It goes on until the job is stopped.
    Unbounded,
}

/// What a poll found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceStatus {
    /// More may be there at once.
    Ready,
    /// No more rows in this epoch: go on in the next. Makes epoch boundaries explicit, for tests and for inputs that
    /// carry boundaries of their own.
    EndOfEpoch,
    /// Nothing is there; poll again after this time, or when the source's waker is called.
    Waiting(Duration),
    /// This instance will never have rows again.
    Finished,
}

/// Reads one source on one worker.
///
/// Order of calls: `open`, `restore` if there is state, then `poll` and `end_epoch`, and `snapshot` after the
/// `end_epoch` of an epoch with a checkpoint.
pub trait SourceReader: 'static {
    /// Called once before anything else.
    ///
    /// # Errors
    /// Fails the job.
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        let _ = context;
        Ok(())
    }

    /// Takes the positions of an earlier run: those of all instances, of which the reader keeps its own.
    ///
    /// # Errors
    /// When a position cannot be read.
    fn restore(&mut self, state: &Restore) -> Result<()> {
        let _ = state;
        Ok(())
    }

    /// Emits at most `max_rows` rows (at least one batch's worth may be emitted) without blocking.
    ///
    /// # Errors
    /// Fails the job.
    fn poll(&mut self, output: &mut Output, max_rows: usize) -> Result<SourceStatus>;

    /// True when the reader itself says where each epoch ends, by [`SourceStatus::EndOfEpoch`]. No epoch is closed
    /// before that, so several such sources keep step.
    fn closes_epochs(&self) -> bool {
        false
    }

    /// The epoch ends here; also the place for periodic watermarks.
    ///
    /// # Errors
    /// Fails the job.
    fn end_epoch(&mut self, output: &mut Output) -> Result<()> {
        let _ = output;
        Ok(())
    }

    /// Hands over the positions as of the epoch that just ended.
    ///
    /// # Errors
    /// Fails the job.
    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let _ = snapshot;
        Ok(())
    }

    /// The checkpoint is complete: rows before its positions will not be asked for again.
    ///
    /// # Errors
    /// Fails the job.
    fn commit(&mut self, checkpoint: u64) -> Result<()> {
        let _ = checkpoint;
        Ok(())
    }
}

/// Makes the reader of a source on each worker.
pub type SourceFactory = Arc<dyn Fn() -> Box<dyn SourceReader> + Send + Sync>;
