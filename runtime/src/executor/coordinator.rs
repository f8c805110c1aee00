//! Decides for all jobs, on worker 0: when epochs are announced, checkpoints are taken, jobs restarted and ended.
//!
//! A state machine without timely and without threads: messages and the clock go in, commands to all workers come
//! out. Slow work (making a checkpoint complete) is given out as a [`Chore`] and comes back as a message.
//!
//! A job's life: `Build` on all workers, then announcements. An epoch is announced when there is work for it, at most
//! `max_in_flight` ahead of the slowest sink. When all sources are finished, or a stop is asked for, the last epoch
//! is announced, with a checkpoint so that sinks can commit. When it is complete and committed, every worker drops
//! the dataflow and says so, and only then is the job over. A failure takes the same way by `Drop`, so a new attempt
//! never meets an operator of the old one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::checkpoint::{CheckpointError, CheckpointStorage, CheckpointTarget, OperatorAck};
use crate::driver::{Failure, Report};
use crate::epoch::{Announcement, CheckpointRequest, Clock, StopMode};
use crate::error::{JobError, Result, RuntimeError};
use crate::executor::job::JobDefinition;
use crate::executor::messages::{
    Action, AttemptId, Command, JobNumber, JobStatus, Message, Outcome,
};
use crate::executor::recovery;
use crate::executor::restart::Restarts;

/// Work for the background thread.
pub(crate) enum Chore {
    /// Write the manifest and delete old checkpoints.
    Complete {
        attempt: AttemptId,
        checkpoint: u64,
        storage: CheckpointStorage,
        target: CheckpointTarget,
        epoch: u64,
        fingerprint: u64,
        acks: Vec<OperatorAck>,
        retained: usize,
    },
    /// Remove what was written of a checkpoint.
    Abort {
        storage: CheckpointStorage,
        target: CheckpointTarget,
    },
}

/// What the background thread answers to [`Chore::Complete`].
pub(crate) struct Completed {
    pub(crate) attempt: AttemptId,
    /// Taken by the engine, not asked for by the user.
    pub(crate) is_automatic: bool,
    pub(crate) checkpoint: u64,
    /// The folder and its size in bytes.
    pub(crate) result: Result<(PathBuf, u64)>,
}

/// What the coordinator wants done.
#[derive(Default)]
pub(crate) struct Decisions {
    pub(crate) commands: Vec<Command>,
    pub(crate) chores: Vec<Chore>,
}

/// Sees how far the sinks are: all epochs below the answer are complete. `None` while the attempt is not built.
pub(crate) type Progress<'a> = dyn Fn(AttemptId) -> Option<u64> + 'a;

pub(crate) struct Coordinator {
    workers: usize,
    processes: usize,
    clock: Clock,
    jobs: BTreeMap<JobNumber, Job>,
    left: BTreeSet<usize>,
    shut_down: bool,
}

struct Job {
    definition: Arc<JobDefinition>,
    attempt: AttemptId,
    restarts: Restarts,
    storage: CheckpointStorage,
    next_checkpoint: u64,
    /// Where the next attempt starts from.
    restore: Option<PathBuf>,
    /// A manifest is being written. The next attempt waits for it, since it replaces the state to start from.
    writing: bool,
    phase: Phase,
}

enum Phase {
    Running(Box<Run>),
    /// Waits until no worker has the attempt any more.
    Dropping {
        waiting: BTreeSet<usize>,
        then: Then,
    },
    /// Waits for the restart.
    Paused {
        until: Instant,
    },
    Ended,
}

enum Then {
    End(Outcome),
    Restart(Failure),
}

