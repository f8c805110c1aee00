//! The loop of one worker: commands, jobs, and on worker 0 the coordinator.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};
use timely::worker::Worker;

use crate::checkpoint::{CheckpointStorage, RestoredState};
use crate::cluster::ClusterError;
use crate::driver::{Failure, JobInstance, PendingSnapshot, Report, RestoreState};
use crate::epoch::{Clock, now};
use crate::error::RuntimeError;
use crate::executor::background::{Background, Done, WriteSnapshot};
use crate::executor::control_plane::{ControlPlane, Received};
use crate::executor::coordinator::{Coordinator, Decisions};
use crate::executor::job::{JobDefinition, ProcessJobs};
use crate::executor::messages::{AttemptId, Command, JobNumber, Message};
use crate::operator::OperatorContext;
use crate::render::{Rendered, render};

/// The longest sleep; only a bound on the harm of a wake-up that never comes.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// What a worker needs from its process.
pub(crate) struct WorkerSetup {
    pub(crate) jobs: Arc<ProcessJobs>,
    /// What the user's threads say; only the process's first worker reads it.
    pub(crate) mailbox: Receiver<Message>,
    pub(crate) background: Background,
    pub(crate) processes: usize,
    pub(crate) workers_per_process: usize,
    pub(crate) clock: Clock,
}

/// How often processes tell their metrics to process 0.
const METRICS_INTERVAL: Duration = Duration::from_secs(1);

struct RunningJob {
    definition: Arc<JobDefinition>,
    instance: Rc<JobInstance>,
    storage: CheckpointStorage,
    rendered: Rendered,
}

struct WorkerLoop<'a> {
    worker: &'a mut Worker,
    setup: &'a WorkerSetup,
    control: ControlPlane,
    coordinator: Option<Coordinator>,
    jobs: BTreeMap<AttemptId, RunningJob>,
    /// Commands not yet carried out: a `Build` waits until this process has submitted its job.
    commands: VecDeque<Command>,
    /// What the background thread has done for this worker.
    done: Receiver<Done>,
    reply: Sender<Done>,
    metrics_reported: Instant,
    ended: bool,
}

/// Runs a worker until the program's last job is over and every process has left.
pub(crate) fn run(worker: &mut Worker, setup: &WorkerSetup) {
    setup.jobs.register_worker();
    let (reply, done) = crossbeam_channel::unbounded();
    let control = ControlPlane::build(worker);
    let coordinator = (worker.index() == 0)
        .then(|| Coordinator::new(worker.peers(), setup.processes, setup.clock.clone()));
    let mut this = WorkerLoop {
        worker,
        setup,
        control,
        coordinator,
        jobs: BTreeMap::new(),
        commands: VecDeque::new(),
        done,
        reply,
        metrics_reported: now(),
        ended: false,
    };
    while !this.ended {
        let (busy, deadline) = this.turn();
        let sleep = if busy {
            Duration::ZERO
        } else {
            deadline.map_or(LONGEST_SLEEP, |at| {
                at.saturating_duration_since(now()).min(LONGEST_SLEEP)
            })
        };
        this.worker.step_or_park(Some(sleep));
    }
    while !this.control.is_closed() {
        this.control.close();
        this.worker.step();
    }
}

