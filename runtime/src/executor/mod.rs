//! Runs jobs on long-lived workers.
//!
//! An [`Executor`] owns the worker threads of this process. They start with the first job and end when the last
//! handle is dropped and every process of the program has said the same. Jobs are submitted to them one after the
//! other or side by side; `coordinator` decides, `worker` carries out, `control_plane` joins them.

mod background;
mod control_plane;
mod coordinator;
mod job;
mod messages;
mod options;
pub(crate) mod panics;
mod recovery;
mod restart;
mod worker;

use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use timely::WorkerConfig;
use timely::communication::allocator::AllocatorBuilder;
use timely::communication::initialize::WorkerGuards;

use crate::cluster::ClusterSpec;
use crate::config::Configuration;
use crate::epoch::Clock;
use crate::error::{Result, RuntimeError};
use crate::executor::background::Background;
use crate::executor::job::ProcessJobs;
use crate::executor::options::JobOptions;
use crate::executor::worker::WorkerSetup;
use crate::stream_graph::StreamGraph;

pub use job::{JobClient, JobExecutionResult};
pub use messages::JobStatus;
pub use panics::PEER_LOST_EXIT_CODE;
pub use restart::RestartStrategy;

/// The workers of this process.
pub(crate) struct Executor {
    jobs: Arc<ProcessJobs>,
    threads: Mutex<Option<Threads>>,
}

struct Threads {
    workers: WorkerGuards<()>,
    background: JoinHandle<()>,
}

impl Executor {
    /// Starts the workers of this process, and meets the other processes if there are any.
    pub(crate) fn start(cluster: &ClusterSpec, clock: Clock, serialize: bool) -> Result<Arc<Self>> {
        panics::install_hook();
        let (builders, network) = allocators(cluster, serialize)?;
        let (jobs, mailbox) = ProcessJobs::new(cluster.process);
        let (background, background_thread) = Background::start(Arc::clone(&jobs))
            .map_err(|cause| RuntimeError::internal(format!("cannot start a thread: {cause}")))?;
        let setup = WorkerSetup {
            jobs: Arc::clone(&jobs),
            mailbox,
            background,
            processes: cluster.processes(),
            workers_per_process: cluster.workers_per_process,
            clock,
        };
        let guards = timely::execute::execute_from(
            builders,
            network,
            WorkerConfig::default(),
            move |worker| {
                let _watch = EndOfWorker(Arc::clone(&setup.jobs));
                worker::run(worker, &setup);
            },
        )
        .map_err(|cause| RuntimeError::internal(format!("cannot start the workers: {cause}")))?;
        Ok(Arc::new(Executor {
            jobs,
            threads: Mutex::new(Some(Threads {
                workers: guards,
                background: background_thread,
            })),
        }))
    }

    /// Runs a job.
    pub(crate) fn submit(
        self: &Arc<Self>,
        name: &str,
        graph: StreamGraph,
        config: &Configuration,
    ) -> Result<JobClient> {
        let options = JobOptions::from_configuration(config)?;
        let handle = self.jobs.submit(name.to_string(), graph, options)?;
        Ok(JobClient::new(
            handle,
            Arc::clone(&self.jobs),
            Arc::<Executor>::clone(self),
        ))
    }
}

/// Says that this process needs its workers no longer, and waits for them.
impl Drop for Executor {
    fn drop(&mut self) {
        self.jobs.leave();
        if let Some(threads) = self.threads.lock().take() {
            for result in threads.workers.join() {
                if let Err(cause) = result {
                    tracing::error!("a worker ended by a fault of the engine: {cause}");
                }
            }
            let _ = threads.background.join();
        }
    }
}

/// Tells those who wait that this worker is gone, also when it ends by a panic.
struct EndOfWorker(Arc<ProcessJobs>);

impl Drop for EndOfWorker {
    fn drop(&mut self) {
        self.0.workers_ended();
    }
}

/// timely's channels between the workers: memory within a process, authenticated sockets between processes.
fn allocators(
    cluster: &ClusterSpec,
    serialize: bool,
) -> Result<(Vec<AllocatorBuilder>, Box<dyn std::any::Any + Send>)> {
    let workers = cluster.workers_per_process;
    let config = match (workers, serialize) {
        _ if cluster.processes() > 1 => return Err(RuntimeError::internal("several processes")),
        (_, true) => timely::CommunicationConfig::ProcessBinary(workers),
        (1, false) => timely::CommunicationConfig::Thread,
        (_, false) => timely::CommunicationConfig::Process(workers),
    };
    config
        .try_build()
        .map_err(|cause| RuntimeError::internal(format!("cannot join the workers: {cause}")))
}
