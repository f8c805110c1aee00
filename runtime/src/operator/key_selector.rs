//! How the key of a record is found.

use std::sync::Arc;

/// A key function without its type. It is called per batch, so that the call through the pointer is paid once and
/// the loop is compiled together with the user's closure.
pub struct KeySelector<T, K> {
    select: Arc<SelectKeys<T, K>>,
}

type SelectKeys<T, K> = dyn Fn(&[T], &mut Vec<K>) + Send + Sync;

impl<T, K> Clone for KeySelector<T, K> {
    fn clone(&self) -> Self {
        KeySelector {
            select: self.select.clone(),
        }
    }
}

impl<T, K> KeySelector<T, K> {
    /// Wraps a key function.
    pub fn new(key: impl Fn(&T) -> K + Send + Sync + 'static) -> Self {
        KeySelector {
            select: Arc::new(move |values, keys| keys.extend(values.iter().map(&key))),
        }
    }

    /// Appends the key of each value.
    pub fn select(&self, values: &[T], keys: &mut Vec<K>) {
        (self.select)(values, keys);
    }
}
