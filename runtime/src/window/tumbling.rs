//! Windows of one size that follow each other without gaps.

use std::time::Duration;

use super::assigner::{WindowAssigner, positive_millis};
use super::slicing::{SlicedWindows, Slicing};
use super::time_window::TimeWindow;
use super::triggers::{EventTimeTrigger, ProcessingTimeTrigger};

/// Tumbling windows over event time.
#[derive(Clone, Copy, Debug)]
pub struct TumblingEventTimeWindows {
    size: i64,
    offset: i64,
}

impl TumblingEventTimeWindows {
    /// Windows of this size (at least a millisecond), aligned to 1970-01-01T00:00 UTC.
    pub fn of(size: Duration) -> Self {
        TumblingEventTimeWindows {
            size: positive_millis(size),
            offset: 0,
        }
    }

    /// Moves the start of all windows by `offset_ms`, for other time zones for example.
    #[must_use]
    pub fn offset(mut self, offset_ms: i64) -> Self {
        self.offset = offset_ms.rem_euclid(self.size);
        self
    }
}

impl<T> WindowAssigner<T> for TumblingEventTimeWindows {
    type Window = TimeWindow;
    type DefaultTrigger = EventTimeTrigger;

    fn assign_windows(&self, _: &T, timestamp: i64, _: i64, windows: &mut Vec<TimeWindow>) {
        let start = TimeWindow::window_start_with_offset(timestamp, self.offset, self.size);
        windows.push(TimeWindow::new(start, start.saturating_add(self.size)));
    }

    fn default_trigger(&self) -> EventTimeTrigger {
        EventTimeTrigger
    }

    fn is_event_time(&self) -> bool {
        true
    }

    fn slicing(&self) -> Option<SlicedWindows<TimeWindow>> {
        let slicing = Slicing::new(self.size, self.size, self.offset);
        Some(SlicedWindows {
            slicing,
            window: |window| window,
        })
    }
}

/// Tumbling windows over the announced wall clock.
#[derive(Clone, Copy, Debug)]
pub struct TumblingProcessingTimeWindows {
    size: i64,
    offset: i64,
}

impl TumblingProcessingTimeWindows {
    /// Windows of this size (at least a millisecond), aligned to 1970-01-01T00:00 UTC.
    pub fn of(size: Duration) -> Self {
        TumblingProcessingTimeWindows {
            size: positive_millis(size),
            offset: 0,
        }
    }

    /// Moves the start of all windows by `offset_ms`.
    #[must_use]
    pub fn offset(mut self, offset_ms: i64) -> Self {
        self.offset = offset_ms.rem_euclid(self.size);
        self
    }
}

impl<T> WindowAssigner<T> for TumblingProcessingTimeWindows {
    type Window = TimeWindow;
    type DefaultTrigger = ProcessingTimeTrigger;

    fn assign_windows(&self, _: &T, _: i64, processing_time: i64, windows: &mut Vec<TimeWindow>) {
        let start = TimeWindow::window_start_with_offset(processing_time, self.offset, self.size);
        windows.push(TimeWindow::new(start, start.saturating_add(self.size)));
    }

    fn default_trigger(&self) -> ProcessingTimeTrigger {
        ProcessingTimeTrigger
    }

    fn is_event_time(&self) -> bool {
        false
    }
}
