//! One job on one worker: what its operators share, and what they tell the worker's loop.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use timely::scheduling::Activator;

use crate::driver::report::{Failure, Report};
use crate::epoch::{Announcement, CheckpointRequest, EpochTable};
use crate::error::{Result, RuntimeError};
use crate::operator::{OperatorContext, Restore, Snapshot};

/// A snapshot on its way from an operator to the writer.
pub(crate) struct PendingSnapshot {
    pub(crate) node: usize,
    pub(crate) request: CheckpointRequest,
    pub(crate) snapshot: Snapshot,
}

/// Gives an operator instance the state of an earlier run.
pub(crate) type RestoreState = Box<dyn Fn(&OperatorContext) -> Result<Option<Restore>>>;

/// Makes what a completed checkpoint prepared visible.
pub(crate) type Commit = Rc<dyn Fn(u64) -> Result<()>>;

/// Shared by the operators of one attempt of a job on one worker. Lives as long as the attempt.
pub(crate) struct JobInstance {
    /// Rows a source may emit in one epoch.
    pub(crate) max_rows: usize,
    /// Where operators find their state.
    pub(crate) restore: RestoreState,
    pub(crate) epochs: RefCell<EpochTable>,
    reports: RefCell<Vec<Report>>,
    snapshots: RefCell<Vec<PendingSnapshot>>,
    commits: RefCell<Vec<Commit>>,
    sources: RefCell<Vec<Activator>>,
    waiting: RefCell<Vec<Rc<Activator>>>,
    failed: Cell<bool>,
    work_reported: Cell<Option<u64>>,
    full_reported: Cell<Option<u64>>,
}

impl JobInstance {
    pub(crate) fn new(max_rows: usize, restore: RestoreState) -> Self {
        JobInstance {
            max_rows,
            restore,
            epochs: RefCell::default(),
            reports: RefCell::default(),
            snapshots: RefCell::default(),
            commits: RefCell::default(),
            sources: RefCell::default(),
            waiting: RefCell::default(),
            failed: Cell::new(false),
            work_reported: Cell::new(None),
            full_reported: Cell::new(None),
        }
    }

    /// Takes in an announcement and wakes those it concerns.
    pub(crate) fn announce(&self, announcement: Announcement) {
        self.epochs.borrow_mut().announce(announcement);
        for source in self.sources.borrow().iter() {
            source.activate();
        }
        for operator in self.waiting.borrow_mut().drain(..) {
            operator.activate();
        }
    }

    /// Wakes `source` at every announcement.
    pub(crate) fn register_source(&self, source: Activator) {
        self.sources.borrow_mut().push(source);
    }

    /// Wakes `operator` at the next announcement.
    pub(crate) fn wait_for_announcement(&self, operator: &Rc<Activator>) {
        self.waiting.borrow_mut().push(Rc::clone(operator));
    }

    pub(crate) fn register_commit(&self, commit: Commit) {
        self.commits.borrow_mut().push(commit);
    }

    /// Commits the checkpoint in all operators of this worker.
    pub(crate) fn commit(&self, checkpoint: u64) -> Result<()> {
        self.commits
            .borrow()
            .iter()
            .try_for_each(|commit| commit(checkpoint))
    }

    /// A source emitted the first rows of `epoch` on this worker.
    pub(crate) fn report_work(&self, epoch: u64) {
        if self.work_reported.replace(Some(epoch)) != Some(epoch) {
            self.report(Report::Work { epoch });
        }
    }

    /// A source has emitted all it may in `epoch`.
    pub(crate) fn report_full(&self, epoch: u64) {
        if self.full_reported.replace(Some(epoch)) != Some(epoch) {
            self.report(Report::Full { epoch });
        }
    }

    pub(crate) fn report(&self, report: Report) {
        self.reports.borrow_mut().push(report);
    }

    /// Reports the first failure of this worker; later ones are its consequences.
    pub(crate) fn fail(&self, context: &OperatorContext, error: RuntimeError) {
        if !self.failed.replace(true) {
            let error = RuntimeError::operator(&context.name, &context.uid, context.worker, error);
            self.report(Report::Failed(Failure::from(&error)));
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.get()
    }

    pub(crate) fn submit_snapshot(
        &self,
        node: usize,
        request: CheckpointRequest,
        snapshot: Snapshot,
    ) {
        self.snapshots.borrow_mut().push(PendingSnapshot {
            node,
            request,
            snapshot,
        });
    }

    pub(crate) fn take_reports(&self) -> Vec<Report> {
        self.reports.take()
    }

    pub(crate) fn take_snapshots(&self) -> Vec<PendingSnapshot> {
        self.snapshots.take()
    }
}
