//! All options of the runtime. Names, types and defaults are Flink's where Flink has the option.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use super::{ConfigOption, OptionList, RestartStrategyType};

/// Address on which processes listen for their peers.
pub const CLUSTER_BIND_ADDRESS: ConfigOption<String> = ConfigOption::new(
    "cluster.bind-address",
    "127.0.0.1",
    "Address on which this process listens for its peers when the host list has no entry for it. An address other than loopback needs a secret.",
);

/// How long processes wait for each other.
pub const CLUSTER_CONNECT_TIMEOUT: ConfigOption<Duration> = ConfigOption::new(
    "cluster.connect-timeout",
    "30 s",
    "How long the processes of a cluster wait for each other at the start before they give up.",
);

/// Addresses of the processes.
pub const CLUSTER_HOSTS: ConfigOption<Option<Vec<String>>> = ConfigOption::without_default(
    "cluster.hosts",
    "Addresses (host:port) of all processes, in the order of their indexes. Unset: ports 2101, 2102, .. of this machine.",
);

/// Index of this process.
pub const CLUSTER_PROCESS: ConfigOption<usize> =
    ConfigOption::new("cluster.process", "0", "Index of this process, from 0.");

/// Number of processes.
pub const CLUSTER_PROCESSES: ConfigOption<NonZeroUsize> = ConfigOption::new(
    "cluster.processes",
    "1",
    "Number of processes that run the program together.",
);

/// Shared secret of the processes.
pub const CLUSTER_SECRET: ConfigOption<Option<String>> = ConfigOption::without_default(
    "cluster.secret",
    "Secret that the processes of a cluster share and prove to each other. Prefer 'cluster.secret-file'.",
);

/// File with the shared secret.
pub const CLUSTER_SECRET_FILE: ConfigOption<Option<PathBuf>> = ConfigOption::without_default(
    "cluster.secret-file",
    "File that holds the shared secret; white space around it does not count.",
);

/// Worker threads per process.
pub const CLUSTER_WORKERS: ConfigOption<NonZeroUsize> = ConfigOption::new(
    "cluster.workers",
    "1",
    "Number of worker threads in each process.",
);

/// Where checkpoints go.
pub const CHECKPOINTING_DIR: ConfigOption<Option<PathBuf>> = ConfigOption::without_default(
    "execution.checkpointing.dir",
    "Folder for checkpoints. All processes must reach it under the same path.",
);

/// Time between checkpoints.
pub const CHECKPOINTING_INTERVAL: ConfigOption<Option<Duration>> = ConfigOption::without_default(
    "execution.checkpointing.interval",
    "Time from the start of one checkpoint to the start of the next. Unset: no checkpoints.",
);

/// How many completed checkpoints stay.
pub const CHECKPOINTING_NUM_RETAINED: ConfigOption<NonZeroUsize> = ConfigOption::new(
    "execution.checkpointing.num-retained",
    "1",
    "Number of completed checkpoints to keep; older ones are deleted.",
);

/// Where savepoints go.
pub const SAVEPOINT_DIR: ConfigOption<Option<PathBuf>> = ConfigOption::without_default(
    "execution.checkpointing.savepoint-dir",
    "Folder for savepoints that are taken without naming one.",
);

/// How long a checkpoint may take.
pub const CHECKPOINTING_TIMEOUT: ConfigOption<Duration> = ConfigOption::new(
    "execution.checkpointing.timeout",
    "10 min",
    "Time after which a checkpoint that is not complete is given up.",
);

/// Whether state that no operator claims is dropped at a restore.
pub const IGNORE_UNCLAIMED_STATE: ConfigOption<bool> = ConfigOption::new(
    "execution.state-recovery.ignore-unclaimed-state",
    "false",
    "Whether a restore drops state that no operator of the job claims, instead of refusing.",
);

/// What to restore from.
pub const STATE_RECOVERY_PATH: ConfigOption<Option<PathBuf>> = ConfigOption::without_default(
    "execution.state-recovery.path",
    "Savepoint or checkpoint folder that the job starts from.",
);

/// Where metrics are served.
pub const PROMETHEUS_ADDRESS: ConfigOption<Option<String>> = ConfigOption::without_default(
    "metrics.prometheus.address",
    "Address (host:port, or a port on loopback) on which metrics are served to Prometheus under /metrics. Unset: not served.",
);

/// Parallelism of operators that set none.
pub const DEFAULT_PARALLELISM: ConfigOption<Option<NonZeroUsize>> = ConfigOption::without_default(
    "parallelism.default",
    "Parallelism of operators that set none. Unset: the number of workers.",
);

/// How often an idle job announces an epoch.
pub const EPOCH_IDLE_INTERVAL: ConfigOption<Duration> = ConfigOption::new(
    "pipeline.epoch.idle-interval",
    "50 ms",
    "How often a job without new input still closes an epoch, so that processing time moves.",
);

/// Shortest time between epochs.
pub const EPOCH_INTERVAL: ConfigOption<Duration> = ConfigOption::new(
    "pipeline.epoch.interval",
    "5 ms",
    "Shortest time between two epochs: smaller gives lower latency, larger gives higher throughput.",
);

