//! Where a user's function puts its results.

use crate::batch::{BATCH_ROWS, NO_TIMESTAMP, StreamBatch, StreamData};
use crate::operator::Output;

/// Gathers results into batches. A result has the timestamp of the record or timer that is being processed.
pub struct Collector<O> {
    batch: StreamBatch<O>,
    timestamp: i64,
    port: usize,
}

impl<O: StreamData> Collector<O> {
    /// A collector for output `port`.
    pub(crate) fn new(port: usize) -> Self {
        Collector {
            batch: StreamBatch::new(),
            timestamp: NO_TIMESTAMP,
            port,
        }
    }

    #[inline]
    pub(crate) fn set_timestamp(&mut self, timestamp: i64) {
        self.timestamp = timestamp;
    }

    /// Emits a value.
    #[inline]
    pub fn collect(&mut self, value: O) {
        self.batch.push_at(value, self.timestamp);
    }

    /// Emits a value with an event timestamp of its own, in milliseconds.
    #[inline]
    pub fn collect_with_timestamp(&mut self, value: O, timestamp: i64) {
        self.batch.push_at(value, timestamp);
    }

    /// Sends what there is when it fills a batch.
    #[inline]
    pub(crate) fn flush_full(&mut self, output: &mut Output) {
        if self.batch.len() >= BATCH_ROWS {
            self.flush(output);
        }
    }

    pub(crate) fn flush(&mut self, output: &mut Output) {
        if !self.batch.is_empty() {
            output.emit(self.port, self.batch.take());
        }
    }
}
