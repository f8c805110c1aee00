//! Steps an [`EpochOperator`]: the only code that joins operators to timely.
//!
//! The driver holds a capability for the operator's current epoch on each output. Rows of that epoch go to the
//! operator as they come; rows of later epochs, which may overtake, are kept. When no input can bring the current
//! epoch any more, the epoch's watermarks are applied, the operator ends it, a snapshot is taken if the epoch's
//! announcement asks for one, and the capabilities move on.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use timely::dataflow::operators::Capability;
use timely::progress::frontier::MutableAntichain;
use timely::scheduling::Activator;

use crate::batch::{Batch, BatchCodec, Content};
use crate::driver::job_instance::JobInstance;
use crate::driver::ports::{OutputPort, Puller, send};
use crate::driver::report::panic_message;
use crate::epoch::{CheckpointRequest, StopMode, now};
use crate::error::{Result, RuntimeError};
use crate::operator::{EpochEnd, EpochOperator, OperatorContext, Output, Snapshot};
use crate::stream_graph::Assigner;
use crate::time::{Watermark, WatermarkTracker, WatermarkUpdate};

/// How soon an operator that answered [`EpochEnd::Pending`] is asked again.
const PENDING_RETRY: Duration = Duration::from_millis(1);

/// An edge with rows.
pub(crate) struct RowInput {
    pub(crate) pull: Puller,
    pub(crate) input: usize,
    pub(crate) codec: Arc<dyn BatchCodec>,
}

/// An edge with the watermarks of one assigner.
pub(crate) struct WatermarkInput {
    pub(crate) pull: Puller,
    /// The logical inputs it counts for, each with the assigner's position there.
    pub(crate) readers: Vec<(usize, usize)>,
}

/// Everything the driver of one operator instance needs.
pub(crate) struct OperatorDriver {
    job: Rc<JobInstance>,
    node: usize,
    context: OperatorContext,
    operator: Rc<RefCell<Box<dyn EpochOperator>>>,
    activator: Rc<Activator>,
    rows: Vec<RowInput>,
    watermarks: Vec<WatermarkInput>,
    trackers: Vec<WatermarkTracker>,
    outputs: Vec<OutputPort>,
    /// The last output carries watermarks.
    assigns: bool,
    capabilities: Vec<Capability<u64>>,
    output: Output,
    epoch: u64,
    kept: BTreeMap<u64, Kept>,
    /// An operator that asked for more time is not asked again before; a wake-up is under way.
    retry_at: Option<Instant>,
    phase: Phase,
}

#[derive(Default)]
struct Kept {
    batches: Vec<(usize, Batch)>,
    watermarks: Vec<(usize, WatermarkUpdate)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// `open` has not been called.
    New,
    Running,
    /// Failed, or past the last epoch.
    Ended,
}

/// The parts of an [`OperatorDriver`] that rendering provides.
pub(crate) struct OperatorParts {
    pub(crate) job: Rc<JobInstance>,
    pub(crate) node: usize,
    pub(crate) context: OperatorContext,
    pub(crate) operator: Box<dyn EpochOperator>,
    pub(crate) activator: Activator,
    pub(crate) rows: Vec<RowInput>,
    pub(crate) watermarks: Vec<WatermarkInput>,
    /// What makes the watermark of each logical input.
    pub(crate) assigners: Vec<Vec<Assigner>>,
    pub(crate) inputs: usize,
    pub(crate) outputs: Vec<OutputPort>,
    pub(crate) assigns: bool,
    pub(crate) capabilities: Vec<Capability<u64>>,
}

impl OperatorDriver {
    pub(crate) fn new(parts: OperatorParts) -> Self {
        let operator = Rc::new(RefCell::new(parts.operator));
        if parts.context.worker < parts.context.parallelism {
            let (committing, context) = (Rc::clone(&operator), parts.context.clone());
            parts.job.register_commit(Rc::new(move |checkpoint| {
                guarded(|| committing.borrow_mut().commit(checkpoint)).map_err(|error| {
                    RuntimeError::operator(&context.name, &context.uid, context.worker, error)
                })
            }));
        }
        OperatorDriver {
            trackers: parts
                .assigners
                .iter()
                .map(|assigners| tracker(assigners, &parts.context))
                .collect(),
            job: parts.job,
            node: parts.node,
            context: parts.context,
            operator,
            activator: Rc::new(parts.activator),
            rows: parts.rows,
            watermarks: parts.watermarks,
            outputs: parts.outputs,
            assigns: parts.assigns,
            capabilities: parts.capabilities,
            output: Output::new(parts.inputs),
            epoch: 0,
            kept: BTreeMap::new(),
            retry_at: None,
            phase: Phase::New,
        }
    }

