//! Where a program starts: collects transformations and runs them as jobs.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::cluster::ClusterSpec;
use crate::config::{ConfigOption, Configuration, RestartStrategyType, options};
use crate::epoch::Clock;
use crate::error::Result;
use crate::executor::{Executor, JobClient, JobExecutionResult, RestartStrategy};
use crate::stream_graph::StreamGraph;
use crate::transformation::{Transformation, TransformationId};

/// The context of a streaming program. Cheap to clone; clones are the same environment.
///
/// Every process of a program makes the same environment and calls the same methods in the same order; the workers
/// of all processes then run each job together. Sources are read once, not once per process.
///
/// ```
/// use aquifer_runtime::StreamExecutionEnvironment;
///
/// # fn main() -> aquifer_runtime::Result<()> {
/// let env = StreamExecutionEnvironment::create_local(2);
/// let doubled = env.from_sequence(1, 3).map(|n| n * 2);
/// let mut rows = doubled.execute_and_collect()?.collect::<aquifer_runtime::Result<Vec<_>>>()?;
/// rows.sort();
/// assert_eq!(rows, [2, 4, 6]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct StreamExecutionEnvironment {
    inner: Arc<Inner>,
}

struct Inner {
    cluster: ClusterSpec,
    arguments: Vec<String>,
    config: Mutex<Configuration>,
    clock: Mutex<Clock>,
    serialize: Mutex<bool>,
    transformations: Mutex<Vec<Transformation>>,
    /// Sinks added since the last job.
    sinks: Mutex<Vec<TransformationId>>,
    executor: Mutex<Option<Arc<Executor>>>,
}

impl StreamExecutionEnvironment {
    /// An environment with `workers` worker threads in this process, whatever the command line says.
    pub fn create_local(workers: usize) -> Self {
        Self::create_local_with(workers, Configuration::new())
    }

    /// As [`create_local`](Self::create_local). The contract's shorter name.
    pub fn local(workers: usize) -> Self {
        Self::create_local(workers)
    }

    /// An environment with `workers` worker threads in this process and these options.
    pub fn create_local_with(workers: usize, config: Configuration) -> Self {
        Self::with_cluster(ClusterSpec::single(workers), Vec::new(), config)
    }

    /// The environment the program was started in: processes, workers and hosts are read from the command line
    /// (`-n processes -p index -w workers -h hostfile`) or the variables `AQUIFER_*`, other options from
    /// the variables as well; one worker if nothing is said.
    ///
    /// # Errors
    /// `cluster.argument` and `configuration.*` for values that make no sense.
    #[doc(alias = "getExecutionEnvironment")]
    pub fn get_execution_environment() -> Result<Self> {
        Self::from_args()
    }

    /// As [`get_execution_environment`](Self::get_execution_environment).
    ///
    /// # Errors
    /// See there.
    pub fn from_args() -> Result<Self> {
        let config = Configuration::from_env()?;
        let (cluster, arguments) = ClusterSpec::from_process(&config)?;
        let arguments = arguments.into_iter().skip(1).collect();
        Ok(Self::with_cluster(cluster, arguments, config))
    }

    fn with_cluster(cluster: ClusterSpec, arguments: Vec<String>, config: Configuration) -> Self {
        StreamExecutionEnvironment {
            inner: Arc::new(Inner {
                cluster,
                arguments,
                config: Mutex::new(config),
                clock: Mutex::new(Clock::System),
                serialize: Mutex::new(false),
                transformations: Mutex::default(),
                sinks: Mutex::default(),
                executor: Mutex::new(None),
            }),
        }
    }

    /// The program's own arguments: those that do not describe the cluster, without the program's name.
    pub fn arguments(&self) -> &[String] {
        &self.inner.arguments
    }

    /// The index of this process among the program's processes.
    pub fn process(&self) -> usize {
        self.inner.cluster.process
    }

    /// The number of workers of all processes.
    pub fn workers(&self) -> usize {
        self.inner.cluster.total_workers()
    }