/// One attempt while it runs.
struct Run {
    /// The last epoch announced; `None` before the first.
    announced: Option<u64>,
    announced_at: Instant,
    /// Announcement times of the epochs that are not complete.
    open: VecDeque<(u64, Instant)>,
    /// All epochs below are complete.
    completed: u64,
    /// Rows have come in the last announced epoch.
    has_work: bool,
    /// A source waits for the next epoch.
    is_full: bool,
    sources_left: usize,
    /// The last epoch has been announced.
    last_epoch: Option<u64>,
    stop: Option<Stop>,
    savepoints: VecDeque<(Requester, PathBuf)>,
    checkpoint: Option<Checkpoint>,
    next_checkpoint_at: Option<Instant>,
}

/// Who asked, for the answer.
#[derive(Clone, Copy)]
struct Requester {
    process: usize,
    request: u64,
}

struct Stop {
    mode: StopMode,
    directory: PathBuf,
    requester: Requester,
}

struct Checkpoint {
    id: u64,
    epoch: u64,
    target: Option<CheckpointTarget>,
    acks: Vec<OperatorAck>,
    missing: usize,
    started: Instant,
    requester: Option<Requester>,
    /// Sinks commit it: not for a savepoint that the job outlives.
    commits: bool,
    /// The workers that have not committed; `None` before the manifest is written.
    uncommitted: Option<BTreeSet<usize>>,
}

impl Coordinator {
    pub(crate) fn new(workers: usize, processes: usize, clock: Clock) -> Self {
        Coordinator {
            workers,
            processes,
            clock,
            jobs: BTreeMap::new(),
            left: BTreeSet::new(),
            shut_down: false,
        }
    }

    /// Takes in a job that process 0 runs.
    pub(crate) fn submit(
        &mut self,
        definition: Arc<JobDefinition>,
        now: Instant,
        out: &mut Decisions,
    ) {
        let number = definition.number;
        let options = &definition.options;
        let storage =
            CheckpointStorage::new(options.checkpoint_dir.as_deref(), &definition.storage_name);
        let mut job = Job {
            attempt: AttemptId {
                job: number,
                attempt: 0,
            },
            restarts: Restarts::new(options.restart.clone(), number),
            storage,
            next_checkpoint: 1,
            restore: None,
            writing: false,
            phase: Phase::Ended,
            definition,
        };
        match recovery::find_state(&job.definition, &job.storage) {
            Ok(start) => {
                job.restore = start.folder;
                job.next_checkpoint = start.next_checkpoint;
                job.build(self.workers, now, out);
            }
            Err(error) => job.end(
                Outcome::Failed {
                    failure: Failure::from(&error),
                    restarts: 0,
                },
                out,
            ),
        }
        self.jobs.insert(number, job);
    }

    /// Takes in a message of a worker or of a user's call.
    pub(crate) fn handle(&mut self, message: Message, now: Instant, out: &mut Decisions) {
        match message {
            // The worker's loop turns the submission of process 0 into `submit` and keeps metrics itself.
            Message::Submit { .. } | Message::Metrics { .. } => (),
            Message::Report {
                attempt,
                worker,
                report,
            } => {
                if let Some(job) = self.jobs.get_mut(&attempt.job)
                    && job.attempt == attempt
                {
                    job.report(worker, report, self.workers, now, out);
                }
            }
            Message::Request {
                process,
                request,
                job,
                action,
            } => {
                let requester = Requester { process, request };
                match self.jobs.get_mut(&job) {
                    Some(job) => job.request(requester, action, self.workers, out),
                    // The job is over; nobody else knows its number.
                    None if action == Action::Cancel => requester.answer(Ok(String::new()), out),
                    None => {
                        let error = JobError::Status {
                            job: format!("number {job}"),
                            action: "take a savepoint of".to_string(),
                            status: "over".to_string(),
                        };
                        requester.answer(Err(Failure::from(&error.into())), out);
                    }
                }
            }
            Message::Leave { process } => {
                self.left.insert(process);
            }
        }
    }

    /// Takes in the end of a [`Chore`].
    pub(crate) fn completed(&mut self, completed: Completed, now: Instant, out: &mut Decisions) {
        if let Some(job) = self.jobs.get_mut(&completed.attempt.job) {
            job.writing = false;
            job.checkpoint_written(completed, self.workers, now, out);
        }
    }