    /// One activation.
    pub(crate) fn step(&mut self, frontiers: &[MutableAntichain<u64>]) {
        if self.phase != Phase::Ended && !self.job.has_failed() {
            let result = guarded(|| self.advance(frontiers));
            if let Err(error) = result {
                self.job.fail(&self.context, error);
                // The capabilities stay: what follows must not take the epoch for complete.
                self.phase = Phase::Ended;
            }
        } else {
            self.discard_inputs();
        }
    }

    fn discard_inputs(&mut self) {
        self.rows
            .iter_mut()
            .for_each(|input| (input.pull)(&mut |_, _| ()));
        self.watermarks
            .iter_mut()
            .for_each(|input| (input.pull)(&mut |_, _| ()));
    }

    fn advance(&mut self, frontiers: &[MutableAntichain<u64>]) -> Result<()> {
        if self.phase == Phase::New {
            self.open()?;
        }
        self.pull()?;
        let next_possible = frontiers
            .iter()
            .filter_map(|frontier| frontier.frontier().first().copied())
            .min();
        loop {
            let closed = match next_possible {
                Some(epoch) => self.epoch < epoch,
                None => true,
            };
            if !self.is_announced() {
                if closed || self.kept.contains_key(&self.epoch) {
                    self.job.wait_for_announcement(&self.activator);
                }
                return Ok(());
            }
            self.process_kept()?;
            if !closed || !self.end_epoch()? {
                return Ok(());
            }
            if let Some(stop) = self.stop_mode() {
                if stop == StopMode::Drain && self.is_active() {
                    self.operator.borrow_mut().close()?;
                }
                self.capabilities.clear();
                self.phase = Phase::Ended;
                return Ok(());
            }
            self.epoch += 1;
            for capability in &mut self.capabilities {
                capability.downgrade(&self.epoch);
            }
            self.output.epoch = self.epoch;
            self.context.metrics.epoch.store(self.epoch, Relaxed);
        }
    }

    /// False on workers beyond the operator's parallelism: they only pass epochs on.
    fn is_active(&self) -> bool {
        self.context.worker < self.context.parallelism
    }

    fn open(&mut self) -> Result<()> {
        self.phase = Phase::Running;
        if self.is_active() {
            let mut operator = self.operator.borrow_mut();
            operator.open(&self.context)?;
            if let Some(state) = (self.job.restore)(&self.context)? {
                operator.restore(&state)?;
                state.check_claimed()?;
            }
        }
        Ok(())
    }

    fn is_announced(&mut self) -> bool {
        match self.job.epochs.borrow().get(self.epoch) {
            Some(announcement) => {
                self.output.processing_time = announcement.wall_clock;
                true
            }
            None => false,
        }
    }

    /// Takes in what is there. Rows of the current epoch are processed at once if nothing came before them.
    fn pull(&mut self) -> Result<()> {
        let mut result = Ok(());
        let direct = self.is_announced() && !self.kept.contains_key(&self.epoch);
        for index in 0..self.rows.len() {
            let RowInput { pull, input, codec } = &mut self.rows[index];
            let (input, epoch, kept) = (*input, self.epoch, &mut self.kept);
            let mut ready = Vec::new();
            pull(&mut |capability, batch| {
                let at = *capability
                    .least()
                    .expect("messages of the engine have one time");
                match batch.decoded(codec.as_ref()) {
                    Err(error) => result = Err(error),
                    Ok(batch) if direct && at == epoch => ready.push(batch),
                    Ok(batch) => kept.entry(at).or_default().batches.push((input, batch)),
                }
            });
            for batch in ready {
                self.process(input, batch)?;
            }
        }
        for (port, input) in self.watermarks.iter_mut().enumerate() {
            let kept = &mut self.kept;
            (input.pull)(&mut |capability, batch| {
                let at = *capability
                    .least()
                    .expect("messages of the engine have one time");
                match batch.into_content() {
                    Content::Watermarks(updates) => {
                        let kept = kept.entry(at).or_default();
                        kept.watermarks
                            .extend(updates.into_iter().map(|update| (port, update)));
                    }
                    _ => result = Err(RuntimeError::internal("rows arrived on a watermark edge")),
                }
            });
        }
        result
    }

    fn process_kept(&mut self) -> Result<()> {
        let Some(kept) = self.kept.get_mut(&self.epoch) else {
            return Ok(());
        };
        for (input, batch) in std::mem::take(&mut kept.batches) {
            self.process(input, batch)?;
        }
        Ok(())
    }

    fn process(&mut self, input: usize, batch: Batch) -> Result<()> {
        let metrics = &self.context.metrics;
        metrics.records_in.fetch_add(batch.rows() as u64, Relaxed);
        metrics.batches_in.fetch_add(1, Relaxed);
        let start = now();
        let result = self
            .operator
            .borrow_mut()
            .process(input, batch, &mut self.output);
        metrics.busy_nanos.fetch_add(nanos_since(start), Relaxed);
        result?;
        self.flush();
        Ok(())
    }

