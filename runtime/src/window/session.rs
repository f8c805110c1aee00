//! Windows of activity: they end when a key has been silent for a gap.
//!
//! Each record opens a window of the length of the gap; windows that overlap or touch become one.

use std::sync::Arc;
use std::time::Duration;

use super::assigner::{WindowAssigner, positive_millis};
use super::time_window::TimeWindow;
use super::triggers::{EventTimeTrigger, ProcessingTimeTrigger};

macro_rules! session_windows {
    ($(#[$doc:meta])* $fixed:ident, $(#[$dynamic_doc:meta])* $dynamic:ident, $trigger:ident, $event_time:literal,
     |$timestamp:ident, $processing_time:ident| $start:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $fixed {
            gap: i64,
        }

        impl $fixed {
            /// Sessions that end after a silence of `gap` (at least a millisecond).
            pub fn with_gap(gap: Duration) -> Self {
                $fixed { gap: positive_millis(gap) }
            }

            /// Sessions whose gap depends on the record.
            pub fn with_dynamic_gap<T>(gap: impl Fn(&T) -> Duration + Send + Sync + 'static) -> $dynamic<T> {
                $dynamic { gap: Arc::new(move |value| positive_millis(gap(value))) }
            }
        }

        impl<T> WindowAssigner<T> for $fixed {
            type Window = TimeWindow;
            type DefaultTrigger = $trigger;

            fn assign_windows(
                &self,
                _: &T,
                $timestamp: i64,
                $processing_time: i64,
                windows: &mut Vec<TimeWindow>,
            ) {
                let start = $start;
                windows.push(TimeWindow::new(start, start.saturating_add(self.gap)));
            }

            fn default_trigger(&self) -> $trigger {
                $trigger
            }

            fn is_event_time(&self) -> bool {
                $event_time
            }

            fn is_merging(&self) -> bool {
                true
            }
        }

        $(#[$dynamic_doc])*
        pub struct $dynamic<T> {
            gap: Arc<dyn Fn(&T) -> i64 + Send + Sync>,
        }

        impl<T> Clone for $dynamic<T> {
            fn clone(&self) -> Self {
                $dynamic { gap: self.gap.clone() }
            }
        }

        impl<T: 'static> WindowAssigner<T> for $dynamic<T> {
            type Window = TimeWindow;
            type DefaultTrigger = $trigger;

            fn assign_windows(
                &self,
                value: &T,
                $timestamp: i64,
                $processing_time: i64,
                windows: &mut Vec<TimeWindow>,
            ) {
                let start = $start;
                windows.push(TimeWindow::new(start, start.saturating_add((self.gap)(value))));
            }

            fn default_trigger(&self) -> $trigger {
                $trigger
            }

            fn is_event_time(&self) -> bool {
                $event_time
            }

            fn is_merging(&self) -> bool {
                true
            }
        }
    };
}

session_windows!(
    /// Sessions over event time with a fixed gap.
    EventTimeSessionWindows,
    /// Sessions over event time whose gap depends on the record.
    DynamicEventTimeSessionWindows,
    EventTimeTrigger,
    true,
    |timestamp, _processing_time| timestamp
);
session_windows!(
    /// Sessions over the announced wall clock with a fixed gap.
    ProcessingTimeSessionWindows,
    /// Sessions over the announced wall clock whose gap depends on the record.
    DynamicProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    false,
    |_timestamp, processing_time| processing_time
);
