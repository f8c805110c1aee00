//! The timers of a keyed operator, on both clocks, by the key's slot and, in window operators, the window.

use std::any::type_name;
use std::rc::Rc;
use std::sync::Arc;

use crate::error::Result;
use crate::operator::{Restore, Snapshot};
use crate::state::{
    EVENT_TIMERS, FrozenKeys, KeyedStateBackend, PROCESSING_TIMERS, Slots, StateError, StateKey,
};

use super::timer_service::TimerIndex;

/// Which clock a timer goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeDomain {
    /// Watermarks.
    EventTime,
    /// The announced wall clock.
    ProcessingTime,
}

/// Timers of both clocks. A slot with timers stays in use. `N` tells apart what belongs to one key: windows.
pub(crate) struct KeyedTimers<N = ()> {
    event: TimerIndex<(u32, N)>,
    processing: TimerIndex<(u32, N)>,
    slots: Rc<Slots>,
}

impl<N: StateKey> KeyedTimers<N> {
    pub(crate) fn new(slots: Rc<Slots>) -> Self {
        KeyedTimers {
            event: TimerIndex::new(),
            processing: TimerIndex::new(),
            slots,
        }
    }

    fn index(&mut self, domain: TimeDomain) -> &mut TimerIndex<(u32, N)> {
        match domain {
            TimeDomain::EventTime => &mut self.event,
            TimeDomain::ProcessingTime => &mut self.processing,
        }
    }

    pub(crate) fn register(&mut self, domain: TimeDomain, time: i64, slot: u32, namespace: N) {
        if self.index(domain).register(time, (slot, namespace)) {
            self.slots.acquire(slot as usize);
        }
    }

    pub(crate) fn delete(&mut self, domain: TimeDomain, time: i64, slot: u32, namespace: N) {
        if self.index(domain).delete(time, &(slot, namespace)) {
            self.slots.release(slot as usize);
        }
    }

    /// Takes the first event-time timer at or before `watermark`.
    pub(crate) fn pop_event(&mut self, watermark: i64) -> Option<(i64, (u32, N))> {
        let fired = self.event.pop_until(watermark);
        self.released(fired)
    }

    /// Takes the first processing-time timer at or before `now` that is older than `sequence`.
    pub(crate) fn pop_processing(&mut self, now: i64, sequence: u64) -> Option<(i64, (u32, N))> {
        let fired = self.processing.pop_registered_before(now, sequence);
        self.released(fired)
    }

    fn released(&self, fired: Option<(i64, (u32, N))>) -> Option<(i64, (u32, N))> {
        if let Some((_, (slot, _))) = &fired {
            self.slots.release(*slot as usize);
        }
        fired
    }

    /// See [`TimerIndex::sequence`], of the processing-time timers.
    pub(crate) fn processing_sequence(&self) -> u64 {
        self.processing.sequence()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.event.bytes() + self.processing.bytes()
    }

    /// Hands over the timers, in the order in which they would fire.
    pub(crate) fn snapshot<K: StateKey>(&self, keys: &Arc<FrozenKeys<K>>, snapshot: &mut Snapshot) {
        for (name, index) in [
            (EVENT_TIMERS, &self.event),
            (PROCESSING_TIMERS, &self.processing),
        ] {
            let timers: Vec<(i64, (u32, N))> = index
                .iter()
                .map(|(time, owner)| (time, owner.clone()))
                .collect();
            let keys = keys.clone();
            snapshot.keyed(name, Self::schema::<K>(), move |sink| {
                for (time, (slot, namespace)) in timers {
                    let Some((hash, key)) = keys.get(slot) else {
                        continue;
                    };
                    let bytes = bincode::serialize(&(key, namespace, time))
                        .map_err(|error| StateError::encode(name, error))?;
                    sink.record(hash, &bytes)?;
                }
                Ok(())
            });
        }
    }

    fn schema<K>() -> String {
        format!("timers of {} by {}", type_name::<N>(), type_name::<K>())
    }

    /// Takes back the timers of the keys that belong to this instance.
    pub(crate) fn restore<K: StateKey>(
        &mut self,
        backend: &mut KeyedStateBackend<K>,
        restore: &Restore,
    ) -> Result<()> {
        for (name, domain) in [
            (EVENT_TIMERS, TimeDomain::EventTime),
            (PROCESSING_TIMERS, TimeDomain::ProcessingTime),
        ] {
            restore.read(name, |_, bytes| {
                let (key, namespace, time): (K, N, i64) =
                    bincode::deserialize(bytes).map_err(|error| {
                        StateError::decode(backend.uid(), name, Self::schema::<K>(), error)
                    })?;
                let slot = backend.activate(key);
                self.register(domain, time, slot, namespace);
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Timers of the current key, as a function sees them.
pub struct TimerService<'a> {
    pub(crate) timers: &'a mut KeyedTimers,
    pub(crate) slot: u32,
    pub(crate) watermark: i64,
    pub(crate) processing_time: i64,
}

impl TimerService<'_> {
    /// The watermark: while records are processed, that of the end of the previous epoch.
    pub fn current_watermark(&self) -> i64 {
        self.watermark
    }

    /// The announced wall clock of the current epoch, in milliseconds since 1970.
    pub fn current_processing_time(&self) -> i64 {
        self.processing_time
    }

    /// Wakes the current key when the watermark reaches `time`. A time that has passed fires at the end of the
    /// epoch. A second timer for the same time changes nothing.
    pub fn register_event_time_timer(&mut self, time: i64) {
        self.timers
            .register(TimeDomain::EventTime, time, self.slot, ());
    }

    /// Wakes the current key at the end of the first epoch whose announced time has reached `time`.
    pub fn register_processing_time_timer(&mut self, time: i64) {
        self.timers
            .register(TimeDomain::ProcessingTime, time, self.slot, ());
    }

    /// Removes the current key's timer for `time`, if there is one.
    pub fn delete_event_time_timer(&mut self, time: i64) {
        self.timers
            .delete(TimeDomain::EventTime, time, self.slot, ());
    }

    /// Removes the current key's timer for `time`, if there is one.
    pub fn delete_processing_time_timer(&mut self, time: i64) {
        self.timers
            .delete(TimeDomain::ProcessingTime, time, self.slot, ());
    }
}