    /// Decides what time and progress make due; answers when it wants to be asked again at the latest.
    pub(crate) fn tick(
        &mut self,
        now: Instant,
        progress: &Progress<'_>,
        out: &mut Decisions,
    ) -> Option<Instant> {
        let mut next: Option<Instant> = None;
        for job in self.jobs.values_mut() {
            if let Some(due) = job.tick(now, progress, self.workers, &self.clock, out) {
                next = Some(next.map_or(due, |next| next.min(due)));
            }
        }
        self.jobs
            .retain(|_, job| !matches!(job.phase, Phase::Ended));
        if self.jobs.is_empty() && self.left.len() == self.processes && !self.shut_down {
            self.shut_down = true;
            out.commands.push(Command::Shutdown);
        }
        next
    }
}

impl Job {
    fn build(&mut self, workers: usize, now: Instant, out: &mut Decisions) {
        let graph = &self.definition.graph;
        let interval = self.definition.options.checkpoint_interval;
        self.phase = Phase::Running(Box::new(Run {
            announced: None,
            announced_at: now,
            open: VecDeque::new(),
            completed: 0,
            has_work: false,
            is_full: false,
            sources_left: graph.sources() * workers,
            last_epoch: None,
            stop: None,
            savepoints: VecDeque::new(),
            checkpoint: None,
            next_checkpoint_at: interval.map(|interval| now + interval),
        }));
        out.commands.push(Command::Build {
            attempt: self.attempt,
            restore: self.restore.clone(),
        });
        self.status(JobStatus::Running, out);
    }

    fn status(&self, status: JobStatus, out: &mut Decisions) {
        out.commands.push(Command::Status {
            job: self.attempt.job,
            status,
        });
    }

    fn end(&mut self, outcome: Outcome, out: &mut Decisions) {
        tracing::info!(job = %self.definition.name, ?outcome, "job ended\n{}", self.definition.metrics.snapshot());
        out.commands.push(Command::Ended {
            job: self.attempt.job,
            outcome,
        });
        self.phase = Phase::Ended;
    }

    fn drop_attempt(&mut self, then: Then, workers: usize, out: &mut Decisions) {
        if let Phase::Running(run) = &mut self.phase {
            let gone: RuntimeError = JobError::Status {
                job: self.definition.name.clone(),
                action: "take a savepoint of".to_string(),
                status: "ending".to_string(),
            }
            .into();
            let mut waiting: Vec<Requester> = run
                .savepoints
                .drain(..)
                .map(|(requester, _)| requester)
                .collect();
            waiting.extend(run.stop.take().map(|stop| stop.requester));
            if let Some(checkpoint) = run.checkpoint.take() {
                waiting.extend(checkpoint.requester);
                if let Some(target) = checkpoint.target {
                    out.chores.push(Chore::Abort {
                        storage: self.storage.clone(),
                        target,
                    });
                }
            }
            waiting
                .into_iter()
                .for_each(|requester| requester.answer(Err(Failure::from(&gone)), out));
        }
        out.commands.push(Command::Drop {
            attempt: self.attempt,
        });
        self.phase = Phase::Dropping {
            waiting: (0..workers).collect(),
            then,
        };
    }

    fn fail(&mut self, failure: Failure, workers: usize, out: &mut Decisions) {
        if let Phase::Running(_) = self.phase {
            self.drop_attempt(Then::Restart(failure), workers, out);
        }
    }

