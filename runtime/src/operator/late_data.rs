//! What happens to records that come too late for all of their windows.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::batch::{NO_TIMESTAMP, StreamData};
use crate::error::{Result, RuntimeError};
use crate::metrics::OperatorMetrics;
use crate::operator::{OutputTag, SideOutputs};

/// How late records may be, and where those go that are later.
pub struct LateData<T> {
    allowed_lateness: i64,
    tag: Option<OutputTag<T>>,
}

impl<T> Clone for LateData<T> {
    fn clone(&self) -> Self {
        LateData {
            allowed_lateness: self.allowed_lateness,
            tag: self.tag.clone(),
        }
    }
}

impl<T> Default for LateData<T> {
    fn default() -> Self {
        LateData {
            allowed_lateness: 0,
            tag: None,
        }
    }
}

impl<T: StreamData> LateData<T> {
    /// Keeps windows for this many milliseconds after the watermark has passed their end.
    #[must_use]
    pub fn with_allowed_lateness(mut self, millis: i64) -> Self {
        self.allowed_lateness = millis.max(0);
        self
    }

    /// Sends what is too late to a side output; without one it is dropped and counted.
    #[must_use]
    pub fn with_side_output(mut self, tag: OutputTag<T>) -> Self {
        self.tag = Some(tag);
        self
    }

    /// True when windows outlive their end.
    pub(crate) fn is_allowed(&self) -> bool {
        self.allowed_lateness > 0
    }

    /// When the state of a window goes away.
    #[inline]
    pub(crate) fn cleanup_time(&self, max_timestamp: i64) -> i64 {
        max_timestamp.saturating_add(self.allowed_lateness)
    }

    /// True when a window (or a record) with this highest timestamp is gone.
    #[inline]
    pub(crate) fn is_late(&self, max_timestamp: i64, watermark: i64) -> bool {
        self.cleanup_time(max_timestamp) <= watermark
    }

    /// Takes a record that no window takes any more.
    pub(crate) fn skip(
        &self,
        value: T,
        timestamp: i64,
        sides: &mut SideOutputs,
        metrics: &Arc<OperatorMetrics>,
    ) {
        match &self.tag {
            Some(tag) => {
                sides.push(tag, value, timestamp);
            }
            None => {
                metrics.late_records.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Event timestamps of windows lie within 2^61 milliseconds of 1970 (73 million years), and window sizes below 2^60,
/// so that the ends of windows can be computed without overflow.
const TIMESTAMP_LIMIT: i64 = 1 << 61;

/// Event-time windows need timestamps.
#[inline]
pub(crate) fn check_timestamp(timestamp: i64) -> Result<()> {
    if (-TIMESTAMP_LIMIT..=TIMESTAMP_LIMIT).contains(&timestamp) {
        return Ok(());
    }
    Err(RuntimeError::user(if timestamp == NO_TIMESTAMP {
        "a record without a timestamp reached an event-time window; give the source a WatermarkStrategy with a \
         timestamp assigner, or call assign_timestamps_and_watermarks before the window"
            .to_string()
    } else {
        format!(
            "a record with the timestamp {timestamp} reached an event-time window; timestamps are milliseconds since 1970"
        )
    }))
}
