//! The triggers that come with the engine.

use std::time::Duration;

use super::assigner::{Window, positive_millis};
use super::trigger::{Trigger, TriggerContext, TriggerResult};

/// Fires when the watermark passes the end of the window, and again at the end of each epoch that brought late
/// records for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventTimeTrigger;

impl<T, W: Window> Trigger<T, W> for EventTimeTrigger {
    /// True while there is a timer for the end of the window.
    type State = bool;

    fn on_element(
        &self,
        _: &T,
        _: i64,
        window: &W,
        is_registered: &mut bool,
        context: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        // For a window whose end has passed this fires at the end of the epoch: once for all late records.
        if !std::mem::replace(is_registered, true) {
            context.register_event_time_timer(window.max_timestamp());
        }
        TriggerResult::Continue
    }

    fn on_event_time(
        &self,
        time: i64,
        window: &W,
        is_registered: &mut bool,
        _: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        if time != window.max_timestamp() {
            return TriggerResult::Continue;
        }
        *is_registered = false;
        TriggerResult::Fire
    }

    fn on_processing_time(
        &self,
        _: i64,
        _: &W,
        _: &mut bool,
        _: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        TriggerResult::Continue
    }

    fn can_merge(&self) -> bool {
        true
    }

    fn on_merge(&self, window: &W, is_registered: &mut bool, context: &mut TriggerContext<'_, W>) {
        *is_registered = window.max_timestamp() > context.current_watermark();
        if *is_registered {
            context.register_event_time_timer(window.max_timestamp());
        }
    }

    fn clear(&self, window: &W, is_registered: &mut bool, context: &mut TriggerContext<'_, W>) {
        *is_registered = false;
        context.delete_event_time_timer(window.max_timestamp());
    }
}

/// Fires when the announced wall clock passes the end of the window.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessingTimeTrigger;

impl<T, W: Window> Trigger<T, W> for ProcessingTimeTrigger {
    /// True while there is a timer for the end of the window.
    type State = bool;

    fn on_element(
        &self,
        _: &T,
        _: i64,
        window: &W,
        is_registered: &mut bool,
        context: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        if !std::mem::replace(is_registered, true) {
            context.register_processing_time_timer(window.max_timestamp());
        }
        TriggerResult::Continue
    }

    fn on_event_time(
        &self,
        _: i64,
        _: &W,
        _: &mut bool,
        _: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        TriggerResult::Continue
    }

    fn on_processing_time(
        &self,
        time: i64,
        window: &W,
        is_registered: &mut bool,
        _: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        if time != window.max_timestamp() {
            return TriggerResult::Continue;
        }
        *is_registered = false;
        TriggerResult::Fire
    }

    fn can_merge(&self) -> bool {
        true
    }

    fn on_merge(&self, window: &W, is_registered: &mut bool, context: &mut TriggerContext<'_, W>) {
        *is_registered = window.max_timestamp() > context.current_processing_time();
        if *is_registered {
            context.register_processing_time_timer(window.max_timestamp());
        }
    }

    fn clear(&self, window: &W, is_registered: &mut bool, context: &mut TriggerContext<'_, W>) {
        *is_registered = false;
        context.delete_processing_time_timer(window.max_timestamp());
    }
}

/// Fires each time the window has got this many more records.
#[derive(Clone, Copy, Debug)]
pub struct CountTrigger {
    count: u64,
}

impl CountTrigger {
    /// Fires every `count` records (at least 1).
    pub fn of(count: u64) -> Self {
        CountTrigger {
            count: count.max(1),
        }
    }
}

impl<T, W: Window> Trigger<T, W> for CountTrigger {
    type State = u64;

    fn on_element(
        &self,
        _: &T,
        _: i64,
        _: &W,
        seen: &mut u64,
        _: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        *seen += 1;
        if *seen < self.count {
            return TriggerResult::Continue;
        }
        *seen = 0;
        TriggerResult::Fire
    }