    fn report(
        &mut self,
        worker: usize,
        report: Report,
        workers: usize,
        now: Instant,
        out: &mut Decisions,
    ) {
        match report {
            Report::Dropped => self.dropped(worker, now, out),
            Report::Failed(failure) => self.fail(failure, workers, out),
            Report::SnapshotFailed {
                checkpoint,
                failure,
            } => self.checkpoint_failed(checkpoint, failure, workers, out),
            Report::Snapshot { checkpoint, ack } => {
                self.acknowledge(checkpoint, Some(ack), workers, now, out);
            }
            Report::Prepared { checkpoint } => {
                self.acknowledge(checkpoint, None, workers, now, out);
            }
            Report::Committed { checkpoint } => self.committed(worker, checkpoint, workers, out),
            Report::Work { epoch } => {
                self.running(|run| run.has_work |= run.announced == Some(epoch));
            }
            Report::Full { epoch } => {
                self.running(|run| run.is_full |= run.announced == Some(epoch));
            }
            Report::SourceFinished => {
                self.running(|run| run.sources_left = run.sources_left.saturating_sub(1));
            }
        }
    }

    fn running(&mut self, change: impl FnOnce(&mut Run)) {
        if let Phase::Running(run) = &mut self.phase {
            change(run);
        }
    }

    fn request(
        &mut self,
        requester: Requester,
        action: Action,
        workers: usize,
        out: &mut Decisions,
    ) {
        let name = self.definition.name.clone();
        let default_directory = self.definition.options.savepoint_dir.clone();
        let refuse = |action: &str, status: String, out: &mut Decisions| {
            let error = JobError::Status {
                job: name.clone(),
                action: action.to_string(),
                status,
            }
            .into();
            requester.answer(Err(Failure::from(&error)), out);
        };
        match (&mut self.phase, action) {
            (Phase::Running(_) | Phase::Paused { .. }, Action::Cancel) => {
                requester.answer(Ok(String::new()), out);
                self.drop_attempt(Then::End(Outcome::Canceled), workers, out);
            }
            (Phase::Dropping { then, .. }, Action::Cancel) => {
                if let Then::Restart(_) = then {
                    *then = Then::End(Outcome::Canceled);
                }
                requester.answer(Ok(String::new()), out);
            }
            (Phase::Running(run), Action::Savepoint { directory }) if run.last_epoch.is_none() => {
                match directory.or(default_directory) {
                    Some(directory) => run.savepoints.push_back((requester, directory)),
                    None => requester.answer(Err(no_directory()), out),
                }
            }
            (Phase::Running(run), Action::StopWithSavepoint { directory, drain })
                if run.last_epoch.is_none() =>
            {
                let mode = if drain {
                    StopMode::Drain
                } else {
                    StopMode::Suspend
                };
                match directory.or(default_directory) {
                    None => requester.answer(Err(no_directory()), out),
                    Some(_) if run.stop.is_some() => {
                        refuse("stop", "stopping already".to_string(), out);
                    }
                    Some(directory) => {
                        run.stop = Some(Stop {
                            mode,
                            directory,
                            requester,
                        });
                    }
                }
            }
            (Phase::Ended, Action::Cancel) => requester.answer(Ok(String::new()), out),
            (_, Action::Savepoint { .. }) => {
                refuse("take a savepoint of", "not running".to_string(), out);
            }
            (_, Action::StopWithSavepoint { .. }) => refuse("stop", "not running".to_string(), out),
        }
    }

    fn dropped(&mut self, worker: usize, now: Instant, out: &mut Decisions) {
        let Phase::Dropping { waiting, .. } = &mut self.phase else {
            return;
        };
        waiting.remove(&worker);
        if !waiting.is_empty() {
            return;
        }
        let Phase::Dropping { then, .. } = std::mem::replace(&mut self.phase, Phase::Ended) else {
            return;
        };
        match then {
            Then::End(outcome) => self.end(outcome, out),
            Then::Restart(failure) => match self.restarts.next_delay(now) {
                Some(delay) => {
                    tracing::warn!(job = %self.definition.name, ?delay, "the job failed and will be restarted: {}", failure.message());
                    self.status(JobStatus::Restarting, out);
                    self.phase = Phase::Paused { until: now + delay };
                }
                None => {
                    let restarts = self.restarts.count();
                    self.end(Outcome::Failed { failure, restarts }, out);
                }
            },
        }
    }

