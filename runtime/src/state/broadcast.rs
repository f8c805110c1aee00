//! A map that is the same on all workers, because all of them get the records it is made from.

use std::any::type_name;
use std::cell::RefCell;

use crate::batch::StreamData;

use super::key_map::StateKey;
use super::local::Local;
use super::ordered_map::OrderedMap;

pub(crate) struct BroadcastTable<MK, V> {
    entries: RefCell<OrderedMap<MK, V>>,
}

impl<MK, V> Default for BroadcastTable<MK, V> {
    fn default() -> Self {
        BroadcastTable {
            entries: RefCell::default(),
        }
    }
}

/// A broadcast state of any type, as the backend sees it. It is small, so a snapshot encodes it at once.
pub(crate) trait BroadcastContents {
    fn schema(&self) -> String;
    /// The bytes of all entries.
    ///
    /// # Errors
    /// The reason, when an entry cannot be encoded.
    fn encode(&self) -> Result<Vec<u8>, String>;
    /// Takes back what `encode` wrote.
    ///
    /// # Errors
    /// The reason, when the bytes are no such entries.
    fn decode(&self, bytes: &[u8]) -> Result<(), String>;
}

impl<MK: StateKey, V: StreamData> BroadcastContents for BroadcastTable<MK, V> {
    fn schema(&self) -> String {
        format!(
            "BroadcastState<{}, {}>",
            type_name::<MK>(),
            type_name::<V>()
        )
    }

    fn encode(&self) -> Result<Vec<u8>, String> {
        bincode::serialize(&*self.entries.borrow()).map_err(|error| error.to_string())
    }

    fn decode(&self, bytes: &[u8]) -> Result<(), String> {
        *self.entries.borrow_mut() =
            bincode::deserialize(bytes).map_err(|error| error.to_string())?;
        Ok(())
    }
}

/// A map that all workers have the same of, iterated in the order of insertion.
///
/// Made by [`RuntimeContext::broadcast_state`](crate::operator::RuntimeContext::broadcast_state).
///
/// # Panics
/// Every access panics when the handle is unbound or used outside of its function.
pub struct BroadcastState<MK, V> {
    table: Local<BroadcastTable<MK, V>>,
}

impl<MK, V> Clone for BroadcastState<MK, V> {
    fn clone(&self) -> Self {
        BroadcastState { table: self.table }
    }
}

impl<MK, V> Default for BroadcastState<MK, V> {
    fn default() -> Self {
        BroadcastState {
            table: Local::default(),
        }
    }
}

impl<MK: StateKey, V: StreamData> BroadcastState<MK, V> {
    pub(crate) fn new(table: Local<BroadcastTable<MK, V>>) -> Self {
        BroadcastState { table }
    }

    /// A copy of the value of `key`, if there is one.
    pub fn get(&self, key: &MK) -> Option<V> {
        self.table
            .with(|table| table.entries.borrow().get(key).cloned())
    }

    /// True when `key` has a value.
    pub fn contains(&self, key: &MK) -> bool {
        self.table
            .with(|table| table.entries.borrow().get(key).is_some())
    }

    /// A copy of the entries.
    pub fn entries(&self) -> Vec<(MK, V)> {
        let mut entries = Vec::new();
        self.for_each(|key, value| entries.push((key.clone(), value.clone())));
        entries
    }

    /// Reads the entries in place.
    pub fn for_each(&self, mut each: impl FnMut(&MK, &V)) {
        self.table.with(|table| {
            table
                .entries
                .borrow()
                .iter()
                .for_each(|(key, value)| each(key, value));
        });
    }

    /// Sets the value of `key`.
    pub fn put(&self, key: MK, value: V) {
        let _old = self
            .table
            .with(|table| table.entries.borrow_mut().insert(key, value));
    }

    /// Removes `key`.
    pub fn remove(&self, key: &MK) {
        let _old = self
            .table
            .with(|table| table.entries.borrow_mut().remove(key));
    }

    /// Removes all entries.
    pub fn clear(&self) {
        let _old = self.table.with(|table| table.entries.take());
    }
}
