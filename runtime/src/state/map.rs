//! A map per key.

use std::any::type_name;
use std::hash::Hash;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::batch::StreamData;

use super::content::Content;
use super::key_map::StateKey;
use super::local::Local;
use super::ordered_map::OrderedMap;
use super::table::Table;
use super::ttl::StateTtlConfig;

/// Entries with the time each was last touched.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(
    serialize = "MK: Serialize, V: Serialize",
    deserialize = "MK: DeserializeOwned + Hash + Eq, V: DeserializeOwned"
))]
pub(crate) struct MapContent<MK, V> {
    entries: OrderedMap<MK, (V, i64)>,
}

impl<MK, V> Default for MapContent<MK, V> {
    fn default() -> Self {
        MapContent {
            entries: OrderedMap::default(),
        }
    }
}

impl<MK: StateKey, V: StreamData> Content for MapContent<MK, V> {
    fn schema() -> String {
        format!("MapState<{}, {}>", type_name::<MK>(), type_name::<V>())
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.entries.len() == 0
    }

    fn expire(&mut self, ttl: &StateTtlConfig, now: i64) {
        self.entries
            .retain(|_, (_, stamp)| !ttl.is_expired(*stamp, now));
    }
}

type MapTable<MK, V> = Table<MapContent<MK, V>>;

/// A map for the current key, iterated in the order of insertion.
///
/// Made by [`RuntimeContext::map_state`](crate::operator::RuntimeContext::map_state).
///
/// # Panics
/// Every access panics when the handle is unbound or used outside of its function.
pub struct MapState<MK, V> {
    table: Local<MapTable<MK, V>>,
}

impl<MK, V> Clone for MapState<MK, V> {
    fn clone(&self) -> Self {
        MapState { table: self.table }
    }
}

impl<MK, V> Default for MapState<MK, V> {
    fn default() -> Self {
        MapState {
            table: Local::default(),
        }
    }
}

impl<MK: StateKey, V: StreamData> MapState<MK, V> {
    pub(crate) fn new(table: Local<MapTable<MK, V>>) -> Self {
        MapState { table }
    }

    /// Reads with expired entries handled as the time to live says; `key` names the only entry to be read.
    fn read<R>(&self, key: Option<&MK>, read: impl FnOnce(&OrderedMap<MK, (V, i64)>) -> R) -> R {
        self.table.with(|table| {
            let Some(ttl) = table.ttl() else {
                return table.read(|cell| match cell {
                    Some(cell) => read(&cell.entries),
                    None => read(&OrderedMap::default()),
                });
            };
            let now = table.now();
            table.write(|cell| {
                let before = ttl.returns_expired().then(|| cell.entries.clone());
                cell.expire(ttl, now);
                if ttl.renews_on_read() {
                    match key {
                        Some(key) => {
                            if let Some((_, stamp)) = cell.entries.get_mut(key) {
                                *stamp = now;
                            }
                        }
                        None => cell
                            .entries
                            .values_mut()
                            .for_each(|(_, stamp)| *stamp = now),
                    }
                }
                read(before.as_ref().unwrap_or(&cell.entries))
            })
        })
    }

    /// A copy of the value of `key`, if there is one.
    pub fn get(&self, key: &MK) -> Option<V> {
        self.read(Some(key), |entries| {
            entries.get(key).map(|(value, _)| value.clone())
        })
    }

    /// True when `key` has a value.
    pub fn contains(&self, key: &MK) -> bool {
        self.read(Some(key), |entries| entries.get(key).is_some())
    }

    /// Sets the value of `key`.
    pub fn put(&self, key: MK, value: V) {
        self.table.with(|table| {
            let now = table.now();
            let _old = table.write(|cell| cell.entries.insert(key, (value, now)));
        });
    }

    /// Sets the values of several keys.
    pub fn put_all(&self, entries: impl IntoIterator<Item = (MK, V)>) {
        entries
            .into_iter()
            .for_each(|(key, value)| self.put(key, value));
    }

    /// Removes `key`.
    pub fn remove(&self, key: &MK) {
        let _old = self
            .table
            .with(|table| table.write(|cell| cell.entries.remove(key)));
    }

    /// A copy of the entries.
    pub fn entries(&self) -> Vec<(MK, V)> {
        self.read(None, |entries| {
            entries
                .iter()
                .map(|(key, (value, _))| (key.clone(), value.clone()))
                .collect()
        })
    }

    /// A copy of the keys.
    pub fn keys(&self) -> Vec<MK> {
        self.read(None, |entries| {
            entries.iter().map(|(key, _)| key.clone()).collect()
        })
    }

    /// A copy of the values.
    pub fn values(&self) -> Vec<V> {
        self.read(None, |entries| {
            entries
                .iter()
                .map(|(_, (value, _))| value.clone())
                .collect()
        })
    }

    /// Reads the entries in place.
    pub fn for_each(&self, mut each: impl FnMut(&MK, &V)) {
        self.read(None, |entries| {
            entries
                .iter()
                .for_each(|(key, (value, _))| each(key, value));
        });
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.read(None, OrderedMap::len)
    }

    /// True without entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all entries.
    pub fn clear(&self) {
        self.table.with(|table| drop(table.take()));
    }
}
