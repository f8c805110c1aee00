//! The code that runs inside a job: one trait, called epoch by epoch.
//!
//! The driver (`driver.rs`) is the only code that knows timely. It hands an operator the batches of one epoch after
//! the other, never of two at once, and calls [`EpochOperator::end_epoch`] when all of an epoch's batches and
//! watermarks are in. So an operator keeps one version of its state and can be tested without a dataflow
//! (`crate::testing`).

use std::sync::Arc;

use crate::batch::Batch;
use crate::error::Result;
use crate::metrics::OperatorMetrics;
use crate::operator::snapshot::{Restore, Snapshot};
use crate::time::{MIN_WATERMARK, Watermark};

/// Who an operator is and where it runs; fixed for its life.
#[derive(Clone)]
pub struct OperatorContext {
    /// The name shown in messages and metrics.
    pub name: String,
    /// The stable id of the operator.
    pub uid: String,
    /// The index of this worker among all workers of all processes.
    pub worker: usize,
    /// The number of workers of all processes.
    pub workers: usize,
    /// How many of them run this operator: workers `0..parallelism` get its rows.
    pub parallelism: usize,
    /// The counters of this instance.
    pub metrics: Arc<OperatorMetrics>,
}

impl OperatorContext {
    /// True when rows whose key has this hash belong to this instance.
    pub fn owns(&self, hash: u64) -> bool {
        crate::exchange::worker_of(hash, self.parallelism) == self.worker
    }
}

/// What an operator says at the end of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpochEnd {
    /// Everything is done; the epoch can close.
    Done,
    /// Something is still under way (an external system, a slow reader): ask again soon. The epoch stays open, and
    /// so the sources are held back.
    Pending,
}

/// A stateful operator. One instance runs per worker, on that worker's thread.
///
/// Order of calls: `open`, `restore` if there is state, then per epoch any number of `process` and one `end_epoch`
/// (repeated while it answers [`EpochEnd::Pending`]), then `snapshot` if the epoch carries a checkpoint. `commit`
/// comes some time after a `snapshot`, once the checkpoint is complete. `close` comes last, and only when the input
/// ended by itself.
pub trait EpochOperator: 'static {
    /// Called once before anything else.
    ///
    /// # Errors
    /// Fails the job.
    fn open(&mut self, context: &OperatorContext) -> Result<()> {
        let _ = context;
        Ok(())
    }

    /// Takes the state of an earlier run. Not called when the run starts empty.
    ///
    /// # Errors
    /// When the state cannot be read.
    fn restore(&mut self, state: &Restore) -> Result<()> {
        let _ = state;
        Ok(())
    }

    /// Takes rows of the current epoch from the logical input `input`.
    ///
    /// # Errors
    /// Fails the job.
    fn process(&mut self, input: usize, batch: Batch, output: &mut Output) -> Result<()>;

    /// All rows and watermarks of the current epoch are in: fire timers, emit what the epoch changed.
    ///
    /// # Errors
    /// Fails the job.
    fn end_epoch(&mut self, output: &mut Output) -> Result<EpochEnd> {
        let _ = output;
        Ok(EpochEnd::Done)
    }

    /// Hands over the state as of the epoch that just ended.
    ///
    /// # Errors
    /// Fails the job.
    fn snapshot(&mut self, snapshot: &mut Snapshot) -> Result<()> {
        let _ = snapshot;
        Ok(())
    }

    /// The checkpoint `checkpoint`, which holds this operator's snapshot, is complete and will never be lost: make
    /// visible what was prepared for it. Must be repeatable.
    ///
    /// # Errors
    /// Fails the job.
    fn commit(&mut self, checkpoint: u64) -> Result<()> {
        let _ = checkpoint;
        Ok(())
    }

    /// The input has ended.
    ///
    /// # Errors
    /// Fails the job.
    fn close(&mut self) -> Result<()> {
        Ok(())
    }

    /// An estimate of the state's size: bytes and keys. Read at the end of epochs, so it must be cheap.
    fn state_size(&self) -> StateSize {
        StateSize::default()
    }
}

/// See [`EpochOperator::state_size`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateSize {
    /// Bytes held in memory.
    pub bytes: u64,
    /// Keys held.
    pub keys: u64,
}

/// Where an operator puts its results, and where it reads the epoch and the clocks.
pub struct Output {
    pub(crate) epoch: u64,
    pub(crate) processing_time: i64,
    pub(crate) watermark: i64,
    pub(crate) input_watermarks: Vec<i64>,
    pub(crate) batches: Vec<(usize, Batch)>,
    pub(crate) watermark_out: Option<Watermark>,
    pub(crate) rows_out: u64,
}

impl Output {
    /// An output for an operator with `inputs` logical inputs.
    pub fn new(inputs: usize) -> Self {
        Output {
            epoch: 0,
            processing_time: 0,
            watermark: MIN_WATERMARK,
            input_watermarks: vec![MIN_WATERMARK; inputs],
            batches: Vec::new(),
            watermark_out: None,
            rows_out: 0,
        }
    }

    /// Sends rows to output `port` (0 is the main output, side outputs follow), in the current epoch.
    pub fn emit(&mut self, port: usize, batch: impl Into<Batch>) {
        let batch = batch.into();
        if !batch.is_empty() {
            self.rows_out += batch.rows() as u64;
            self.batches.push((port, batch));
        }
    }

    /// The current epoch.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Processing time in milliseconds since 1970: the announced time of the current epoch, the same on all workers.
    pub fn processing_time(&self) -> i64 {
        self.processing_time
    }

    /// The watermark over all inputs. During `process` it is that of the end of the previous epoch, during
    /// `end_epoch` that of the epoch which ends.
    pub fn watermark(&self) -> i64 {
        self.watermark
    }

    /// The watermark of one logical input.
    pub fn input_watermark(&self, input: usize) -> i64 {
        self.input_watermarks[input]
    }

    /// Promises that no record at or before `watermark` will be emitted. Only for operators declared as assigners.
    pub fn emit_watermark(&mut self, watermark: Watermark) {
        self.watermark_out = Some(watermark);
    }
}