    fn tick(
        &mut self,
        now: Instant,
        progress: &Progress<'_>,
        workers: usize,
        clock: &Clock,
        out: &mut Decisions,
    ) -> Option<Instant> {
        match &mut self.phase {
            Phase::Ended | Phase::Dropping { .. } => None,
            Phase::Paused { until } if now < *until => Some(*until),
            Phase::Paused { .. } if self.writing => None,
            Phase::Paused { .. } => {
                self.attempt.attempt += 1;
                self.definition.metrics.job_metrics().restarted();
                self.build(workers, now, out);
                Some(now)
            }
            Phase::Running(run) => {
                let completed = progress(self.attempt)?;
                run.advance(completed, now, &self.definition);
                let timed_out = run.checkpoint.as_ref().is_some_and(|checkpoint| {
                    checkpoint.uncommitted.is_none()
                        && now.duration_since(checkpoint.started)
                            >= self.definition.options.checkpoint_timeout
                });
                if timed_out {
                    let id = run
                        .checkpoint
                        .as_ref()
                        .map_or(0, |checkpoint| checkpoint.id);
                    let reason =
                        "it was not finished within 'execution.checkpointing.timeout'".to_string();
                    let error: RuntimeError = CheckpointError::Failed { id, reason }.into();
                    self.checkpoint_failed(id, Failure::from(&error), workers, out);
                    return Some(now);
                }
                if run.is_over() {
                    self.drop_attempt(Then::End(Outcome::Finished), workers, out);
                    return None;
                }
                match self.announce(now, clock, workers, out) {
                    Ok(due) => due,
                    Err(error) => {
                        self.fail(Failure::from(&error), workers, out);
                        None
                    }
                }
            }
        }
    }

    /// Announces the next epoch if it is due; answers when it will be due by time alone.
    fn announce(
        &mut self,
        now: Instant,
        clock: &Clock,
        workers: usize,
        out: &mut Decisions,
    ) -> Result<Option<Instant>> {
        let options = &self.definition.options;
        let Phase::Running(run) = &mut self.phase else {
            return Ok(None);
        };
        if run.last_epoch.is_some() || run.open.len() as u64 >= options.max_in_flight {
            return Ok(None);
        }
        let stop = match &run.stop {
            Some(stop) => Some(stop.mode),
            None if run.sources_left == 0 && run.announced.is_some() => Some(StopMode::Drain),
            None => None,
        };
        // One checkpoint at a time; the last epoch needs one of its own.
        let free = run.checkpoint.is_none();
        let checkpoint_due = free
            && options.checkpoint_dir.is_some()
            && run.next_checkpoint_at.is_some_and(|at| now >= at);
        let ends = stop.is_some() && free;
        let by_time = if run.announced.is_none() {
            now
        } else if run.has_work {
            run.announced_at + options.epoch_interval
        } else {
            run.announced_at + options.idle_interval
        };
        let savepoint_due = free && !run.savepoints.is_empty();
        if !(ends || checkpoint_due || savepoint_due || run.is_full || now >= by_time) {
            return Ok(Some(
                run.next_checkpoint_at
                    .filter(|_| free)
                    .map_or(by_time, |at| at.min(by_time)),
            ));
        }
        let request = if ends || checkpoint_due || savepoint_due {
            run.begin_checkpoint(
                &self.definition,
                &self.storage,
                &mut self.next_checkpoint,
                ends,
                workers,
                now,
                out,
            )?
        } else {
            None
        };
        let epoch = run.announced.map_or(0, |last| last + 1);
        if let Some(checkpoint) = run.checkpoint.as_mut().filter(|_| request.is_some()) {
            checkpoint.epoch = epoch;
        }
        run.announced = Some(epoch);
        run.announced_at = now;
        run.open.push_back((epoch, now));
        run.has_work = false;
        run.is_full = false;
        let stop = stop.filter(|_| ends);
        if stop.is_some() {
            run.last_epoch = Some(epoch);
        }
        let announcement = Announcement {
            epoch,
            wall_clock: clock.wall_millis(),
            checkpoint: request,
            stop,
            completed: run.completed,
        };
        out.commands.push(Command::Announce {
            attempt: self.attempt,
            announcement,
        });
        Ok(Some(now + options.epoch_interval))
    }