impl WorkerLoop<'_> {
    fn is_first_of_process(&self) -> bool {
        self.worker
            .index()
            .is_multiple_of(self.setup.workers_per_process)
    }

    /// One round of messages; true when something happened, and the coordinator's next deadline.
    fn turn(&mut self) -> (bool, Option<Instant>) {
        let mut busy = false;
        if self.is_first_of_process() {
            while let Ok(message) = self.setup.mailbox.try_recv() {
                busy = true;
                self.control.tell_coordinator(message);
            }
        }
        busy |= self.collect_reports();
        self.report_metrics();
        let mut decisions = Decisions::default();
        busy |= self.receive(&mut decisions);
        let deadline = self.tick(&mut decisions);
        busy |= self.give_out(decisions);
        // Commands come back to this worker at once, and with them may come what leads to further decisions.
        let mut decisions = Decisions::default();
        busy |= self.receive(&mut decisions);
        busy |= self.give_out(decisions);
        busy |= self.carry_out();
        (busy, deadline)
    }

    /// Sends commands to all workers and chores to the background thread.
    fn give_out(&mut self, decisions: Decisions) -> bool {
        let busy = !decisions.commands.is_empty();
        for command in &decisions.commands {
            self.control.broadcast(command);
        }
        for chore in decisions.chores {
            self.setup.background.run(chore, self.reply.clone());
        }
        busy
    }

    /// Passes on what operators and the background thread have to say.
    fn collect_reports(&mut self) -> bool {
        let mut busy = false;
        let worker = self.worker.index();
        for (attempt, job) in &self.jobs {
            for report in job.instance.take_reports() {
                busy = true;
                self.control.tell_coordinator(Message::Report {
                    attempt: *attempt,
                    worker,
                    report,
                });
            }
            for pending in job.instance.take_snapshots() {
                busy = true;
                self.hand_over(*attempt, job, pending);
            }
        }
        busy
    }

    /// Tells process 0 once a second what this process has measured.
    fn report_metrics(&mut self) {
        let process = self.setup.jobs.process;
        let due = process != 0 && self.is_first_of_process() && !self.jobs.is_empty();
        if due && self.metrics_reported.elapsed() >= METRICS_INTERVAL {
            self.metrics_reported = now();
            for (job, metrics) in self.setup.jobs.metrics_to_report() {
                let metrics = Box::new(metrics);
                self.control.tell_coordinator(Message::Metrics {
                    process,
                    job,
                    metrics,
                });
            }
        }
    }

    fn hand_over(&self, attempt: AttemptId, job: &RunningJob, pending: PendingSnapshot) {
        let node = &job.definition.graph.nodes[pending.node];
        let worker = self.worker.index();
        let checkpoint = pending.request.id;
        match pending.request.target {
            Some(target) => self.setup.background.write(WriteSnapshot {
                attempt,
                checkpoint,
                storage: job.storage.clone(),
                target,
                uid: node.uid.clone(),
                name: node.name.clone(),
                worker,
                snapshot: pending.snapshot,
                reply: self.reply.clone(),
            }),
            None => {
                let report = Report::Prepared { checkpoint };
                self.control.tell_coordinator(Message::Report {
                    attempt,
                    worker,
                    report,
                });
            }
        }
    }

    fn receive(&mut self, decisions: &mut Decisions) -> bool {
        let mut busy = false;
        let now = now();
        while let Ok(done) = self.done.try_recv() {
            busy = true;
            match done {
                Done::Message(message) => self.control.tell_coordinator(message),
                Done::Completed(completed) => {
                    if let Some(coordinator) = &mut self.coordinator {
                        coordinator.completed(completed, now, decisions);
                    }
                }
            }
        }
        let mut messages = Vec::new();
        while let Some(received) = self.control.receive() {
            busy = true;
            match received {
                Received::Command(command) => self.commands.push_back(command),
                Received::Message(message) => messages.push(message),
            }
        }
        for message in messages {
            self.coordinate(message, now, decisions);
        }
        busy
    }

    fn coordinate(&mut self, message: Message, now: Instant, decisions: &mut Decisions) {
        let Some(coordinator) = &mut self.coordinator else {
            return;
        };
        match message {
            Message::Submit { process, job } if process == self.setup.jobs.process => {
                if let Some(handle) = self.setup.jobs.job(job) {
                    coordinator.submit(Arc::clone(&handle.definition), now, decisions);
                }
            }
            Message::Metrics {
                process,
                job,
                metrics,
            } => {
                self.setup.jobs.set_remote_metrics(job, process, *metrics);
            }
            message => coordinator.handle(message, now, decisions),
        }
    }

    fn tick(&mut self, decisions: &mut Decisions) -> Option<Instant> {
        let jobs = &self.jobs;
        let progress = |attempt: AttemptId| {
            jobs.get(&attempt).map(|job| {
                job.rendered
                    .probe
                    .with_frontier(|frontier| frontier.first().copied().unwrap_or(u64::MAX))
            })
        };
        self.coordinator.as_mut()?.tick(now(), &progress, decisions)
    }

    fn carry_out(&mut self) -> bool {
        let mut busy = false;
        while let Some(command) = self.commands.pop_front() {
            if let Command::Build { attempt, .. } = &command
                && self.setup.jobs.job(attempt.job).is_none()
            {
                if self.setup.jobs.has_left() {
                    self.refuse(*attempt);
                    continue;
                }
                self.commands.push_front(command);
                return busy;
            }
            busy = true;
            self.execute(command);
        }
        busy
    }

    /// The program of this process has ended without this job, so the job cannot run.
    fn refuse(&self, attempt: AttemptId) {
        let process = self.setup.jobs.process;
        let error = RuntimeError::from(ClusterError::ProcessLeft { process });
        let report = Report::Failed(Failure::from(&error));
        let worker = self.worker.index();
        self.control.tell_coordinator(Message::Report {
            attempt,
            worker,
            report,
        });
    }

    fn execute(&mut self, command: Command) {
        let first = self.is_first_of_process();
        match command {
            Command::Build { attempt, restore } => self.build(attempt, restore),
            Command::Announce {
                attempt,
                announcement,
            } => {
                if let Some(job) = self.jobs.get(&attempt) {
                    job.instance.announce(announcement);
                }
            }
            Command::Commit {
                attempt,
                checkpoint,
            } => self.commit(attempt, checkpoint),
            Command::Drop { attempt } => {
                if let Some(job) = self.jobs.remove(&attempt) {
                    self.worker.drop_dataflow(job.rendered.dataflow);
                }
                let worker = self.worker.index();
                self.control.tell_coordinator(Message::Report {
                    attempt,
                    worker,
                    report: Report::Dropped,
                });
            }
            Command::Status { job, status } if first => {
                self.with_handle(job, |handle| handle.set_status(status));
            }
            Command::Ended { job, outcome } if first => self.setup.jobs.conclude(job, outcome),
            Command::Reply {
                process,
                request,
                answer,
            } if first && process == self.setup.jobs.process => {
                self.setup.jobs.reply(request, answer);
            }
            Command::Status { .. } | Command::Ended { .. } | Command::Reply { .. } => (),
            Command::Shutdown => self.ended = true,
        }
    }

    fn with_handle(&self, job: JobNumber, change: impl FnOnce(&crate::executor::job::JobHandle)) {
        if let Some(handle) = self.setup.jobs.job(job) {
            change(&handle);
        }
    }

    fn build(&mut self, attempt: AttemptId, restore: Option<PathBuf>) {
        let Some(handle) = self.setup.jobs.job(attempt.job) else {
            return;
        };
        let definition = Arc::clone(&handle.definition);
        let instance = Rc::new(JobInstance::new(
            definition.options.max_rows,
            restore_state(restore, definition.options.allow_unclaimed),
        ));
        let worker = self.worker.index();
        let rendered = render(
            self.worker,
            &definition.name,
            &definition.graph,
            &instance,
            &|node| definition.metrics.operator(&node.uid, &node.name, worker),
        );
        let storage = CheckpointStorage::new(
            definition.options.checkpoint_dir.as_deref(),
            &definition.storage_name,
        );
        self.jobs.insert(
            attempt,
            RunningJob {
                definition,
                instance,
                storage,
                rendered,
            },
        );
    }

    fn commit(&mut self, attempt: AttemptId, checkpoint: u64) {
        let Some(job) = self.jobs.get(&attempt) else {
            return;
        };
        let report = match job.instance.commit(checkpoint) {
            Ok(()) => Report::Committed { checkpoint },
            Err(error) => Report::Failed(Failure::from(&error)),
        };
        let worker = self.worker.index();
        self.control.tell_coordinator(Message::Report {
            attempt,
            worker,
            report,
        });
    }
}

/// How the operators of one worker find their state in `folder`. The manifest is read once, when the first asks.
fn restore_state(folder: Option<PathBuf>, allow_unclaimed: bool) -> RestoreState {
    let Some(folder) = folder else {
        return Box::new(|_| Ok(None));
    };
    let state = std::cell::OnceCell::new();
    Box::new(move |context: &OperatorContext| {
        if state.get().is_none() {
            let manifest = CheckpointStorage::open(&folder)?;
            let _ = state.set(RestoredState::open(manifest, allow_unclaimed));
        }
        let Some(state) = state.get() else {
            return Ok(None);
        };
        Ok(state.restore(&context.uid, context.worker, context.parallelism))
    })
}
