//! Runs jobs on long-lived workers.
//!
//! An `Executor` owns the worker threads of this process. They start with the first job and end when the last
//! handle is dropped and every process of the program has said the same. Jobs are submitted to them one after the
//! other or side by side; `coordinator` decides, `worker` carries out, `control_plane` joins them.

mod background;
mod control_plane;
mod coordinator;
mod job;
mod job_options;
mod messages;
pub(crate) mod panics;
mod recovery;
mod restart;
mod worker;

use std::net::TcpStream;
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use timely::communication::Hooks;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::communication::initialize::WorkerGuards;
use timely::{CommunicationConfig, WorkerConfig};

use crate::cluster::ClusterSpec;
use crate::config::{Configuration, options};
use crate::epoch::Clock;
use crate::error::{Result, RuntimeError};
use crate::executor::background::Background;
use crate::executor::job::ProcessJobs;
use crate::executor::job_options::JobOptions;
use crate::executor::worker::WorkerSetup;
use crate::metrics::{PrometheusServer, render_prometheus};
use crate::stream_graph::StreamGraph;

pub use job::{JobClient, JobExecutionResult};
pub use messages::JobStatus;
pub use panics::PEER_LOST_EXIT_CODE;
pub use restart::RestartStrategy;

/// The workers of this process.
pub(crate) struct Executor {
    jobs: Arc<ProcessJobs>,
    threads: Mutex<Option<Threads>>,
    /// Shows the metrics of all jobs; started by the first job that asks for it.
    metrics_page: Mutex<Option<PrometheusServer>>,
}

struct Threads {
    workers: WorkerGuards<()>,
    background: JoinHandle<()>,
}

impl Executor {
    /// Starts the workers of this process, and meets the other processes if there are any, which must have the same
    /// `fingerprint`.
    pub(crate) fn start(
        cluster: &ClusterSpec,
        fingerprint: u64,
        clock: Clock,
        serialize: bool,
    ) -> Result<Arc<Self>> {
        panics::install_hook();
        let (builders, network) = allocators(cluster, fingerprint, serialize)?;
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
            metrics_page: Mutex::new(None),
        }))
    }

    /// Runs a job.
    pub(crate) fn submit(
        self: &Arc<Self>,
        name: &str,
        graph: StreamGraph,
        config: &Configuration,
    ) -> Result<JobClient> {
        self.show_metrics(config)?;
        let options = JobOptions::from_configuration(config)?;
        let handle = self.jobs.submit(name.to_string(), graph, options)?;
        Ok(JobClient::new(
            handle,
            Arc::clone(&self.jobs),
            Arc::<Executor>::clone(self),
        ))
    }
}

impl Executor {
    fn show_metrics(&self, config: &Configuration) -> Result<()> {
        let mut page = self.metrics_page.lock();
        if let (None, Some(address)) = (page.as_ref(), config.get(&options::PROMETHEUS_ADDRESS)?) {
            let jobs = Arc::clone(&self.jobs);
            *page = Some(PrometheusServer::start(&address, move || {
                render_prometheus(&jobs.all_metrics())
            })?);
        }
        Ok(())
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

type Allocators = (Vec<AllocatorBuilder>, Box<dyn std::any::Any + Send>);

/// timely's channels between the workers: memory within a process, authenticated sockets between processes.
fn allocators(cluster: &ClusterSpec, fingerprint: u64, serialize: bool) -> Result<Allocators> {
    let workers = cluster.workers_per_process;
    let local = match (workers, serialize) {
        _ if cluster.processes() > 1 => {
            panics::install_process_guard(cluster.process);
            let sockets = crate::cluster::connect(cluster, fingerprint)?;
            return networked(cluster, sockets, serialize);
        }
        (_, true) => CommunicationConfig::ProcessBinary(workers),
        (1, false) => CommunicationConfig::Thread,
        (_, false) => CommunicationConfig::Process(workers),
    };
    local.try_build().map_err(no_channels)
}

fn networked(
    cluster: &ClusterSpec,
    sockets: Vec<Option<TcpStream>>,
    serialize: bool,
) -> Result<Allocators> {
    let workers = cluster.workers_per_process;
    let hooks = Hooks::default();
    let local = if serialize {
        ProcessBuilder::new_bytes_vector(workers, hooks.refill.clone(), hooks.spill.clone())
    } else {
        ProcessBuilder::new_typed_vector(workers, hooks.refill.clone(), hooks.spill.clone())
    };
    let (builders, guard) =
        initialize_networking_from_sockets(local, sockets, cluster.process, workers, hooks)
            .map_err(no_channels)?;
    Ok((
        builders.into_iter().map(AllocatorBuilder::Tcp).collect(),
        Box::new(guard),
    ))
}

fn no_channels(cause: impl std::fmt::Display) -> RuntimeError {
    RuntimeError::internal(format!("cannot join the workers: {cause}"))
}