    fn on_event_time(
        &self,
        _: i64,
        _: &W,
        _: &mut u64,
        _: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        TriggerResult::Continue
    }

    fn on_processing_time(
        &self,
        _: i64,
        _: &W,
        _: &mut u64,
        _: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        TriggerResult::Continue
    }

    fn can_merge(&self) -> bool {
        true
    }

    fn merge_state(&self, seen: &mut u64, other: u64) {
        *seen += other;
    }
}

/// Fires again and again in event time until the end of the window.
#[derive(Clone, Copy, Debug)]
pub struct ContinuousEventTimeTrigger {
    interval: i64,
}

impl ContinuousEventTimeTrigger {
    /// Fires every `interval` (at least a millisecond) of event time, and at the end of the window.
    pub fn of(interval: Duration) -> Self {
        ContinuousEventTimeTrigger {
            interval: positive_millis(interval),
        }
    }
}

impl<T, W: Window> Trigger<T, W> for ContinuousEventTimeTrigger {
    /// When it fires next, before the end of the window.
    type State = Option<i64>;

    fn on_element(
        &self,
        _: &T,
        timestamp: i64,
        window: &W,
        next: &mut Option<i64>,
        context: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        context.register_event_time_timer(window.max_timestamp());
        if window.max_timestamp() > context.current_watermark() && next.is_none() {
            *next = Some(next_fire(timestamp, self.interval, window));
            next.iter()
                .for_each(|next| context.register_event_time_timer(*next));
        }
        TriggerResult::Continue
    }

    fn on_event_time(
        &self,
        time: i64,
        window: &W,
        next: &mut Option<i64>,
        context: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        if time == window.max_timestamp() {
            return TriggerResult::Fire;
        }
        if *next != Some(time) {
            return TriggerResult::Continue;
        }
        let following = time
            .saturating_add(self.interval)
            .min(window.max_timestamp());
        *next = Some(following);
        context.register_event_time_timer(following);
        TriggerResult::Fire
    }

    fn on_processing_time(
        &self,
        _: i64,
        _: &W,
        _: &mut Option<i64>,
        _: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        TriggerResult::Continue
    }

    fn can_merge(&self) -> bool {
        true
    }

    fn merge_state(&self, next: &mut Option<i64>, other: Option<i64>) {
        *next = [*next, other].into_iter().flatten().min();
    }

    fn on_merge(&self, _: &W, next: &mut Option<i64>, context: &mut TriggerContext<'_, W>) {
        next.iter()
            .for_each(|next| context.register_event_time_timer(*next));
    }

    fn clear(&self, window: &W, next: &mut Option<i64>, context: &mut TriggerContext<'_, W>) {
        context.delete_event_time_timer(window.max_timestamp());
        next.take()
            .iter()
            .for_each(|next| context.delete_event_time_timer(*next));
    }
}

/// Fires again and again by the announced wall clock, and at the end of processing-time windows.
#[derive(Clone, Copy, Debug)]
pub struct ContinuousProcessingTimeTrigger {
    interval: i64,
}

impl ContinuousProcessingTimeTrigger {
    /// Fires every `interval` (at least a millisecond).
    pub fn of(interval: Duration) -> Self {
        ContinuousProcessingTimeTrigger {
            interval: positive_millis(interval),
        }
    }
}

impl<T, W: Window> Trigger<T, W> for ContinuousProcessingTimeTrigger {
    /// When it fires next.
    type State = Option<i64>;

    fn on_element(
        &self,
        _: &T,
        _: i64,
        window: &W,
        next: &mut Option<i64>,
        context: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        if next.is_none() {
            let first = next_fire(context.current_processing_time(), self.interval, window);
            *next = Some(first);
            context.register_processing_time_timer(first);
        }
        TriggerResult::Continue
    }

    fn on_event_time(
        &self,
        _: i64,
        _: &W,
        _: &mut Option<i64>,
        _: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        TriggerResult::Continue
    }

