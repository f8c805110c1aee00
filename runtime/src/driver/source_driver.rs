//! Steps a [`SourceReader`]: polls it within its epoch's allowance and closes epochs as they are announced.
//!
//! A source that is finished goes on following the announcements, so that its worker's epoch table is complete
//! whenever an epoch closes. It ends with the job's last epoch.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use timely::dataflow::operators::Capability;
use timely::scheduling::Activator;

use crate::driver::job_instance::JobInstance;
use crate::driver::operator_driver::{flush_output, guarded, nanos_since};
use crate::driver::ports::OutputPort;
use crate::driver::report::Report;
use crate::epoch::{StopMode, now};
use crate::error::{Result, RuntimeError};
use crate::operator::{OperatorContext, Output, Snapshot};
use crate::source::{SourceReader, SourceStatus};
use crate::time::{MAX_WATERMARK, Watermark};

/// Rows asked for in one poll: small enough that what follows works on data still in the cache.
const POLL_ROWS: usize = 4096;

/// The longest wait between two polls of a source that asks for shorter ones and has had no rows for some time.
const LONGEST_WAIT: Duration = Duration::from_millis(16);

pub(crate) struct SourceDriver {
    job: Rc<JobInstance>,
    node: usize,
    context: OperatorContext,
    reader: Rc<RefCell<Box<dyn SourceReader>>>,
    activator: Activator,
    outputs: Vec<OutputPort>,
    capabilities: Vec<Capability<u64>>,
    output: Output,
    epoch: u64,
    /// Rows emitted in this epoch.
    emitted: usize,
    /// The reader is not polled before; a wake-up is under way.
    wake_at: Option<Instant>,
    /// When the source first had no rows after it had some.
    idle_since: Option<Instant>,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    New,
    Reading,
    /// No more rows in this epoch.
    EpochFull,
    /// No more rows at all.
    Finished,
    /// Failed, or past the last epoch.
    Ended,
}

impl SourceDriver {
    pub(crate) fn new(
        job: Rc<JobInstance>,
        node: usize,
        context: OperatorContext,
        reader: Box<dyn SourceReader>,
        activators: (Activator, Activator),
        outputs: Vec<OutputPort>,
        capabilities: Vec<Capability<u64>>,
    ) -> Self {
        let reader = Rc::new(RefCell::new(reader));
        if context.worker < context.parallelism {
            let (committing, at) = (Rc::clone(&reader), context.clone());
            job.register_commit(Rc::new(move |checkpoint| {
                guarded(|| committing.borrow_mut().commit(checkpoint))
                    .map_err(|error| RuntimeError::operator(&at.name, &at.uid, at.worker, error))
            }));
        }
        job.register_source(activators.0);
        SourceDriver {
            job,
            node,
            context,
            reader,
            activator: activators.1,
            outputs,
            capabilities,
            output: Output::new(0),
            epoch: 0,
            emitted: 0,
            wake_at: None,
            idle_since: None,
            phase: Phase::New,
        }
    }

    /// One activation.
    pub(crate) fn step(&mut self) {
        if self.phase == Phase::Ended || self.job.has_failed() {
            return;
        }
        if let Err(error) = guarded(|| self.advance()) {
            self.job.fail(&self.context, error);
            self.phase = Phase::Ended;
        }
    }

    fn advance(&mut self) -> Result<()> {
        loop {
            let (stop, next_announced) = {
                let epochs = self.job.epochs.borrow();
                let Some(announcement) = epochs.get(self.epoch) else {
                    return Ok(());
                };
                self.output.processing_time = announcement.wall_clock;
                (announcement.stop, epochs.get(self.epoch + 1).is_some())
            };
            if self.phase == Phase::New {
                self.open()?;
                // Once in the first epoch, however many are announced by now: a reader that has nothing to read then
                // ends event time in the same epoch in every run.
                if self.phase == Phase::Reading {
                    self.poll()?;
                }
            }
            if let Some(mode) = stop {
                return self.end_job(mode);
            }
            if next_announced && !self.owes_rows() {
                self.end_epoch()?;
                self.epoch += 1;
                self.emitted = 0;
                self.output.epoch = self.epoch;
                self.context.metrics.epoch.store(self.epoch, Relaxed);
                for capability in &mut self.capabilities {
                    capability.downgrade(&self.epoch);
                }
                if self.phase == Phase::EpochFull {
                    self.phase = Phase::Reading;
                }
                continue;
            }
            if self.phase == Phase::Reading {
                self.poll()?;
                if next_announced && self.phase != Phase::Reading {
                    continue;
                }
            }
            return Ok(());
        }
    }