/// Most rows that a source emits in one epoch.
pub const EPOCH_MAX_ROWS: ConfigOption<NonZeroU64> = ConfigOption::new(
    "pipeline.epoch.max-rows",
    "262144",
    "Most rows that one source emits on one worker within one epoch.",
);

/// Most open epochs.
pub const MAX_IN_FLIGHT_EPOCHS: ConfigOption<NonZeroUsize> = ConfigOption::new(
    "pipeline.max-in-flight-epochs",
    "3",
    "Most epochs that are open at a time; sources wait when the sinks lag behind by more.",
);

/// Name of the job.
pub const PIPELINE_NAME: ConfigOption<Option<String>> = ConfigOption::without_default(
    "pipeline.name",
    "Name of the job, in logs, metrics and checkpoints.",
);

/// Factor by which the waiting time grows.
pub const RESTART_EXPONENTIAL_BACKOFF_MULTIPLIER: ConfigOption<f64> = ConfigOption::new(
    "restart-strategy.exponential-delay.backoff-multiplier",
    "1.5",
    "Factor by which the waiting time grows after each failure; at least 1.",
);

/// First waiting time.
pub const RESTART_EXPONENTIAL_INITIAL_BACKOFF: ConfigOption<Duration> = ConfigOption::new(
    "restart-strategy.exponential-delay.initial-backoff",
    "1 s",
    "Waiting time before the first restart.",
);

/// Random part of the waiting time.
pub const RESTART_EXPONENTIAL_JITTER_FACTOR: ConfigOption<f64> = ConfigOption::new(
    "restart-strategy.exponential-delay.jitter-factor",
    "0.1",
    "Largest random part of the waiting time, as a fraction of it, from 0 to 1.",
);

/// Longest waiting time.
pub const RESTART_EXPONENTIAL_MAX_BACKOFF: ConfigOption<Duration> = ConfigOption::new(
    "restart-strategy.exponential-delay.max-backoff",
    "1 min",
    "Longest waiting time before a restart.",
);

/// Time after which the waiting time starts anew.
pub const RESTART_EXPONENTIAL_RESET_BACKOFF_THRESHOLD: ConfigOption<Duration> = ConfigOption::new(
    "restart-strategy.exponential-delay.reset-backoff-threshold",
    "1 h",
    "Time of running without a failure after which the waiting time starts anew.",
);

/// How often to restart.
pub const RESTART_FIXED_ATTEMPTS: ConfigOption<usize> = ConfigOption::new(
    "restart-strategy.fixed-delay.attempts",
    "1",
    "How many times a failed job is restarted.",
);

/// How long to wait before each restart.
pub const RESTART_FIXED_DELAY: ConfigOption<Duration> = ConfigOption::new(
    "restart-strategy.fixed-delay.delay",
    "1 s",
    "Waiting time before each restart.",
);

/// What happens when a job fails.
pub const RESTART_STRATEGY: ConfigOption<Option<RestartStrategyType>> =
    ConfigOption::without_default(
        "restart-strategy.type",
        "What happens when a job fails. Unset: exponential-delay with checkpoints, none without.",
    );

/// All options of the runtime, sorted by key.
pub const OPTIONS: &OptionList = &[
    &CLUSTER_BIND_ADDRESS,
    &CLUSTER_CONNECT_TIMEOUT,
    &CLUSTER_HOSTS,
    &CLUSTER_PROCESS,
    &CLUSTER_PROCESSES,
    &CLUSTER_SECRET,
    &CLUSTER_SECRET_FILE,
    &CLUSTER_WORKERS,
    &CHECKPOINTING_DIR,
    &CHECKPOINTING_INTERVAL,
    &CHECKPOINTING_NUM_RETAINED,
    &SAVEPOINT_DIR,
    &CHECKPOINTING_TIMEOUT,
    &IGNORE_UNCLAIMED_STATE,
    &STATE_RECOVERY_PATH,
    &PROMETHEUS_ADDRESS,
    &DEFAULT_PARALLELISM,
    &EPOCH_IDLE_INTERVAL,
    &EPOCH_INTERVAL,
    &EPOCH_MAX_ROWS,
    &MAX_IN_FLIGHT_EPOCHS,
    &PIPELINE_NAME,
    &RESTART_EXPONENTIAL_BACKOFF_MULTIPLIER,
    &RESTART_EXPONENTIAL_INITIAL_BACKOFF,
    &RESTART_EXPONENTIAL_JITTER_FACTOR,
    &RESTART_EXPONENTIAL_MAX_BACKOFF,
    &RESTART_EXPONENTIAL_RESET_BACKOFF_THRESHOLD,
    &RESTART_FIXED_ATTEMPTS,
    &RESTART_FIXED_DELAY,
    &RESTART_STRATEGY,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_described_and_with_sound_defaults() {
        assert!(OPTIONS.is_sorted_by(|a, b| a.key() < b.key()));
        for option in OPTIONS {
            assert!(option.description().ends_with('.'), "{}", option.key());
            if let Some(text) = option.default_text() {
                option.check(text).unwrap();
            }
        }
    }
}