    /// The options as they are now.
    pub fn configuration(&self) -> Configuration {
        self.inner.config.lock().clone()
    }

    /// Takes over options; later ones win.
    pub fn configure(&self, config: &Configuration) -> &Self {
        self.inner.config.lock().merge(config);
        self
    }

    /// Sets one option for the jobs to come.
    pub fn set<V: crate::config::ConfigValue>(&self, option: &ConfigOption<V>, value: V) -> &Self {
        self.inner.config.lock().set(option, value);
        self
    }

    /// Sets one option by its key, unchecked, or removes it.
    pub fn set_text(&self, key: &str, value: Option<&str>) -> &Self {
        self.inner.config.lock().put_text(key, value);
        self
    }

    /// How many workers run an operator that does not say otherwise; at most all.
    pub fn set_parallelism(&self, parallelism: usize) -> &Self {
        if let Some(parallelism) = std::num::NonZeroUsize::new(parallelism) {
            self.set(&options::DEFAULT_PARALLELISM, Some(parallelism));
        }
        self
    }

    /// Takes a checkpoint of every job this often, if `execution.checkpointing.dir` is set.
    pub fn enable_checkpointing(&self, interval: Duration) -> &Self {
        self.set(&options::CHECKPOINTING_INTERVAL, Some(interval))
    }

    /// Where checkpoints are kept.
    pub fn set_checkpoint_directory(&self, directory: impl Into<PathBuf>) -> &Self {
        self.set(&options::CHECKPOINTING_DIR, Some(directory.into()))
    }

    /// Where savepoints go when no folder is given.
    pub fn set_default_savepoint_directory(&self, directory: impl Into<PathBuf>) -> &Self {
        self.set(&options::SAVEPOINT_DIR, Some(directory.into()))
    }

    /// What to do when a job fails.
    pub fn set_restart_strategy(&self, strategy: RestartStrategy) -> &Self {
        match strategy {
            RestartStrategy::None => {
                self.set(&options::RESTART_STRATEGY, Some(RestartStrategyType::None));
            }
            RestartStrategy::FixedDelay { attempts, delay } => {
                self.set(
                    &options::RESTART_STRATEGY,
                    Some(RestartStrategyType::FixedDelay),
                );
                self.set(&options::RESTART_FIXED_ATTEMPTS, attempts);
                self.set(&options::RESTART_FIXED_DELAY, delay);
            }
            RestartStrategy::ExponentialDelay {
                initial,
                max,
                multiplier,
                reset_after,
                jitter,
            } => {
                self.set(
                    &options::RESTART_STRATEGY,
                    Some(RestartStrategyType::ExponentialDelay),
                );
                self.set(&options::RESTART_EXPONENTIAL_INITIAL_BACKOFF, initial);
                self.set(&options::RESTART_EXPONENTIAL_MAX_BACKOFF, max);
                self.set(&options::RESTART_EXPONENTIAL_BACKOFF_MULTIPLIER, multiplier);
                self.set(
                    &options::RESTART_EXPONENTIAL_RESET_BACKOFF_THRESHOLD,
                    reset_after,
                );
                self.set(&options::RESTART_EXPONENTIAL_JITTER_FACTOR, jitter);
            }
        }
        self
    }

    /// Takes processing time from `clock`. Must come before the first job.
    pub fn set_clock(&self, clock: Clock) -> &Self {
        *self.inner.clock.lock() = clock;
        self
    }

    /// Makes every exchange between workers go through bytes, as between processes, to test the codecs. Must come
    /// before the first job.
    #[doc(hidden)]
    pub fn serialize_exchanges(&self) -> &Self {
        *self.inner.serialize.lock() = true;
        self
    }

