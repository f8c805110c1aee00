//! The counters of one operator instance.

use std::sync::atomic::{AtomicI64, AtomicU64};

use super::MetricGroup;

/// Counters and gauges of one operator on one worker. Written by its worker, read by anyone.
#[derive(Debug)]
pub struct OperatorMetrics {
    /// Rows taken in.
    pub records_in: AtomicU64,
    /// Rows emitted.
    pub records_out: AtomicU64,
    /// Batches taken in.
    pub batches_in: AtomicU64,
    /// Time spent in the operator's code, in nanoseconds.
    pub busy_nanos: AtomicU64,
    /// Bytes of state in memory, as the operator estimates them.
    pub state_bytes: AtomicU64,
    /// Keys held.
    pub state_keys: AtomicU64,
    /// The watermark over all inputs, in milliseconds.
    pub watermark: AtomicI64,
    /// The epoch it works on.
    pub epoch: AtomicU64,
    /// Rows dropped because they came after the watermark.
    pub late_records: AtomicU64,
    /// Rows skipped because they could not be read.
    pub skipped_records: AtomicU64,
    /// What user code measures.
    pub user: MetricGroup,
}

impl Default for OperatorMetrics {
    fn default() -> Self {
        OperatorMetrics {
            records_in: AtomicU64::new(0),
            records_out: AtomicU64::new(0),
            batches_in: AtomicU64::new(0),
            busy_nanos: AtomicU64::new(0),
            state_bytes: AtomicU64::new(0),
            state_keys: AtomicU64::new(0),
            watermark: AtomicI64::new(i64::MIN),
            epoch: AtomicU64::new(0),
            late_records: AtomicU64::new(0),
            skipped_records: AtomicU64::new(0),
            user: MetricGroup::default(),
        }
    }
}
