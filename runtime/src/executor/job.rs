//! A job as the program that runs it sees it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};
use parking_lot::{Condvar, Mutex};

use crate::driver::Failure;
use crate::error::{JobError, Result, RuntimeError};
use crate::executor::job_options::JobOptions;
use crate::executor::messages::{Action, JobNumber, JobStatus, Message, Outcome};
use crate::metrics::{MetricsRegistry, MetricsSnapshot};
use crate::stream_graph::StreamGraph;

/// Everything the workers need to run a job. The same in all processes, but for the metrics.
pub(crate) struct JobDefinition {
    pub(crate) number: JobNumber,
    pub(crate) name: String,
    /// The folder of its checkpoints: the name, numbered from the second job of this name in the program on.
    pub(crate) storage_name: String,
    pub(crate) graph: StreamGraph,
    pub(crate) options: JobOptions,
    pub(crate) metrics: MetricsRegistry,
}

/// What a finished job leaves.
#[derive(Clone, Debug)]
pub struct JobExecutionResult {
    /// The name of the job.
    pub job_name: String,
    /// How long it ran.
    pub net_runtime: Duration,
}

/// A job of this process and what is known of it.
pub(crate) struct JobHandle {
    pub(crate) definition: Arc<JobDefinition>,
    state: Mutex<HandleState>,
    changed: Condvar,
    started: Instant,
}

struct HandleState {
    status: JobStatus,
    outcome: Option<std::result::Result<Duration, JobError>>,
}

impl JobHandle {
    pub(crate) fn set_status(&self, status: JobStatus) {
        let mut state = self.state.lock();
        if !state.status.is_terminal() {
            state.status = status;
        }
        self.changed.notify_all();
    }

    fn set_outcome(&self, outcome: Outcome) {
        let job = self.definition.name.clone();
        let (status, outcome) = match outcome {
            Outcome::Finished => (JobStatus::Finished, Ok(self.started.elapsed())),
            Outcome::Canceled => (JobStatus::Canceled, Err(JobError::Cancelled { job })),
            Outcome::Failed { failure, restarts } => {
                let cause = Arc::new(RuntimeError::from(failure));
                let error = match restarts {
                    0 => JobError::Failed { job, cause },
                    _ => JobError::RestartsExhausted {
                        job,
                        restarts,
                        cause,
                    },
                };
                (JobStatus::Failed, Err(error))
            }
        };
        self.conclude(status, outcome);
    }

    fn conclude(&self, status: JobStatus, outcome: std::result::Result<Duration, JobError>) {
        let mut state = self.state.lock();
        if state.outcome.is_none() {
            state.status = status;
            state.outcome = Some(outcome);
        }
        self.changed.notify_all();
    }

    fn result(
        &self,
        outcome: &std::result::Result<Duration, JobError>,
    ) -> Result<JobExecutionResult> {
        let net_runtime = outcome
            .as_ref()
            .map_err(|error| RuntimeError::from(error.clone()))?;
        Ok(JobExecutionResult {
            job_name: self.definition.name.clone(),
            net_runtime: *net_runtime,
        })
    }
}

/// The jobs of this process, and the way to its workers. Shared by the user's threads and the workers.
pub(crate) struct ProcessJobs {
    pub(crate) process: usize,
    /// Those that are not over.
    jobs: Mutex<BTreeMap<JobNumber, Arc<JobHandle>>>,
    submitted: AtomicU64,
    /// How many jobs had each name.
    names: Mutex<BTreeMap<String, u64>>,
    next_request: AtomicU64,
    replies: Mutex<BTreeMap<u64, Sender<std::result::Result<String, Failure>>>>,
    mailbox: Sender<Message>,
    /// What other processes last told of their jobs; filled in process 0.
    remote_metrics: Mutex<BTreeMap<(JobNumber, usize), MetricsSnapshot>>,
    wakers: Mutex<Vec<std::thread::Thread>>,
    ended: AtomicBool,
    /// This process submits no further jobs.
    has_left: AtomicBool,
}

impl ProcessJobs {
    /// The jobs of `process`, and the receiver of what its threads have to say.
    pub(crate) fn new(process: usize) -> (Arc<Self>, Receiver<Message>) {
        let (mailbox, receiver) = crossbeam_channel::unbounded();
        let jobs = ProcessJobs {
            process,
            jobs: Mutex::default(),
            submitted: AtomicU64::new(0),
            names: Mutex::default(),
            next_request: AtomicU64::new(0),
            replies: Mutex::default(),
            mailbox,
            remote_metrics: Mutex::default(),
            wakers: Mutex::default(),
            ended: AtomicBool::new(false),
            has_left: AtomicBool::new(false),
        };
        (Arc::new(jobs), receiver)
    }

