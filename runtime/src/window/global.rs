//! One window for all records of a key; it fires only by a trigger that the user sets.

use serde::{Deserialize, Serialize};

use super::assigner::{Window, WindowAssigner};
use super::triggers::NeverTrigger;

/// The window that holds everything.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct GlobalWindow;

impl Window for GlobalWindow {
    fn max_timestamp(&self) -> i64 {
        i64::MAX
    }
}

/// Assigns every record to the [`GlobalWindow`].
#[derive(Clone, Copy, Debug, Default)]
pub struct GlobalWindows;

impl GlobalWindows {
    /// The assigner.
    pub fn create() -> Self {
        GlobalWindows
    }
}

impl<T> WindowAssigner<T> for GlobalWindows {
    type Window = GlobalWindow;
    type DefaultTrigger = NeverTrigger;

    fn assign_windows(&self, _: &T, _: i64, _: i64, windows: &mut Vec<GlobalWindow>) {
        windows.push(GlobalWindow);
    }

    fn default_trigger(&self) -> NeverTrigger {
        NeverTrigger
    }

    fn is_event_time(&self) -> bool {
        false
    }
}
