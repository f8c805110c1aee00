//! Time to live: state that nobody touched for a while goes away.
//!
//! Semantics of Flink's `StateTtlConfig`, on announced processing time. Expired state is dropped when it is read,
//! step by step in the background at the end of epochs, and when a snapshot is written.

use std::time::Duration;

/// What renews a state's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UpdateType {
    /// Creation and writes.
    #[default]
    OnCreateAndWrite,
    /// Reads too.
    OnReadAndWrite,
}

/// Whether expired state that still exists can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StateVisibility {
    /// Never.
    #[default]
    NeverReturnExpired,
    /// Once more, by the read that finds it.
    ReturnExpiredIfNotCleanedUp,
}

/// How long a state lives. Lists and maps expire element by element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateTtlConfig {
    time_ms: i64,
    update_type: UpdateType,
    visibility: StateVisibility,
}

impl StateTtlConfig {
    /// State that lives for `time` after the last write and is never read afterwards.
    pub fn new(time: Duration) -> Self {
        StateTtlConfig {
            time_ms: i64::try_from(time.as_millis()).unwrap_or(i64::MAX),
            update_type: UpdateType::default(),
            visibility: StateVisibility::default(),
        }
    }

    /// Sets what renews the state's life.
    #[must_use]
    pub fn with_update_type(mut self, update_type: UpdateType) -> Self {
        self.update_type = update_type;
        self
    }

    /// Sets whether expired state can be read.
    #[must_use]
    pub fn with_visibility(mut self, visibility: StateVisibility) -> Self {
        self.visibility = visibility;
        self
    }

    /// True when state last touched at `stamp` has expired at `now`.
    #[inline]
    pub(crate) fn is_expired(&self, stamp: i64, now: i64) -> bool {
        stamp.saturating_add(self.time_ms) <= now
    }

    pub(crate) fn renews_on_read(&self) -> bool {
        self.update_type == UpdateType::OnReadAndWrite
    }

    pub(crate) fn returns_expired(&self) -> bool {
        self.visibility == StateVisibility::ReturnExpiredIfNotCleanedUp
    }
}