    fn acknowledge(
        &mut self,
        id: u64,
        ack: Option<OperatorAck>,
        workers: usize,
        now: Instant,
        out: &mut Decisions,
    ) {
        let Phase::Running(run) = &mut self.phase else {
            return;
        };
        let Some(checkpoint) = run
            .checkpoint
            .as_mut()
            .filter(|checkpoint| checkpoint.id == id)
        else {
            return;
        };
        checkpoint.acks.extend(ack);
        checkpoint.missing -= 1;
        if checkpoint.missing > 0 {
            return;
        }
        match &checkpoint.target {
            Some(target) => {
                self.writing = true;
                out.chores.push(Chore::Complete {
                    attempt: self.attempt,
                    checkpoint: id,
                    storage: self.storage.clone(),
                    target: target.clone(),
                    epoch: checkpoint.epoch,
                    fingerprint: self.definition.graph.fingerprint(),
                    acks: std::mem::take(&mut checkpoint.acks),
                    retained: self.definition.options.retained,
                });
            }
            None => {
                let written = Completed {
                    attempt: self.attempt,
                    is_automatic: false,
                    checkpoint: id,
                    result: Ok((PathBuf::new(), 0)),
                };
                self.checkpoint_written(written, workers, now, out);
            }
        }
    }

    fn checkpoint_written(
        &mut self,
        completed: Completed,
        workers: usize,
        now: Instant,
        out: &mut Decisions,
    ) {
        let (folder, size) = match completed.result {
            Ok(written) => written,
            Err(error) => {
                let failure = Failure::from(&error);
                return self.checkpoint_failed(completed.checkpoint, failure, workers, out);
            }
        };
        let checkpoint = match &mut self.phase {
            Phase::Running(run) => run.checkpoint.as_mut(),
            _ => None,
        };
        let Some(checkpoint) = checkpoint.filter(|own| own.id == completed.checkpoint) else {
            // The attempt failed meanwhile, but the checkpoint counts: the next attempt starts from it and commits it.
            if completed.is_automatic {
                self.restore = Some(folder);
            }
            return;
        };
        if checkpoint.target.is_some() {
            let duration = now.duration_since(checkpoint.started);
            self.definition.metrics.job_metrics().checkpoint_completed(
                completed.checkpoint,
                duration,
                size,
            );
            tracing::info!(job = %self.definition.name, checkpoint = completed.checkpoint, ?duration, size, "checkpoint complete");
        }
        if let Some(requester) = checkpoint.requester.take() {
            requester.answer(Ok(folder.display().to_string()), out);
        }
        if checkpoint.commits {
            if checkpoint.target.is_some() {
                self.restore = Some(folder);
            }
            checkpoint.uncommitted = Some((0..workers).collect());
            out.commands.push(Command::Commit {
                attempt: self.attempt,
                checkpoint: completed.checkpoint,
            });
        } else {
            self.running(|run| run.checkpoint = None);
        }
    }

    fn committed(&mut self, worker: usize, id: u64, workers: usize, out: &mut Decisions) {
        let Phase::Running(run) = &mut self.phase else {
            return;
        };
        let Some(checkpoint) = run
            .checkpoint
            .as_mut()
            .filter(|checkpoint| checkpoint.id == id)
        else {
            return;
        };
        let Some(uncommitted) = &mut checkpoint.uncommitted else {
            return;
        };
        uncommitted.remove(&worker);
        if uncommitted.is_empty() {
            run.checkpoint = None;
            if run.is_over() {
                self.drop_attempt(Then::End(Outcome::Finished), workers, out);
            }
        }
    }

