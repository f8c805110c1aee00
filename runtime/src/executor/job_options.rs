//! The options of one job, read and checked once, when it is submitted.

use std::path::PathBuf;
use std::time::Duration;

use crate::config::{Configuration, ConfigurationError, options};
use crate::error::Result;
use crate::executor::restart::RestartStrategy;

/// See [`crate::config::options`] for the meaning of each.
#[derive(Clone, Debug)]
pub(crate) struct JobOptions {
    pub(crate) max_in_flight: u64,
    pub(crate) epoch_interval: Duration,
    pub(crate) idle_interval: Duration,
    pub(crate) max_rows: usize,
    pub(crate) checkpoint_interval: Option<Duration>,
    pub(crate) checkpoint_dir: Option<PathBuf>,
    pub(crate) savepoint_dir: Option<PathBuf>,
    pub(crate) checkpoint_timeout: Duration,
    pub(crate) retained: usize,
    pub(crate) restore: Option<PathBuf>,
    /// Go on from the newest checkpoint in `checkpoint_dir`, if there is one.
    pub(crate) restore_latest: bool,
    pub(crate) allow_unclaimed: bool,
    pub(crate) restart: RestartStrategy,
}

/// Set by the launcher when it starts a set of processes again: `latest` restores the newest checkpoint.
const RECOVER_VARIABLE: &str = "AQUIFER_RECOVER";

impl JobOptions {
    pub(crate) fn from_configuration(config: &Configuration) -> Result<Self> {
        let checkpoint_dir = config.get(&options::CHECKPOINTING_DIR)?;
        let checkpoint_interval = config.get(&options::CHECKPOINTING_INTERVAL)?;
        if checkpoint_interval.is_some() && checkpoint_dir.is_none() {
            let message = "'execution.checkpointing.interval' is set, but there is no place to keep checkpoints; \
                           set 'execution.checkpointing.dir'";
            return Err(ConfigurationError::Conflict {
                message: message.to_string(),
            }
            .into());
        }
        Ok(JobOptions {
            max_in_flight: config.get(&options::MAX_IN_FLIGHT_EPOCHS)?.get() as u64,
            epoch_interval: config.get(&options::EPOCH_INTERVAL)?,
            idle_interval: config.get(&options::EPOCH_IDLE_INTERVAL)?,
            max_rows: usize::try_from(config.get(&options::EPOCH_MAX_ROWS)?.get())
                .unwrap_or(usize::MAX),
            checkpoint_interval,
            checkpoint_dir,
            savepoint_dir: config.get(&options::SAVEPOINT_DIR)?,
            checkpoint_timeout: config.get(&options::CHECKPOINTING_TIMEOUT)?,
            retained: config.get(&options::CHECKPOINTING_NUM_RETAINED)?.get(),
            restore: config.get(&options::STATE_RECOVERY_PATH)?,
            restore_latest: std::env::var(RECOVER_VARIABLE).is_ok_and(|value| value == "latest"),
            allow_unclaimed: config.get(&options::IGNORE_UNCLAIMED_STATE)?,
            restart: RestartStrategy::from_configuration(config)?,
        })
    }
}
