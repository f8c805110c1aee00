//! Whether and when a failed job is started again.

use std::time::{Duration, Instant};

use crate::config::{Configuration, RestartStrategyType, options};
use crate::error::Result;

/// What to do after a failure.
#[derive(Clone, Debug, PartialEq)]
pub enum RestartStrategy {
    /// The first failure ends the job.
    None,
    /// So many times, after a fixed delay.
    FixedDelay {
        /// The number of restarts.
        attempts: usize,
        /// The pause before each.
        delay: Duration,
    },
    /// For ever, after a delay that grows with each failure and is reset by a quiet time.
    ExponentialDelay {
        /// The first pause.
        initial: Duration,
        /// The longest pause.
        max: Duration,
        /// The factor from one pause to the next.
        multiplier: f64,
        /// How long the job must run without a failure to start again at `initial`.
        reset_after: Duration,
        /// The share of the pause that varies from job to job, so that jobs do not restart all at once.
        jitter: f64,
    },
}

impl RestartStrategy {
    pub(crate) fn from_configuration(config: &Configuration) -> Result<Self> {
        // Without a choice, a job that takes checkpoints is restarted and another is not, as in Flink.
        let default = if config.get(&options::CHECKPOINTING_INTERVAL)?.is_some() {
            RestartStrategyType::ExponentialDelay
        } else {
            RestartStrategyType::None
        };
        Ok(
            match config.get(&options::RESTART_STRATEGY)?.unwrap_or(default) {
                RestartStrategyType::None => RestartStrategy::None,
                RestartStrategyType::FixedDelay => RestartStrategy::FixedDelay {
                    attempts: config.get(&options::RESTART_FIXED_ATTEMPTS)?,
                    delay: config.get(&options::RESTART_FIXED_DELAY)?,
                },
                RestartStrategyType::ExponentialDelay => RestartStrategy::ExponentialDelay {
                    initial: config.get(&options::RESTART_EXPONENTIAL_INITIAL_BACKOFF)?,
                    max: config.get(&options::RESTART_EXPONENTIAL_MAX_BACKOFF)?,
                    multiplier: config.get(&options::RESTART_EXPONENTIAL_BACKOFF_MULTIPLIER)?,
                    reset_after: config
                        .get(&options::RESTART_EXPONENTIAL_RESET_BACKOFF_THRESHOLD)?,
                    jitter: config.get(&options::RESTART_EXPONENTIAL_JITTER_FACTOR)?,
                },
            },
        )
    }
}

/// The restarts of one job so far.
#[derive(Debug)]
pub(crate) struct Restarts {
    strategy: RestartStrategy,
    count: usize,
    backoff: Option<Duration>,
    last_failure: Option<Instant>,
    /// Differs from job to job, in 0..1.
    spread: f64,
}

impl Restarts {
    pub(crate) fn new(strategy: RestartStrategy, job: u64) -> Self {
        let spread = (job.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64 / (1u64 << 24) as f64;
        Restarts {
            strategy,
            count: 0,
            backoff: None,
            last_failure: None,
            spread,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The pause before the next attempt; `None` when the job has failed for good.
    pub(crate) fn next_delay(&mut self, now: Instant) -> Option<Duration> {
        let delay = match &self.strategy {
            RestartStrategy::None => return None,
            RestartStrategy::FixedDelay { attempts, .. } if self.count >= *attempts => return None,
            RestartStrategy::FixedDelay { delay, .. } => *delay,
            RestartStrategy::ExponentialDelay {
                initial,
                max,
                multiplier,
                reset_after,
                jitter,
            } => {
                let quiet = self
                    .last_failure
                    .is_some_and(|last| now.duration_since(last) >= *reset_after);
                let backoff = match self.backoff {
                    Some(last) if !quiet => last.mul_f64(*multiplier).min(*max),
                    _ => *initial,
                };
                self.backoff = Some(backoff);
                backoff.mul_f64(1.0 + jitter * (2.0 * self.spread - 1.0))
            }
        };
        self.last_failure = Some(now);
        self.count += 1;
        Some(delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_delay_gives_up_after_its_attempts() {
        let delay = Duration::from_millis(7);
        let mut restarts = Restarts::new(RestartStrategy::FixedDelay { attempts: 2, delay }, 1);
        let now = Instant::now();
        assert_eq!(restarts.next_delay(now), Some(delay));
        assert_eq!(restarts.next_delay(now), Some(delay));
        assert_eq!(restarts.next_delay(now), None);
        assert_eq!(
            Restarts::new(RestartStrategy::None, 1).next_delay(now),
            None
        );
    }

    #[test]
    fn exponential_delay_grows_to_its_maximum_and_is_reset_by_quiet() {
        let seconds = Duration::from_secs;
        let mut restarts = Restarts::new(
            RestartStrategy::ExponentialDelay {
                initial: seconds(1),
                max: seconds(3),
                multiplier: 2.0,
                reset_after: seconds(100),
                jitter: 0.0,
            },
            1,
        );
        let start = Instant::now();
        let delays: Vec<_> = (0..3)
            .map(|_| restarts.next_delay(start).unwrap())
            .collect();
        assert_eq!(delays, [seconds(1), seconds(2), seconds(3)]);
        assert_eq!(restarts.next_delay(start + seconds(200)), Some(seconds(1)));
    }
}