    fn on_processing_time(
        &self,
        time: i64,
        window: &W,
        next: &mut Option<i64>,
        context: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        if *next != Some(time) {
            return TriggerResult::Continue;
        }
        let following = time
            .saturating_add(self.interval)
            .min(window.max_timestamp());
        *next = Some(following).filter(|following| *following > time);
        next.iter()
            .for_each(|next| context.register_processing_time_timer(*next));
        TriggerResult::Fire
    }

    fn can_merge(&self) -> bool {
        true
    }

    fn merge_state(&self, next: &mut Option<i64>, other: Option<i64>) {
        *next = [*next, other].into_iter().flatten().min();
    }

    fn on_merge(&self, _: &W, next: &mut Option<i64>, context: &mut TriggerContext<'_, W>) {
        next.iter()
            .for_each(|next| context.register_processing_time_timer(*next));
    }

    fn clear(&self, _: &W, next: &mut Option<i64>, context: &mut TriggerContext<'_, W>) {
        next.take()
            .iter()
            .for_each(|next| context.delete_processing_time_timer(*next));
    }
}

/// The first multiple of `interval` after `time`, but not after the window.
fn next_fire(time: i64, interval: i64, window: &impl Window) -> i64 {
    let start = time.saturating_sub(time.rem_euclid(interval));
    start.saturating_add(interval).min(window.max_timestamp())
}

/// Never fires: the default of [`GlobalWindows`](super::GlobalWindows).
#[derive(Clone, Copy, Debug, Default)]
pub struct NeverTrigger;

impl<T, W: Window> Trigger<T, W> for NeverTrigger {
    type State = ();

    fn on_element(
        &self,
        _: &T,
        _: i64,
        _: &W,
        (): &mut (),
        _: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        TriggerResult::Continue
    }

    fn on_event_time(
        &self,
        _: i64,
        _: &W,
        (): &mut (),
        _: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        TriggerResult::Continue
    }

    fn on_processing_time(
        &self,
        _: i64,
        _: &W,
        (): &mut (),
        _: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        TriggerResult::Continue
    }

    fn can_merge(&self) -> bool {
        true
    }
}

/// Fires when another trigger does, and drops the window's contents each time.
#[derive(Clone, Copy, Debug)]
pub struct PurgingTrigger<R> {
    nested: R,
}

impl<R> PurgingTrigger<R> {
    /// Purges whenever `nested` fires.
    pub fn of(nested: R) -> Self {
        PurgingTrigger { nested }
    }

    fn purging(result: TriggerResult) -> TriggerResult {
        if result.is_fire() {
            TriggerResult::FireAndPurge
        } else {
            result
        }
    }
}

impl<T, W: Window, R: Trigger<T, W>> Trigger<T, W> for PurgingTrigger<R> {
    type State = R::State;

    fn on_element(
        &self,
        value: &T,
        timestamp: i64,
        window: &W,
        state: &mut R::State,
        context: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        Self::purging(
            self.nested
                .on_element(value, timestamp, window, state, context),
        )
    }

    fn on_event_time(
        &self,
        time: i64,
        window: &W,
        state: &mut R::State,
        context: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        Self::purging(self.nested.on_event_time(time, window, state, context))
    }

    fn on_processing_time(
        &self,
        time: i64,
        window: &W,
        state: &mut R::State,
        context: &mut TriggerContext<'_, W>,
    ) -> TriggerResult {
        Self::purging(self.nested.on_processing_time(time, window, state, context))
    }

    fn can_merge(&self) -> bool {
        self.nested.can_merge()
    }

    fn merge_state(&self, state: &mut R::State, other: R::State) {
        self.nested.merge_state(state, other);
    }

    fn on_merge(&self, window: &W, state: &mut R::State, context: &mut TriggerContext<'_, W>) {
        self.nested.on_merge(window, state, context);
    }

    fn clear(&self, window: &W, state: &mut R::State, context: &mut TriggerContext<'_, W>) {
        self.nested.clear(window, state, context);
    }
}
