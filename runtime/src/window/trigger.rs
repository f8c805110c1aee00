//! When a window fires.

use crate::batch::StreamData;
use crate::state::StateKey;
use crate::time::{KeyedTimers, TimeDomain};

/// What a trigger decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerResult {
    /// Nothing.
    Continue,
    /// Compute and emit the window's result; keep its contents.
    Fire,
    /// Drop the window's contents.
    Purge,
    /// Emit, then drop.
    FireAndPurge,
}

impl TriggerResult {
    /// True when the window is to be computed and emitted.
    pub fn is_fire(self) -> bool {
        matches!(self, TriggerResult::Fire | TriggerResult::FireAndPurge)
    }

    /// True when the window's contents are to be dropped.
    pub fn is_purge(self) -> bool {
        matches!(self, TriggerResult::Purge | TriggerResult::FireAndPurge)
    }
}

/// Decides when the windows of a key fire.
///
/// One trigger serves all windows of all keys: what it remembers about a window is in `state`, which is kept per key
/// and window, and checkpointed.
pub trait Trigger<T, W>: Clone + Send + Sync + 'static {
    /// What is remembered per key and window; the default is what a new window starts with.
    type State: StreamData + Default + PartialEq;

    /// A record was assigned to the window.
    fn on_element(
        &self,
        value: &T,
        timestamp: i64,
        window: &W,
        state: &mut Self::State,
        context: &mut TriggerContext<'_, W>,
    ) -> TriggerResult;

    /// An event-time timer of the window fires.
    fn on_event_time(
        &self,
        time: i64,
        window: &W,
        state: &mut Self::State,
        context: &mut TriggerContext<'_, W>,
    ) -> TriggerResult;

    /// A processing-time timer of the window fires.
    fn on_processing_time(
        &self,
        time: i64,
        window: &W,
        state: &mut Self::State,
        context: &mut TriggerContext<'_, W>,
    ) -> TriggerResult;

    /// True when the trigger can be used with windows that merge.
    fn can_merge(&self) -> bool {
        false
    }

    /// Joins what was remembered of two windows that become one.
    fn merge_state(&self, state: &mut Self::State, other: Self::State) {
        let _ = (state, other);
    }

    /// `window` has taken the place of others; `state` is theirs, joined. Their timers are cleared by `clear`.
    fn on_merge(&self, window: &W, state: &mut Self::State, context: &mut TriggerContext<'_, W>) {
        let _ = (window, state, context);
    }

    /// The window goes away: delete its timers.
    fn clear(&self, window: &W, state: &mut Self::State, context: &mut TriggerContext<'_, W>) {
        let _ = (window, state, context);
    }
}

/// The clocks and the timers of one key's window.
pub struct TriggerContext<'a, W> {
    pub(crate) timers: &'a mut KeyedTimers<W>,
    pub(crate) slot: u32,
    pub(crate) window: &'a W,
    pub(crate) watermark: i64,
    pub(crate) processing_time: i64,
}

impl<W: StateKey> TriggerContext<'_, W> {
    /// The watermark: while records are processed, that of the end of the previous epoch.
    pub fn current_watermark(&self) -> i64 {
        self.watermark
    }

    /// The announced wall clock of the current epoch, in milliseconds since 1970.
    pub fn current_processing_time(&self) -> i64 {
        self.processing_time
    }

    /// Calls `on_event_time` when the watermark reaches `time`; at the end of this epoch if it has.
    pub fn register_event_time_timer(&mut self, time: i64) {
        self.timers
            .register(TimeDomain::EventTime, time, self.slot, self.window.clone());
    }

    /// Calls `on_processing_time` at the end of the first epoch whose announced time has reached `time`.
    pub fn register_processing_time_timer(&mut self, time: i64) {
        self.timers.register(
            TimeDomain::ProcessingTime,
            time,
            self.slot,
            self.window.clone(),
        );
    }

    /// Removes a timer.
    pub fn delete_event_time_timer(&mut self, time: i64) {
        self.timers
            .delete(TimeDomain::EventTime, time, self.slot, self.window.clone());
    }

    /// Removes a timer.
    pub fn delete_processing_time_timer(&mut self, time: i64) {
        self.timers.delete(
            TimeDomain::ProcessingTime,
            time,
            self.slot,
            self.window.clone(),
        );
    }
}