    /// Lets this thread, a worker, be woken.
    pub(crate) fn register_worker(&self) {
        self.wakers.lock().push(std::thread::current());
    }

    /// Wakes all workers of this process.
    pub(crate) fn wake(&self) {
        self.wakers
            .lock()
            .iter()
            .for_each(std::thread::Thread::unpark);
    }

    /// Registers the next job and tells the workers. The number is its position among this program's jobs.
    pub(crate) fn submit(
        &self,
        name: String,
        graph: StreamGraph,
        options: JobOptions,
    ) -> Result<Arc<JobHandle>> {
        let handle = {
            let mut jobs = self.jobs.lock();
            if self.ended.load(Ordering::SeqCst) {
                return Err(JobError::WorkersEnded { job: name }.into());
            }
            let number = self.submitted.fetch_add(1, Ordering::SeqCst);
            let metrics = MetricsRegistry::new(&name);
            let mut names = self.names.lock();
            let namesakes = names.entry(name.clone()).or_insert(0_u64);
            *namesakes += 1;
            let storage_name = match *namesakes {
                1 => name.clone(),
                nth => format!("{name} {nth}"),
            };
            let handle = Arc::new(JobHandle {
                definition: Arc::new(JobDefinition {
                    number,
                    name,
                    storage_name,
                    graph,
                    options,
                    metrics,
                }),
                state: Mutex::new(HandleState {
                    status: JobStatus::Created,
                    outcome: None,
                }),
                changed: Condvar::new(),
                started: Instant::now(),
            });
            jobs.insert(number, Arc::clone(&handle));
            self.post(Message::Submit {
                process: self.process,
                job: number,
            });
            handle
        };
        self.wake();
        Ok(handle)
    }

    /// The metrics of this process's jobs that are not over.
    pub(crate) fn metrics_to_report(&self) -> Vec<(JobNumber, MetricsSnapshot)> {
        let jobs = self.jobs.lock();
        let open = jobs
            .iter()
            .filter(|(_, handle)| !handle.state.lock().status.is_terminal());
        open.map(|(number, handle)| (*number, handle.definition.metrics.snapshot()))
            .collect()
    }

    pub(crate) fn set_remote_metrics(
        &self,
        job: JobNumber,
        process: usize,
        metrics: MetricsSnapshot,
    ) {
        self.remote_metrics.lock().insert((job, process), metrics);
    }

    /// The metrics of one job in this process and, in process 0, what the others last told.
    fn metrics(&self, job: &JobDefinition) -> MetricsSnapshot {
        let remote = self.remote_metrics.lock();
        let others = remote
            .iter()
            .filter(|((number, _), _)| *number == job.number);
        others.fold(job.metrics.snapshot(), |sum, (_, other)| {
            sum.merge(other.clone())
        })
    }

    /// The metrics of all jobs, for a page that shows them.
    pub(crate) fn all_metrics(&self) -> Vec<MetricsSnapshot> {
        let jobs: Vec<_> = self.jobs.lock().values().cloned().collect();
        jobs.iter()
            .map(|handle| self.metrics(&handle.definition))
            .collect()
    }

    pub(crate) fn job(&self, number: JobNumber) -> Option<Arc<JobHandle>> {
        self.jobs.lock().get(&number).cloned()
    }

    fn post(&self, message: Message) {
        // The workers outlive every handle; when they have ended by a fault, the jobs say so themselves.
        let _ = self.mailbox.send(message);
    }

    /// Says that this process runs no further jobs.
    pub(crate) fn leave(&self) {
        self.has_left.store(true, Ordering::SeqCst);
        self.post(Message::Leave {
            process: self.process,
        });
        self.wake();
    }

    /// The job is over: what its workers needed is given back once no client holds it any more.
    pub(crate) fn conclude(&self, job: JobNumber, outcome: Outcome) {
        let handle = self.jobs.lock().remove(&job);
        if let Some(handle) = handle {
            handle.set_outcome(outcome);
        }
    }

    pub(crate) fn has_left(&self) -> bool {
        self.has_left.load(Ordering::SeqCst)
    }

    /// Asks the coordinator for something and waits for the answer.
    fn request(&self, job: &JobDefinition, action: Action) -> Result<String> {
        let (sender, receiver) = crossbeam_channel::bounded(1);
        let request = self.next_request.fetch_add(1, Ordering::Relaxed);
        self.replies.lock().insert(request, sender);
        self.post(Message::Request {
            process: self.process,
            request,
            job: job.number,
            action,
        });
        self.wake();
        let ended = || {
            RuntimeError::from(JobError::WorkersEnded {
                job: job.name.clone(),
            })
        };
        if self.ended.load(Ordering::SeqCst) {
            return Err(ended());
        }
        receiver
            .recv()
            .map_err(|_| ended())?
            .map_err(RuntimeError::from)
    }

