//! A list per key.

use std::any::type_name;

use serde::{Deserialize, Serialize};

use crate::batch::StreamData;

use super::content::Content;
use super::local::Local;
use super::table::Table;
use super::ttl::StateTtlConfig;

/// Values in order; with a time to live, when each was added.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ListContent<V> {
    values: Vec<V>,
    /// Empty without a time to live.
    stamps: Vec<i64>,
}

impl<V> Default for ListContent<V> {
    fn default() -> Self {
        ListContent {
            values: Vec::new(),
            stamps: Vec::new(),
        }
    }
}

impl<V: StreamData> Content for ListContent<V> {
    fn schema() -> String {
        format!("ListState<{}>", type_name::<V>())
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    fn expire(&mut self, ttl: &StateTtlConfig, now: i64) {
        let stamps = std::mem::take(&mut self.stamps);
        let mut fresh = stamps.iter().map(|stamp| !ttl.is_expired(*stamp, now));
        self.values.retain(|_| fresh.next().unwrap_or(true));
        self.stamps = stamps
            .into_iter()
            .filter(|stamp| !ttl.is_expired(*stamp, now))
            .collect();
    }
}

type ListTable<V> = Table<ListContent<V>>;

/// A list for the current key.
///
/// Made by [`RuntimeContext::list_state`](crate::operator::RuntimeContext::list_state).
///
/// # Panics
/// Every access panics when the handle is unbound or used outside of its function.
pub struct ListState<V> {
    table: Local<ListTable<V>>,
}

impl<V> Clone for ListState<V> {
    fn clone(&self) -> Self {
        ListState { table: self.table }
    }
}

impl<V> Default for ListState<V> {
    fn default() -> Self {
        ListState {
            table: Local::default(),
        }
    }
}

impl<V: StreamData> ListState<V> {
    pub(crate) fn new(table: Local<ListTable<V>>) -> Self {
        ListState { table }
    }

    /// A copy of the elements, in order.
    #[doc(alias = "get")]
    pub fn values(&self) -> Vec<V> {
        self.read(<[V]>::to_vec)
    }

    /// Reads the elements in place.
    pub fn read<R>(&self, read: impl FnOnce(&[V]) -> R) -> R {
        self.table.with(|table| {
            if let Some(ttl) = table.ttl() {
                let now = table.now();
                table.write(|cell| {
                    if !cell.is_empty() {
                        if !ttl.returns_expired() {
                            cell.expire(ttl, now);
                        }
                        if ttl.renews_on_read() {
                            cell.stamps.fill(now);
                        }
                    }
                });
            }
            table.read(|cell| read(cell.map_or(&[], |cell| &cell.values)))
        })
    }

    /// Appends an element.
    #[inline]
    pub fn add(&self, value: V) {
        self.table.with(|table| {
            let stamp = table.ttl().map(|_| table.now());
            table.write(|cell| {
                if let Some(stamp) = stamp {
                    cell.stamps.resize(cell.values.len() + 1, stamp);
                }
                cell.values.push(value);
            });
        });
    }

    /// Appends elements.
    pub fn add_all(&self, values: impl IntoIterator<Item = V>) {
        let values: Vec<V> = values.into_iter().collect();
        self.table.with(|table| {
            let stamp = table.ttl().map(|_| table.now());
            table.write(|cell| {
                if let Some(stamp) = stamp {
                    cell.stamps.resize(cell.values.len() + values.len(), stamp);
                }
                cell.values.extend(values);
            });
        });
    }

    /// Replaces the list.
    pub fn update(&self, values: impl IntoIterator<Item = V>) {
        self.clear();
        self.add_all(values);
    }

    /// Removes all elements.
    pub fn clear(&self) {
        self.table.with(|table| drop(table.take()));
    }
}
