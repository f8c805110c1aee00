//! What all states of one operator share: the current key's slot, the clock, and how much each slot holds.

use std::cell::{Cell, RefCell};

/// See the module's description.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    /// The slot of the key whose record or timer is being processed.
    current: Cell<u32>,
    /// Processing time, for TTL.
    now: Cell<i64>,
    /// Per slot, the number of its states and timers that exist. A slot at zero is given back.
    live: RefCell<Vec<u32>>,
}

impl Slots {
    #[inline]
    pub(crate) fn current(&self) -> usize {
        self.current.get() as usize
    }

    #[inline]
    pub(crate) fn set_current(&self, slot: u32) {
        self.current.set(slot);
    }

    #[inline]
    pub(crate) fn now(&self) -> i64 {
        self.now.get()
    }

    pub(crate) fn set_now(&self, millis: i64) {
        self.now.set(millis);
    }

    /// A state or timer of `slot` came into being.
    #[inline]
    pub(crate) fn acquire(&self, slot: usize) {
        let mut live = self.live.borrow_mut();
        if live.len() <= slot {
            live.resize(slot + 1, 0);
        }
        live[slot] += 1;
    }

    /// A state or timer of `slot` is gone.
    #[inline]
    pub(crate) fn release(&self, slot: usize) {
        let mut live = self.live.borrow_mut();
        debug_assert!(live[slot] > 0, "released more than acquired");
        live[slot] -= 1;
    }

    #[inline]
    pub(crate) fn is_live(&self, slot: u32) -> bool {
        self.live
            .borrow()
            .get(slot as usize)
            .is_some_and(|live| *live > 0)
    }
}