    pub(crate) fn reply(&self, request: u64, answer: std::result::Result<String, Failure>) {
        if let Some(sender) = self.replies.lock().remove(&request) {
            let _ = sender.send(answer);
        }
    }

    /// The workers are gone: nobody waits any longer.
    pub(crate) fn workers_ended(&self) {
        let jobs = self.jobs.lock();
        self.ended.store(true, Ordering::SeqCst);
        for handle in jobs.values() {
            let job = handle.definition.name.clone();
            handle.conclude(JobStatus::Failed, Err(JobError::WorkersEnded { job }));
        }
        self.replies.lock().clear();
    }
}

/// Controls a running job.
///
/// Dropping the client does not stop the job. Every process of a program has a client of its own for each job.
#[derive(Clone)]
pub struct JobClient {
    handle: Arc<JobHandle>,
    jobs: Arc<ProcessJobs>,
    /// Keeps the workers alive while somebody may look at the job.
    _executor: Arc<dyn std::any::Any + Send + Sync>,
}

impl JobClient {
    pub(crate) fn new(
        handle: Arc<JobHandle>,
        jobs: Arc<ProcessJobs>,
        executor: Arc<dyn std::any::Any + Send + Sync>,
    ) -> Self {
        JobClient {
            handle,
            jobs,
            _executor: executor,
        }
    }

    /// The name of the job.
    pub fn job_name(&self) -> &str {
        &self.handle.definition.name
    }

    /// Where the job is in its life.
    pub fn status(&self) -> JobStatus {
        self.handle.state.lock().status
    }

    /// Waits for the end of the job.
    ///
    /// # Errors
    /// Why the job failed, or that it was cancelled.
    pub fn await_result(&self) -> Result<JobExecutionResult> {
        let mut state = self.handle.state.lock();
        loop {
            if let Some(outcome) = &state.outcome {
                return self.handle.result(outcome);
            }
            self.handle.changed.wait(&mut state);
        }
    }

    /// Waits for the end of the job, at most `timeout`.
    ///
    /// # Errors
    /// As [`await_result`](Self::await_result); `job.timeout` when the job is not over in time.
    pub fn await_result_for(&self, timeout: Duration) -> Result<JobExecutionResult> {
        let deadline = Instant::now() + timeout;
        let mut state = self.handle.state.lock();
        loop {
            if let Some(outcome) = &state.outcome {
                return self.handle.result(outcome);
            }
            if self
                .handle
                .changed
                .wait_until(&mut state, deadline)
                .timed_out()
                && state.outcome.is_none()
            {
                return Err(JobError::Timeout {
                    job: self.job_name().to_string(),
                    action: "end".to_string(),
                    waited_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
                }
                .into());
            }
        }
    }

    /// What the job has measured so far. Epochs, checkpoints and the operators of other processes are known in
    /// process 0 only; those of other processes may be a second old.
    pub fn metrics(&self) -> MetricsSnapshot {
        self.jobs.metrics(&self.handle.definition)
    }

    /// Asks the job to stop at once and drop its state. Returns when the request is taken; see
    /// [`await_result`](Self::await_result) for the end.
    ///
    /// # Errors
    /// `job.workers_ended` when there is nobody left to ask.
    pub fn cancel(&self) -> Result<()> {
        self.jobs
            .request(&self.handle.definition, Action::Cancel)
            .map(|_| ())
    }

    /// Writes the job's state into a new folder below `directory`, or below
    /// `execution.checkpointing.savepoint-dir`, while the job goes on. Answers the folder.
    ///
    /// # Errors
    /// When the job is not running, or the savepoint cannot be written. The job goes on.
    pub fn trigger_savepoint(&self, directory: Option<PathBuf>) -> Result<PathBuf> {
        self.jobs
            .request(&self.handle.definition, Action::Savepoint { directory })
            .map(PathBuf::from)
    }

    /// Stops the job with a savepoint. With `drain` the input counts as ended: the watermark rises to its maximum
    /// and all timers fire, so that the savepoint is of use only to a changed program. Answers the folder.
    ///
    /// # Errors
    /// When the job is not running, or the savepoint cannot be written, which fails the job.
    pub fn stop_with_savepoint(&self, directory: Option<PathBuf>, drain: bool) -> Result<PathBuf> {
        self.jobs
            .request(
                &self.handle.definition,
                Action::StopWithSavepoint { directory, drain },
            )
            .map(PathBuf::from)
    }
}
