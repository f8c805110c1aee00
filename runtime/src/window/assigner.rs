//! What a window is, and how records are assigned to windows.

use std::fmt::Debug;

use crate::state::StateKey;

use super::slicing::SlicedWindows;
use super::trigger::Trigger;

/// A finite set of records of one key.
pub trait Window: StateKey + Ord + Debug {
    /// The highest timestamp a record of the window can have; its results carry it.
    fn max_timestamp(&self) -> i64;

    /// The window that covers both, if they must be merged into one. In the order of windows, no window that cannot
    /// be merged may stand between two that must.
    fn cover(&self, other: &Self) -> Option<Self> {
        let _ = other;
        None
    }
}

/// Assigns records to windows.
pub trait WindowAssigner<T>: Clone + Send + Sync + 'static {
    /// The kind of window.
    type Window: Window;
    /// The trigger of windows that are given no other.
    type DefaultTrigger: Trigger<T, Self::Window>;

    /// Appends the windows of a record. `timestamp` is the record's, `processing_time` the announced wall clock.
    fn assign_windows(
        &self,
        value: &T,
        timestamp: i64,
        processing_time: i64,
        windows: &mut Vec<Self::Window>,
    );

    /// The default trigger.
    fn default_trigger(&self) -> Self::DefaultTrigger;

    /// True when windows are assigned by event timestamps: then records without one are an error, and late records
    /// are told apart.
    fn is_event_time(&self) -> bool;

    /// True when overlapping windows of a key become one.
    fn is_merging(&self) -> bool {
        false
    }

    /// For event-time windows at fixed distances: how to cut time into slices that windows are put together from.
    fn slicing(&self) -> Option<SlicedWindows<Self::Window>> {
        None
    }
}

/// The longest window, in milliseconds (36 million years): ends of windows never overflow.
const LONGEST: i64 = 1 << 60;

/// A length of time in milliseconds, at least 1.
pub(crate) fn positive_millis(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_millis()).map_or(LONGEST, |millis| millis.clamp(1, LONGEST))
}
