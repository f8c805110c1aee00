//! What a job as a whole measures. Only the process of worker 0 writes it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::group::Histogram;
use super::snapshot::JobMetricsSnapshot;

/// Counters and gauges of a job.
#[derive(Debug, Default)]
pub struct JobMetrics {
    epoch_latency_micros: Histogram,
    open_epochs: AtomicU64,
    restarts: AtomicU64,
    checkpoints_completed: AtomicU64,
    checkpoints_failed: AtomicU64,
    last_checkpoint_id: AtomicU64,
    last_checkpoint_duration_ms: AtomicU64,
    last_checkpoint_size_bytes: AtomicU64,
}

impl JobMetrics {
    /// An epoch has closed behind all sinks, `latency` after it was announced.
    pub fn epoch_closed(&self, latency: Duration) {
        self.epoch_latency_micros.update(micros(latency));
    }

    /// So many epochs are announced and not closed.
    pub fn set_open_epochs(&self, open: u64) {
        self.open_epochs.store(open, Ordering::Relaxed);
    }

    /// The job has been restarted after a failure.
    pub fn restarted(&self) {
        self.restarts.fetch_add(1, Ordering::Relaxed);
    }

    /// Checkpoint `id` is complete, `duration` after it was announced.
    pub fn checkpoint_completed(&self, id: u64, duration: Duration, size_bytes: u64) {
        self.checkpoints_completed.fetch_add(1, Ordering::Relaxed);
        self.last_checkpoint_id.store(id, Ordering::Relaxed);
        let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        self.last_checkpoint_duration_ms
            .store(millis, Ordering::Relaxed);
        self.last_checkpoint_size_bytes
            .store(size_bytes, Ordering::Relaxed);
    }

    /// A checkpoint was given up.
    pub fn checkpoint_failed(&self) {
        self.checkpoints_failed.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn snapshot(&self) -> JobMetricsSnapshot {
        let read = |metric: &AtomicU64| metric.load(Ordering::Relaxed);
        JobMetricsSnapshot {
            epoch_latency_micros: self.epoch_latency_micros.distribution(),
            open_epochs: read(&self.open_epochs),
            restarts: read(&self.restarts),
            checkpoints_completed: read(&self.checkpoints_completed),
            checkpoints_failed: read(&self.checkpoints_failed),
            last_checkpoint_id: read(&self.last_checkpoint_id),
            last_checkpoint_duration_ms: read(&self.last_checkpoint_duration_ms),
            last_checkpoint_size_bytes: read(&self.last_checkpoint_size_bytes),
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
