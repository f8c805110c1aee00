//! Windows of one size that start at equal distances, and may overlap.

use std::time::Duration;

use super::assigner::{WindowAssigner, positive_millis};
use super::slicing::{SlicedWindows, Slicing};
use super::time_window::TimeWindow;
use super::triggers::{EventTimeTrigger, ProcessingTimeTrigger};

/// Appends all windows that hold `timestamp`, the latest first.
fn assign(timestamp: i64, size: i64, slide: i64, offset: i64, windows: &mut Vec<TimeWindow>) {
    let mut start = TimeWindow::window_start_with_offset(timestamp, offset, slide);
    let lowest = timestamp.saturating_sub(size);
    while start > lowest {
        windows.push(TimeWindow::new(start, start.saturating_add(size)));
        match start.checked_sub(slide) {
            Some(earlier) => start = earlier,
            None => break,
        }
    }
}

/// Sliding windows over event time.
#[derive(Clone, Copy, Debug)]
pub struct SlidingEventTimeWindows {
    size: i64,
    slide: i64,
    offset: i64,
}

impl SlidingEventTimeWindows {
    /// Windows of this size, one every `slide` (both at least a millisecond), aligned to 1970-01-01T00:00 UTC.
    pub fn of(size: Duration, slide: Duration) -> Self {
        SlidingEventTimeWindows {
            size: positive_millis(size),
            slide: positive_millis(slide),
            offset: 0,
        }
    }

    /// Moves the start of all windows by `offset_ms`.
    #[must_use]
    pub fn offset(mut self, offset_ms: i64) -> Self {
        self.offset = offset_ms.rem_euclid(self.slide);
        self
    }
}

impl<T> WindowAssigner<T> for SlidingEventTimeWindows {
    type Window = TimeWindow;
    type DefaultTrigger = EventTimeTrigger;

    fn assign_windows(&self, _: &T, timestamp: i64, _: i64, windows: &mut Vec<TimeWindow>) {
        assign(timestamp, self.size, self.slide, self.offset, windows);
    }

    fn default_trigger(&self) -> EventTimeTrigger {
        EventTimeTrigger
    }

    fn is_event_time(&self) -> bool {
        true
    }

    fn slicing(&self) -> Option<SlicedWindows<TimeWindow>> {
        let slicing = Slicing::new(self.size, self.slide, self.offset);
        Some(SlicedWindows {
            slicing,
            window: |window| window,
        })
    }
}

/// Sliding windows over the announced wall clock.
#[derive(Clone, Copy, Debug)]
pub struct SlidingProcessingTimeWindows {
    size: i64,
    slide: i64,
    offset: i64,
}

impl SlidingProcessingTimeWindows {
    /// Windows of this size, one every `slide` (both at least a millisecond), aligned to 1970-01-01T00:00 UTC.
    pub fn of(size: Duration, slide: Duration) -> Self {
        SlidingProcessingTimeWindows {
            size: positive_millis(size),
            slide: positive_millis(slide),
            offset: 0,
        }
    }

    /// Moves the start of all windows by `offset_ms`.
    #[must_use]
    pub fn offset(mut self, offset_ms: i64) -> Self {
        self.offset = offset_ms.rem_euclid(self.slide);
        self
    }
}

impl<T> WindowAssigner<T> for SlidingProcessingTimeWindows {
    type Window = TimeWindow;
    type DefaultTrigger = ProcessingTimeTrigger;

    fn assign_windows(&self, _: &T, _: i64, processing_time: i64, windows: &mut Vec<TimeWindow>) {
        assign(processing_time, self.size, self.slide, self.offset, windows);
    }

    fn default_trigger(&self) -> ProcessingTimeTrigger {
        ProcessingTimeTrigger
    }

    fn is_event_time(&self) -> bool {
        false
    }
}