    /// The reader sets the epochs' ends and has not reached that of the current one.
    fn owes_rows(&self) -> bool {
        self.phase == Phase::Reading && self.reader.borrow().closes_epochs()
    }

    fn open(&mut self) -> Result<()> {
        if self.context.worker >= self.context.parallelism {
            return self.finish();
        }
        let mut reader = self.reader.borrow_mut();
        reader.open(&self.context)?;
        if let Some(state) = (self.job.restore)(&self.context)? {
            reader.restore(&state)?;
            state.check_claimed()?;
        }
        self.phase = Phase::Reading;
        Ok(())
    }

    fn poll(&mut self) -> Result<()> {
        // Announcements wake the source more often than it asked for; each wake-up that is under way comes once.
        if self.wake_at.is_some_and(|at| now() < at) {
            return Ok(());
        }
        self.wake_at = None;
        let allowance = (self.job.max_rows - self.emitted).min(POLL_ROWS);
        let start = now();
        let status = self.reader.borrow_mut().poll(&mut self.output, allowance)?;
        self.context
            .metrics
            .busy_nanos
            .fetch_add(nanos_since(start), Relaxed);
        let rows = usize::try_from(self.output.rows_out).unwrap_or(usize::MAX);
        self.flush();
        if rows > 0 {
            self.emitted = self.emitted.saturating_add(rows);
            self.job.report_work(self.epoch);
        }
        match status {
            SourceStatus::Finished => return self.finish(),
            SourceStatus::EndOfEpoch => self.phase = Phase::EpochFull,
            SourceStatus::Ready if self.emitted >= self.job.max_rows => {
                self.phase = Phase::EpochFull;
            }
            SourceStatus::Ready => self.activator.activate(),
            SourceStatus::Waiting(duration) => {
                let wait = self.wait(start, duration, rows > 0);
                self.wake_at = Some(start + wait);
                self.activator.activate_after(wait);
            }
        }
        if self.phase == Phase::EpochFull {
            self.job.report_full(self.epoch);
        }
        Ok(())
    }

    /// How long to leave a source alone that asks to be polled after `asked`: no less, and else a quarter of the time
    /// it has been without rows, so that an idle source costs little and rows that come again wait little.
    fn wait(&mut self, now: Instant, asked: Duration, had_rows: bool) -> Duration {
        if had_rows {
            self.idle_since = None;
        }
        let idle = now - *self.idle_since.get_or_insert(now);
        asked.max((idle / 4).min(LONGEST_WAIT))
    }

    /// The reader has no more rows: event time ends for this instance.
    fn finish(&mut self) -> Result<()> {
        self.phase = Phase::Finished;
        self.output.emit_watermark(Watermark::At(MAX_WATERMARK));
        self.flush();
        self.job.report(Report::SourceFinished);
        Ok(())
    }

    fn end_epoch(&mut self) -> Result<()> {
        if self.phase != Phase::Finished {
            self.reader.borrow_mut().end_epoch(&mut self.output)?;
            self.flush();
        }
        let request = self
            .job
            .epochs
            .borrow()
            .get(self.epoch)
            .and_then(|announced| announced.checkpoint.clone());
        if let Some(request) = request {
            let mut snapshot = Snapshot::new();
            if self.context.worker < self.context.parallelism {
                self.reader.borrow_mut().snapshot(&mut snapshot)?;
            }
            self.job.submit_snapshot(self.node, request, snapshot);
        }
        Ok(())
    }

    fn end_job(&mut self, mode: StopMode) -> Result<()> {
        self.end_epoch()?;
        if mode == StopMode::Drain {
            self.output.emit_watermark(Watermark::At(MAX_WATERMARK));
            self.flush();
        }
        self.capabilities.clear();
        self.phase = Phase::Ended;
        Ok(())
    }

    fn flush(&mut self) {
        flush_output(
            &mut self.output,
            &mut self.outputs,
            &self.capabilities,
            true,
            &self.context,
        );
    }
}