    /// False when the operator needs more time.
    fn end_epoch(&mut self) -> Result<bool> {
        if let Some(kept) = self.kept.remove(&self.epoch) {
            for (port, update) in kept.watermarks {
                for &(input, assigner) in &self.watermarks[port].readers {
                    self.trackers[input].update(assigner, update);
                }
            }
        }
        for (watermark, tracker) in self
            .output
            .input_watermarks
            .iter_mut()
            .zip(&mut self.trackers)
        {
            *watermark = tracker.advance();
        }
        if let Some(watermark) = self.trackers.iter().map(WatermarkTracker::current).min() {
            self.output.watermark = watermark;
            self.context.metrics.watermark.store(watermark, Relaxed);
        }
        if !self.is_active() {
            return self.pass_epoch_on();
        }
        let start = now();
        if self.retry_at.is_some_and(|at| start < at) {
            return Ok(false);
        }
        self.retry_at = None;
        let end = self.operator.borrow_mut().end_epoch(&mut self.output)?;
        self.context
            .metrics
            .busy_nanos
            .fetch_add(nanos_since(start), Relaxed);
        self.flush();
        if end == EpochEnd::Pending {
            self.retry_at = Some(start + PENDING_RETRY);
            self.activator.activate_after(PENDING_RETRY);
            return Ok(false);
        }
        let size = self.operator.borrow().state_size();
        self.context.metrics.state_bytes.store(size.bytes, Relaxed);
        self.context.metrics.state_keys.store(size.keys, Relaxed);
        if let Some(request) = self.checkpoint_request() {
            let mut snapshot = Snapshot::new();
            self.operator.borrow_mut().snapshot(&mut snapshot)?;
            self.job.submit_snapshot(self.node, request, snapshot);
        }
        Ok(true)
    }

    fn pass_epoch_on(&mut self) -> Result<bool> {
        if self.assigns && self.epoch == 0 {
            self.output.emit_watermark(Watermark::Idle);
            self.flush();
        }
        if let Some(request) = self.checkpoint_request() {
            self.job
                .submit_snapshot(self.node, request, Snapshot::new());
        }
        Ok(true)
    }

    fn checkpoint_request(&self) -> Option<CheckpointRequest> {
        self.job
            .epochs
            .borrow()
            .get(self.epoch)
            .and_then(|announcement| announcement.checkpoint.clone())
    }

    /// How the job ends with the current epoch, if it does.
    fn stop_mode(&self) -> Option<StopMode> {
        self.job
            .epochs
            .borrow()
            .get(self.epoch)
            .and_then(|announcement| announcement.stop)
    }

    /// Sends what the operator has put into its output.
    fn flush(&mut self) {
        flush_output(
            &mut self.output,
            &mut self.outputs,
            &self.capabilities,
            self.assigns,
            &self.context,
        );
    }
}

/// Follows the assigners of one input.
fn tracker(assigners: &[Assigner], context: &OperatorContext) -> WatermarkTracker {
    let mut tracker = WatermarkTracker::new(assigners.len(), context.workers);
    for (index, _) in assigners
        .iter()
        .enumerate()
        .filter(|(_, assigner)| assigner.is_local)
    {
        tracker.follow_only(index, context.worker);
    }
    tracker
}

/// Sends an output's rows and, if the node assigns watermarks, its watermark to every worker.
pub(crate) fn flush_output(
    output: &mut Output,
    ports: &mut [OutputPort],
    capabilities: &[Capability<u64>],
    assigns: bool,
    context: &OperatorContext,
) {
    for (port, batch) in output.batches.drain(..) {
        send(&mut ports[port], &capabilities[port], batch);
    }
    context
        .metrics
        .records_out
        .fetch_add(std::mem::take(&mut output.rows_out), Relaxed);
    if let Some(watermark) = output.watermark_out.take()
        && assigns
    {
        let port = ports.len() - 1;
        let instance = u32::try_from(context.worker).expect("worker indices fit 32 bits");
        for target in 0..context.workers {
            let update = WatermarkUpdate {
                instance,
                watermark,
            };
            let batch = Batch::from_content(Content::Watermarks(vec![update])).addressed_to(target);
            send(&mut ports[port], &capabilities[port], batch);
        }
    }
}

/// Runs operator or user code; a panic becomes an error.
pub(crate) fn guarded<R>(code: impl FnOnce() -> Result<R>) -> Result<R> {
    let result = crate::executor::panics::while_guarded(|| catch_unwind(AssertUnwindSafe(code)));
    result.unwrap_or_else(|panic: Box<dyn Any + Send>| {
        Err(RuntimeError::user(format!(
            "panicked: {}",
            panic_message(panic.as_ref())
        )))
    })
}

pub(crate) fn nanos_since(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
