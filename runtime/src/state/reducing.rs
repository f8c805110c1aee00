//! One value per key, which takes in others by a function.

use std::rc::Rc;

use crate::batch::StreamData;

use super::local::Local;
use super::value::ValueTable;

pub(crate) struct Reducing<V> {
    pub(crate) table: Rc<ValueTable<V>>,
    pub(crate) reduce: Rc<dyn Fn(V, V) -> V>,
}

/// The reduction of all values added for the current key.
///
/// Made by [`RuntimeContext::reducing_state`](crate::operator::RuntimeContext::reducing_state).
///
/// # Panics
/// Every access panics when the handle is unbound or used outside of its function.
pub struct ReducingState<V> {
    state: Local<Reducing<V>>,
}

impl<V> Clone for ReducingState<V> {
    fn clone(&self) -> Self {
        ReducingState { state: self.state }
    }
}

impl<V> Default for ReducingState<V> {
    fn default() -> Self {
        ReducingState {
            state: Local::default(),
        }
    }
}

impl<V: StreamData> ReducingState<V> {
    pub(crate) fn new(state: Local<Reducing<V>>) -> Self {
        ReducingState { state }
    }

    /// A copy of the reduced value, if any value was added.
    #[doc(alias = "get")]
    pub fn value(&self) -> Option<V> {
        self.state
            .with(|state| state.table.get(|value| value.cloned()))
    }

    /// Takes in a value.
    pub fn add(&self, value: V) {
        self.state.with(|state| {
            let reduced = match state.table.take_value() {
                Some(old) => (state.reduce)(old, value),
                None => value,
            };
            state.table.put(Some(reduced));
        });
    }

    /// Removes the value.
    pub fn clear(&self) {
        self.state.with(|state| state.table.put(None));
    }
}