    /// A checkpoint that fails fails the job, as in Flink; a savepoint that the job would have outlived does not.
    fn checkpoint_failed(
        &mut self,
        id: u64,
        failure: Failure,
        workers: usize,
        out: &mut Decisions,
    ) {
        let Phase::Running(run) = &mut self.phase else {
            return;
        };
        let Some(checkpoint) = run.checkpoint.take_if(|checkpoint| checkpoint.id == id) else {
            return;
        };
        self.definition.metrics.job_metrics().checkpoint_failed();
        if let Some(target) = checkpoint.target {
            out.chores.push(Chore::Abort {
                storage: self.storage.clone(),
                target,
            });
        }
        if let Some(requester) = checkpoint.requester {
            requester.answer(Err(failure.clone()), out);
        }
        if checkpoint.commits {
            self.fail(failure, workers, out);
        }
    }
}

impl Run {
    /// Takes in how far the sinks are.
    fn advance(&mut self, completed: u64, now: Instant, definition: &JobDefinition) {
        while let Some(&(epoch, announced_at)) = self.open.front()
            && epoch < completed
        {
            self.open.pop_front();
            definition
                .metrics
                .job_metrics()
                .epoch_closed(now.duration_since(announced_at));
        }
        self.completed = self
            .announced
            .map_or(0, |announced| completed.min(announced + 1));
        definition
            .metrics
            .job_metrics()
            .set_open_epochs(self.open.len() as u64);
    }

    /// The last epoch is complete and its checkpoint committed.
    fn is_over(&self) -> bool {
        self.last_epoch.is_some_and(|last| self.completed > last) && self.checkpoint.is_none()
    }

    /// `None` when a savepoint cannot begin, which its requester is told.
    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of the job beside its run"
    )]
    fn begin_checkpoint(
        &mut self,
        definition: &JobDefinition,
        storage: &CheckpointStorage,
        next_checkpoint: &mut u64,
        ends: bool,
        workers: usize,
        now: Instant,
        out: &mut Decisions,
    ) -> Result<Option<CheckpointRequest>> {
        let options = &definition.options;
        let id = *next_checkpoint;
        *next_checkpoint += 1;
        let savepoint = match self.stop.take_if(|_| ends) {
            Some(stop) => Some((stop.requester, stop.directory)),
            None if ends => None,
            None => self.savepoints.pop_front(),
        };
        let outlived = savepoint.is_some() && !ends;
        let (target, requester) = match savepoint {
            Some((requester, directory)) => {
                match storage.begin_savepoint(id, &directory, workers) {
                    Ok(target) => (Some(target), Some(requester)),
                    Err(error) => {
                        requester.answer(Err(Failure::from(&error)), out);
                        return if ends { Err(error) } else { Ok(None) };
                    }
                }
            }
            None if options.checkpoint_dir.is_some() => (Some(storage.begin(id, workers)?), None),
            None => (None, None),
        };
        if !outlived {
            self.next_checkpoint_at = options.checkpoint_interval.map(|interval| now + interval);
        }
        self.checkpoint = Some(Checkpoint {
            id,
            epoch: 0,
            target: target.clone(),
            acks: Vec::new(),
            missing: definition.graph.participants() * workers,
            started: now,
            requester,
            commits: !outlived,
            uncommitted: None,
        });
        Ok(Some(CheckpointRequest { id, target }))
    }
}

fn no_directory() -> Failure {
    let reason =
        "no folder was given and option 'execution.checkpointing.savepoint-dir' is not set"
            .to_string();
    let error: RuntimeError = CheckpointError::Failed { id: 0, reason }.into();
    Failure::from(&error)
}

impl Requester {
    fn answer(self, answer: std::result::Result<String, Failure>, out: &mut Decisions) {
        out.commands.push(Command::Reply {
            process: self.process,
            request: self.request,
            answer,
        });
    }
}
