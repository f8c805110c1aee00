//! One value per key.

use crate::batch::StreamData;

use super::content::{Content, ValueContent};
use super::local::Local;
use super::table::Table;

pub(crate) type ValueTable<V> = Table<ValueContent<V>>;

impl<V: StreamData> ValueTable<V> {
    /// Reads the value, minding its time to live.
    #[inline]
    pub(crate) fn get<R>(&self, read: impl FnOnce(Option<&V>) -> R) -> R {
        if self.ttl().is_some() {
            return self.get_with_ttl(read);
        }
        self.read(|cell| read(cell.and_then(|cell| cell.value.as_ref())))
    }

    fn get_with_ttl<R>(&self, read: impl FnOnce(Option<&V>) -> R) -> R {
        let now = self.now();
        let Some(ttl) = self.ttl() else {
            return read(None);
        };
        self.write(|cell| {
            if cell.is_empty() {
                read(None)
            } else if ttl.is_expired(cell.stamp, now) {
                let expired = cell.value.take();
                read(expired.as_ref().filter(|_| ttl.returns_expired()))
            } else {
                if ttl.renews_on_read() {
                    cell.stamp = now;
                }
                read(cell.value.as_ref())
            }
        })
    }

    #[inline]
    pub(crate) fn put(&self, value: Option<V>) {
        let now = self.now();
        // The old value is dropped outside of the table: its drop may be user code.
        let _old = self.write(|cell| {
            cell.stamp = now;
            std::mem::replace(&mut cell.value, value)
        });
    }

    /// Takes the value out, if it has not expired.
    #[inline]
    pub(crate) fn take_value(&self) -> Option<V> {
        let now = self.now();
        let cell = self.take();
        match self.ttl() {
            Some(ttl) if ttl.is_expired(cell.stamp, now) && !ttl.returns_expired() => None,
            _ => cell.value,
        }
    }
}

/// One value for the current key.
///
/// Made by [`RuntimeContext::state`](crate::operator::RuntimeContext::state); the default is unbound and belongs
/// into the fields of a function until `open`.
///
/// # Panics
/// Every access panics when the handle is unbound or used outside of its function.
pub struct ValueState<V> {
    table: Local<ValueTable<V>>,
}

impl<V> Clone for ValueState<V> {
    fn clone(&self) -> Self {
        ValueState { table: self.table }
    }
}

impl<V> Default for ValueState<V> {
    fn default() -> Self {
        ValueState {
            table: Local::default(),
        }
    }
}

impl<V: StreamData> ValueState<V> {
    pub(crate) fn new(table: Local<ValueTable<V>>) -> Self {
        ValueState { table }
    }

    /// A copy of the value, if there is one.
    #[inline]
    pub fn value(&self) -> Option<V> {
        self.read(|value| value.cloned())
    }

    /// Reads the value in place.
    #[inline]
    pub fn read<R>(&self, read: impl FnOnce(Option<&V>) -> R) -> R {
        self.table.with(|table| table.get(read))
    }

    /// Sets the value.
    #[inline]
    pub fn update(&self, value: V) {
        self.table.with(|table| table.put(Some(value)));
    }

    /// Replaces the value by what `change` makes of it; `None` clears it.
    #[inline]
    pub fn update_with(&self, change: impl FnOnce(Option<V>) -> Option<V>) {
        self.table.with(|table| {
            let old = table.take_value();
            table.put(change(old));
        });
    }

    /// Removes the value.
    pub fn clear(&self) {
        self.table.with(|table| table.put(None));
    }
}
