//! An interval of time.

use serde::{Deserialize, Serialize};

use super::assigner::Window;

/// The interval from `start` (inclusive) to `end` (exclusive), in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TimeWindow {
    /// The first millisecond.
    pub start: i64,
    /// The millisecond after the last.
    pub end: i64,
}

impl TimeWindow {
    /// The window from `start` to before `end`.
    pub fn new(start: i64, end: i64) -> Self {
        TimeWindow { start, end }
    }

    /// True when the windows overlap or touch.
    pub fn intersects(&self, other: &TimeWindow) -> bool {
        self.start <= other.end && self.end >= other.start
    }

    /// The start of the last window at or before `timestamp`, where windows start every `slide` at `offset`.
    #[inline]
    pub fn window_start_with_offset(timestamp: i64, offset: i64, slide: i64) -> i64 {
        timestamp.saturating_sub(timestamp.wrapping_sub(offset).rem_euclid(slide))
    }
}

impl Window for TimeWindow {
    fn max_timestamp(&self) -> i64 {
        self.end.saturating_sub(1)
    }

    fn cover(&self, other: &Self) -> Option<Self> {
        self.intersects(other)
            .then(|| TimeWindow::new(self.start.min(other.start), self.end.max(other.end)))
    }
}