    /// Adds a transformation that others will read.
    pub fn add(&self, mut transformation: Transformation) -> TransformationId {
        if transformation.parallelism.is_none()
            && let Ok(Some(parallelism)) =
                self.inner.config.lock().get(&options::DEFAULT_PARALLELISM)
            && parallelism.get() < self.workers()
        {
            transformation.parallelism = Some(parallelism.get());
        }
        let mut transformations = self.inner.transformations.lock();
        transformations.push(transformation);
        TransformationId(transformations.len() - 1)
    }

    /// Adds a transformation whose result is outside: what the next job runs.
    pub fn add_sink(&self, transformation: Transformation) -> TransformationId {
        let id = self.add(transformation);
        self.inner.sinks.lock().push(id);
        id
    }

    /// Makes transformations that were added before, and end outside, part of the next job.
    pub fn attach_sinks(&self, sinks: impl IntoIterator<Item = TransformationId>) {
        self.inner.sinks.lock().extend(sinks);
    }

    /// Changes a transformation that was added before.
    pub(crate) fn update(&self, id: TransformationId, change: impl FnOnce(&mut Transformation)) {
        change(&mut self.inner.transformations.lock()[id.0]);
    }

    /// Reads a transformation that was added before.
    pub fn inspect<R>(&self, id: TransformationId, read: impl FnOnce(&Transformation) -> R) -> R {
        read(&self.inner.transformations.lock()[id.0])
    }

    /// The graph the next job would run, one line per operator.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub fn execution_plan(&self) -> Result<String> {
        let sinks = self.inner.sinks.lock().clone();
        self.execution_plan_of(&sinks)
    }

    /// The graph of a job of these sinks alone, one line per operator.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub fn execution_plan_of(&self, sinks: &[TransformationId]) -> Result<String> {
        Ok(self.graph(&self.job_name()?, sinks)?.to_string())
    }

    fn job_name(&self) -> Result<String> {
        let name = self.inner.config.lock().get(&options::PIPELINE_NAME)?;
        Ok(name.unwrap_or_else(|| "Streaming Job".to_string()))
    }

    /// Runs all sinks added since the last job, and waits for the end.
    ///
    /// # Errors
    /// `graph.*` when the job cannot be built, `job.*` when it fails.
    pub fn execute(&self) -> Result<JobExecutionResult> {
        self.execute_named(&self.job_name()?)
    }

    /// As [`execute`](Self::execute), with a name for the job.
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub fn execute_named(&self, name: &str) -> Result<JobExecutionResult> {
        self.execute_async(name)?.await_result()
    }

    /// Starts all sinks added since the last job and returns at once.
    ///
    /// # Errors
    /// `graph.*` when the job cannot be built.
    pub fn execute_async(&self, name: &str) -> Result<JobClient> {
        let sinks = std::mem::take(&mut *self.inner.sinks.lock());
        self.execute_sinks_async(name, &sinks)
    }

    /// Starts these sinks alone as a job and returns at once; those added for the next job keep waiting for it.
    ///
    /// # Errors
    /// `graph.*` when the job cannot be built.
    pub fn execute_sinks_async(&self, name: &str, sinks: &[TransformationId]) -> Result<JobClient> {
        let graph = self.graph(name, sinks)?;
        let config = self.configuration();
        self.executor(graph.fingerprint())?
            .submit(name, graph, &config)
    }

    fn graph(&self, name: &str, sinks: &[TransformationId]) -> Result<StreamGraph> {
        let transformations = self.inner.transformations.lock();
        StreamGraph::build(name, &transformations, sinks, self.workers())
    }

    /// The workers, started when first needed. `fingerprint` is that of the first job: processes that run other programs
    /// do not work together.
    fn executor(&self, fingerprint: u64) -> Result<Arc<Executor>> {
        let mut executor = self.inner.executor.lock();
        if let Some(executor) = executor.as_ref() {
            return Ok(Arc::clone(executor));
        }
        let clock = self.inner.clock.lock().clone();
        let started = Executor::start(
            &self.inner.cluster,
            fingerprint,
            clock,
            *self.inner.serialize.lock(),
        )?;
        *executor = Some(Arc::clone(&started));
        Ok(started)
    }
}
